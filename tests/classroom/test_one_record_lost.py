"""One record that a producer was told of, lost on purpose: how many, by what, and which."""

import pytest

import kiplab
from kiplab.classroom.exercises.one_record_lost import BEGINS, check_lose_one

SHRINK = ("check-lag 1",)
ONE = "produce orders-0 count=1 producer=shop"
ELECT = ("crash 1", "expire 1", "elect orders-0 unclean=yes")
RIGHT = "; ".join((*SHRINK, ONE, *ELECT))


def test_one_record_and_its_offset_earn_everything() -> None:
    found = check_lose_one((RIGHT, 11))
    assert found.right
    assert kiplab.run(found.token).lost == [{"partition": "orders-0", "first": 11, "last": 11}]


def test_a_lab_is_an_answer_too() -> None:
    lab = kiplab.Lab(BEGINS)
    for line in RIGHT.split("; "):
        lab.do(line)
    assert check_lose_one((lab, "11")).right
    assert check_lose_one((lab.token, 11)).right


@pytest.mark.parametrize(
    ("lines", "named", "points", "said", "idea"),
    [
        (SHRINK, 11, 0, "Nothing committed is lost.", ""),
        ((*SHRINK, ONE, *ELECT[:2]), 11, 0, "Nothing committed is lost.", ""),
        (
            (*SHRINK, ONE.replace("=1", "=2"), *ELECT),
            11,
            2,
            "2 records are lost. One is wanted.",
            "",
        ),
        (
            (*SHRINK, "produce orders-0", ONE, *ELECT),
            12,
            2,
            "2 records are lost, and 1 of them no producer was told of.",
            "",
        ),
        (
            (*SHRINK, "produce orders-0", *ELECT),
            11,
            0,
            "One record was committed, and lost; but no producer was told of it by acks=all.",
            "",
        ),
        (
            (f"{ONE} acks=1", "crash 1", "expire 1"),
            11,
            0,
            "One record was lost that acks=1 had acknowledged.",
            "a record that is acknowledged is committed, whatever the acks",
        ),
        (
            (*SHRINK, ONE, "crash 1 disk=replaced", "expire 1", ELECT[2]),
            11,
            2,
            "One record is lost, and something of a disk with it.",
            "data is lost only where a disk is",
        ),
        (
            (*SHRINK, ONE, *ELECT),
            12,
            2,
            "Exactly one record is lost, and it is not the one at offset 12.",
            "the log end offset is the offset of the last record",
        ),
        (
            (*SHRINK, ONE, *ELECT),
            10,
            2,
            "Exactly one record is lost, and it is not the one at offset 10.",
            "the log end offset of the new leader is what it has still got",
        ),
        ((*SHRINK, ONE, *ELECT), 99, 2, "Exactly one record is lost", ""),
    ],
)
def test_each_usual_mistake_has_its_sentence(
    lines: tuple[str, ...], named: int, points: int, said: str, idea: str
) -> None:
    found = check_lose_one(("; ".join(lines), named))
    assert (found.points, found.of) == (points, 3)
    assert found.message.startswith(said)
    assert found.misconception == idea
    assert found.hint


def test_another_way_than_an_unclean_election_is_worth_nothing() -> None:
    lines = (*SHRINK, ONE, "crash 1 disk=replaced", "expire 1", "start 1", "unfence 1")
    found = check_lose_one(("; ".join(lines), 11))
    assert found.points == 0
    assert found.message == "Lost, but by another way: nobody was elected uncleanly."


def test_a_run_without_an_offset_is_no_attempt() -> None:
    for answer in (RIGHT, (RIGHT, "?"), (RIGHT, None), (RIGHT, 1, 2), (RIGHT, True)):
        found = check_lose_one(answer)
        assert (found.points, found.attempted) == (0, False)
        assert "as in (lab, 17)" in found.message


def test_other_rules_and_forged_requests_do_not_count() -> None:
    lab = kiplab.Lab(BEGINS, kafka="3.9")
    found = check_lose_one((lab, 11))
    assert not found.attempted
    assert found.message == "Leave the rules as they are: Kafka 3.5."
