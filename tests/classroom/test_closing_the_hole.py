"""What keeps the record, and what closes the hole: the engine and the explorer say."""

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
