"""The edges of each rule, by small histories: what it finds in them, and what it does not."""

from collections.abc import Sequence
from typing import NamedTuple

import pytest

from kiplab.incident.findings.rule import USUAL, Thresholds
from kiplab.incident.findings.rule_table import RULES, findings_at_end
from kiplab.incident.log_items import LogItem, LogRecord, SavedState
from kiplab.incident.replayed_log.replaying import Replay
from tests.incident.short_log import short_log
from tests.incident.test_findings import (
    CLEAN_RETURN,
    CREATED,
    OTHER_LIFE,
    QUICK_JOIN,
    UNCLEAN_BY_HAND,
    V3_5,
    V3_9,
    V4_1,
    V4_3,
    findings,
    short,
)

ELR_JUDGES = "966.elr-unclean-shutdown"


class Edge(NamedTuple):
    rule: str
    text: str
    expected: tuple[str, ...] = ()
    thresholds: Thresholds = USUAL


def quick_join(version: str, leads: bool = True) -> str:
    """A quick join where all run one release; the controller's is known or not."""
    text = V3_9.replace("21", version) + QUICK_JOIN.replace(" 11\n", f" {version}\n")
    return text if leads else text.replace("0 0 leads 3000\n", "")


LEADERLESS = CREATED + "20 10 change p0 isr=1\n30 20 change p0 leader=-1\n"
FENCED = "31 20 fence 1@3\n"
LATE = "14 2 topic orders\n15 2 new p0 replicas=1,2 isr=1 leader=1\n20 8 change p0 leader=-1\n"
RECOVERING = CREATED + "20 10 change p0 isr=2 leader=2 leaderRecoveryState=1\n"
ELR_GONE = "24 9.5 change p0 eligibleLeaderReplicas=\n"
ELIGIBLE = """
15 2 new p0 replicas=1,2,3 isr=1,3 leader=1
20 5 change p0 isr=1 eligibleLeaderReplicas=3
21 5 fence 3@9
"""
OUTAGE = """
30 8 change p0 isr= leader=-1 eligibleLeaderReplicas=1,3 lastKnownElr=1
31 8 fence 1@3
"""
LAST_LEADER = (
    "40 9 change p0 isr=1 leader=1 leaderRecoveryState=1 eligibleLeaderReplicas= lastKnownElr=\n"
)
STOPPING = "20 10 stop 2@6\n"
ONE_REPLICA = """
15 2 new p0 replicas=1 isr=1 leader=1
{}
21 10 change p0 leader=-1
22 10 fence 1@3
30 20 register 1@30 Y1 11
31 20 unfence 1@30
40 20 change p0 leader=1
"""
IDLE = "12 0.5 idle\n13 1 idle\n"
MOVING = """
15 2 new p0 replicas=1 isr=1 leader=1
20 5 change p0 replicas=2,1 addingReplicas=2 removingReplicas=1
"""
MOVED = "40 9 change p0 isr=2 leader=2 replicas=2 addingReplicas= removingReplicas=\n"
"""A reassignment, and the join that ends it."""
RESTARTED = "30 8 register 2@30 Y2 8\n31 8 unfence 2@30\n"


def isr_changes(count: int, every: float) -> str:
    """So many changes of an ISR, seconds apart."""
    changes = (
        f"{20 + at} {10 + at * every} change p0 isr={'1,2' if at % 2 else '1,2,3'}"
        for at in range(1, count + 1)
    )
    return CREATED + "\n".join(changes) + "\n"


