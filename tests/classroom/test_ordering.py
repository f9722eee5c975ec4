"""The exercise's widget: events move, the engine judges, the schedule is drawn."""

import kiplab
from kiplab.classroom.exercises.race import EVENTS, LETTERS

LOSING = tuple(LETTERS[letter] for letter in "ACEDFBGH")


def test_it_begins_with_an_order_that_is_wrong() -> None:
    exercise = kiplab.Ordering()
    assert sorted(exercise.answer) == sorted(EVENTS)
    exercise.check_button.click()
    assert exercise.checked is not None
    assert exercise.checked.points == 0


def test_the_letters_are_those_of_the_way_without_a_mouse() -> None:
    exercise = kiplab.Ordering()
    shown = {event: text for text, event in exercise.list.options}
    words = exercise._repr_mimebundle_()["text/plain"]
    assert exercise.answer == list(EVENTS)
    for letter, event in LETTERS.items():
        assert f". {letter} · {EVENTS[event][0]}" in shown[event]
        assert f"{letter} · {event}: {EVENTS[event][0]}" in words


def test_earlier_and_later_move_the_chosen_event() -> None:
    exercise = kiplab.Ordering(LOSING)
    exercise.list.value = "starts"
    exercise.earlier.click()
    assert exercise.answer[2:4] == ["starts", "expires"]
    assert exercise.list.value == "starts"
    exercise.later.click()
    assert exercise.answer == list(LOSING)


def test_the_first_cannot_go_earlier_nor_the_last_later() -> None:
    exercise = kiplab.Ordering(LOSING)
    exercise.list.value = exercise.answer[0]
    assert (exercise.earlier.disabled, exercise.later.disabled) == (True, False)
    exercise.list.value = exercise.answer[-1]
    assert (exercise.earlier.disabled, exercise.later.disabled) == (False, True)


def test_a_losing_order_is_praised_and_drawn() -> None:
    exercise = kiplab.Ordering(LOSING)
    exercise.check_button.click()
    assert "2 of 2 points" in exercise.result.value
    (shown,) = exercise.schedule.children
    assert "100 committed records lost" in shown.drawing["layout"]["meta"]["description"]
    assert exercise.run is not None
    assert exercise.run.verdict == "loss"


def test_a_second_check_replaces_the_first() -> None:
    exercise = kiplab.Ordering(LOSING)
    exercise.check_button.click()
    exercise.move("arrives", -2)
    exercise.check_button.click()
    assert "1 of 2 points" in exercise.result.value
    assert "KIP-841" in exercise.result.value
    assert len(exercise.schedule.inside) == 1
