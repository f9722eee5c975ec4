"""The hole, on Kafka's own Partition: metadata that comes late makes a leader forget whom it asked
for, and commit without a follower that the controller counts as in sync.

Broker 1 leads and is alone in sync; it asks for broker 2 and is answered; it asks for broker 3; now
the metadata of the first change arrives, of a partition epoch that it knows already. Told four
ways: broker 3 was level when it was asked for, or never; and the metadata came before, or late.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from ...protocol.features import Features, parse_features
from ...protocol.ids import (
    BrokerEpoch,
    BrokerId,
    Incarnation,
    LeaderEpoch,
    MetadataOffset,
    Offset,
    PartitionEpoch,
)
from ...protocol.messages import AlterPartitionResponse, FetchRequest, MetadataUpdate
from ...protocol.messages.replication_messages import AlterPartitionResult
from ...protocol.registrations import PartitionRegistration, Registration
from ...protocol.replica.remote_replicas import LAG_TIME_MAX_MS
from .broker_runs import SightParting, live_run
from .broker_turns import (
    LEADER,
    LEADER_BROKER_EPOCH,
    BrokerTurn,
    PauseTurn,
    ProducedTurn,
    partition_name,
)
from .partition_process import PartitionProcess

FIRST, SECOND = BrokerId(2), BrokerId(3)
"""Who is asked for first, and whom the leader forgets."""
_EPOCHS = {
    LEADER: LEADER_BROKER_EPOCH,
    FIRST: BrokerEpoch(101),
    SECOND: BrokerEpoch(102),
}
_NAME = partition_name(0)
_REIGN = LeaderEpoch(5)


class StoryTurn(NamedTuple):
    """A turn, and what it is in words."""

    words: str
    turn: BrokerTurn


class ProposalStory(msgspec.Struct, frozen=True, kw_only=True):
    """One of the four ways, and what Kafka made of it. Offsets are high watermarks.

    `waits_for` is the maximal ISR before the answer to the second proposal, `within_the_lag` the
    high watermark while broker 3 may still have been level within replica.lag.time.max.ms, and
    `at_the_end` when the controller counts it as in sync, and it has everything below `its_end`.
    """

    kafka: str
    was_level: bool
    came_late: bool
    waits_for: tuple[int, ...]
    within_the_lag: int
    at_the_end: int
    its_end: int
    leader_isr: tuple[int, ...]
    partings: tuple[SightParting, ...] = ()

    @property
    def forgotten(self) -> bool:
        """Whether the leader waits no more for the follower that it has asked for."""
        return SECOND not in self.waits_for

    @property
    def missing(self) -> int:
        """How many committed records a member of the controller's ISR does not have."""
        return max(0, self.at_the_end - self.its_end)


def stories_of(process: PartitionProcess) -> tuple[ProposalStory, ...]:
    """All four on one release, beside the engine; a fraction of a second.

    Raises DeadKafkaError where the process ends by itself.
    """
    features = parse_features(process.release)
    return tuple(
        _story(process, features, was_level, came_late)
        for was_level in (True, False)
        for came_late in (True, False)
    )


def _story(
    process: PartitionProcess, features: Features, was_level: bool, came_late: bool
) -> ProposalStory:
    run = live_run(process, features, 1, timed=True)
    for told in told_turns(was_level, came_late):
        run.do(told.turn)
    *_, held, _, _, _, end = [done.kafka.partitions[0] for done in run.done]
    return ProposalStory(
        kafka=process.patch,
        was_level=was_level,
        came_late=came_late,
        waits_for=held.maximal,
        within_the_lag=held.high_watermark,
        at_the_end=end.high_watermark,
        its_end=next(remote.end for remote in end.remotes if remote.broker == SECOND),
        leader_isr=end.isr,
        partings=tuple(parting for done in run.done for parting in done.partings),
    )


def told_turns(was_level: bool, came_late: bool) -> Iterator[StoryTurn]:
    """What happens, in order. The last five: what may be seen within the lag; time; a record more;
    the controller's answer; and the end.
    """
    yield StoryTurn("1 leads, alone in sync: partition epoch 10", _metadata(10, LEADER))
    yield StoryTurn("2 is level: 1 asks for it", _fetch(FIRST, 0))
    yield StoryTurn("and is answered: partition epoch 11", _accepted(11, LEADER, FIRST))
    first = StoryTurn("the metadata of partition epoch 11", _metadata(11, LEADER, FIRST))
    if not came_late:
        yield first
    if not was_level:
        yield StoryTurn("1 writes four records", ProducedTurn(_NAME, 4, acks_all=False))
    yield StoryTurn("3 has reached the high watermark: 1 asks for it", _fetch(SECOND, 0))
    if came_late:
        yield first._replace(words=f"{first.words}, which 1 knows already")
    if was_level:
        yield StoryTurn("1 writes four records", ProducedTurn(_NAME, 4, acks_all=False))
    yield StoryTurn("2 has them, 3 does not", _fetch(FIRST, 4))
    yield StoryTurn("31 s pass", PauseTurn(LAG_TIME_MAX_MS + 1_000))
    yield StoryTurn("1 writes another", ProducedTurn(_NAME, 1, acks_all=False))
    yield StoryTurn("the controller has accepted 3", _accepted(12, LEADER, FIRST, SECOND))
    yield StoryTurn("2 has all", _fetch(FIRST, 5))


def _metadata(partition_epoch: int, *isr: BrokerId) -> MetadataUpdate:
    state = PartitionRegistration(
        name=_NAME,
        replicas=(LEADER, FIRST, SECOND),
        isr=isr,
        leader=LEADER,
        leader_epoch=_REIGN,
        partition_epoch=PartitionEpoch(partition_epoch),
    )
    known = tuple(
        Registration(broker, epoch, Incarnation(1), fenced=False)
        for broker, epoch in _EPOCHS.items()
    )
    return MetadataUpdate(
        offset=MetadataOffset(1_000 + partition_epoch), registrations=known, partitions=(state,)
    )


def _fetch(follower: BrokerId, offset: int) -> FetchRequest:
    return FetchRequest(
        version=15,
        partition=_NAME,
        replica=follower,
        replica_epoch=_EPOCHS[follower],
        leader_epoch=_REIGN,
        offset=Offset(offset),
    )


def _accepted(partition_epoch: int, *isr: BrokerId) -> AlterPartitionResponse:
    result = AlterPartitionResult(
        partition=_NAME,
        leader=LEADER,
        leader_epoch=_REIGN,
        partition_epoch=PartitionEpoch(partition_epoch),
        isr=isr,
    )
    return AlterPartitionResponse(version=3, results=(result,))
