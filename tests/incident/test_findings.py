"""Which findings a history has, and no others: vectors of real logs, sentences, healthy logs."""

from collections.abc import Sequence

import pytest

from kiplab.incident.findings.finding import Finding
from kiplab.incident.findings.rule import USUAL, Thresholds
from kiplab.incident.findings.rule_table import RULES, findings_at_end, findings_of
from kiplab.incident.log_items import LogItem
from tests.incident.short_log import replayed, short_log

START = """
0 0 leads 3000
1 0 topic orders
3 0 register 1@3 X1 {level}
4 0 unfence 1@3
6 0 register 2@6 X2 {level}
7 0 unfence 2@6
9 0 register 3@9 X3 {level}
10 0 unfence 3@9
11 0 feature metadata.version {version}
12 0 controller 3000 {level}
"""
ELR = "13 0 feature eligible.leader.replicas.version 1\n14 0 cluster-config min.insync.replicas 2\n"
V3_5 = "".join(START.format(level=11, version=11).splitlines(keepends=True)[:-1])
"""Up to 3.6 a controller does not register."""
V3_4_AT_3_5 = V3_5.replace("metadata.version 11", "metadata.version 8")
V3_9 = START.format(level=21, version=21)
V4_1 = START.format(level=27, version=27) + ELR
V4_3 = START.format(level=30, version=30) + ELR
CREATED = "15 2.5 new p0 replicas=1,2,3 isr=1,2,3 leader=1\n"


def findings(items: Sequence[LogItem], thresholds: Thresholds = USUAL) -> list[Finding]:
    """Everything that is found, also where the log ends, in the order of offsets."""
    events, replay, found = replayed(list(items))
    found += [finding for event in events for finding in findings_of(event, thresholds)]
    if replay.last is not None:
        states = replay.partitions.values()
        found += findings_at_end(replay.cluster, states, replay.last, thresholds)
    return sorted(found, key=lambda finding: (finding.offset, finding.rule))


def short(found: list[Finding]) -> list[str]:
    """``"F6 53-58 sure"``: the rule, where it began and ended, and the kind."""
    return [_short(finding) for finding in found]


def _short(finding: Finding) -> str:
    id = RULES[finding.rule].id if finding.rule in RULES else finding.rule
    until = "" if finding.until is None else f"-{finding.until}"
    return f"{id} {finding.offset}{until} {finding.kind}"


