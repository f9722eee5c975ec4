"""The shortest plays of what real controllers did otherwise than the engine, by the numbers of the
list of what was found; D4 was withdrawn. Real controllers are asked the same in
tests/judge/test_conversation.py.
"""

from typing import NamedTuple

import pytest

from kiplab.plays.grammar import parse
from kiplab.plays.runner import run_play
from kiplab.protocol.features import Features
from tests.protocol.building import at

ALL, ANY = "3.2-3.9", "any"
FENCED, FENCED_BEFORE = "BrokerRegistrationChangeRecord", "FenceBrokerRecord"
BEFORE, SINCE = "< 3.3-IV2", ">= 3.3-IV2"
"""Another record fences a broker."""


class Found(NamedTuple):
    """A play, and what comes of its last line in some releases at some metadata versions."""

    name: str
    play: str
    releases: str
    metadata: str
    outcome: str


D1 = """
title    D1: a broker in controlled shutdown is fenced for its silence, and is heard of again
broker   1 down=yes
topic    t replicas=1 isr=1 leader=1
send     broker-heartbeat from=1 want-shut-down=yes
expire   1
send     broker-heartbeat from=1
"""
D2 = """
title    D2: a broker that was just unfenced has replicated nothing yet
broker   1 down=yes
broker   2 down=yes
topic    t replicas=1,2 isr=1,2 leader=1
given    next-metadata-offset=200
send     broker-heartbeat from=1 want-shut-down=yes
expire   2
send     broker-heartbeat from=2 metadata-offset=300
send     broker-heartbeat from=1
"""
D2_HEARD = D2 + "send broker-heartbeat from=2 metadata-offset=300\nsend broker-heartbeat from=1\n"
D3 = """
title    D3: a broker registers twice more and is heard of
broker   1 down=yes
topic    t replicas=1 isr=1 leader=1
send     broker-registration from=1 incarnation=1
send     broker-registration from=1 incarnation=1
send     broker-heartbeat from=1 metadata-offset=300
"""
D3_ONCE = D3.replace("send     broker-registration from=1 incarnation=1\n", "", 1)
D5 = """
title    D5: a registration ends a controlled shutdown
broker   1 down=yes
broker   2 down=yes
topic    t replicas=1,2 isr=1,2 leader=1
given    next-metadata-offset=200
send     broker-heartbeat from=1 want-shut-down=yes
send     broker-registration from=1 incarnation=1
send     broker-heartbeat from=1 want-fence=yes
"""
D6 = """
title    D6: the first registration after an election has an epoch below its offset
broker   1
broker   2 down=yes fenced=yes
broker   3 down=yes fenced=yes
given    next-metadata-offset=200
fail-over
send     broker-registration from=2 incarnation=2
expect   error=NONE records=RegisterBrokerRecord
send     broker-registration from=3 incarnation=2
"""
D6_WRITTEN = D6.replace("fail-over\n", "fail-over\nexpire 1\n")
D6_RAISED = D6.replace("fail-over\n", "fail-over\nupgrade metadata=3.3-IV1\n")
D7 = """
title    D7: sessions that are tied after a fail-over end in the order that the schedule has them
broker   1 down=yes
broker   2 down=yes
broker   3 down=yes
topic    t replicas=1,2,3 isr=1,2,3 leader=1 leader-epoch=5
timed
fail-over
advance  1s
send     broker-heartbeat from=3
advance  9s
"""
D7_OTHER = D7.replace("advance  9s", "advance  9s first=2,1")
D8 = """
title    A new controller ends no session before it has heard of somebody
broker   1 down=yes
broker   2 down=yes
topic    t replicas=1,2 isr=1,2 leader=1
timed
fail-over
advance  100s
expect   t-0 leader=1 isr=1,2
send     broker-heartbeat from=2
advance  1ms
"""

FOUND = (
    Found("D1", D1, "3.2-3.6", BEFORE, f"records=PartitionChangeRecord,{FENCED_BEFORE}"),
    Found("D1", D1, "3.3-3.5", SINCE, f"records=PartitionChangeRecord,{FENCED}"),
    Found("D1", D1, "3.6", ">= 3.6-IV0", f"records={FENCED}"),
    Found("D1", D1, "3.7-3.9", BEFORE, "records=UnfenceBrokerRecord,PartitionChangeRecord"),
    Found("D1", D1, "3.7-3.9", SINCE, f"records={FENCED},PartitionChangeRecord"),
    Found("D2", D2, "3.2-3.6", BEFORE, f"records={FENCED_BEFORE}"),
    Found("D2", D2, "3.3-3.6", SINCE, f"records={FENCED}"),
    Found("D2", D2, "3.7-3.9", ANY, "records=none"),
    Found("D2 heard", D2_HEARD, "3.7-3.9", SINCE, f"records={FENCED}"),
    Found("D3", D3, "3.2", ANY, "records=UnfenceBrokerRecord"),
    Found("D3", D3, "3.3-3.6", SINCE, f"records={FENCED}"),
    Found("D3", D3, "3.7-3.9", ANY, "records=none"),
    Found("D3 once", D3_ONCE, "3.2", ANY, "records=none"),
    Found("D5", D5, "3.3-3.6", ANY, "broker 1 fenced=yes shutting-down=no"),
    Found("D5", D5, "3.7-3.9", BEFORE, f"records={FENCED_BEFORE}"),
    Found("D5", D5, "3.7-3.9", SINCE, f"records={FENCED}"),
    Found("D6", D6, "3.2-3.5", ANY, "broker 2 epoch=200"),
    Found("D6", D6, "3.2-3.5", ANY, "broker 3 epoch=202"),
    Found("D6", D6, "3.6-3.9", ANY, "broker 2 epoch=200"),
    Found("D6", D6, "3.6-3.9", ANY, "broker 3 epoch=201"),
    Found("D6 written", D6_WRITTEN, ALL, ANY, "broker 2 epoch=201"),
    Found("D6 written", D6_WRITTEN, ALL, ANY, "broker 3 epoch=202"),
    Found("D6 raised", D6_RAISED, "3.3-3.5", "3.3-IV0", "broker 2 epoch=200"),
    Found("D6 raised", D6_RAISED, "3.3-3.5", "3.3-IV0", "broker 3 epoch=201"),
    Found("D7", D7, ALL, ANY, "t-0 leader=3 isr=3 leader-epoch=7"),
    Found("D7 other", D7_OTHER, ALL, "< 3.6-IV0", "t-0 leader=3 isr=3 leader-epoch=7"),
    Found("D7 other", D7_OTHER, "3.6-3.9", ">= 3.6-IV0", "t-0 leader-epoch=6 isr=3"),
    Found("unheard", D8, ALL, ANY, "t-0 leader=2 isr=2"),
)
CASES = [
    pytest.param(found, features, id=f"{found.name} {features.release}@{features.metadata_version}")
    for found in FOUND
    for features in at(found.releases, found.metadata)
]


@pytest.mark.parametrize(("found", "features"), CASES)
def test_the_last_line_has_the_outcome_that_real_controllers_gave(
    found: Found, features: Features
) -> None:
    kafka = f"kafka {features.release}/{features.metadata_version}"
    stage = run_play(parse(f"{kafka}{found.play}expect {found.outcome}\n"))
    assert [e for e in stage.expectations if e.status != "held"] == []


def test_whose_session_ends_first_is_told() -> None:
    stage = run_play(parse(f"kafka 3.9{D7_OTHER}"))
    told = "brokers {1, 2} are over: the schedule has broker 2 fenced first"
    assert any(told in getattr(event, "text", "") for event in stage.events)