EDGES = {
    "a process that registers again has another epoch and is the same": Edge(
        "F1", V3_5 + OTHER_LIFE.replace("Y1", "X1")
    ),
    "a broker that never restarted is elected": Edge(
        "F1", V3_5 + CREATED + "20 9 change p0 isr=2,3 leader=2\n21 9 fence 1@3"
    ),
    "a restarted broker joins the ISR again before it is elected": Edge(
        "F1",
        V3_9
        + CREATED
        + "20 9 change p0 isr=1,3\n21 9 fence 2@6\n30 12 register 2@30 Y2 21\n31 12 unfence 2@30\n"
        + "32 13 change p0 isr=1,3,2\n40 20 change p0 isr=3,2 leader=2\n41 20 fence 1@3",
    ),
    "who was elected is what the others copy: its next election is no other process": Edge(
        "F1",
        V3_5 + OTHER_LIFE + "70 50 change p1 leader=-1\n71 50 fence 1@60\n"
        "72 55 unfence 1@60\n73 55 change p1 leader=1\n",
        ("62 occasion",),
    ),
    "an unclean election of a restarted member of the ISR": Edge(
        "F1",
        V3_5 + OTHER_LIFE.replace("62 40.3 change p1", "62 40.3 change p1 leaderRecoveryState=1"),
    ),
    **{
        f"one replica, whose broker {how}": Edge("F1", V3_5 + ONE_REPLICA.format(stop), (kind,))
        for how, stop, kind in (
            ("stops in order", "20 10 stop 1@3", "40 note"),
            ("dies", "", "40 occasion"),
        )
    },
    "a log that begins late, and a restart in it": Edge(
        "F1",
        LATE + "30 9 register 1@30 Y1 21\n31 9 unfence 1@30\n32 9 change p0 leader=1\n",
        ("32 occasion",),
    ),
    "a log that begins late, and no restart in it": Edge(
        "F1", LATE + "31 9 unfence 1@3\n32 9 change p0 leader=1\n"
    ),
    "a log that begins late, and nothing in it of the elected broker": Edge(
        "F1", LATE + "32 9 change p0 leader=1\n"
    ),
    "a restarted member of the ISR under ELR: no fence has judged it": Edge(
        "F1",
        V4_1 + CREATED + "20 9 register 2@20 Y2 27\n21 9 unfence 2@20\n"
        "30 12 change p0 isr=3,2 leader=2\n31 12 fence 1@3\n",
        ("30 occasion",),
    ),
    "a restarted eligible leader replica, the feature switched off": Edge(
        "F1",
        V4_1
        + CLEAN_RETURN.replace("63 22", "60 21 feature eligible.leader.replicas.version 0\n63 22"),
        ("63 occasion",),
    ),
    "an eligible leader replica that never restarted": Edge(
        "F1", V4_1 + CLEAN_RETURN.replace("53 20 register 2@53 Y2 27\n", "").replace("2@53", "2@6")
    ),
    "gone and back under the same process": Edge(
        "F2", V3_9 + LEADERLESS + "40 21 change p0 leader=1\n", ("30-40 note",)
    ),
    "a partition of one replica is never alone": Edge(
        "F2", V3_9 + "20 9 new p0 replicas=1 isr=1 leader=1\n21 10 change p0 leader=-1\n"
    ),
    "an unclean election of a member of the ISR": Edge(
        "F3",
        V3_9 + LEADERLESS + "40 22 change p0 leader=1 leaderRecoveryState=1\n",
        ("40 occasion",),
    ),
    "a join that ends a reassignment elects: nobody is passed over": Edge(
        "F3", V3_9 + MOVING + MOVED
    ),
    "a reassignment is cancelled, and the election is unclean": Edge(
        "F3",
        V3_9 + MOVING + MOVED.replace("leader=2", "leader=2 leaderRecoveryState=1"),
        ("40 occasion",),
    ),
    "a leader that may not stay asks for a join, and who joins is elected": Edge(
        "F3", V3_9 + CREATED + "20 9 change p0 isr=1\n30 9 change p0 isr=1,2 leader=2\n"
    ),
    "a cancelled reassignment elects uncleanly, and nothing is RECOVERING": Edge(
        "F3",
        V3_9 + MOVING.replace(" removingReplicas=1", "") + "30 7 change p0 isr=1,2\n"
        "31 8 change p0 isr=2 leader=2\n32 8 fence 1@3\n33 8.5 unfence 1@3\n"
        + MOVED.replace("isr=2 leader=2 replicas=2", "isr=1 leader=1 replicas=1"),
        ("40 occasion",),
    ),
    "two unclean elections: the second finds the partition RECOVERING": Edge(
        "F3",
        V3_9 + RECOVERING + "30 20 change p0 leader=-1\n31 20 fence 2@6\n"
        "40 22 change p0 isr=3 leader=3\n",
        ("20 occasion", "40 occasion"),
    ),
    "a passed-over member comes back": Edge(
        "F3",
        V3_5 + UNCLEAN_BY_HAND + "61 41 unfence 1@60\n62 42 change p0 isr=2,3,1\n",
        ("58 occasion", "62 note"),
    ),
    "a quick join that ends a reassignment and elects": Edge(
        "F4",
        V3_9.replace("version 21", "version 8") + MOVING + RESTARTED + MOVED,
        ("40 occasion",),
    ),
    "an election of an eligible leader replica is no join": Edge(
        "F4", V4_1.replace("version 27", "version 8") + CLEAN_RETURN
    ),
    "a quick join under 3.5-IV1, releases known": Edge("F4", quick_join("9"), ("31 occasion",)),
    "a quick join under 3.6, whatever its controller": Edge(
        "F4", quick_join("14"), ("31 occasion",)
    ),
    "a quick join that 3.9 excludes": Edge("F4", quick_join("21")),
    "a quick join that 3.9 excludes, asked for": Edge(
        "F4", quick_join("21"), ("31 note",), Thresholds(every=True)
    ),
    "a quick join that 3.9 excludes, whoever is the controller": Edge(
        "F4", quick_join("21", leads=False)
    ),
    "a quick join where the leader's release is not known": Edge(
        "F4", quick_join("21").replace("X1 21", "X1 99"), ("31 occasion",)
    ),
    "a quick join before it is unfenced": Edge(
        "F4", V3_5 + QUICK_JOIN.replace("30 8.5 unfence 3@29\n", ""), ("31 occasion",)
    ),
    "a join under a leader epoch that began after the restart": Edge(
        "F4",
        V3_5 + QUICK_JOIN.replace("31 8.5", "31 8.5 change p0 isr=2 leader=2\n32 8.6"),
    ),
    "a join of a process that only registered again": Edge(
        "F4", V3_5 + QUICK_JOIN.replace("Y3", "X3")
    ),
    "a recovery of ten minutes": Edge(
        "F5", V3_9 + RECOVERING + "30 610 change p0 isr=2,3 leaderRecoveryState=0\n"
    ),
    "a longer recovery": Edge(
        "F5",
        V3_9 + RECOVERING + "30 611 change p0 isr=2,3 leaderRecoveryState=0\n",
        ("20-30 sure",),
    ),
    "a recovery at the end of the log": Edge("F5", V3_9 + RECOVERING, ("20 sure",)),
    "leaderless for a second": Edge("F6", V3_9 + LEADERLESS + "40 21 change p0 leader=1\n"),
    "leaderless for longer": Edge(
        "F6", V3_9 + LEADERLESS + "40 21.1 change p0 leader=1\n", ("30-40 sure",)
    ),
    "leaderless for longer, within the limit": Edge(
        "F6", V3_9 + LEADERLESS + "40 21.1 change p0 leader=1\n", (), Thresholds(5000)
    ),
    "leaderless until the topic is deleted": Edge(
        "F6", V3_9 + LEADERLESS + "40 22 remove\n", ("30-40 sure",)
    ),
    "the clock goes back meanwhile": Edge("F6", V3_9 + LEADERLESS + "40 9 change p0 leader=1\n"),
    "leaderless at the end": Edge("F6", V3_9 + LEADERLESS + "40 22 idle\n", ("30 sure",)),
    "below min.insync.replicas for a minute": Edge(
        "F7", V4_1 + CREATED + "20 10 change p0 isr=1\n30 70 change p0 isr=1,2\n"
    ),
    "below min.insync.replicas for longer": Edge(
        "F7", V4_1 + CREATED + "20 10 change p0 isr=1\n30 71 change p0 isr=1,2\n", ("20-30 sure",)
    ),
    "below it only since it was raised": Edge(
        "F7",
        V4_1 + CREATED + "20 10 change p0 isr=1,2\n30 71 topic-config min.insync.replicas 3\n"
        "40 140 idle\n",
        ("30 sure",),
    ),
    "an ISR of one where no record sets it": Edge(
        "F7", V3_9 + CREATED + "20 10 change p0 isr=1\n30 171 idle\n"
    ),
    "a fenced broker joins": Edge(
        "F8",
        V3_5 + CREATED + "20 5 change p0 isr=1,3\n21 5 fence 2@6\n22 6 change p0 isr=1,3,2\n",
        ("22 sure",),
    ),
    "a broker that shuts down joins": Edge(
        "F8",
        V3_5 + CREATED + "20 5 stop 2@6\n21 5 change p0 isr=1,3\n23 6 change p0 isr=1,3,2\n",
        ("23 sure",),
    ),
    "a broker that is not registered joins": Edge(
        "F8",
        V3_5 + CREATED + "20 5 change p0 isr=1,3\n21 5 unregister 2@6\n22 6 change p0 isr=1,3,2\n",
        ("22 sure",),
    ),
    "two processes with one id": Edge(
        "F9",
        V3_9 + "20 5 register 2@20 Y2 21\n30 20 register 2@30 X2 21\n",
        ("30 sure",),
    ),
    "two processes, one after the other": Edge(
        "F9", V3_9 + "20 5 register 2@20 X2 21\n30 20 register 2@30 Y2 21\n"
    ),
    "ten changes in a few minutes": Edge("F20", V3_9 + isr_changes(10, 20)),
    "eleven changes in five minutes, and the twelfth": Edge(
        "F20", V3_9 + isr_changes(12, 20), ("31 note",)
    ),
    "eleven changes in more": Edge("F20", V3_9 + isr_changes(12, 31)),
    "no silence: this log idles ten seconds long": Edge(
        "F11", V3_9 + "13 1 idle\n14 11 idle\n15 11.5 moved 1@3\n16 21 idle\n"
    ),
    "a silence of five seconds": Edge("F11", V3_9 + IDLE + "14 6 idle\n"),
    "a longer silence": Edge("F11", V3_9 + IDLE + "14 6.1 idle\n", ("13-14 sure",)),
    "no silence: records are missing": Edge("F11", V3_9 + IDLE + "15 6.1 idle\n"),
    "no silence: this log has no such records": Edge("F11", V3_9 + "13 9 fence 1@3\n"),
    "a stop of six minutes": Edge("F12", V3_9 + STOPPING + "30 370 fence 2@6\n"),
    "a longer stop": Edge("F12", V3_9 + STOPPING + "30 371 fence 2@6\n", ("20-30 note",)),
    "a longer stop that a registration ends": Edge(
        "F12", V3_9 + STOPPING + "30 371 register 2@30 Y2 21\n", ("20-30 note",)
    ),
    "a longer stop, told once": Edge(
        "F12",
        V3_9 + STOPPING + "30 371 unregister 2@6\n40 800 register 2@40 Y2 21\n",
        ("20-30 note",),
    ),
    "a stop without an end": Edge("F12", V3_9 + STOPPING + "30 371 idle\n", ("20 note",)),
    "an unclean election where an ELR is left": Edge(
        "F13", V4_3 + ELIGIBLE + OUTAGE + "40 9 change p0 isr=2 leader=2 leaderRecoveryState=1\n"
    ),
    "cleared while there is a leader": Edge("F14", V4_1 + ELIGIBLE + "24 9 clear orders\n"),
    "cleared in an outage": Edge(
        "F14", V4_1 + ELIGIBLE + OUTAGE + "40 9 clear orders\n", ("40 sure",)
    ),
    "directories in an outage": Edge(
        "F14",
        V4_1 + ELIGIBLE + OUTAGE + "40 9 change p0 directories=A,B eligibleLeaderReplicas=\n",
        ("40 sure",),
    ),
    "the feature is switched off in an outage": Edge(
        "F14",
        V4_1
        + ELIGIBLE
        + OUTAGE
        + "40 9 feature eligible.leader.replicas.version 0\n"
        + "45 9 change p0 eligibleLeaderReplicas= lastKnownElr=\n",
        ("45 sure",),
    ),
    "cleared while the ISR has a member": Edge(
        "F14",
        V4_3 + ELIGIBLE + "30 8 change p0 leader=-1 lastKnownElr=1\n31 8 fence 1@3\n"
        "40 9 change p0 eligibleLeaderReplicas=\n",
    ),
    "a registration strikes the last one off": Edge(
        "F14",
        V4_1
        + ELIGIBLE
        + OUTAGE
        + "40 9 change p0 eligibleLeaderReplicas=1\n41 9 register 3@40 Y3 27\n"
        + "50 9 change p0 eligibleLeaderReplicas=\n51 9 register 1@50 Y1 27\n",
    ),
    "the same directory again": Edge("F15", V4_1 + ELIGIBLE + ELR_GONE, ("24 sure",)),
    "directories that leave the ELR alone": Edge(
        "F15", V4_1 + ELIGIBLE + "24 9 change p0 directories=A,B\n"
    ),
    "directories once the feature is switched off": Edge(
        "F15",
        V4_1 + ELIGIBLE + "22 8 feature eligible.leader.replicas.version 0\n"
        "24 9 change p0 directories=A,B,C eligibleLeaderReplicas=\n",
    ),
    "a controller of 4.3 keeps the list, and so had another reason": Edge(
        "F15", V4_3 + ELIGIBLE + ELR_GONE
    ),
    "a reassignment that empties the list": Edge(
        "F15",
        V4_1 + ELIGIBLE + "24 9 change p0 replicas=1,2,3,4 addingReplicas=4 directories=A,B,C,D "
        "eligibleLeaderReplicas=\n",
    ),
    "an unclean registration": Edge(
        "F15", V4_1 + ELIGIBLE + ELR_GONE + "25 9.5 register 3@24 Y 27\n"
    ),
    "an unregistration": Edge("F15", V4_1 + ELIGIBLE + ELR_GONE + "25 9.5 unregister 3@9\n"),
    "a fenced leader": Edge(
        "F16", V4_1 + ELIGIBLE + "24 9 change p0 isr=3 leader=3\n", ("24 sure",)
    ),
    "a fenced last known leader": Edge("F16", V4_1 + ELIGIBLE + OUTAGE + LAST_LEADER, ("40 sure",)),
    "a last known leader that is nobody": Edge(
        "F16",
        V4_1 + ELIGIBLE + "24 9 change p0 isr= leader=-1 lastKnownElr=-1\n25 9 fence 1@3\n",
        ("24 sure",),
    ),
    "a reassignment takes a replica away": Edge(
        "F19", V3_9 + CREATED + "20 9 change p0 isr=1,2 replicas=1,2 leader=1\n", ("20 note",)
    ),
    "a shrink from 3.6-IV0 on": Edge("F19", V3_9 + CREATED + "20 9 change p0 isr=1,2\n"),
}


