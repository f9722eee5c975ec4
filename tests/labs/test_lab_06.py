"""Lab 06: what it says of the election, of what was built of KIP-704, of clients, and of a disk."""

import re

import pytest

import kiplab
from kiplab.classroom.exercises.vanishing_offsets import RUN
from kiplab.engine.nodes import is_up
from kiplab.plays.grammar import parse
from kiplab.plays.library import load
from kiplab.protocol.facts import LeaderElected, Polled, Truncated
from kiplab.protocol.messages import KINDS
from tests.labs.running import cells, prose, texts

LAB = "06-unclean-recovery"
PLAY, SPECIFIED = "unclean-election", "704.specified"
REFUSED = (
    *("produce", "offsets-for-leader-epoch", "consumer-fetch", "list-offsets"),
    *("delete-records", "fetch"),
)
"""What a leader that recovers refuses as specified: five requests, Fetch of two kinds."""


def told(**features: str) -> dict[str, str]:
    """The lines of the Lab's play, by their numbers."""
    text = kiplab.run(PLAY, **features).text()
    return dict(re.findall(r"^ +(\d+)  (.*)$", text, re.MULTILINE))


def read_by(consumer: str, play: str, **features: str) -> list[tuple[int, int]]:
    """What a consumer was given, poll by poll."""
    polls = (e for e in kiplab.run(play, **features).events if isinstance(e, Polled))
    return [(e.first, e.last) for e in polls if e.consumer == consumer and e.first <= e.last]


def test_the_consumer_reads_other_records_at_11_to_15() -> None:
    assert read_by("consumer", PLAY)[:2] == [(0, 20), (11, 15)]
    assert kiplab.run(PLAY).refusals[0]["error"] == "INVALID_REQUEST"


def test_the_steps_that_it_names_are_those_of_the_run() -> None:
    lines = told()
    assert lines["6"] == "expire 1"
    assert lines["7"] == "elect orders-0 unclean=yes"
    assert lines["10"] == "poll orders-0"
    assert lines["19"] == "catch-up 3"
    assert (lines["22"], lines["24"]) == ("start 1", "catch-up 1")


def test_ten_records_vanish_in_both_and_the_old_leader_throws_them_away() -> None:
    for features in ({}, {"on": SPECIFIED}):
        run = kiplab.run(PLAY, **features)
        assert run.lost == [{"partition": "orders-0", "first": 11, "last": 20}]
        cuts = [(e.node, e.first, e.last) for e in run.events if isinstance(e, Truncated)]
        assert cuts == [(1, 11, 20)]


def test_as_specified_five_requests_are_refused_and_as_implemented_none_of_them() -> None:
    wanted = [(r["request"], r["error"]) for r in kiplab.run(PLAY, on=SPECIFIED).refusals]
    assert wanted == [(name, "NOT_LEADER_OR_FOLLOWER") for name in REFUSED] + [
        ("alter-partition", "INVALID_REQUEST")
    ]
    built = [(r["request"], r["error"]) for r in kiplab.run(PLAY).refusals]
    assert built == [("alter-partition", "INVALID_REQUEST")]
    assert "alter-partition" in KINDS.values()


def test_recovering_lasts_until_the_isr_grows() -> None:
    kept = "expect    orders-0 isr=2 recovery=recovering"
    assert re.sub(r" +", " ", kept) in re.sub(r" +", " ", source(PLAY))
    assert "recovery=recovered" in source(PLAY).partition("catch-up 3")[2]


def source(play: str) -> str:
    """A play's lines, expectations with them."""
    return "\n".join(s.text for s in load(play).statements)


@pytest.mark.parametrize(
    ("kafka", "said"),
    [("3.5", "nothing lost"), ("3.8", "nothing lost"), ("3.9", "20 committed records lost")],
)
def test_the_setting_does_nothing_before_3_9(kafka: str, said: str) -> None:
    found = kiplab.run("unclean-election-by-config", kafka=kafka).sentence
    assert found.endswith(said)
    assert f'"{kafka}"' in cells(LAB, "code")["setting"]


