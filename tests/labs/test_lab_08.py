"""Lab 08: what it says of KIP-343, as proposed and unjudged, and of what Kafka has in its place."""

import re
from typing import Any

import pytest

import kiplab
from kiplab.classroom.exercises.believed_incarnations import (
    DECLARE,
    FENCE,
    RUN,
    between,
    letters,
    orders,
)
from kiplab.plays.grammar import parse
from kiplab.plays.library import load
from kiplab.protocol import facts
from kiplab.protocol.releases import RELEASES
from tests.labs.running import cells, exit_run, prose, texts

LAB = "08-heartbeats"
PLAY, BEFORE = "343-stale-leader", "zk-2.2"
SITUATION = (
    "kafka kip-343; broker 0; broker 1; broker 2; controller broker=0 epoch=5; "
    "topic orders replicas=1,2 isr=1,2 leader=1 leader-epoch=3 log=10@3; "
)


def played(lines: str) -> kiplab.Run:
    """A run of its own, semicolons between the lines; what it expects has to hold."""
    run = kiplab.run(parse(f"{SITUATION}{lines}".replace(";", "\n") + "\n"))
    assert [e.text for e in run.stage.expectations if e.status != "held"] == []
    return run


def given(play: str, **features: Any) -> list[tuple[int, int, int]]:
    """(broker, first, last) of each poll that was answered."""
    polls = (e for e in kiplab.run(play, **features).events if isinstance(e, facts.Polled))
    return [(e.node, e.first, e.last) for e in polls]


# --- the run of the Lab -------------------------------------------------------------------------


def test_three_of_them_do_nothing_on_2_2() -> None:
    done = kiplab.run(PLAY, kafka=BEFORE).stage.performed
    assert [p.moment for p in done if p.not_applicable is not None] == [3, 9, 14]


def test_on_2_2_broker_1_tells_twice_that_it_leads_and_gives_nothing() -> None:
    run = kiplab.run(PLAY, kafka=BEFORE)
    asked = [e for e in run.events if isinstance(e, facts.MetadataRefreshed)]
    assert [(e.node, e.leader, e.leader_epoch) for e in asked] == [(1, 1, 3), (1, 1, 3)]
    assert given(PLAY, kafka=BEFORE) == [(1, 10, 9)] * 3


def test_with_kip_343_it_is_refused_and_asks_somebody_else() -> None:
    run = kiplab.run(PLAY)
    assert {(r["error"], r["guard"]) for r in run.refusals} == {
        ("NOT_LEADER_OR_FOLLOWER", "343.refuse-while-fenced")
    }
    assert given(PLAY) == [(1, 10, 9), (2, 10, 14)]


def test_between_the_two_both_take_records() -> None:
    appended = [e for e in kiplab.run(PLAY).events if isinstance(e, facts.Appended)]
    assert [e.node for e in appended[:2]] == [2, 1]


# --- two timeouts -------------------------------------------------------------------------------


def test_between_the_two_there_are_two_leaders_or_none() -> None:
    assert between((DECLARE, FENCE)) == 2
    assert between((FENCE, DECLARE)) == 0


def test_a_shorter_timeout_of_the_broker_is_over_first_however_long_the_way() -> None:
    assert orders(18, 9) == orders(10, 9) == {(FENCE, DECLARE)}
    assert orders(9, 18) == orders(9, 13) == {(DECLARE, FENCE)}
    assert len(orders(12, 15)) == len(orders(9, 9)) == 2


def test_if_only_the_answers_are_lost_nobody_leads_whatever_the_timeouts() -> None:
    both = "expect broker 1 declared=active own-state=inactive"
    run = played(
        f"hold metadata-heartbeat-reply; heartbeat 1; fence-itself 1; {both};"
        f"produce orders-0 count=1 to=1; heartbeat 1; {both}; expect orders-0 leader=1"
    )
    assert [r["error"] for r in run.refusals] == ["NOT_LEADER_OR_FOLLOWER"]


def test_without_a_controller_all_of_them_fence_themselves() -> None:
    run = played("crash 0; fence-itself 1; fence-itself 2; produce orders-0 count=1 to=1")
    assert [r["guard"] for r in run.refusals] == ["343.refuse-while-fenced"]


# --- two processes, two requests ----------------------------------------------------------------


