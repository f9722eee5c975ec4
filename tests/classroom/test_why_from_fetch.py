"""Four designs, what one of them costs, and a run that loses data by a number that is right."""

import pytest

import kiplab
from kiplab.classroom.exercises.why_from_fetch import (
    DESIGNS,
    PRICE,
    check_bump_price,
    check_epoch_sources,
    check_old_fetch,
    losing,
    price,
)

GET_IN = (
    *("hold fetch from=2", "fetch 2", "crash 2 disk=replaced", "expire 2", "start 2"),
    *("unfence 2", "deliver fetch from=2 life=1"),
)


def test_the_plays_say_which_design_loses_by_what() -> None:
    assert [sorted(losing(design)) for design in DESIGNS] == [["F", "R"], [], ["F"], []]


def test_the_run_says_what_a_new_reign_costs() -> None:
    assert (price(PRICE), price(PRICE, "3.5")) == ((2, 2, 3), (0, 0, 0))


@pytest.mark.parametrize(
    "answer", [["RF", "-", "F", "-"], "fr none f none", ("r f", "-", "F", "0")]
)
def test_the_letters_may_be_written_in_many_ways(answer: object) -> None:
    assert check_epoch_sources(answer).right


def test_a_letter_that_stands_for_nothing_is_no_attempt() -> None:
    found = check_epoch_sources(["RX", "-", "F", "-"])
    assert not found.attempted
    assert "There is no X" in found.message


@pytest.mark.parametrize("answer", [[2, 2, 3, 0], "2 2 3 -", "2, 2, 3, none"])
def test_none_is_a_number_where_there_are_none(answer: object) -> None:
    assert check_bump_price(answer).right


def test_what_has_no_answer_yet_is_told_so() -> None:
    assert "no answer yet" in check_bump_price([2, 2, "?", 0]).hint
    assert "no answer yet" in check_epoch_sources(["RF", "?", "F", "-"]).hint


def test_a_lost_record_is_worth_both_points_and_one_at_risk_the_first() -> None:
    assert check_old_fetch((*GET_IN, "expire 1")).right
    found = check_old_fetch(GET_IN)
    assert (found.points, found.of) == (1, 2)
    assert found.hint


@pytest.mark.parametrize(
    ("lines", "idea"),
    [
        (
            (*GET_IN[:4], "deliver fetch from=2 life=1", "start 2"),
            "an old fetch is dangerous while its sender is away",
        ),
        (("hold metadata to=1", *GET_IN), "the leader's metadata is always the newest"),
        (("fetch 2",), ""),
        (("crash 1 disk=replaced", "expire 1", "start 1", "unfence 1"), ""),
    ],
)
def test_what_loses_nothing_is_told_why(lines: tuple[str, ...], idea: str) -> None:
    found = check_old_fetch(lines)
    assert (found.points, found.misconception) == (0, idea)
    assert found.hint


def test_the_play_that_it_begins_with_is_no_answer_and_other_rules_are_none_either() -> None:
    assert check_old_fetch(kiplab.run("903-from-metadata")).points == 0
    other = check_old_fetch(kiplab.run("903-from-metadata", kafka="3.5"))
    assert not other.attempted