@pytest.mark.parametrize("edge", EDGES)
def test_a_rule_finds_what_it_is_for(edge: str) -> None:
    rule, text, expected, thresholds = EDGES[edge]
    assert found(rule, short_log(text), thresholds) == list(expected)


def found(rule: str, items: Sequence[LogItem], thresholds: Thresholds = USUAL) -> list[str]:
    words = (one.partition(" ") for one in short(findings(items, thresholds)))
    return [rest for id, _, rest in words if id == rule]


def of_second_epoch(text: str) -> list[LogRecord]:
    """A history, and lines of it under the next controller."""
    return [*short_log(V3_9), *short_log(text, epoch=2)]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("41 109 fence 1@3\n43 110 fence 2@6\n45 110.5 fence 3@9", ["43 note", "45 note"]),
        ("41 109 fence 1@3\n43 112 fence 2@6", []),
        ("41 109 fence 1@3", []),
        ("41 107 fence 1@3\n43 107 fence 2@6", []),
        ("41 113 fence 1@3\n43 113 fence 2@6", []),
        ("41 109 register 1@41 Y1 21\n43 109 fence 2@6", []),
    ],
)
def test_brokers_fenced_together_after_a_failover(lines: str, expected: list[str]) -> None:
    items = of_second_epoch(f"40 100 leads 3001\n{lines}\n")
    assert found("F10", items) == expected


