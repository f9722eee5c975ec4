"""KAFKA-14139 by its parts: the window, the two rules, the last replica. Plays have the answers."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    ("place", "said", "misconception"),
    [
        (0, 1, "a proposed member counts as a member"),
        (0, 2, "a lost disk puts committed records at risk at once"),
        (0, 5, "an empty broker is a danger as soon as it is alive"),
        (0, 7, "the risk begins when the leader dies"),
        (0, 3, ""),
        (1, 7, "records are lost when the leader dies"),
        (1, 11, "records are lost when the last copy is thrown away"),
        (2, "45", "fencing always bumps the partition epoch"),
        (2, "-", "fencing always bumps the partition epoch"),
        (2, "2345", "a dead broker that was let in stays in"),
        (3, "-", "KIP-841 keeps a broker out once it has been fenced"),
        (3, "45", "a rule of 3.3 needs the broker epochs of 3.5"),
        (4, "5", "an old request looks the same in a new life"),
    ],
)
def test_a_wrong_part_of_the_window_names_the_idea(
    place: int, said: object, misconception: str
) -> None:
    found = check_window(with_(WINDOW, place, said))
    assert (found.points, found.of, found.misconception) == (4, 5, misconception)
    assert found.hint


def test_each_rule_closes_a_hole_that_the_other_leaves_open() -> None:
    assert [sorted(losses(rules)) for rules in RULES] == [["F", "R"], ["R"], ["F"], []]


def test_only_one_table_is_right() -> None:
    words = ("FR", "R", "F", "-")
    tables = product(words, repeat=4)
    assert [list(table) for table in tables if check_two_by_two(table).right] == [CELLS]


@pytest.mark.parametrize(
    ("place", "said", "misconception"),
    [
        (0, "R", "fencing always bumps the partition epoch"),
        (1, "-", "KIP-841 keeps a broker out once it has been fenced"),
        (1, "FR", ""),
        (2, "-", "KIP-903 makes KIP-841 superfluous"),
        (2, "FR", ""),
        (3, "F", "two rules leave the holes of both"),
    ],
)
def test_a_wrong_cell_names_the_idea(place: int, said: str, misconception: str) -> None:
    found = check_two_by_two(with_([*CELLS], place, said))
    assert (found.points, found.of, found.misconception) == (3, 4, misconception)
    assert list(RULES)[place] in found.which
    assert found.hint


def test_the_last_replica_takes_everything_with_it() -> None:
    assert check_last_replica(LAST).right
    assert check_last_replica(["offsets 0 to 99", "0..79", 0]).right
    assert check_last_replica(["0-99", "0-79", "none"]).right
    assert check_last_replica(["0-99", "0-79", "-"]).right


@pytest.mark.parametrize(
    ("place", "said", "misconception"),
    [
        (0, "80-99", "what another replica still has is not lost"),
        (0, "0-100", "a log that ends at 100 has a record at offset 100"),
        (0, "none", ""),
        (1, "0-80", "a log that ends at 80 has a record at offset 80"),
        (1, "80-99", "a follower keeps what the leader has lost"),
        (2, "1", "KIP-903 looks at every broker that comes back"),
        (2, "two", ""),
    ],
)
def test_a_wrong_part_about_the_last_replica_names_the_idea(
    place: int, said: str, misconception: str
) -> None:
    found = check_last_replica(with_([*LAST], place, said))
    assert (found.points, found.of, found.misconception) == (2, 3, misconception)
    assert found.hint


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
