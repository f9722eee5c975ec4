"""A producer's records: refused by a leader with too few replicas in sync, else appended.

What comes in: how many records, and whether the producer wants them committed (acks=all). Judged,
before anything is written: whether the leader recovers (KIP-704, unbuilt), then the size of the
committed ISR. What goes out: a longer log, and a high watermark that may have moved; or an error,
and nothing is written.

Whether the records are committed is not waited for here; `clients/producer.py` does, and there
NOT_ENOUGH_REPLICAS_AFTER_APPEND occurs. A play's plain line asks only a broker that leads; a
producer asks whom it takes for the leader, and may meet NOT_LEADER_OR_FOLLOWER.

Source: ReplicaManager.appendRecords and Partition.appendRecordsToLeader (3.5.0, 3.9.0-rc3).
"""

from __future__ import annotations

from .. import log
from ..errors import KafkaError
from ..facts import Appended, Compared, Fact, Refused, TransactionBegun
from ..features import Features
from ..ids import NO_LEADER_EPOCH, BrokerId, Offset
from . import broker_parts
from .broker_parts import Here
from .broker_state import Broker, Replica, replica_of
from .client_reads import not_the_leader
from .fenced import fenced_refuses
from .high_watermark import move_high_watermark, wanted_in_sync
from .recovering import leader_refuses

PRODUCE = "produce"


def produce(
    broker: Broker,
    partition: str,
    count: int,
    features: Features,
    now_ms: int | None,
    *,
    acks_all: bool,
    transaction: bool = False,
) -> broker_parts.BrokerEffect:
    """Append `count` records to the log of `partition`, which `broker` leads; perhaps to the
    transaction that is open there, or that they begin.

    Source: Partition.appendRecordsToLeader (3.5.0, 3.9.0-rc3).
    """
    replica = replica_of(broker, partition)
    assert replica is not None, f"broker {broker.id} has no {partition}"
    here = broker_parts.here(broker, features, now_ms)
    refused = fenced_refuses(here, partition, PRODUCE) or leader_refuses(here, replica, PRODUCE)
    if refused is None and acks_all:
        refused = _too_few_in_sync(here, replica)
    if refused is not None:
        return broker, (), (refused,)
    mine = broker_parts.log_of(broker, partition)
    longer = log.append(mine, replica.leader_epoch, count, transaction=transaction)
    broker = broker_parts.with_log(broker, partition, longer)
    replica, facts = move_high_watermark(here, replica, longer)
    appended = Appended(
        node=broker.id, partition=partition, first=mine.end, last=Offset(longer.end - 1)
    )
    begun = _begun(broker.id, partition, mine) if transaction else ()
    return broker_parts.with_replica(broker, replica), (), (*begun, appended, *facts)


def _begun(leader: BrokerId, partition: str, mine: log.Log) -> tuple[Fact, ...]:
    if log.open_transaction(mine) is not None:
        return ()
    return (TransactionBegun(node=leader, partition=partition, first=mine.end),)


def asked_to_produce(
    broker: Broker,
    partition: str,
    count: int,
    features: Features,
    now_ms: int | None,
    *,
    acks_all: bool,
) -> broker_parts.BrokerEffect:
    """As `produce`, of whomever a producer takes for the leader: who does not lead refuses.

    Source: ReplicaManager.appendToLocalLog and Partition.appendRecordsToLeader (3.5.0).
    """
    here = broker_parts.here(broker, features, now_ms)
    wrong = not_the_leader(here, replica_of(broker, partition), partition, NO_LEADER_EPOCH, PRODUCE)
    if wrong is not None:
        return broker, (), (wrong,)
    return produce(broker, partition, count, features, now_ms, acks_all=acks_all)


def _too_few_in_sync(here: Here, replica: Replica) -> Refused | None:
    """The committed ISR counts, not the one that the leader has asked for."""
    assert replica.leading is not None, f"{replica.partition} is not led here"
    wanted, in_sync = wanted_in_sync(here, replica), len(replica.leading.isr_state.isr)
    if in_sync >= wanted:
        return None
    asked = f"at least {wanted} (min.insync.replicas)"
    return Refused(
        node=here.id,
        request=PRODUCE,
        error=KafkaError.NOT_ENOUGH_REPLICAS,
        guard=None,
        compared=(Compared("size of the ISR", asked, str(in_sync)),),
        partition=replica.partition,
    )
