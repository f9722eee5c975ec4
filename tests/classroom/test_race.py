"""KAFKA-14139 by its parts: the window, the two rules, the last replica. Plays have the answers."""

from itertools import product

import pytest

import kiplab
from kiplab.classroom.exercises.check_result import Checked
from kiplab.classroom.exercises.race import (
    RELEASES,
    RULES,
    at_risk,
    check_last_replica,
    check_two_by_two,
    check_window,
    losing,
    losses,
)

WINDOW = [6, 8, "345", "5", "-"]
CELLS = ["FR", "R", "F", "-"]
LAST = ["0-99", "0-79", "0"]


def with_(answer: list[object], place: int, said: object) -> list[object]:
    """The answer, one part of it changed."""
    return [*answer[:place], said, *answer[place + 1 :]]


def test_the_records_are_at_risk_from_the_acceptance_to_the_election() -> None:
    moments = {m.text: m.x for m in kiplab.run("kafka-14139", kafka="3.4").rows().moments}
    assert at_risk() == (moments["deliver alter-partition from=1"], moments["expire 1"])


def test_the_window_narrows_with_each_rule() -> None:
    assert [sorted(losing(release)) for release in RELEASES] == [["3", "4", "5"], ["5"], []]


@pytest.mark.parametrize(
    "answer",
    [
        WINDOW,
        "6 8 345 5 -",
        ("6", "8", "5, 4, 3", "5", "none"),
        ["step 6", "8", "345", "5", "None"],
    ],
)
def test_spelling_does_not_matter(answer: object) -> None:
    assert check_window(answer).right


def test_each_rule_closes_a_hole_that_the_other_leaves_open() -> None:
    assert [sorted(losses(rules)) for rules in RULES] == [["F", "R"], ["R"], ["F"], []]


def test_only_one_table_is_right() -> None:
    words = ("FR", "R", "F", "-")
    tables = product(words, repeat=4)
    assert [list(table) for table in tables if check_two_by_two(table).right] == [CELLS]


def test_the_last_replica_takes_everything_with_it() -> None:
    assert check_last_replica(LAST).right
    assert check_last_replica(["offsets 0 to 99", "0..79", 0]).right
    assert check_last_replica(["0-99", "0-79", "none"]).right
    assert check_last_replica(["0-99", "0-79", "-"]).right


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            check_window([6, 8, "7", "5", "-"]),
            "There is no arrival 7. Use 1 2 3 4 5, or - for none.",
        ),
        (check_window([6, 8]), "Give 5 parts"),
        (check_two_by_two(["X", "R", "F", "-"]), "There is no moment X. Use F R, or - for none."),
        (check_last_replica("0-99"), "Give 3 parts"),
    ],
)
def test_an_answer_of_another_shape_says_what_is_wrong(
    found: Checked,
    said: str,
) -> None:
    assert said in found.message
    assert (found.points, found.attempted) == (0, False)
