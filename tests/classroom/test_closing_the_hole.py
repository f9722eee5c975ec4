"""What keeps the record, and what closes the hole: the engine and the explorer say."""

from __future__ import annotations

import pytest

from kiplab.classroom.exercises.closing_the_hole import (
    CHANGES,
    RULES,
    changed,
    check_what_closes,
    check_what_saves,
    searched,
)
from kiplab.plays.verdict import lost, verdict


def test_four_changes_keep_the_record_and_one_of_them_by_luck() -> None:
    assert {letter: verdict(changed(letter)) for letter in CHANGES} == {
        "A": "loss",
        "B": "harm",
        "C": "safe",
        "D": "safe",
        "E": "loss",
        "F": "loss",
        "G": "safe",
    }
    assert check_what_saves("BCDG").right


def test_each_change_is_one_of_the_play_and_plays_to_its_end() -> None:
    for letter in CHANGES:
        done = changed(letter).performed
        assert [p.statement.text for p in done if p.not_applicable is not None] == [], letter


def test_where_it_is_lost_it_is_the_same_record() -> None:
    told = {letter: lost(changed(letter)) for letter in "AEF"}
    assert all(item == told["A"] for item in told.values())


def test_one_rule_closes_it() -> None:
    assert {letter: searched(letter).verdict for letter in RULES} == {
        "A": "proved",
        "B": "refuted",
        "C": "refuted",
        "D": "refuted",
        "E": "refuted",
    }
    assert check_what_closes("A").right


@pytest.mark.parametrize(
    ("answer", "misconception"),
    [
        ("ABCDG", "a setting about acknowledgements decides who is elected"),
        ("CDG", ""),
        ("BDG", "the later the metadata, the worse"),
        ("BCG", ""),
        ("BCDEG", "a proper shutdown waits until everybody has everything"),
        ("BCDFG", "a newer release has closed it"),
        ("BCD", "a forgotten proposal is committed over at once"),
    ],
)
def test_a_wrong_change_has_a_hint_and_perhaps_an_idea(answer: str, misconception: str) -> None:
    found = check_what_saves(answer)
    assert (found.points, found.of) == (6, 7)
    assert found.misconception == misconception
    assert found.hint


@pytest.mark.parametrize(
    ("answer", "misconception"),
    [
        ("-", ""),
        ("AB", "a larger ISR closes it"),
        ("AC", ""),
        ("AD", "a new reign mends whatever went wrong"),
        ("AE", "the hole is about broker epochs"),
    ],
)
def test_a_wrong_rule_has_a_hint_and_perhaps_an_idea(answer: str, misconception: str) -> None:
    found = check_what_closes(answer)
    assert (found.points, found.of) == (4, 5)
    assert found.misconception == misconception
    assert found.hint