def test_fences_of_one_failover_are_one_event() -> None:
    items = of_second_epoch("40 100 idle\n41 109 fence 1@3\n43 109 fence 2@6\n44 110 fence 3@9\n")
    fenced = [f for f in findings(items) if f.rule == "all-fenced-after-failover"]
    assert [f.event for f in fenced] == [40, 40]
    assert [f.incarnations for f in fenced] == [((1, 3), (2, 6)), ((2, 6), (3, 9))]


def test_a_silence_before_another_controller_epoch_says_so() -> None:
    items = [*short_log(V3_9 + IDLE), *short_log("14 9 idle\n", epoch=2)]
    (silent,) = findings(items)
    assert silent.sentence == (
        "No record from 13 to 14, for 8.0 s by the controller's clock, and another controller "
        "epoch begins."
    )


def test_a_member_that_a_checkpoint_brought_joined_as_its_epoch_or_earlier() -> None:
    known = tuple(short_log(V3_5 + "15 2.5 new p1 replicas=2,3,1 isr=1 leader=1\n"))
    rest = [r for r in short_log(OTHER_LIFE) if r.offset >= 54]
    items: list[LogItem] = [SavedState(54, 1, 36_000, known, "54.checkpoint"), *rest]
    (elected,) = (f for f in findings(items) if f.rule == "other-life")
    assert "it had been in sync as broker epoch 3 or earlier and was" in elected.sentence


