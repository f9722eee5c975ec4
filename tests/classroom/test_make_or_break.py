"""Make or break: a run of one's own is judged by what happened in it, whatever form it comes in."""

import pytest

import kiplab
from kiplab.classroom.exercises.committed import check_lose_acknowledged
from kiplab.classroom.exercises.epochs import check_reigns
from kiplab.classroom.exercises.own_runs import FORMS
from kiplab.classroom.exercises.timeline_reading import check_accepted

BEGIN = ["produce orders-0 count=20", "catch-up 3", "hold alter-partition from=1", "catch-up 2"]
DIES, ARRIVES = "crash 3", "deliver alter-partition from=1"
COPIED = ["produce orders-0 count=10", "catch-up 2", "catch-up 3"]
ALONE = ["crash 2", "expire 2", "crash 3", "expire 3"]
EMPTY = ["crash 1 disk=replaced", "expire 1", "start 1", "unfence 1"]


def test_a_request_that_names_a_dead_broker_is_accepted_before_anybody_knows() -> None:
    found = check_accepted([*BEGIN, DIES, ARRIVES])
    assert (found.points, found.of) == (2, 2)
    assert kiplab.run(found.token).partitions[0]["isr"] == [1, 3, 2]


def test_lines_a_run_a_token_and_a_lab_are_one_answer() -> None:
    lines = [*BEGIN, DIES, ARRIVES]
    lab = kiplab.Lab("timeline-first")
    lab.seek(4)
    lab.do(ARRIVES)
    token = check_accepted(lines).token
    forms = (
        "\n".join(lines),
        "; ".join(lines),
        token,
        kiplab.run(token),
        lab,
        lab.run,
        lab.run.token,
    )
    assert [check_accepted(form).points for form in forms] == [2] * len(forms)


@pytest.mark.parametrize(
    ("lines", "points", "said"),
    [
        ([*BEGIN, ARRIVES, DIES], 1, "broker 3 was alive"),
        ([*BEGIN, DIES, "expire 3", ARRIVES], 0, "refused: FENCED_LEADER_EPOCH"),
        ([*BEGIN, DIES], 0, "No request that adds broker 2"),
    ],
)
def test_a_request_too_early_or_too_late_is_told_apart(
    lines: list[str], points: int, said: str
) -> None:
    found = check_accepted(lines)
    assert found.points == points
    assert said in found.message
    assert found.hint


def test_the_lab_as_it_is_opened_is_no_answer() -> None:
    found = check_accepted(kiplab.Lab("timeline-first"))
    assert (found.points, found.misconception) == (0, "a crash is what the controller reacts to")


def test_what_three_brokers_acknowledged_is_lost_with_one_disk() -> None:
    found = check_lose_acknowledged([*COPIED, *ALONE, *EMPTY])
    assert (found.points, found.of) == (3, 3)
    assert kiplab.run(found.token).verdict == "loss"


def test_two_disks_are_one_too_many() -> None:
    found = check_lose_acknowledged([*COPIED, "crash 2 disk=replaced", *ALONE[1:], *EMPTY])
    assert (found.points, found.of) == (2, 3)
    assert "every disk that had it" in found.misconception


@pytest.mark.parametrize(
    ("lines", "points", "misconception"),
    [
        (COPIED[:2], 0, ""),
        ([COPIED[0] + " acks=1", *COPIED[1:], *ALONE, *EMPTY], 0, ""),
        (COPIED, 1, ""),
        ([*COPIED, *EMPTY], 1, "a disk that is lost takes acknowledged records with it"),
    ],
)
def test_what_is_not_acknowledged_or_not_lost_says_so(
    lines: list[str], points: int, misconception: str
) -> None:
    found = check_lose_acknowledged(lines)
    assert (found.points, found.misconception) == (points, misconception)
    assert found.hint


def test_an_unclean_election_is_no_answer() -> None:
    lines = [*COPIED, *ALONE, "crash 1", "expire 1", "start 2", "elect orders-0 unclean=yes"]
    found = check_lose_acknowledged(lines)
    assert (found.points, found.attempted) == (0, False)
    assert "Do it without: elect orders-0 unclean=yes" in found.message


def test_two_shrinks_give_one_leader_three_reigns() -> None:
    assert check_reigns(["crash 3", "expire 3", "crash 2", "expire 2"]).right


@pytest.mark.parametrize(
    ("lines", "points", "misconception"),
    [
        (
            ["crash 1", "expire 1", "crash 2", "expire 2"],
            1,
            "a new leader epoch needs a new leader",
        ),
        (
            ["crash 3", "expire 3", "start 3", "unfence 3", "catch-up 3"],
            0,
            "the leader epoch changes on every ISR change",
        ),
        (["fail-over"], 0, ""),
    ],
)
def test_other_ways_to_the_epoch_name_the_idea(
    lines: list[str], points: int, misconception: str
) -> None:
    found = check_reigns(lines)
    assert (found.points, found.misconception) == (points, misconception)
    assert found.hint


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("crash 9", "line 1: there is no broker '9'"),
        ("crash 2\n\ncrash 2", "line 3: 'crash 2' cannot be done now: broker 2 is down"),
        ("kiplab1:damaged", "this token is damaged"),
        ("off 497.leader-epoch\ncrash 2", "Leave the rules as they are: Kafka 3.4."),
        ("send heartbeat from=2", "line 1: "),
        ("upgrade metadata=3.5-IV2", ""),
        (kiplab.run("kafka-14139"), "begins in another situation"),
        (kiplab.run("timeline-first", kafka="3.6"), "Leave the rules as they are"),
        (kiplab.run("epochs-fences"), "begins in another situation"),
        (42, f"Give {FORMS}. This is of type int."),
        (b"crash 2", "of type bytes"),
    ],
)
def test_what_is_no_run_of_this_situation_says_why(answer: object, said: str) -> None:
    found = check_accepted(answer)
    assert (found.points, found.attempted) == (0, False)
    assert said in found.message


def test_a_forged_request_is_no_answer() -> None:
    forged = "send alter-partition from=1 partition=orders-0 isr=1,2,3"
    found = check_accepted([*BEGIN[:2], DIES, forged])
    assert "Do it without: send" in found.message
