"""The end of a leader's recovery: it has done what there was to do, and tells the controller.

In comes word that the leader of a partition is done; that it recovers at all, and has not said so
before, was judged already. It aborts the transaction that is open, and asks the controller for the
ISR that there is, itself alone, with RECOVERED. Until the answer, or metadata, says that this is
written it goes on refusing (`recovering.py`). If a request of the same partition is still under
way, the AlterPartition manager takes no second one: then the leader recovers on, and has to say it
again. Out go the broker, the request for the controller, and facts; as Kafka recovers nothing,
nothing of this is Kafka's.
"""

from __future__ import annotations

from ..facts import RecoveryPhase
from ..features import Features
from . import alter_partition_manager, broker_parts
from .broker_state import Broker, replica_of
from .isr_proposals import propose_recovered
from .recovering import recovery_fact
from .transactions import abort_what_is_open


def finish_leader_recovery(
    broker: Broker, partition: str, features: Features, now_ms: int | None
) -> broker_parts.BrokerEffect:
    """The leader of `partition`, which recovers, has recovered.

    Source: none; Kafka recovers nothing, and this is KIP-704.
    """
    replica = replica_of(broker, partition)
    assert replica is not None, f"broker {broker.id} has no {partition}"
    here = broker_parts.here(broker, features, now_ms)
    done = recovery_fact(here, replica, RecoveryPhase.DONE)
    broker, _, aborted = abort_what_is_open(broker, partition, features, now_ms)
    replica, item = propose_recovered(here, replica_of(broker, partition) or replica)
    broker = broker_parts.with_replica(broker, replica)
    broker, sends, facts = alter_partition_manager.submit(broker, item, features)
    return broker, sends, (*aborted, done, *facts)
