"""The consumer: where it reads on, whom it asks, and how it notices a truncated log (KIP-320).

In come an answer to a metadata request, a poll, or a wish to seek. Metadata of an earlier leader
epoch is ignored; a newer one puts the position in doubt. A poll of this model is one whole turn: if
the position is in doubt, ask the leader where the epoch of the last record read ends, and go on
only if that is not before the position; then fetch once. Each turn asks one broker, the one that
the consumer believes to lead. A log that was cut below the position, or an offset out of range,
moves the position as auto.offset.reset says, or is for the application to decide (NONE).
Out go the consumer and the facts of the turn. Nothing of a broker changes. A consumer that got no
answer stays the same object.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec
from msgspec.structs import replace

from .. import log
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
)
from ..features import Features
from ..ids import (
    CLIENT,
    NO_LEADER,
    NO_LEADER_EPOCH,
    BrokerId,
    LeaderEpoch,
    Offset,
    PartitionName,
)
from ..registrations import PartitionRegistration
from ..replica import client_reads
from ..replica.broker_state import Broker


class Reset(StrEnum):
    """auto.offset.reset: where to go on when the position is lost."""

    NONE = "none"
    EARLIEST = "earliest"
    LATEST = "latest"


class Consumer(msgspec.Struct, frozen=True, cache_hash=True, kw_only=True):
    """One consumer on one partition.

    `position` is the next offset it wants, `last_epoch` the leader epoch of the last record it
    read, -1 while it knows none. `leader` and `leader_epoch` are what its metadata says.
    `validating` says that a newer leader epoch has put the position in doubt. `observed` is every
    record it has ever read, by epoch, with epoch -1 where it read nothing: no rule looks at it.
    """

    name: str
    partition: PartitionName
    position: Offset = Offset(0)
    last_epoch: LeaderEpoch = NO_LEADER_EPOCH
    leader: BrokerId = NO_LEADER
    leader_epoch: LeaderEpoch = NO_LEADER_EPOCH
    reset: Reset = Reset.LATEST
    validating: bool = False
    observed: log.Log = log.EMPTY


ConsumerEffect = tuple[Consumer, tuple[Fact, ...]]


def refreshed(consumer: Consumer, state: PartitionRegistration, features: Features) -> Consumer:
    """The consumer after a metadata answer.

    Metadata of an earlier leader epoch is ignored, and so is a partition that has no leader. A
    position whose last epoch is known has to be validated against another leader epoch.

    Source: Metadata.updateLatestMetadata and SubscriptionState.maybeValidatePosition (3.7.0).
    """
    if state.leader == NO_LEADER or state.leader_epoch < consumer.leader_epoch:
        return consumer
    if (state.leader, state.leader_epoch) == (consumer.leader, consumer.leader_epoch):
        return consumer
    # KIP-320, Motivation (Consumer handling of unclean truncation), and
    # SubscriptionState.maybeValidatePosition (3.2.0 to 3.9.0-rc3): before it reads from another
    # leader epoch, a consumer asks where the epoch of its last record ends, and so learns that the
    # log was cut.
    validates = "320.validated-position" in features.active(CLIENT)
    return replace(
        consumer,
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        validating=validates and consumer.last_epoch != NO_LEADER_EPOCH,
    )


def poll(
    consumer: Consumer, leader: Broker | None, features: Features, now_ms: int | None
) -> ConsumerEffect:
    """One turn. `leader` is the broker that the consumer asks, None when it cannot be reached.

    Source: OffsetFetcher.validatePositionsIfNeeded, SubscriptionState.maybeCompleteValidation and
    FetchCollector.collectFetch (3.7.0); KIP-320.
    """
    if consumer.leader == NO_LEADER or leader is None:
        return consumer, (_unanswered(consumer),)
    asked = _asked(consumer, leader, features, now_ms)
    facts: tuple[Fact, ...] = ()
    if consumer.validating:
        consumer, facts = _validated(consumer, asked)
        if consumer.validating:
            return consumer, facts
    answer = client_reads.consumer_fetch(asked, consumer.position)
    if isinstance(answer, Refused):
        if answer.error is not KafkaError.OFFSET_OUT_OF_RANGE:
            return consumer, (*facts, answer)
        consumer, found = _lost_position(consumer, asked, "OffsetOutOfRangeException", None)
        return consumer, (*facts, answer, *found)
    consumer, polled = _read(consumer, asked, answer)
    return consumer, (*facts, polled)


def seek(
    consumer: Consumer,
    to: Reset,
    leader: Broker | None,
    features: Features,
    now_ms: int | None,
) -> ConsumerEffect:
    """seekToBeginning or seekToEnd: ListOffsets says where that is.

    Source: SubscriptionState.requestOffsetReset and OffsetFetcher.resetPositionsIfNeeded (3.7.0).
    """
    if consumer.leader == NO_LEADER or leader is None:
        return consumer, (_unanswered(consumer),)
    return _moved(consumer, _asked(consumer, leader, features, now_ms), to)


def _asked(
    consumer: Consumer, leader: Broker, features: Features, now_ms: int | None
) -> client_reads.Asked:
    return client_reads.asked(leader, consumer.partition, consumer.leader_epoch, features, now_ms)


def _unanswered(consumer: Consumer) -> PollFailed:
    known = consumer.leader != NO_LEADER
    return PollFailed(
        node=consumer.leader,
        consumer=consumer.name,
        partition=consumer.partition,
        error=KafkaError.NETWORK_EXCEPTION if known else KafkaError.LEADER_NOT_AVAILABLE,
    )


def _validated(consumer: Consumer, asked: client_reads.Asked) -> ConsumerEffect:
    """KIP-320: does the leader still have the last record that was read?"""
    answer = client_reads.end_of_epoch(asked, consumer.last_epoch)
    if isinstance(answer, Refused):
        return consumer, (answer,)
    if answer is None:
        return _lost_position(consumer, asked, "LogTruncationException", None)
    if answer.offset < consumer.position:
        if consumer.reset is Reset.NONE:
            return _lost_position(consumer, asked, "LogTruncationException", answer.offset)
        return _cut_back(consumer, asked, answer)
    fact = PositionValidated(
        node=asked.here.id,
        consumer=consumer.name,
        partition=consumer.partition,
        position=consumer.position,
        last_epoch=consumer.last_epoch,
        end=answer.offset,
    )
    return replace(consumer, validating=False), (fact,)


def _cut_back(consumer: Consumer, asked: client_reads.Asked, end: log.EpochStart) -> ConsumerEffect:
    fact = PositionTruncated(
        node=asked.here.id,
        consumer=consumer.name,
        partition=consumer.partition,
        before=consumer.position,
        after=end.offset,
        last_epoch=consumer.last_epoch,
        end_epoch=end.epoch,
    )
    back = replace(consumer, position=end.offset, last_epoch=end.epoch, validating=False)
    return back, (fact,)


def _lost_position(
    consumer: Consumer, asked: client_reads.Asked, exception: str, diverging: Offset | None
) -> ConsumerEffect:
    """The reset policy decides; without one the application has to."""
    if consumer.reset is not Reset.NONE:
        return _moved(consumer, asked, consumer.reset)
    fact = ConsumerRaised(
        consumer=consumer.name,
        partition=consumer.partition,
        exception=exception,
        position=consumer.position,
        diverging=diverging,
    )
    return consumer, (fact,)


def _moved(consumer: Consumer, asked: client_reads.Asked, to: Reset) -> ConsumerEffect:
    """A position from ListOffsets has no epoch, so there is nothing to validate it by."""
    answer = client_reads.list_offset(asked, latest=to is Reset.LATEST)
    if isinstance(answer, Refused):
        return consumer, (answer,)
    fact = PositionReset(
        node=asked.here.id,
        consumer=consumer.name,
        partition=consumer.partition,
        before=consumer.position,
        after=answer,
        to=to.value,
    )
    there = replace(consumer, position=answer, last_epoch=NO_LEADER_EPOCH, validating=False)
    return there, (fact,)


def _read(
    consumer: Consumer, asked: client_reads.Asked, answer: client_reads.Records
) -> tuple[Consumer, Polled]:
    records = answer.records
    polled = Polled(
        node=asked.here.id,
        consumer=consumer.name,
        partition=consumer.partition,
        first=consumer.position,
        last=Offset(max(records.end, consumer.position) - 1),
        high_watermark=answer.high_watermark,
    )
    if not records.epochs:
        return consumer, polled
    there = replace(
        consumer,
        position=records.end,
        last_epoch=log.last_epoch(records),
        observed=log.overlaid(consumer.observed, records),
    )
    return there, polled
