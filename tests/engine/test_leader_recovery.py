"""LeaderRecoveryState: what the controller keeps, and what a leader makes of it (KIP-704)."""

import msgspec
import pytest
from msgspec.structs import replace

from kiplab.engine import moves
from kiplab.engine.cluster import Cluster
from kiplab.engine.step import step
from kiplab.engine.truth import truth
from kiplab.protocol.features import parse_features
from kiplab.protocol.messages import AlterPartitionRequest
from kiplab.protocol.registrations import LeaderRecoveryState
from kiplab.protocol.replica.broker_state import IsrState, replica_of
from tests.engine.small_clusters import BROKER_1, BROKER_2, cluster, partition

RECOVERED, RECOVERING = LeaderRecoveryState


def elected_uncleanly(release: str) -> Cluster:
    """Broker 1 leads alone after an unclean election; broker 2 is about to catch up."""
    alone = replace(partition("orders-0", 2, isr=1, log=()), recovery=RECOVERING)
    return cluster(parse_features(release), alone)


def isr_state(here: Cluster) -> IsrState:
    replica = replica_of(here.brokers[0], "orders-0")
    assert replica is not None
    assert replica.leading is not None
    return replica.leading.isr_state


def stored(here: Cluster) -> LeaderRecoveryState:
    return truth(here).partitions[0].recovery


def asked(here: Cluster) -> AlterPartitionRequest:
    (body,) = (m.body for m in here.messages if m.name.kind == "alter-partition")
    assert isinstance(body, AlterPartitionRequest)
    return body


@pytest.mark.parametrize("release", ["3.2", "3.4", "3.9"])
def test_a_leader_installs_recovered_and_the_controller_hears_of_it_with_the_next_isr(
    release: str,
) -> None:
    here = elected_uncleanly(release)
    assert stored(here) is RECOVERING
    assert isr_state(here).recovery is RECOVERED, "makeLeader recovers nothing"
    while isr_state(here).sent is None:
        move = moves.Deliver(here.messages[0].name) if here.messages else None
        here = step(here, move or moves.Fire(BROKER_2, moves.Timer.FETCH)).cluster
    assert (isr_state(here).isr, isr_state(here).recovery) == ((BROKER_1,), RECOVERED)
    assert [i.recovery for i in asked(here).items] == [RECOVERED], "the pending change proposes it"
    assert stored(here) is RECOVERING, "nobody has told the controller yet"
    for _ in range(2):
        (name,) = (m.name for m in here.messages if m.name.kind.startswith("alter-partition"))
        here = step(here, moves.Deliver(name)).cluster
    assert stored(here) is RECOVERED
    assert isr_state(here) == IsrState((BROKER_1, BROKER_2), recovery=RECOVERED)


def test_it_is_a_byte_in_what_is_saved() -> None:
    state = truth(elected_uncleanly("3.5")).partitions[0]
    assert b'"recovery":1' in msgspec.json.encode(state)
    assert msgspec.json.decode(msgspec.json.encode(state), type=type(state)) == state
