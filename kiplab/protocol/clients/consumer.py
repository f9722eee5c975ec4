"""The consumer: its position, its leader, and how it notices a truncated log (KIP-320).

The input is an answer to a metadata request, a poll, or a seek. Metadata of an earlier leader epoch
is ignored; a newer one makes the position uncertain. A poll of this model is one whole turn. If the
position is uncertain, the consumer asks the leader for the end of the epoch of its last record, and
goes on only if that end is not before the position. Then it fetches once, from the broker that it
takes for the leader. If the log was cut below the position, or the offset is out of range,
auto.offset.reset decides the position, or the application does (NONE). After a refusal, or without
an answer, the consumer keeps its position and asks for metadata where Kafka's consumer does; the
next turn begins with the answer.
A leader may send the consumer to a nearer follower (KIP-392). It fetches there until a fetch fails
or another broker leads; it validates, and asks for ends of the log, at the leader.
The output is the consumer and the facts of the turn. No broker changes.
"""

from enum import StrEnum

import msgspec
from msgspec.structs import replace

from .. import ids, log
from ..errors import KafkaError
from ..facts import (
    ConsumerRaised,
    Fact,
    Polled,
    PollFailed,
    PositionReset,
    PositionTruncated,
    PositionValidated,
    Refused,
    ReplicaPreferred,
)
from ..features import Features
from ..registrations import PartitionRegistration
from ..replica import client_reads
from ..replica.broker_state import Broker
from ..replica.client_reads import Asked


class Reset(StrEnum):
    """auto.offset.reset: where to go on when the position is lost."""

    NONE = "none"
    EARLIEST = "earliest"
    LATEST = "latest"


class Consumer(msgspec.Struct, frozen=True, cache_hash=True, kw_only=True):
    """One consumer on one partition.

    `position` is the next offset it wants, `last_epoch` the leader epoch of the last record it
    read, -1 while it knows none. `leader` and `leader_epoch` are what its metadata says.
    `validating` says that a newer leader epoch has put the position in doubt, `update_requested`
    that it asks who leads before it reads on. `nearest` is the replica that a leader's
    replica.selector would pick for it, `preferred` the one that it was sent to; NO_LEADER where
    there is none, and it reads from its leader. `read_committed` is its isolation.level. `observed`
    is every record it has ever read, by epoch, with epoch -1 where it read nothing: no rule looks
    at it.
    """

    name: str
    partition: ids.PartitionName
    position: ids.Offset = ids.Offset(0)
    last_epoch: ids.LeaderEpoch = ids.NO_LEADER_EPOCH
    leader: ids.BrokerId = ids.NO_LEADER
    leader_epoch: ids.LeaderEpoch = ids.NO_LEADER_EPOCH
    reset: Reset = Reset.LATEST
    validating: bool = False
    update_requested: bool = False
    nearest: ids.BrokerId = ids.NO_LEADER
    preferred: ids.BrokerId = ids.NO_LEADER
    read_committed: bool = False
    observed: log.Log = log.EMPTY

    @property
    def reads_from(self) -> ids.BrokerId:
        """The broker of its next fetch."""
        return self.leader if self.preferred == ids.NO_LEADER else self.preferred

    def at(self, node: ids.BrokerId) -> tuple[ids.BrokerId, str, str]:
        """The first fields of every fact about this consumer and a broker."""
        return node, self.name, self.partition


ConsumerEffect = tuple[Consumer, tuple[Fact, ...]]
_ASKS_FOR_METADATA = (
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.NOT_LEADER_OR_FOLLOWER,
    KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
)
"""Errors of a fetch after which Kafka's consumer asks who leads; UNKNOWN_LEADER_EPOCH is none."""


