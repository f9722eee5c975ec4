"""`kiplab.second_proposal`: a proposal that Kafka's own Partition forgets, run now or as recorded.

Late metadata makes a leader forget a proposed follower, and commit without it although the
controller counts it as in sync. Broker 1, alone in sync, proposes broker 2 and gets its answer; it
proposes broker 3; now the metadata of the first change arrives, of a partition epoch that it knows.
It runs in four ways: broker 3 had caught up when it was proposed, or never; the metadata came in
order, or late.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from ...machine import LackingError
from ...protocol import ids
from ...protocol.errors import KafkaError
from ...protocol.features import UnknownFeatureError
from ...protocol.messages import AlterPartitionResponse, FetchRequest, MetadataUpdate
from ...protocol.messages.replication_messages import AlterPartitionResult
from ...protocol.registrations import PartitionRegistration, Registration
from ...protocol.replica.remote_replicas import LAG_TIME_MAX_MS
from ..java_process import DeadKafkaError
from ..kafka_jars.jar_cache import MEGABYTES, have_jars, patch_release
from . import partition_process as turns
from .observed_broker import ObservedBroker

STORIES = Path(__file__).parent / "second_proposal.json"
"""What each patch release made of the four ways."""
WAYS = ((True, True), (True, False), (False, True), (False, False))
"""(broker 3 had caught up, the metadata came late)."""
_TITLE = "The second proposal of a leader; the metadata of its first comes in order, or late:"
_COLUMNS = "{:<7} {:<9} {:<12} {:<10} {:>14} {:>13} {:>9}"
FIRST, SECOND = ids.BrokerId(2), ids.BrokerId(3)
"""The follower of the first proposal, and the one that the leader forgets."""
_EPOCHS = {
    turns.LEADER: turns.LEADER_BROKER_EPOCH,
    FIRST: ids.BrokerEpoch(101),
    SECOND: ids.BrokerEpoch(102),
}
_NAME = turns.partition_name(0)
_LEADER_EPOCH = ids.LeaderEpoch(5)


class ProposalStory(msgspec.Struct, frozen=True, kw_only=True):
    """One of the four ways, and what Kafka made of it. Offsets are high watermarks.

    `waits_for` is the maximal ISR before the answer to the second proposal, `within_the_lag` the
    high watermark while broker 3 may still have been caught up within replica.lag.time.max.ms, and
    `at_the_end` when the controller counts it as in sync, and it has everything below `its_end`.
    """

    kafka: str
    had_caught_up: bool = msgspec.field(name="was_level")
    came_late: bool
    waits_for: tuple[int, ...]
    within_the_lag: int
    at_the_end: int
    its_end: int
    leader_isr: tuple[int, ...]

    @property
    def missing(self) -> int:
        """How many committed records a member of the controller's ISR does not have."""
        return max(0, self.at_the_end - self.its_end)

    def line(self) -> str:
        """It, in a table."""
        metadata = "late" if self.came_late else "in order"
        caught_up = "yes" if self.had_caught_up else "never"
        waits_for = ",".join(map(str, self.waits_for))
        offsets = self.within_the_lag, self.at_the_end, self.missing
        return _COLUMNS.format(self.kafka, metadata, caught_up, waits_for, *offsets)


class SecondProposal(msgspec.Struct, frozen=True):
    """What Kafka's Partition made of it, four ways; `note` says why it is recorded."""

    kafka: str
    stories: tuple[ProposalStory, ...]
    note: str = ""

    def text(self) -> str:
        """One line for each of the four, and whether it was run now."""
        heading = ("Kafka", "metadata", "3 had caught up", "waits for", "committed then")
        lines = [_COLUMNS.format(*heading, "31 s later", "3 lacks")]
        lines += (story.line() for story in self.stories)
        note = self.note or f"Run now, on Kafka {self.kafka}."
        return "\n".join([_TITLE, *lines, note])

    def report(self) -> dict[str, Any]:
        """Plain values."""
        return dict(msgspec.to_builtins(self))

    def __repr__(self) -> str:
        return self.text()


def second_proposal(kafka: str = "3.5", *, live: bool | None = None) -> SecondProposal:
    """Let Kafka's own ``kafka.cluster.Partition`` lead, and ask for two followers in turn.

    `kafka` is a release from 3.3 on, or one of its patch releases. It runs live if that is in the
    cache; where it cannot, the recording is shown, which says why. With `live` it is a live run,
    fetched if need be, or an error; with False the recording. Raises UnknownFeatureError for
    another release, MissingKafkaError for what the machine lacks, DeadKafkaError for a Kafka that
    ended by itself.
    """
    patch, why = _patch(kafka), "It was asked for as recorded."
    if live or (live is None and have_jars(patch)):
        try:
            with turns.PartitionProcess(patch) as process:
                return SecondProposal(process.patch, stories_of(process))
        except (LackingError, DeadKafkaError) as problem:
            if live:
                raise
            why = problem.sentence if isinstance(problem, LackingError) else f"{problem}."
    elif live is None:
        why = f"Kafka {patch} is not here: live=True fetches it (about {MEGABYTES} MB)."
    latest = patch_release(patch.rpartition(".")[0])
    note = f"Recorded from Kafka {latest}, not run now. {why}"
    return SecondProposal(latest, recorded_stories()[latest], note)


