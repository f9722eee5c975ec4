"""Eligible leader replicas (KIP-966) in whole clusters: two stories, settings, random moves.

What the controller alone decides is in tests/protocol/test_vectors_elr_events.py.
"""

from random import Random

import pytest

from kiplab.engine import moves
from kiplab.engine.cluster import Cluster
from kiplab.engine.enabled import EVERYTHING, enabled
from kiplab.engine.events import PropertyBroken
from kiplab.engine.impossible_moves import why_not
from kiplab.engine.setup import cluster_of
from kiplab.engine.step import step
from kiplab.engine.truth import truth
from kiplab.plays.grammar import parse
from kiplab.plays.header import setup_of
from kiplab.plays.runner import run_play
from kiplab.plays.stage import Stage
from kiplab.plays.verdict import lost
from kiplab.protocol import facts
from kiplab.protocol.facts import RecordWritten
from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.ids import BrokerId, Count
from kiplab.protocol.kraft.controller_state import Controller, effective_min_isr
from kiplab.protocol.log import holds
from kiplab.protocol.registrations import LeaderRecoveryState, PartitionRegistration
from kiplab.protocol.replica.broker_state import log_of
from tests.protocol.building import instance

ELR = ["4.0", "4.1", "4.2", "4.3"]


def played(elr: int, min_isr: int, lines: str, kafka: str = "4.3") -> Stage:
    brokers = "broker 1\nbroker 2\nbroker 3\n"
    topic = f"topic orders min-insync-replicas={min_isr} log=100@0\n"
    return run_play(parse(f"kafka {kafka} elr={elr}\n{brokers}{topic}{lines}"))


def orders(stage: Stage) -> PartitionRegistration:
    return next(p for p in truth(stage.cluster).partitions if p.name == "orders-0")


def back(broker: int) -> str:
    return f"expire {broker}\nstart {broker}\nunfence {broker}\n"


# --- the two stories ------------------------------------------------------------------------------

LAST_EMPTY = "shut-down 3\nshut-down 2\ncrash 1 disk=replaced\n"
"""Everything is committed in all three; the last member loses its disk."""
LAST_STOPS = "shut-down 3\nshut-down 2\nshut-down 1\nheartbeat 1\n"
ALL_EMPTY = "shut-down 3\ncrash 2 disk=replaced\nexpire 2\ncrash 1 disk=replaced\n"


@pytest.mark.parametrize(
    ("elr", "min_isr", "lines", "leader", "recovers", "loses"),
    [
        pytest.param(0, 2, LAST_STOPS + back(1), 1, False, False, id="last returns clean, off"),
        pytest.param(1, 2, LAST_STOPS + back(1), 1, False, False, id="last returns clean, m=2"),
        pytest.param(1, 1, LAST_STOPS + back(1), 1, False, False, id="last returns clean, m=1"),
        pytest.param(0, 2, LAST_EMPTY + back(1), 1, False, True, id="last returns empty, off"),
        pytest.param(1, 2, LAST_EMPTY + back(1), -1, False, False, id="another one is waited for"),
        pytest.param(1, 2, LAST_EMPTY + back(1) + back(2), 2, False, False, id="it leads"),
        pytest.param(1, 1, LAST_EMPTY + back(1), 1, True, True, id="last returns empty, m=1"),
        pytest.param(1, 2, ALL_EMPTY + back(1) + "start 2\n", 1, True, True, id="all return empty"),
        pytest.param(1, 2, LAST_EMPTY + back(1) + back(3), -1, False, False, id="offline for ever"),
    ],
)
@pytest.mark.parametrize("kafka", ["4.1", "4.3"])
def test_the_last_replica(
    elr: int, min_isr: int, lines: str, leader: int, recovers: bool, loses: bool, kafka: str
) -> None:
    stage = played(elr, min_isr, lines, kafka)
    state = orders(stage)
    recovering = state.recovery is LeaderRecoveryState.RECOVERING
    assert (state.leader, recovering, bool(lost(stage))) == (leader, recovers, loses)


@pytest.mark.parametrize(("elr", "leader"), [(0, -1), (1, 2)])
def test_a_member_that_is_alive_takes_over_at_once(elr: int, leader: int) -> None:
    """Records above the high watermark are truncated then: they were never committed."""
    lines = "fetch 2\nfetch 3\n"  # the leader has heard of both
    lines += (
        "send alter-partition from=1 isr=1\nproduce orders-0 count=5 acks=1\ncrash 1\nexpire 1\n"
    )
    stage = played(elr, 2, lines)
    assert orders(stage).leader == leader
    assert not lost(stage)


# --- min.insync.replicas --------------------------------------------------------------------------

