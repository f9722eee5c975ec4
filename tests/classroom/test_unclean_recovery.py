"""Settings that three bad nights judge, and what four consumers notice."""

from itertools import product

import pytest

from kiplab.classroom.exercises.three_businesses import (
    ACKS,
    BUSINESSES,
    MIN_IN_SYNC,
    NIGHTS,
    UNCLEAN,
    bills,
    check_businesses,
    complaint,
    nights,
)
from kiplab.classroom.exercises.vanishing_offsets import CONSUMERS, check_what_they_notice, noticed

RIGHT = ["2 all false", "1 all false", "1 1 true"]


def test_each_business_can_bear_other_settings() -> None:
    every = list(product(MIN_IN_SYNC, ACKS, UNCLEAN))
    bank, parcels, clicks = (
        [settings for settings in every if complaint(business, settings) == ("", "")]
        for business in BUSINESSES
    )
    assert bank == [("2", "all", "false")]
    assert parcels == [("1", "all", "false")]
    assert set(clicks) == {("1", "all", "true"), *((n, "1", "true") for n in MIN_IN_SYNC)}


def test_a_night_is_judged_by_what_was_acknowledged_and_is_gone() -> None:
    found = nights(("1", "all", "false"))
    assert [night.lost for night in found] == [0, 0, 10]
    assert set().union(*(night.served for night in found)) == {"second", "fourth"}


def test_with_acks_all_and_two_in_sync_even_an_election_by_hand_loses_nothing() -> None:
    assert nights(("2", "all", "false"))[2].lost == 0
    assert "elect orders-0 unclean=yes" in NIGHTS["the last one burns"]


def test_what_is_printed_has_a_line_for_every_choice() -> None:
    assert len(bills().splitlines()) == 1 + len(MIN_IN_SYNC) * len(ACKS) * len(UNCLEAN)


@pytest.mark.parametrize(
    "answer",
    [
        RIGHT,
        "; ".join(RIGHT),
        [("2", "all", "false"), ["1", "all", False], "1, 1, True"],
    ],
)
def test_settings_may_be_written_in_many_ways(answer: object) -> None:
    assert check_businesses(answer).right


@pytest.mark.parametrize("answer", [["? ? ?"] * 3, "?", None, []])
def test_question_marks_are_no_answer(answer: object) -> None:
    found = check_businesses(answer)
    assert not found.attempted
    assert "Not answered yet" in found.message


@pytest.mark.parametrize("odd", ["4 all false", "2 none false", "2 all perhaps", "2 all"])
def test_what_is_no_setting_is_no_attempt(odd: str) -> None:
    found = check_businesses([odd, *RIGHT[1:]])
    assert not found.attempted
    assert "is no choice of settings" in found.message


def test_a_part_that_is_open_is_told_so() -> None:
    assert "no answer yet" in check_businesses([*RIGHT[:2], "?"]).hint
    assert "no answer yet" in check_what_they_notice("NXBN?").hint


def test_the_run_says_what_each_consumer_notices() -> None:
    assert [noticed(*one) for one in CONSUMERS] == ["N", "X", "B", "N", "S"]


@pytest.mark.parametrize("answer", ["NXBNS", "n x b n s", ["N", "X", "B", "N", "S"]])
def test_the_letters_may_be_written_in_many_ways(answer: object) -> None:
    assert check_what_they_notice(answer).right


def test_a_letter_that_stands_for_nothing_is_no_attempt() -> None:
    found = check_what_they_notice("NXBNQ")
    assert not found.attempted
    assert "There is no Q" in found.message