OTHER_LIFE = """
15 2.5 new p1 replicas=2,3,1 isr=2,3,1 leader=2
23 11.5 change p1 isr=2,1 leader=2
24 11.5 fence 3@9
32 16.0 stop 2@6
34 16.0 change p1 isr=1 leader=1
54 37.0 change p1 leader=-1
55 37.0 fence 1@3
60 40.3 register 1@60 Y1 11
61 40.3 unfence 1@60
62 40.3 change p1 leader=1
"""
UNCLEAN_BY_HAND = """
15 2.5 new p0 replicas=1,2,3 isr=1 leader=1
53 37.0 change p0 leader=-1
55 37.0 fence 1@3
58 40.0 change p0 isr=2 leader=2 leaderRecoveryState=1
59 40.3 change p0 isr=2,3 leaderRecoveryState=0
60 40.3 register 1@60 Y1 11
"""
QUICK_JOIN = """
15 2.5 new p0 replicas=1,2,3 isr=1,2,3 leader=1
17 3.0 change p0 isr=1,2 leader=1
24 3.0 fence 3@9
29 8.0 register 3@29 Y3 11
30 8.5 unfence 3@29
31 8.5 change p0 isr=1,2,3
"""
CLEAN_RETURN = """
20 3 new p1 replicas=1,2,3 isr=1,2 leader=1
42 10 change p1 isr=1 eligibleLeaderReplicas=2
43 10 fence 2@6
53 20 register 2@53 Y2 27
54 20 unfence 2@53
63 22 change p1 isr=2 leader=2 eligibleLeaderReplicas=1
64 22 fence 1@3
"""
LAST_LEADER = """
15 2 new p0 replicas=1,2 isr=1,2 leader=1
25 5 change p0 isr=1 eligibleLeaderReplicas=2
26 5 fence 2@6
27 8 change p0 isr= leader=-1 eligibleLeaderReplicas=1,2 lastKnownElr=1
28 8 fence 1@3
29 12 change p0 eligibleLeaderReplicas=2
30 12 register 1@29 Y1 30
31 12 unfence 1@29
32 13 change p0 isr=1 leader=1 leaderRecoveryState=1 eligibleLeaderReplicas= lastKnownElr=
33 13 register 2@32 Y2 30
"""
CLEARED = """
15 2 new p0 replicas=1,2 isr=1,2 leader=1
36 5 change p0 isr=1 eligibleLeaderReplicas=2
37 5 fence 2@6
38 8 change p0 isr= leader=-1 eligibleLeaderReplicas=1,2 lastKnownElr=1
39 8 fence 1@3
40 9 topic-config min.insync.replicas 1
41 9 clear orders
42 12 register 1@42 Y1 30
43 12 unfence 1@42
44 12 register 2@44 Y2 30
45 12 unfence 2@44
48 20 change p0 isr=1 leader=1 leaderRecoveryState=1
49 25 change p0 isr=1,2 leaderRecoveryState=0
"""
WIPED = """
15 2 new p0 replicas=1,2 isr=1,2 leader=1
20 5 change p0 isr=1 eligibleLeaderReplicas=2
21 5 fence 2@6
22 9 register 2@22 Y2 27
23 9 unfence 2@22
24 9.5 change p0 directories=A,B eligibleLeaderReplicas=
25 12 change p0 isr= leader=-1 eligibleLeaderReplicas=1 lastKnownElr=1
26 12 fence 1@3
28 20 idle
"""
VECTORS = {
    "1 other-life": (
        V3_5 + OTHER_LIFE,
        ["F19 23 note", "F2 54-62 occasion", "F6 54-62 sure", "F1 62 occasion"],
    ),
    "2 unclean by hand": (
        V3_5 + UNCLEAN_BY_HAND,
        ["F2 53-58 occasion", "F6 53-58 sure", "F3 58 occasion"],
    ),
    "3 quick-join": (V3_4_AT_3_5 + QUICK_JOIN, ["F19 17 note", "F4 31 occasion"]),
    "3 quick-join at 3.5-IV2": (V3_5 + QUICK_JOIN, ["F19 17 note", "F4 31 occasion"]),
    "4 clean return": (V4_1 + CLEAN_RETURN, ["F1 63 note"]),
    "5 last leader": (
        V4_3 + LAST_LEADER,
        ["F2 27-32 occasion", "F6 27-32 sure", "F13 32 occasion", "F5 32 sure"],
    ),
    "6 cleared in the outage": (
        V4_3 + CLEARED,
        ["F2 38-48 occasion", "F6 38-48 sure", "F14 41 sure", "F3 48 occasion"],
    ),
    "7 wiped by directories": (V4_1 + WIPED, ["F15 24 sure", "F2 25 note", "F6 25 sure"]),
}


@pytest.mark.parametrize("vector", VECTORS)
def test_a_vector_has_exactly_these_findings(vector: str) -> None:
    text, expected = VECTORS[vector]
    assert short(findings(short_log(text))) == expected