def test_each_consumer_reads_what_the_lab_says() -> None:
    play = "704-consumers"
    assert read_by("before", play) == [(8, 10), (11, 30)]
    assert read_by("cautious", play) == []
    assert read_by("forgetful", play) == [(11, 30)]
    assert read_by("newcomer", play) == [(0, 30)]
    assert read_by("forgetful", play, off="320.validated-position") == [(15, 30)]
    rows = re.findall(r"^\| \*\*([a-z]+)\*\*[^|]*\| (\d+) \|", prose(LAB), re.MULTILINE)
    positions = {
        s.arg("name"): s.arg("position") or "0"
        for s in load(play).statements
        if s.verb == "consumer"
    }
    assert rows
    assert [(name, at) for name, at in rows if positions[name] != at] == []


def test_a_careful_consumer_stands_at_10_or_goes_on_without_the_transaction() -> None:
    play = "704-transactions"
    assert read_by("later", play) == [(0, 9)]
    assert read_by("careful", play) == [(0, 9), (10, 15)]
    assert read_by("later", play, on=SPECIFIED) == [(0, 18)]
    polls = (e for e in kiplab.run(play, on=SPECIFIED).events if isinstance(e, Polled))
    assert [e.aborted for e in polls if e.consumer == "later"] == [6, 0]


def test_who_waits_for_broker_1_loses_nothing() -> None:
    wait = "start 1\nunfence 1\ncatch-up 2\nelect orders-0 unclean=yes\n"
    before = source(PLAY).partition("\nelect")[0]
    run = kiplab.run(parse(f"{before}\n{wait}"))
    assert run.verdict == "safe"
    leaders = [e.leader for e in run.events if isinstance(e, LeaderElected)]
    assert leaders[-1] == 1


def test_the_checkpoint_cuts_nothing_but_80_to_99() -> None:
    run = kiplab.run(parse(RUN))
    assert run.lost == [{"partition": "orders-0", "first": 80, "last": 99}]
    assert "log=40@4,20@5" in RUN
    assert "fetch 2" in RUN


def power_fails() -> kiplab.Run:
    """The run of the exit ticket, as its cell writes it."""
    names: dict[str, str] = {}
    text = cells(LAB, "code")["exit-compare"].partition("\nend = ")[0]
    exec(text, names)
    return kiplab.run(parse(names["play"].replace(";", "\n") + "\n"))


def test_the_last_replica_is_elected_cleanly_without_its_tail() -> None:
    run = power_fails()
    assert run.lost == [{"partition": "orders-0", "first": 90, "last": 99}]
    elected = [e for e in run.events if isinstance(e, LeaderElected)]
    assert (elected[-1].leader, elected[-1].unclean) == (1, False)
    assert run.refusals == []
    assert is_up(run.stage.cluster, elected[-1].leader)
    cuts = [(e.node, e.first, e.last) for e in run.events if isinstance(e, Truncated)]
    assert cuts == [(2, 90, 94)]
    assert kiplab.run("last-replica", kafka="4.3").sentence == "100 committed records lost"


def test_what_no_release_built_is_said_plainly() -> None:
    said = texts(LAB)
    assert "**No release ever built it.**" in said["twin-why"]
    assert "**unjudged**" in said["fidelity"]
    assert "KIP-966" in said["exit-why"]


@pytest.mark.parametrize("kafka", ["3.5", "4.2"])
def test_a_real_controller_decides_the_run_the_same(kafka: str) -> None:
    asked = kiplab.real(PLAY, kafka=kafka, live=False)
    assert (asked.agree, asked.verdict) == (True, {"engine": "loss", "kafka": "loss"})


def test_the_search_finds_nothing_with_one_election_and_nine_steps_with_two() -> None:
    """Rule by rule, and the thirteen steps: tests/explore/test_recovery_level.py."""
    said = cells(LAB, "code")["search"]
    assert 'level="recovery", on="704.specified", elections=1' in said
    assert 'level="recovery", fences=2' in said
    two = parse(
        "kafka 3.5\nbroker 1\nbroker 2\n"
        "topic orders replicas=1,2 isr=1 leader=1 leader-epoch=5 log=1@5\n"
    )
    for on in ((), SPECIFIED):
        assert kiplab.explore(two, level="recovery", on=on, elections=1).verdict == "proved"
    assert kiplab.explore(two, level="recovery", fences=2).steps == 9
