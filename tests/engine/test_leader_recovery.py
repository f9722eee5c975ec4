"""LeaderRecoveryState: what the controller keeps, and what a leader makes of it (KIP-704)."""

import msgspec
import pytest

from kiplab.engine import moves, setup
from kiplab.engine.cluster import Cluster
from kiplab.engine.step import step
from kiplab.engine.truth import truth
from kiplab.protocol.features import parse_features
from kiplab.protocol.ids import BrokerEpoch, BrokerId, LeaderEpoch
from kiplab.protocol.messages import AlterPartitionRequest
from kiplab.protocol.registrations import LeaderRecoveryState
from kiplab.protocol.replica.broker_state import IsrState, replica_of

RECOVERED, RECOVERING = LeaderRecoveryState
ONE, TWO = BrokerId(1), BrokerId(2)


def elected_uncleanly(release: str) -> Cluster:
    """Broker 1 leads alone after an unclean election; broker 2 is about to catch up."""
    return setup.cluster_of(
        setup.Setup(
            features=parse_features(release),
            brokers=(
                setup.BrokerSetup(id=ONE, epoch=BrokerEpoch(101)),
                setup.BrokerSetup(id=TWO, epoch=BrokerEpoch(102)),
            ),
            partitions=(
                setup.PartitionSetup(
                    name="orders-0",
                    replicas=(ONE, TWO),
                    isr=(ONE,),
                    leader=ONE,
                    leader_epoch=LeaderEpoch(5),
                    recovery=RECOVERING,
                ),
            ),
        )
    )


def isr_state(cluster: Cluster) -> IsrState:
    replica = replica_of(cluster.brokers[0], "orders-0")
    assert replica is not None
    assert replica.leading is not None
    return replica.leading.isr_state


def stored(cluster: Cluster) -> LeaderRecoveryState:
    return truth(cluster).partitions[0].recovery


def asked(cluster: Cluster) -> AlterPartitionRequest:
    (body,) = (m.body for m in cluster.messages if m.name.kind == "alter-partition")
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
        here = step(here, move or moves.Fire(TWO, moves.Timer.FETCH)).cluster
    assert (isr_state(here).isr, isr_state(here).recovery) == ((ONE,), RECOVERED)
    assert [i.recovery for i in asked(here).items] == [RECOVERED], "the pending change proposes it"
    assert stored(here) is RECOVERING, "nobody has told the controller yet"
    for _ in range(2):
        (name,) = (m.name for m in here.messages if m.name.kind.startswith("alter-partition"))
        here = step(here, moves.Deliver(name)).cluster
    assert stored(here) is RECOVERED
    assert isr_state(here) == IsrState((ONE, TWO), recovery=RECOVERED)


def test_it_is_a_byte_in_what_is_saved() -> None:
    state = truth(elected_uncleanly("3.5")).partitions[0]
    assert b'"recovery":1' in msgspec.json.encode(state)
    assert msgspec.json.decode(msgspec.json.encode(state), type=type(state)) == state