@cache
def recorded_stories() -> dict[str, tuple[ProposalStory, ...]]:
    """What is recorded, by patch release."""
    kept = dict[str, tuple[ProposalStory, ...]]
    return msgspec.json.decode(STORIES.read_bytes(), type=kept)


def _patch(kafka: str) -> str:
    patch = patch_release(kafka)
    if patch.rpartition(".")[0] not in turns.partition_releases():
        there = ", ".join(turns.partition_releases())
        raise UnknownFeatureError(f"the Partition of Kafka {kafka!r} is not run; there are {there}")
    return patch


# --- the four ways ------------------------------------------------------------------------------


def stories_of(process: turns.PartitionProcess) -> tuple[ProposalStory, ...]:
    """All four on one release. Raises DeadKafkaError where the process ends by itself."""
    stories, words = [], turns.PartitionWords((_NAME,))
    for way in WAYS:
        process.begin(words, turns.LEADER_BROKER_EPOCH)
        observations = [process.take(words, turn) for turn in story_turns(*way)]
        stories.append(story_of(process.patch, *way, observations))
    return tuple(stories)


def story_of(
    kafka: str, had_caught_up: bool, came_late: bool, observations: Sequence[ObservedBroker]
) -> ProposalStory:
    """What the leader held after each of `story_turns`, in short."""
    *_, partition, _, _, _, end = [observation.partitions[0] for observation in observations]
    return ProposalStory(
        kafka=kafka,
        had_caught_up=had_caught_up,
        came_late=came_late,
        waits_for=partition.maximal,
        within_the_lag=partition.high_watermark,
        at_the_end=end.high_watermark,
        its_end=next(remote.end for remote in end.remotes if remote.broker == SECOND),
        leader_isr=end.isr,
    )


def story_turns(had_caught_up: bool, came_late: bool) -> Iterator[turns.BrokerTurn]:
    """What happens, in order. The last five: what may be seen within the lag; time; a record more;
    the controller's answer; and the end.
    """
    four = turns.ProducedTurn(_NAME, 4, acks_all=False)
    first = _metadata(11, turns.LEADER, FIRST)
    # 1 leads, alone in sync. 2 has caught up: 1 asks for it, and is answered.
    yield from (_metadata(10, turns.LEADER), _fetch(FIRST, 0), _accepted(11, turns.LEADER, FIRST))
    yield from () if came_late else (first,)
    # 3 has reached the high watermark, before four records more or after them: 1 asks for it.
    third = _fetch(SECOND, 0)
    late = (first,) if came_late else ()
    yield from (third, *late, four) if had_caught_up else (four, third, *late)
    # 2 has them, 3 does not, and 31 s pass.
    yield from (_fetch(FIRST, 4), turns.PauseTurn(LAG_TIME_MAX_MS + 1_000))
    yield turns.ProducedTurn(_NAME, 1, acks_all=False)
    # The controller has accepted 3; 2 has all.
    yield from (_accepted(12, turns.LEADER, FIRST, SECOND), _fetch(FIRST, 5))


def _metadata(partition_epoch: int, *isr: ids.BrokerId) -> MetadataUpdate:
    state = PartitionRegistration(
        name=_NAME,
        replicas=(turns.LEADER, FIRST, SECOND),
        isr=isr,
        leader=turns.LEADER,
        leader_epoch=_LEADER_EPOCH,
        partition_epoch=ids.PartitionEpoch(partition_epoch),
    )
    one = ids.Incarnation(1)
    brokers = (Registration(id, epoch, one, fenced=False) for id, epoch in _EPOCHS.items())
    at = ids.MetadataOffset(1_000 + partition_epoch)
    return MetadataUpdate(offset=at, registrations=tuple(brokers), partitions=(state,))


def _fetch(follower: ids.BrokerId, offset: int) -> FetchRequest:
    return FetchRequest(
        version=15,
        partition=_NAME,
        replica=follower,
        replica_epoch=_EPOCHS[follower],
        leader_epoch=_LEADER_EPOCH,
        offset=ids.Offset(offset),
    )


def _accepted(partition_epoch: int, *isr: ids.BrokerId) -> AlterPartitionResponse:
    at = ids.PartitionEpoch(partition_epoch)
    result = AlterPartitionResult(_NAME, KafkaError.NONE, turns.LEADER, _LEADER_EPOCH, at, isr)
    return AlterPartitionResponse(version=3, results=(result,))