SENTENCES = {
    ("1 other-life", "other-life"): (
        "Broker 1 was elected cleanly at 62; it had been in sync as broker epoch 3 (since 15) and "
        "was registered as epoch 60 (at 60): another process, whose disk nobody checked.",
        "4.0",
    ),
    ("1 other-life", "alone-then-gone"): (
        "Broker 1 was alone in the ISR since 34 and was fenced at 54. Broker 1, as epoch 60, leads "
        "from 62 on; nobody led for 3.3 s by the controller's clock.",
        "",
    ),
    ("1 other-life", "leader-epoch-without-leader-change"): (
        "Leader epoch 1 begins at 23 and broker 2 stays leader. Below metadata version 3.6-IV0 an "
        "ISR that shrinks begins a new leader epoch.",
        "3.6",
    ),
    ("2 unclean by hand", "unclean"): (
        "Broker 2 was elected uncleanly at 58; the ISR was [1]. By hand: a controller does it by "
        "itself from 3.9 on, and the newest broker is 3.5. A replica that follows it truncates "
        "what broker 2 does not have.",
        "",
    ),
    ("2 unclean by hand", "leaderless"): (
        "No leader from 53 to 58, for 3.0 s by the controller's clock; the ISR was [1].",
        "",
    ),
    ("3 quick-join", "quick-join"): (
        "Broker 3 joined the ISR at 31 as epoch 29, 0 ms after it was unfenced, which is short; "
        "its process before, epoch 9, may have fetched under the same leader epoch. Nothing "
        "compared broker epochs here: metadata version 3.4-IV0 is below 3.5-IV1.",
        "3.5",
    ),
    ("3 quick-join at 3.5-IV2", "quick-join"): (
        "Broker 3 joined the ISR at 31 as epoch 29, 0 ms after it was unfenced, which is short; "
        "its process before, epoch 9, may have fetched under the same leader epoch. It is not "
        "excluded: the version of the request and its broker epochs are not in the log, and "
        "before 3.7 a leader may take two processes for one.",
        "3.7",
    ),
    ("4 clean return", "other-life"): (
        "Broker 2 was elected cleanly at 63; it had been in sync as broker epoch 6 (since 20) and "
        "was registered as epoch 53 (at 53): another process, and the controller held its stop for "
        "clean.",
        "",
    ),
    ("5 last leader", "last-leader"): (
        "Broker 1, the last known leader, was elected uncleanly at 32: no eligible leader replica "
        "was left. Broker 2 was the last one, and had not stopped cleanly.",
        "",
    ),
    ("6 cleared in the outage", "elr-cleared-leaderless"): (
        "The controller forgot the eligible leader replicas [1, 2] at 41, as min.insync.replicas "
        "was set, while there was no leader: from then on nobody can be elected cleanly.",
        "",
    ),
    ("7 wiped by directories", "elr-wiped-by-directories"): (
        "The eligible leader replicas were [2] until 24, where a broker reported the directories "
        "of its replicas and the controller emptied the list. From 4.3 on it keeps it.",
        "4.3",
    ),
    ("7 wiped by directories", "alone-then-gone"): (
        "The ISR became empty at 25; in the end the eligible leader replicas were [1], and until "
        "24 [2]. Nobody leads at the end.",
        "",
    ),
}


@pytest.mark.parametrize(("vector", "rule"), SENTENCES)
def test_a_finding_says_what_happened_and_which_release_prevents_it(vector: str, rule: str) -> None:
    (finding,) = (f for f in findings(short_log(VECTORS[vector][0])) if f.rule == rule)
    assert (finding.sentence, finding.release) == SENTENCES[vector, rule]


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("", "By hand or by configuration, the log cannot tell: no record sets "),
        ("57 39 topic-config unclean.leader.election.enable false\n", "By hand: "),
        (
            "57 39 topic-config unclean.leader.election.enable true\n",
            "By hand or by configuration: ",
        ),
        (
            "57 39 cluster-config unclean.leader.election.enable true\n",
            "By hand or by configuration: ",
        ),
    ],
)
def test_an_unclean_election_is_by_hand_or_by_configuration(setting: str, sentence: str) -> None:
    text = V3_9 + UNCLEAN_BY_HAND.replace("58 40.0", f"{setting}58 40.0")
    (found,) = (f for f in findings(short_log(text)) if f.rule == "unclean")
    assert f"the ISR was [1]. {sentence}" in found.sentence


def test_an_unclean_election_beside_an_unfencing_is_by_configuration() -> None:
    text = V3_9 + UNCLEAN_BY_HAND.replace(
        "58 40.0",
        "50 39 topic-config unclean.leader.election.enable true\n"
        "56 39.9 fence 2@6\n57 39.9 unfence 2@6\n58 40.0",
    )
    (found,) = (f for f in findings(short_log(text)) if f.rule == "unclean")
    assert "[1]. By configuration: unclean.leader.election.enable is true." in found.sentence


@pytest.mark.parametrize(
    ("beginning", "closer"),
    [
        (V3_9 + CREATED + "20 9 change p0 isr=1\n", "31 10 fence 1@3\n"),
        (V4_1.replace(ELR, "") + CREATED + "20 9 change p0 isr=1\n", "31 10 register 1@30 Y1 27\n"),
    ],
)
def test_a_fence_that_elects_uncleanly_is_by_configuration(beginning: str, closer: str) -> None:
    """unclean.leader.election.enable may stand in a file, which no record shows."""
    elected = "30 10 change p0 isr=2 leader=2 leaderRecoveryState=1\n"
    (found,) = (f for f in findings(short_log(beginning + elected + closer)) if f.rule == "unclean")
    assert "[1]. By configuration: unclean.leader.election.enable is true." in found.sentence


