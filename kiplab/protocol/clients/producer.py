"""The producer: its unacknowledged batches, their leader, and their retries.

The input is records to write, an answer to a metadata request, a turn of the sender, or the result
of a batch that waits at a leader. One batch of a partition is under way at a time; the others wait
behind it. With acks=1 a batch is acknowledged once the leader has it, with acks=all once the high
watermark has passed it. Every refusal modelled here can be retried: the batch returns to the front
of the queue. If the error says that the metadata are old, the next turn begins with a metadata
request. The output is the producer, the broker that was asked, and facts. A producer that keeps
waiting stays the same object.

This is a producer with enable.idempotence=false and max.in.flight.requests.per.connection=1. A
batch whose answer was lost is written again, and its records are then in the log twice. With
idempotence, the default since Kafka 3.0, the leader would detect the second copy by its sequence
number; no log here keeps these. The order of the batches is kept either way.
"""

import msgspec
from msgspec.structs import replace

from .. import ids, log
from ..errors import KafkaError
from ..facts import (
    Appended,
    BatchAcknowledged,
    BatchFailed,
    BatchRequeued,
    BatchWaits,
    Compared,
    Fact,
    Refused,
)
from ..features import Features
from ..registrations import PartitionRegistration
from ..replica import broker_parts, produce
from ..replica.broker_state import Broker, log_of, replica_of
from ..replica.remote_replicas import wanted_in_sync

RETRY_BACKOFF_MS = 100
"""retry.backoff.ms"""
REQUEST_TIMEOUT_MS = 30_000
"""request.timeout.ms"""
DELIVERY_TIMEOUT_MS = 120_000
"""delivery.timeout.ms"""


class Batch(msgspec.Struct, frozen=True, cache_hash=True):
    """Records that go together. `number` is which of the producer's batches it is, from 1.

    `at` is the broker that has appended it at `first`..`end` - 1, in the incarnation `incarnation`,
    and answers when all in sync have it; NO_LEADER before. Not sent before `due_ms`.
    """

    number: ids.Count
    count: ids.Count
    acks_all: bool = True
    created_ms: ids.Milliseconds = 0
    due_ms: ids.Milliseconds = 0
    at: ids.BrokerId = ids.NO_LEADER
    incarnation: ids.Incarnation | None = None
    first: ids.Offset = ids.Offset(-1)
    end: ids.Offset = ids.Offset(-1)


class Producer(msgspec.Struct, frozen=True, cache_hash=True, kw_only=True):
    """One producer on one partition.

    `leader` and `leader_epoch` are what its metadata says; `update_requested` that it asks anew
    before it sends again. `batches` are those that are not acknowledged, the oldest first,
    `batch_count` how many there ever were. `observed` is every record that acks=all has
    acknowledged, by epoch: no rule looks at it.
    """

    name: str
    partition: ids.PartitionName
    leader: ids.BrokerId = ids.NO_LEADER
    leader_epoch: ids.LeaderEpoch = ids.NO_LEADER_EPOCH
    update_requested: bool = False
    batches: tuple[Batch, ...] = ()
    batch_count: ids.Count = 0
    observed: log.Log = log.EMPTY

    @property
    def waits_at(self) -> ids.BrokerId:
        """The broker that owes it an answer, or NO_LEADER."""
        return self.batches[0].at if self.batches else ids.NO_LEADER

    def named(self, batch: Batch) -> tuple[str, str, int, int]:
        """The first fields of every fact about a batch that no leader has."""
        return self.name, self.partition, batch.number, batch.count


ProducerEffect = tuple[Producer, tuple[Fact, ...]]
RequestEffect = tuple[Producer, Broker | None, tuple[Fact, ...]]
"""The producer after a request, the broker that it asked, and what both report."""

_ASKS_FOR_METADATA = (
    KafkaError.NETWORK_EXCEPTION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_OR_FOLLOWER,
    KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
)
"""The errors modelled here that are an InvalidMetadataException."""


def informed(producer: Producer, state: PartitionRegistration) -> Producer:
    """The producer after a metadata answer; it keeps asking while there is no leader.

    Source: Metadata.updateLatestMetadata and RecordAccumulator.ready (3.5.0).
    """
    if state.leader_epoch < producer.leader_epoch:
        return replace(producer, update_requested=False)
    return replace(
        producer,
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        update_requested=state.leader == ids.NO_LEADER,
    )


def queued(producer: Producer, count: int, now_ms: int | None, *, acks_all: bool) -> Producer:
    """The producer with a batch more. Source: RecordAccumulator.append (3.5.0)."""
    now, number = now_ms or 0, producer.batch_count + 1
    batch = Batch(number, count, acks_all, created_ms=now, due_ms=now)
    return replace(producer, batches=(*producer.batches, batch), batch_count=number)


