"""Which findings a history has, and no others: the vectors of the specification, and each rule."""

import pytest

from kiplab.incident.findings.finding import Finding
from kiplab.incident.findings.rule import Thresholds
from kiplab.incident.findings.rule_table import RULES, findings_at_end, findings_of
from kiplab.incident.records import LogItem, SavedState
from kiplab.protocol.guards import GUARDS
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


def findings(items: list[LogItem], thresholds: Thresholds = Thresholds()) -> list[Finding]:  # noqa: B008
    """Everything that is found, also where the log ends, in the order of offsets."""
    events, replay, found = replayed(items)
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


def of(text: str, rule: str) -> Finding:
    """The only finding of that rule."""
    (finding,) = (f for f in findings(list(short_log(text))) if f.rule == rule)
    return finding


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
    assert short(findings(list(short_log(text)))) == expected