def test_who_registered_before_the_log_begins_is_not_named_by_an_epoch() -> None:
    text, _, _ = EDGES["a log that begins late, and a restart in it"][1:]
    (elected,) = (f for f in findings(short_log(text)) if f.rule == "other-life")
    assert "in sync as a process that registered before this log begins (since 15) and" in (
        elected.sentence
    )
    assert elected.incarnations == ((1, 30),)


@pytest.mark.parametrize(
    ("beginning", "how"),
    [
        (
            V3_9 + LEADERLESS + FENCED,
            "Broker 1 was alone in the ISR since 20 and was fenced at 30.",
        ),
        # Its log directory went offline (KIP-858), and the process goes on.
        (
            V3_9 + LEADERLESS + "31 20 moved 1@3",
            "Broker 1 was alone in the ISR since 20 and went at 30.",
        ),
        (
            V3_9 + LEADERLESS.replace("30 20", "29 19 stop 1@3\n30 20"),
            "Broker 1 was alone in the ISR since 20 and was shut down at 30.",
        ),
        (LATE, "Broker 1 was alone in the ISR since 15 and went at 20."),
    ],
)
def test_how_the_last_member_went_is_said_where_it_is_known(beginning: str, how: str) -> None:
    (gone,) = (f for f in findings(short_log(beginning)) if f.rule == "alone-then-gone")
    assert gone.sentence == f"{how} Nobody leads at the end."