UNHEARD = (
    "hold metadata to=1\nconfigure orders min-insync-replicas=2\nproduce orders-0 count=5 acks=1\n"
    "check-lag 1\ncrash 1\nexpire 1\n"
)


def test_a_leader_that_has_not_heard_of_a_higher_value_commits_alone() -> None:
    """The controller has put the others into the ELR by then, and nothing is promised."""
    stage = played(1, 1, UNHEARD)
    assert orders(stage).leader == 2
    assert lost(stage) == [{"partition": "orders-0", "first": 100, "last": 104}]
    assert not any(e.promised for e in stage.events if isinstance(e, PropertyBroken))


def test_a_leader_that_has_heard_of_it_commits_nothing_alone() -> None:
    stage = played(1, 1, UNHEARD.replace("hold metadata to=1\n", ""))
    assert orders(stage).leader == 2
    assert not lost(stage)


TWO_TOPICS = "broker 1\nbroker 2\nbroker 3\ntopic orders min-insync-replicas=2\ntopic clicks\n"


@pytest.mark.parametrize(
    ("head", "lines", "least"),
    [
        pytest.param("kafka 4.3", "", (1, 2), id="nobody says anything"),
        pytest.param("kafka 4.3\ngiven min-insync-replicas=3", "", (3, 2), id="properties"),
        pytest.param(
            "kafka 4.3 elr=1\ngiven min-insync-replicas=3\ncontroller min-insync-replicas=1",
            *("", (1, 2)),
            id="the controller's properties beat the brokers' with ELR",
        ),
        pytest.param(
            "kafka 4.3\ngiven min-insync-replicas=3\ncontroller min-insync-replicas=1",
            *("upgrade elr=1\n", (1, 2)),
            id="V24 switching on writes them down",
        ),
        pytest.param(
            "kafka 4.3 elr=1",
            *("configure-brokers min-insync-replicas=3\n", (3, 2)),
            id="a topic's own entry stays",
        ),
        pytest.param(
            "kafka 4.3",
            *("configure-brokers min-insync-replicas=3\nupgrade elr=1\n", (3, 2)),
            id="switching on keeps an entry",
        ),
        pytest.param(
            "kafka 4.3 elr=1",
            *("configure clicks min-insync-replicas=1\nconfigure-brokers min-insync-replicas=3\n",),
            (1, 2),
            id="an entry with the same value is an entry",
        ),
    ],
)
def test_whose_min_insync_replicas_is_in_force(
    head: str, lines: str, least: tuple[int, int]
) -> None:
    cluster = run_play(parse(f"{head}\n{TWO_TOPICS}{lines}")).cluster
    assert tuple(p.min_insync_replicas for p in truth(cluster).partitions) == least
    led = [r.min_insync_replicas for b in cluster.brokers if b.process for r in b.process.replicas]
    assert led == [*least] * 3, "brokers have it too"


@pytest.mark.parametrize("value", [1, 2])
def test_v19_a_change_for_all_brokers_clears_every_elr_even_to_the_same_value(value: int) -> None:
    down = "".join(f"crash {b}\nexpire {b}\n" for b in (3, 2))
    head = f"kafka 4.3 elr=1\n{TWO_TOPICS.replace('clicks', 'clicks min-insync-replicas=2')}"
    before = run_play(parse(f"{head}{down}"))
    assert [p.elr for p in truth(before.cluster).partitions] == [(2,), (2,)]
    lines = f"{down}configure-brokers min-insync-replicas={value}\n"
    after = run_play(parse(f"{head}{lines}"))
    assert [p.elr for p in truth(after.cluster).partitions] == [(), ()]
    epochs = [[p.partition_epoch for p in truth(s.cluster).partitions] for s in (before, after)]
    assert epochs[1] == [epoch + 1 for epoch in epochs[0]]
    one = run_play(parse(f"{head}{down}configure orders min-insync-replicas=1\n"))
    assert [p.elr for p in truth(one.cluster).partitions] == [(2,), ()]


@pytest.mark.parametrize(
    ("elr", "move", "why"),
    [
        (1, moves.ConfigureBrokers(Count(3), BrokerId(1)), "INVALID_CONFIG: no broker has"),
        (1, moves.ConfigureBrokers(None, BrokerId(1)), "INVALID_CONFIG: no broker has"),
        (1, moves.ConfigureBrokers(None), "INVALID_CONFIG: the cluster-level"),
        (0, moves.ConfigureBrokers(None), "kiplab knows a cluster-level"),
        (1, moves.ConfigureBrokers(Count(1)), None),
    ],
)
def test_v25_what_is_refused(elr: int, move: moves.ConfigureBrokers, why: str | None) -> None:
    said = why_not(played(elr, 2, "").cluster, move)
    assert (said or "").startswith(why or "")
    assert (said is None) is (why is None)