def refreshed(consumer: Consumer, state: PartitionRegistration, features: Features) -> Consumer:
    """The consumer after a metadata answer.

    Metadata of an earlier leader epoch is ignored, and so is a partition that has no leader. A
    position whose last epoch is known has to be validated against another leader epoch.

    Source: Metadata.updateLatestMetadata and SubscriptionState.maybeValidatePosition (3.7.0).
    """
    if consumer.update_requested:
        consumer = replace(consumer, update_requested=False)
    if state.leader == ids.NO_LEADER or state.leader_epoch < consumer.leader_epoch:
        return consumer
    if (state.leader, state.leader_epoch) == (consumer.leader, consumer.leader_epoch):
        return consumer
    # KIP-320, Motivation (Consumer handling of unclean truncation), and
    # SubscriptionState.maybeValidatePosition (3.2.0 to 3.9.0-rc3): before it reads from another
    # leader epoch, a consumer asks where the epoch of its last record ends, and so learns that the
    # log was cut.
    validates = "320.validated-position" in features.active(ids.CLIENT)
    return replace(
        consumer,
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        validating=validates and consumer.last_epoch != ids.NO_LEADER_EPOCH,
        preferred=ids.NO_LEADER,
    )


def poll(
    consumer: Consumer,
    leader: Broker | None,
    near: Broker | None,
    features: Features,
    now_ms: int | None,
) -> ConsumerEffect:
    """One turn. `leader` is the broker that the consumer believes in, `near` the one that it was
    sent to; None where it cannot be reached, or where there is none.

    Source: OffsetFetcher.validatePositionsIfNeeded, SubscriptionState.maybeCompleteValidation and
    FetchCollector.collectFetch (3.7.0); KIP-320.
    """
    if consumer.leader == ids.NO_LEADER:
        return _unanswered(consumer, consumer.leader)
    facts: tuple[Fact, ...] = ()
    if consumer.validating:
        if leader is None:
            return _unanswered(consumer, consumer.leader)
        consumer, facts = _validated(consumer, _asked(consumer, leader, features, now_ms))
        if consumer.validating:
            return consumer, facts
    at = leader if consumer.preferred == ids.NO_LEADER else near
    if at is None:
        consumer, more_facts = _unanswered(consumer, consumer.reads_from)
        return consumer, (*facts, *more_facts)
    consumer, more_facts = _fetched(consumer, _asked(consumer, at, features, now_ms))
    return consumer, (*facts, *more_facts)


def _fetched(consumer: Consumer, read: Asked) -> ConsumerEffect:
    sent_here = consumer.preferred != ids.NO_LEADER
    answer = client_reads.consumer_fetch(read, consumer.position, from_follower=sent_here)
    if not isinstance(answer, Refused):
        if not sent_here and client_reads.prefers(read, consumer.nearest, consumer.position):
            # The leader's answer names another replica and holds no records (KIP-392).
            near = consumer.nearest
            fact = ReplicaPreferred(*consumer.at(read.here.id), replica=near)
            return replace(consumer, preferred=near), (fact,)
        consumer, polled = _read(consumer, read, answer)
        return consumer, (polled,)
    if answer.error is not KafkaError.OFFSET_OUT_OF_RANGE:
        asks = answer.error in _ASKS_FOR_METADATA
        return (_asks_who_leads(consumer) if asks else consumer), (answer,)
    if sent_here:
        # The leader may have what a follower has not: it is asked before a position is given up.
        return replace(consumer, preferred=ids.NO_LEADER), (answer,)
    consumer, more_facts = _lost_position(consumer, read, "OffsetOutOfRangeException", None)
    return consumer, (answer, *more_facts)


def _asks_who_leads(consumer: Consumer) -> Consumer:
    """It also goes back to its leader (FetchCollector.requestMetadataUpdate, 3.5.0 on)."""
    return replace(consumer, update_requested=True, preferred=ids.NO_LEADER)


def seek(
    consumer: Consumer, to: Reset, leader: Broker | None, features: Features, now_ms: int | None
) -> ConsumerEffect:
    """seekToBeginning or seekToEnd: ListOffsets says where that is.

    Source: SubscriptionState.requestOffsetReset and OffsetFetcher.resetPositionsIfNeeded (3.7.0).
    """
    if consumer.leader == ids.NO_LEADER or leader is None:
        return _unanswered(consumer, consumer.leader)
    return _moved(consumer, _asked(consumer, leader, features, now_ms), to)