def test_an_unclean_election_names_who_was_in_sync() -> None:
    passed_over, back = (
        f
        for f in findings(short_log(EDGES["a passed-over member comes back"].text))
        if f.rule == "unclean"
    )
    assert (passed_over.incarnations, back.incarnations) == (((1, 3),), ((1, 60),))


@pytest.mark.parametrize(
    ("edge", "guards"),
    [
        ("a fenced leader", ()),
        ("a fenced last known leader", ("kafka-19522.live-last-leader",)),
        ("a last known leader that is nobody", ("pr-20629.last-known-by-leader",)),
        ("a fenced broker joins", ("841.fenced",)),
        ("a broker that shuts down joins", ("841.shutting-down",)),
        ("a broker that is not registered joins", ("841.registered",)),
        ("a restarted member of the ISR under ELR: no fence has judged it", (ELR_JUDGES,)),
        ("a reassignment takes a replica away", ()),
    ],
)
def test_a_finding_names_the_guards_that_would_have_prevented_it(
    edge: str, guards: tuple[str, ...]
) -> None:
    rule, text, _, _ = EDGES[edge]
    (finding,) = (f for f in findings(short_log(text)) if RULES[f.rule].id == rule)
    assert finding.guards == guards


@pytest.mark.parametrize(
    ("state", "rules"),
    [("isr=1 leader=-1", []), ("isr=1 leader=1 leaderRecoveryState=1", ["recovering-left"])],
)
def test_a_checkpoint_alone_has_a_state_and_no_history(state: str, rules: list[str]) -> None:
    known = tuple(short_log(f"{V3_5}15 2.5 new p1 replicas=2,3,1 {state}\n"))
    replay = Replay(lambda _: None)
    assert not list(replay.events([SavedState(54, 7, 36_000, known, "54.checkpoint")]))
    assert replay.last is not None
    states = replay.partitions.values()
    found = findings_at_end(replay.cluster, states, replay.last, USUAL, replay.first)
    assert [finding.rule for finding in found] == rules
    assert replay.cluster.controller_epoch == 7