def test_a_shrink_begins_a_leader_epoch_also_in_a_migration() -> None:
    text = V3_9 + CREATED + "20 9 change p0 isr=1,2 leader=1\n"
    (found,) = findings(short_log(text))
    assert "also while a cluster leaves ZooKeeper." in found.sentence
    assert not found.guards


def of_many(text: str, count: int) -> str:
    """The lines about partition 0, for so many partitions one behind the other."""
    lines: list[str] = []
    for line in text.splitlines():
        copies = count if " p0 " in line else 1
        lines += [line.replace(" p0 ", f" p{n} ") for n in range(copies)]
    return "".join(f"{at} {line.split(' ', 1)[1]}\n" for at, line in enumerate(lines))


def test_findings_of_many_partitions_in_one_unfencing_have_one_event() -> None:
    """One registration, one fence or one unfencing: its record's offset is their number."""
    lost = V3_9 + (
        "20 5 new p0 replicas=1 isr=1 leader=1\n21 9 change p0 leader=-1\n22 9 fence 1@3\n"
        "23 20 register 1@23 Y1 21\n24 20 unfence 1@23\n25 20 change p0 leader=1\n"
    )
    lines = of_many(lost.replace("\n\n", "\n").strip(), 3)
    epoch = next(line.split()[0] for line in lines.splitlines() if "Y1" in line)
    items = short_log(lines.replace("@23", f"@{epoch}"))
    found = [f for f in findings(items) if f.rule in ("other-life", "leaderless")]
    unfenced = int(epoch) + 1
    assert [(f.rule, f.event) for f in found if f.rule == "other-life"] == [
        ("other-life", unfenced)
    ] * 3
    assert {f.event for f in found} == {unfenced}
    open_at_end = [item for item in items if item.offset < int(epoch)]
    still = findings([*open_at_end, *short_log("90 30 idle\n")])
    assert [(f.rule, f.event) for f in still] == [("leaderless", still[0].offset)] * 3


ROLLING_OF_2 = """
20 10 stop 2@6
21 10 change p0 isr=1,3{elr}
30 11 fence 2@6
40 20 register 2@40 Y2 {level}
41 20 unfence 2@40
42 21 change p0 isr=1,3,2
"""
ROLLING_OF_LEADER = """
50 30 stop 1@3
51 30 change p0 isr=3,2 leader=2
60 31 fence 1@3
70 40 register 1@70 Y1 {level}
71 40 unfence 1@70
72 41 change p0 isr=3,2,1
"""
PREFERRED = "80 50 change p0 leader=1\n"
HEALTHY = {
    "rolling restart, ELR off": V3_9
    + CREATED
    + (ROLLING_OF_2 + ROLLING_OF_LEADER + PREFERRED).format(elr="", level=21),
    "rolling restart, ELR on": V4_1
    + CREATED
    + (ROLLING_OF_2 + ROLLING_OF_LEADER + PREFERRED).format(elr="", level=27),
    "rolling restart of an ISR at the minimum": V4_1
    + CREATED.replace("replicas=1,2,3 isr=1,2,3", "replicas=1,2 isr=1,2")
    + ROLLING_OF_2.format(elr=" eligibleLeaderReplicas=2", level=27)
    .replace("1,3 ", "1 ")
    .replace("isr=1,3,2", "isr=1,2 eligibleLeaderReplicas="),
    "reassignment": V4_1
    + CREATED
    + "20 9 change p0 replicas=1,2,3 addingReplicas=3 removingReplicas=2\n"
    + "30 12 change p0 replicas=1,3 isr=1,3 addingReplicas= removingReplicas=\n",
    "topics made and deleted": V4_1
    + CREATED
    + "20 9 clear orders\n30 9 remove\n40 10 topic orders\n"
    + CREATED.replace("15 2.5", "41 10"),
    "a quiet night": V4_1 + CREATED + "".join(f"{20 + n} {9 + n / 2} idle\n" for n in range(30)),
}


@pytest.mark.parametrize("history", HEALTHY)
def test_a_healthy_history_has_no_finding(history: str) -> None:
    assert short(findings(short_log(HEALTHY[history]))) == []


def test_the_table_has_every_rule_once() -> None:
    numbers = [int(rule.id[1:]) for rule in RULES.values()]
    assert numbers == sorted({*range(1, 21)} - {17, 18})
    for name, rule in RULES.items():
        assert rule.name == name
        assert rule.looks_for.endswith((".", ")."))