def test_its_table_of_messages_is_the_run_that_is_judged() -> None:
    rows = re.findall(
        r"^\| \d \| (\w+) \| (\d+)", cells(LAB, "markdown")["incarnations-text"], re.MULTILINE
    )
    sent = re.findall(r"^send ([a-z-]+) from=1 incarnation-id=(\d+)", RUN, re.MULTILINE)
    names = {"heartbeat": "metadata-heartbeat", "IsrChange": "isr-change"}
    assert [(names[kind], number) for kind, number in rows] == sent


def test_the_first_process_refuses_the_newcomers_number_and_is_abandoned() -> None:
    for run in (kiplab.run("343-two-processes"), kiplab.run(parse(RUN))):
        assert "UNKNOWN_SERVER_ERROR" in {r["error"] for r in run.refusals}
        assert run.sentence == "nothing lost yet, but a replica is abandoned"


def test_while_a_session_lasts_nobody_else_registers_under_the_id() -> None:
    with pytest.raises(kiplab.PlayError, match="NODEEXISTS"):
        played("crash 1; start 1")


def test_an_answer_to_an_earlier_incarnation_changes_nothing() -> None:
    late = "hold metadata-heartbeat-reply; heartbeat 1; expire 1; deliver metadata-heartbeat-reply"
    played(f"{late}; expect broker 1 own-state=initial")


def test_a_leader_of_2_2_writes_on_the_condition_that_nobody_has_written_since() -> None:
    before = "\n".join(s.text for s in load(PLAY).statements).partition("declare-inactive")[0]
    run = kiplab.run(parse(f"{before}check-lag 1\n".replace("kip-343", BEFORE)))
    (state,) = run.partitions
    assert (state["leader"], state["isr"]) == (2, [2, 1])
    assert "broker 1 goes back to ISR {2, 1}" in run.text()


# --- what became of it --------------------------------------------------------------------------


def test_the_ideas_that_it_lists_are_those_of_the_table() -> None:
    listed = re.findall(r"^\| \d+ \| (.*) \|$", cells(LAB, "markdown")["fates-text"], re.MULTILINE)
    ideas = [fate.idea for fate in kiplab.heartbeat_fates().rows]
    ideas[8] = "brokers register with the controller, by an RPC (KIP-343 rejected it)"
    assert listed == ideas
    assert (letters().count("N"), len(letters())) == (3, 10)


def test_that_nobody_built_it_is_said_plainly() -> None:
    said = texts(LAB)
    never = "**KIP-343 was never adopted, and nobody built it. This lab is optional.**"
    assert never in said["title"]
    assert "**unjudged**" in said["fidelity"]
    assert [r.name for r in RELEASES.values() if r.specified == 343] == ["kip-343"]


def test_the_plays_that_it_names_show_what_was_decided() -> None:
    failover = "343-controller-failover"
    nobody = kiplab.run(failover, off="343.failover-keeps-active")
    assert -1 in [e.leader for e in nobody.events if isinstance(e, facts.LeaderElected)]
    named = re.findall(r"`(343-[a-z-]+)`", prose(LAB))
    assert {failover, "343-stopping"} <= set(named)
    assert [name for name in named if not load(name).statements] == []


# --- the exit ticket ----------------------------------------------------------------------------


def test_in_kraft_broker_1_takes_them_and_says_nothing() -> None:
    run = exit_run(LAB, "today =")
    appended = [(e.node, e.first, e.last) for e in run.events if isinstance(e, facts.Appended)]
    assert (1, 11, 15) in appended
    acknowledged = [
        (e.node, e.first, e.last) for e in run.events if isinstance(e, facts.BatchAcknowledged)
    ]
    assert acknowledged == [(1, 10, 10), (2, 11, 15)]
    assert run.lost == []


def test_when_the_link_is_back_it_cuts_them_off_and_its_own_isr_is_refused() -> None:
    run = exit_run(LAB, "today =")
    cuts = [(e.node, e.first, e.last) for e in run.events if isinstance(e, facts.Truncated)]
    assert cuts == [(1, 11, 15)]
    assert run.refusals[-1]["error"] == "FENCED_LEADER_EPOCH"


def test_a_real_kafka_serves_on_while_it_is_cut_off() -> None:
    asked = kiplab.real("consumer-old-leader", kafka="3.5", live=False)
    assert (asked.agree, asked.verdict) == (True, {"engine": "safe", "kafka": "safe"})
    assert "● · broker 1 appends offsets 10-12" in asked.text()
