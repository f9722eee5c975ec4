"""The exercise's widget: events move, the engine judges, the schedule is drawn."""

from __future__ import annotations

import kiplab
from kiplab.classroom.order import EVENTS


def test_it_begins_with_an_order_that_is_wrong() -> None:
    exercise = kiplab.Ordering()
    assert sorted(exercise.answer) == sorted(EVENTS)
    exercise.check_button.click()
    assert exercise.checked is not None
    assert exercise.checked.points == 0


def test_earlier_and_later_move_the_chosen_event() -> None:
    exercise = kiplab.Ordering(tuple(EVENTS))
    exercise.list.value = "starts"
    exercise.earlier.click()
    assert exercise.answer[2:4] == ["starts", "expires"]
    assert exercise.list.value == "starts"
    exercise.later.click()
    assert exercise.answer == list(EVENTS)


def test_the_first_cannot_go_earlier_nor_the_last_later() -> None:
    exercise = kiplab.Ordering(tuple(EVENTS))
    exercise.list.value = exercise.answer[0]
    assert (exercise.earlier.disabled, exercise.later.disabled) == (True, False)
    exercise.list.value = exercise.answer[-1]
    assert (exercise.earlier.disabled, exercise.later.disabled) == (False, True)


def test_a_losing_order_is_praised_and_drawn() -> None:
    exercise = kiplab.Ordering(tuple(EVENTS))
    exercise.check_button.click()
    assert "2 of 2 points" in exercise.result.value
    (shown,) = exercise.schedule.outputs
    figure = shown["data"]["application/vnd.plotly.v1+json"]
    assert "100 committed records lost" in figure["layout"]["meta"]["description"]
    assert exercise.run is not None
    assert exercise.run.verdict == "loss"


def test_a_second_check_replaces_the_first() -> None:
    exercise = kiplab.Ordering(tuple(EVENTS))
    exercise.check_button.click()
    exercise.move("arrives", -2)
    exercise.check_button.click()
    assert "1 of 2 points" in exercise.result.value
    assert "KIP-841" in exercise.result.value
    assert len(exercise.schedule.outputs) == 1
