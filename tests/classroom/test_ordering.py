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
    words = exercise._repr_mimebundle_()["text/plain"]
    assert exercise.answer == list(EVENTS)
    for letter, event in LETTERS.items():
        assert exercise.list.words[event] == f"{letter} · {EVENTS[event][0]}"
        assert f"{letter} · {event}: {EVENTS[event][0]}" in words


def test_an_event_moves_and_stops_at_the_ends() -> None:
    exercise = kiplab.Ordering(LOSING)
    exercise.move("starts", -1)
    assert exercise.answer[2:4] == ["starts", "expires"]
    exercise.move("starts", 1)
    assert exercise.answer == list(LOSING)
    exercise.move(LOSING[0], -1)
    exercise.move(LOSING[-1], 1)
    assert exercise.answer == list(LOSING)


def test_a_page_sends_all_events_in_another_order_and_nothing_else() -> None:
    exercise = kiplab.Ordering()
    exercise.list.receive("value", list(LOSING))
    for odd in (LOSING[:-1], [*LOSING, "starts"], ["a"] * 8):
        exercise.list.receive("value", odd)
    assert exercise.answer == list(LOSING)


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