def send(
    producer: Producer, leader: Broker | None, features: Features, now_ms: int | None
) -> RequestEffect:
    """Its first batch goes to `leader`, as in its metadata; None when that does not answer.

    Source: Sender.sendProducerData and completeBatch, NetworkClient.processDisconnection (3.5.0).
    """
    batch = producer.batches[0]
    nobody = producer.leader == ids.NO_LEADER
    if leader is None or nobody:
        error = KafkaError.LEADER_NOT_AVAILABLE if nobody else KafkaError.NETWORK_EXCEPTION
        producer, requeued = _requeued(producer, error, now_ms)
        return producer, None, requeued
    after, _, facts = produce.asked_to_produce(
        leader, producer.partition, batch.count, features, now_ms, acks_all=batch.acks_all
    )
    written = next((f for f in facts if isinstance(f, Appended)), None)
    if written is None:
        refused = next(f for f in facts if isinstance(f, Refused))
        producer, requeued = _requeued(producer, refused.error, now_ms)
        return producer, after, (*facts, *requeued)
    under_way = replace(
        batch,
        at=after.id,
        incarnation=after.incarnation,
        first=written.first,
        end=ids.Offset(written.last + 1),
        due_ms=(now_ms or 0) + REQUEST_TIMEOUT_MS if now_ms is not None else 0,
    )
    producer = replace(producer, batches=(under_way, *producer.batches[1:]))
    answered_now, answer = answered(producer, after, features, now_ms)
    if answer:
        return answered_now, after, (*facts, *answer)
    waits = BatchWaits(
        after.id, producer.name, producer.partition, batch.number, written.first, written.last
    )
    return answered_now, after, (*facts, waits)


def answered(
    producer: Producer, node: Broker | None, features: Features, now_ms: int | None
) -> ProducerEffect:
    """The result of the batch under way; the same producer while it waits.

    `node` is the broker that it waits at, None when the process that took it is gone.

    Source: Partition.checkEnoughReplicasReachOffset and DelayedProduce.tryComplete (3.5.0); with
    acks=1 ReplicaManager.delayedProduceRequestRequired (3.5.0).
    """
    batch = producer.batches[0]
    replica = replica_of(node, producer.partition) if node is not None else None
    if node is None:
        return _requeued(producer, KafkaError.NETWORK_EXCEPTION, now_ms)
    here = broker_parts.here(node, features, now_ms)
    if not batch.acks_all:
        return _acknowledged(producer, node)
    if replica is None or replica.leading is None:
        # Its topic is deleted, or somebody else leads.
        gone = KafkaError.UNKNOWN_TOPIC_OR_PARTITION
        error = gone if replica is None else KafkaError.NOT_LEADER_OR_FOLLOWER
        refused = here.refusal(producer.partition, produce.PRODUCE, error)
        return _with(refused, _requeued(producer, error, now_ms))
    if replica.high_watermark < batch.end:
        return producer, ()
    wanted, in_sync = wanted_in_sync(here, replica), len(replica.leading.isr_state.maximal)
    if in_sync >= wanted:
        return _acknowledged(producer, node)
    error = KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    compared = Compared("size of the ISR", f"at least {wanted} (min.insync.replicas)", str(in_sync))
    refused = here.refusal(producer.partition, produce.PRODUCE, error, None, compared)
    return _with(refused, _requeued(producer, error, now_ms))


def given_up(producer: Producer, *, reachable: bool, now_ms: int | None) -> ProducerEffect:
    """It has waited for request.timeout.ms: the batch is queued again, though it is in a log.

    Source: DelayedProduce.onComplete and NetworkClient.handleTimedOutRequests (3.5.0).
    """
    error = KafkaError.REQUEST_TIMED_OUT if reachable else KafkaError.NETWORK_EXCEPTION
    return _requeued(producer, error, now_ms)


def expired(producer: Producer, now_ms: int) -> ProducerEffect:
    """Without the batches that are older than delivery.timeout.ms: they have failed.

    Source: RecordAccumulator.expiredBatches and Sender.getExpiredInflightBatches (3.5.0).
    """
    late = [b for b in producer.batches if now_ms - b.created_ms >= DELIVERY_TIMEOUT_MS]
    if not late:
        return producer, ()
    facts = tuple(BatchFailed(*producer.named(b), exception="TimeoutException") for b in late)
    return replace(producer, batches=tuple(b for b in producer.batches if b not in late)), facts


def _with(fact: Fact, answer: ProducerEffect) -> ProducerEffect:
    producer, facts = answer
    return producer, (fact, *facts)


def _requeued(producer: Producer, error: KafkaError, now_ms: int | None) -> ProducerEffect:
    """Kafka's Sender.canRetry and reenqueueBatch, and where it asks for metadata."""
    batch = producer.batches[0]
    asks = error in _ASKS_FOR_METADATA
    due_ms = 0 if now_ms is None else now_ms + RETRY_BACKOFF_MS
    again = Batch(batch.number, batch.count, batch.acks_all, batch.created_ms, due_ms)
    fact = BatchRequeued(*producer.named(batch), error=error, asks_who_leads=asks)
    requeued = replace(
        producer,
        batches=(again, *producer.batches[1:]),
        update_requested=producer.update_requested or asks,
    )
    return requeued, (fact,)


def _acknowledged(producer: Producer, node: Broker) -> ProducerEffect:
    batch = producer.batches[0]
    fact = BatchAcknowledged(
        node.id,
        producer.name,
        producer.partition,
        batch.number,
        first=batch.first,
        last=ids.Offset(batch.end - 1),
        acks_all=batch.acks_all,
    )
    done = replace(producer, batches=producer.batches[1:])
    if batch.acks_all:
        committed = log.up_to(log_of(node, producer.partition), batch.end)
        written = log.records_from(committed, batch.first)
        done = replace(done, observed=log.overlaid(producer.observed, written))
    return done, (fact,)