@pytest.mark.parametrize(
    ("elr", "level", "why"),
    [
        ("4.3", 0, "eligible.leader.replicas.version is 0 already"),
        ("4.3", 2, "eligible.leader.replicas.version is 0 or 1, not 2"),
        ("3.9", 1, "eligible leader replicas (KIP-966) need Kafka 4.0 or later, not 3.9"),
        ("4.3", 1, None),
    ],
)
def test_v26_the_feature_is_finalized_where_it_can_be(
    elr: str, level: int, why: str | None
) -> None:
    stage = run_play(parse(f"kafka {elr}\n{TWO_TOPICS}"))
    assert why_not(stage.cluster, moves.UpgradeElr(Count(level))) == why


def test_switching_it_on_changes_no_partition_and_writes_one_setting() -> None:
    stage = run_play(parse(f"kafka 4.3\n{TWO_TOPICS}upgrade elr=1\n"))
    records = [e.record for e in stage.events if isinstance(e, RecordWritten)]
    assert records == ["ConfigRecord"]
    assert stage.cluster.features.has_elr
    assert {p.partition_epoch for p in truth(stage.cluster).partitions} == {0}


def test_switched_off_the_elr_of_before_is_elected_from_and_nobody_is_struck_off() -> None:
    """So that Kafka then loses what it had promised to keep: nothing is promised any more."""
    down = "shut-down 3\ncrash 2 disk=replaced\nexpire 2\ncrash 1\nexpire 1\n"
    on = played(1, 2, f"{down}start 2\nunfence 2\n")
    assert (orders(on).leader, orders(on).elr) == (-1, (1,))
    off = played(1, 2, f"{down}upgrade elr=0\nstart 2\nunfence 2\n")
    assert (orders(off).leader, orders(off).elr) == (2, ())
    assert lost(off) == [{"partition": "orders-0", "first": 0, "last": 99}]
    assert not any(e.promised for e in off.events if isinstance(e, PropertyBroken))


# --- random moves ---------------------------------------------------------------------------------

WALKS, LENGTH = 60, 60
NO_WALK = (moves.Configure, moves.Elect, moves.Upgrade)
KEEPS_PROPOSALS = "497.pending-outlives-metadata"
"""Without it Kafka breaks its promise for another reason: tests/explore/test_found.py."""


def whole(seed: int) -> tuple[Cluster, Random]:
    dice = Random(f"eligible leader replicas, {seed}")
    features = parse_features(dice.choice(ELR), on=(KEEPS_PROPOSALS,), elr=1)
    brokers = "".join(f"broker {n}\n" for n in (1, 2, 3))
    text = f"{brokers}topic orders log=3@0 min-insync-replicas={dice.choice((1, 2, 3))}\n"
    return cluster_of(setup_of(parse(f"kafka 4.3 elr=1\n{text}"), features)), dice


def wrong_lists(cluster: Cluster, features: Features) -> str:
    (state,) = truth(cluster).partitions
    least = effective_min_isr(instance(Controller, cluster.controller), state)
    if {*state.isr} & {*state.elr}:
        return "a broker is in both"
    if not {*state.elr} <= {*state.replicas}:
        return "an eligible leader replica is no replica"
    if len(state.isr) >= least and state.elr:
        return "there are eligible leader replicas although the ISR is large enough"
    live = "kafka-19522.live-last-leader" in features.active(BrokerId(1))
    leads = state.leader == -1 or state.leader in state.isr
    return "" if leads or not live else "the leader is not in the ISR"


@pytest.mark.parametrize("seed", range(WALKS))
def test_the_two_lists_hold_what_is_committed(seed: int) -> None:
    """However messages are late and brokers crash, while somebody in ISR or ELR loses nothing."""
    (cluster, dice), damaged = whole(seed), set[int]()
    for _ in range(LENGTH):
        offered = [m for m in enabled(cluster, EVERYTHING) if not isinstance(m, NO_WALK)]
        move = next(m for m in dice.sample(offered, len(offered)) if why_not(cluster, m) is None)
        done = step(cluster, move)
        cluster = done.cluster
        assert not wrong_lists(cluster, cluster.features), move
        assert not [e for e in done.events if isinstance(e, PropertyBroken) and e.promised], move
        for event in done.events:
            if isinstance(event, facts.IsrChanged):
                damaged -= {*event.after} - {*event.before}
            damaged |= {event.node} if isinstance(event, facts.Destroyed) else set()
        (observed,), (state,) = cluster.observed, truth(cluster).partitions
        holders = [b for b in cluster.brokers if b.id in (*state.isr, *state.elr)]
        whole_logs = [b for b in holders if holds(log_of(b, "orders-0"), observed.committed)]
        nobody = {b.id for b in holders} <= damaged
        assert whole_logs or nobody or observed.excused, move
