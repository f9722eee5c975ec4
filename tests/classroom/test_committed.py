"""Committed and acknowledged: the engine says which, and wrong ideas have names."""

from itertools import combinations

import pytest

import kiplab
from kiplab.classroom.exercises.committed import (
    SCHEDULES,
    acknowledged,
    check_acknowledged,
    check_high_watermark,
    check_schedules,
    committed,
    schedule,
)

MARKS = (100, 100, 100, 110, 110, 110, 120, 120)
COPIES = "min.insync.replicas copies are enough to commit a record"
WAITS = "the high watermark waits while the ISR is smaller than min.insync.replicas"
UNMOVED = "the high watermark moves only when somebody copies"


def test_the_high_watermark_follows_the_isr() -> None:
    assert check_high_watermark(MARKS).right
    assert check_high_watermark([str(mark) for mark in MARKS]).right


def test_from_37_on_it_waits_while_the_isr_is_too_small() -> None:
    assert check_high_watermark(MARKS, kafka="3.6").right
    assert check_high_watermark(MARKS, kafka="3.7").points == 6
    assert check_high_watermark((*MARKS[:6], 110, 110), kafka="3.7").right


def test_an_offset_before_it_is_written_is_told_how_far_the_log_goes() -> None:
    found = check_high_watermark((110, *MARKS[1:]))
    assert "After this step the leader's log ends at 100." in found.hint


def test_acks_1_tells_the_producer_of_records_that_are_not_committed() -> None:
    assert check_acknowledged("A").right
    assert check_acknowledged(["a"]).right
    assert check_acknowledged("A", kafka="3.9").right


def test_only_one_choice_of_schedules_is_right() -> None:
    choices = ("".join(c) for n in range(7) for c in combinations(SCHEDULES, n))
    assert [c for c in choices if check_schedules(c).right] == ["ACD"]


def test_in_schedule_f_every_log_has_the_records_and_the_leader_does_not_know() -> None:
    stage = schedule("F")
    assert {b.durable.replicas[0].log.end for b in stage.cluster.brokers} == {110}
    assert not committed(stage)


def test_below_37_records_are_committed_that_no_producer_is_told_of() -> None:
    for kafka, mark in (("3.5", True), ("3.6", True), ("3.7", False)):
        stage = kiplab.run("isr-committed", kafka=kafka).stage
        assert committed(stage, 120) is mark
        assert not acknowledged(stage, 120)
        assert acknowledged(stage, 110)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (check_schedules("AX"), "There is no X."),
        (check_acknowledged("AE"), "There is no E."),
        (check_high_watermark([100]), "Here are 1."),
    ],
)
def test_an_answer_of_another_shape_says_what_is_wrong(found: object, said: str) -> None:
    assert said in str(found)
    assert str(found).startswith("0/")
