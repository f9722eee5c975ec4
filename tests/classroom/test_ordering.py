"""The ordering exercise: events move, the engine judges every order, the schedule is drawn."""

from itertools import islice, permutations

import pytest

import kiplab
from kiplab.classroom.exercises.race import EVENTS, LETTERS, stage_of
from kiplab.plays.verdict import verdict
from tests.classroom.answers import judged
from tests.repeated import in_long

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
    assert len(exercise.schedule.children) == 1


LATE = ("ACEDFBGH", "AECDFBGH", "ACEDFBHG", "ACEDGFBH", "AGCEDFBH")


@pytest.mark.parametrize("answer", LATE)
def test_a_late_join_would_have_been_refused_with_kip_903(answer: str) -> None:
    found = judged("kafka-14139/order", answer)
    assert "With KIP-903 on, the same order loses nothing." in found.message
    assert kiplab.run(found.token, kafka="3.5").verdict == "safe"


def test_a_last_replica_that_comes_back_empty_is_right_and_told_apart() -> None:
    found = judged("kafka-14139/order", "ACBGHEDF")
    assert "Not even KIP-903" in found.message
    assert kiplab.run(found.token, kafka="3.5").verdict == "loss"


def test_an_impossible_order_is_shown_up_to_where_it_breaks() -> None:
    stage = stage_of("ACEFDBGH")
    assert [p.statement.text for p in stage.performed][-2:] == ["expire 2", "unfence 2"]
    assert stage.performed[-1].not_applicable is not None


def test_the_letters_in_their_own_order_are_no_answer() -> None:
    """Neither forwards nor backwards, and not as the names stand in the list of events."""
    for answer in ("ABCDEFGH", "HGFEDCBA", list(EVENTS), sorted(EVENTS)):
        assert judged("kafka-14139/order", answer).points == 0, answer


@pytest.mark.parametrize(
    ("every", "expected"),
    [(9, {0: 505, 1: 51, 2: 4}), *in_long([(1, {0: 4620, 1: 378, 2: 42})], rows=True)],
)
def test_the_exercise_agrees_with_the_engine_about_every_order(
    every: int, expected: dict[int, int]
) -> None:
    """All orders in which the request is sent first; the others cannot happen, or need it later."""
    points: dict[int, int] = {0: 0, 1: 0, 2: 0}
    for rest in islice(permutations("BCDEFGH"), None, None, every):
        answer = "A" + "".join(rest)
        found = judged("kafka-14139/order", answer)
        points[found.points] += 1
        if found.points:
            assert (verdict(stage_of(answer)) == "loss") is found.right, answer
    assert points == expected


def test_printed_it_fits_a_notebook() -> None:
    lines = str(judged("kafka-14139/order", "ACBEDFGH")).splitlines()
    assert lines[0] == "1/2"
    assert max(map(len, lines)) <= 96