def _asked(consumer: Consumer, leader: Broker, features: Features, now_ms: int | None) -> Asked:
    return client_reads.question(
        leader,
        consumer.partition,
        consumer.leader_epoch,
        features,
        now_ms,
        read_committed=consumer.read_committed,
    )


def _unanswered(consumer: Consumer, by: ids.BrokerId) -> ConsumerEffect:
    """A lost connection is a reason to ask who leads (NetworkClient.processDisconnection)."""
    nobody = by == ids.NO_LEADER
    error = KafkaError.LEADER_NOT_AVAILABLE if nobody else KafkaError.NETWORK_EXCEPTION
    return _asks_who_leads(consumer), (PollFailed(*consumer.at(by), error=error),)


def _validated(consumer: Consumer, read: Asked) -> ConsumerEffect:
    """KIP-320: does the leader still have the last record that was read?"""
    answer = client_reads.end_of_epoch(read, consumer.last_epoch)
    if isinstance(answer, Refused):
        return _asks_who_leads(consumer), (answer,)
    if answer is None:
        return _lost_position(consumer, read, "LogTruncationException", None)
    if answer.offset < consumer.position:
        if consumer.reset is Reset.NONE:
            return _lost_position(consumer, read, "LogTruncationException", answer.offset)
        return _cut_back(consumer, read, answer)
    fact = PositionValidated(
        *consumer.at(read.here.id),
        position=consumer.position,
        last_epoch=consumer.last_epoch,
        end=answer.offset,
    )
    return replace(consumer, validating=False), (fact,)


def _cut_back(consumer: Consumer, read: Asked, end: log.EpochStart) -> ConsumerEffect:
    fact = PositionTruncated(
        *consumer.at(read.here.id),
        before=consumer.position,
        after=end.offset,
        last_epoch=consumer.last_epoch,
        end_epoch=end.epoch,
    )
    back = replace(consumer, position=end.offset, last_epoch=end.epoch, validating=False)
    return back, (fact,)


def _lost_position(
    consumer: Consumer, read: Asked, exception: str, diverging: ids.Offset | None
) -> ConsumerEffect:
    """The reset policy decides; without one the application has to."""
    if consumer.reset is not Reset.NONE:
        return _moved(consumer, read, consumer.reset)
    fact = ConsumerRaised(
        consumer=consumer.name,
        partition=consumer.partition,
        exception=exception,
        position=consumer.position,
        diverging=diverging,
    )
    return consumer, (fact,)


def _moved(consumer: Consumer, read: Asked, to: Reset) -> ConsumerEffect:
    """A position from ListOffsets has no epoch, so there is nothing to validate it by."""
    answer = client_reads.list_offset(read, latest=to is Reset.LATEST)
    if isinstance(answer, Refused):
        return _asks_who_leads(consumer), (answer,)
    fact = PositionReset(
        *consumer.at(read.here.id), before=consumer.position, after=answer, to=to.value
    )
    there = replace(consumer, position=answer, last_epoch=ids.NO_LEADER_EPOCH, validating=False)
    return there, (fact,)


def _read(consumer: Consumer, read: Asked, answer: client_reads.Records) -> tuple[Consumer, Polled]:
    records = answer.records
    polled = Polled(
        *consumer.at(read.here.id),
        first=consumer.position,
        last=ids.Offset(max(records.end, consumer.position) - 1),
        high_watermark=answer.high_watermark,
        last_stable=answer.last_stable,
        aborted=sum(end - first for first, end in answer.aborted),
    )
    if not records.epochs:
        return consumer, polled
    there = replace(
        consumer,
        position=records.end,
        last_epoch=log.last_epoch(records),
        observed=log.overlaid(consumer.observed, log.without(records, answer.aborted)),
    )
    return there, polled
