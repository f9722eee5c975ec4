"""The requests to a real controller and real brokers in the course of a play, and their answers.

Beside the turns of generated runs a process begins in a play, with what its disk has kept, and is
sent some partitions only.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple, Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from ...engine import moves
from ...engine.cluster import Cluster
from ...engine.renumbering import Numbering, Renumber, renumbered
from ...protocol import ids, messages
from ...protocol.kraft.records import Record
from ...protocol.replica.broker_state import Broker
from ..partition import partition_process as turns
from ..partition.observed_broker import ObservedBroker


class UnaskableError(Exception):
    """A real controller, or leader, cannot be sent this; the message says why."""

    def __init__(self, why: str, who: str = "controller") -> None:
        super().__init__(why)
        self.who = who


class StaleRecordingError(Exception):
    """A recording was made of another play, or beside other nodes; the message says what now."""


# --- the controller -------------------------------------------------------------------------------


class RequestAsked(msgspec.Struct, frozen=True, tag="asked"):
    """A broker or a client sends a request."""

    request: messages.Request


class SessionOver(msgspec.Struct, frozen=True, tag="session-over"):
    """A broker sends no heartbeat until its session is over; all others do."""

    broker: ids.BrokerId


class TakeOver(msgspec.Struct, frozen=True, tag="take-over"):
    """Another controller becomes active."""


class VersionRaised(msgspec.Struct, frozen=True, tag="version-raised"):
    """The metadata version is to be another one."""

    metadata_version: str


OperatorMove = moves.Configure | moves.ConfigureBrokers | moves.DeleteTopic | moves.UpgradeElr


class Operated(msgspec.Struct, frozen=True, tag="operated"):
    """An operator changes a setting, deletes a topic, or switches a feature."""

    move: OperatorMove


ControllerQuestion = RequestAsked | SessionOver | TakeOver | VersionRaised | Operated


class Written(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A record of Kafka's log in the play's numbers; `record` None where the engine has none."""

    offset: int
    kafka_offset: int
    name: str
    version: int
    record: Record | None = None


class Decision(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of a question, perhaps with a response; `refused` says why an operator was."""

    question: ControllerQuestion
    response: messages.Response | None = None
    written: tuple[Written, ...] = ()
    refused: str = ""


AskKafka = Callable[[ControllerQuestion, Cluster, int], Decision]
"""`DecidingKafka.decide`."""


class DecidingKafka(Protocol):
    """A controller, real or recorded: its renaming, and records before the first line."""

    @property
    def renaming(self) -> Renaming: ...
    @property
    def scene_records(self) -> int: ...

    def decide(self, question: ControllerQuestion, cluster: Cluster, expected: int) -> Decision:
        """What it makes of a question, `cluster` being what has come of its decisions so far. As
        many records are waited for as `expected`, which the engine would write. Raises
        UnaskableError for what no real controller can be asked.
        """


# --- brokers --------------------------------------------------------------------------------------


class ProcessBegun(msgspec.Struct, frozen=True, tag="begun"):
    """A process has metadata up to its registration, and plays partitions with its disk's logs."""

    update: messages.MetadataUpdate


class MetadataPlayed(msgspec.Struct, frozen=True, tag="played"):
    """More metadata; `changed` are the partitions in it that have changed."""

    update: messages.MetadataUpdate
    changed: tuple[ids.PartitionName, ...]


LeaderQuestion = ProcessBegun | MetadataPlayed | turns.PartitionTurn | turns.TruncatedTurn


class DecidingLeaders(Protocol):
    """Real brokers, or some whose answers were stored; `turns` is how many they have taken."""

    @property
    def turns(self) -> int: ...

    def decide(
        self, broker: Broker, question: LeaderQuestion, cluster: Cluster
    ) -> ObservedBroker | None:
        """What is observed of a broker when that has happened to it; None where nobody is asked,
        and the engine's word is taken. Raises UnaskableError for what no real broker can be told.
        """


class RealNodes(NamedTuple):
    """A real controller and real brokers, or stored answers of theirs; None is the engine's."""

    deciding: DecidingKafka | None = None
    leading: DecidingLeaders | None = None


S = TypeVar("S", bound=msgspec.Struct)
HIGHEST_EPOCH, HIGHEST_OFFSET = 2**31 - 1, 2**63 - 1
LOWEST_EPOCH = -(2**31)


class OffsetPoint(msgspec.Struct, frozen=True):
    """From this metadata offset of the play on, up to the next point, Kafka's count on from its."""

    play: int
    kafka: int


class EpochsMoved(msgspec.Struct, frozen=True):
    """Kafka's epochs of one partition are those of the play plus so many."""

    partition: str
    leader: int
    leader_moved: int
    """The leader epoch that the play begins with, and by how much Kafka's differs from it."""
    version: int
    version_moved: int
    """The same of the partition epoch."""


class Renaming(msgspec.Struct, frozen=True):
    """What is called otherwise in Kafka. `points` rise in both numbers."""

    points: tuple[OffsetPoint, ...] = ()
    epochs: tuple[EpochsMoved, ...] = ()

    def to_kafka(self, value: S) -> S:
        """A request of the play as Kafka is to get it."""
        renamed: S = renumbered(value, self._renumber(1))
        return renamed

    def to_play(self, value: S) -> S:
        """An answer or a record of Kafka in the play's numbers."""
        renamed: S = renumbered(value, self._renumber(-1))
        return renamed

    def following(self, point: OffsetPoint) -> Renaming:
        """The same, and offsets from `point` on counted from there."""
        before = tuple(earlier for earlier in self.points if earlier.play < point.play)
        return replace(self, points=(*before, point))

    def kafka_offset(self, play: int) -> int:
        """Where the play's metadata offset is in Kafka's log. -1, "unknown", stays what it is."""
        if play < 0:
            return play
        *_, last = OffsetPoint(0, 0), *(point for point in self.points if point.play <= play)
        ends = (point.kafka - 1 for point in self.points if point.play > play)
        return min(last.kafka + play - last.play, HIGHEST_OFFSET, *ends)

    def play_offset(self, kafka: int) -> int:
        """The other way round."""
        *_, last = OffsetPoint(0, 0), *(point for point in self.points if point.kafka <= kafka)
        return kafka if kafka < 0 else last.play + kafka - last.kafka

    def _renumber(self, sign: int) -> Renumber:
        def number(what: Numbering, whose: str, value: int) -> int:
            if what is Numbering.METADATA:
                return self.kafka_offset(value) if sign > 0 else self.play_offset(value)
            moved = next((entry for entry in self.epochs if entry.partition == whose), None)
            if moved is None or what not in (Numbering.LEADER, Numbering.PARTITION):
                return value
            by = moved.leader_moved if what is Numbering.LEADER else moved.version_moved
            return max(LOWEST_EPOCH, min(value + sign * by, HIGHEST_EPOCH))

        return number

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is called otherwise, for people; nothing where all numbers are the play's."""
        sentences = [
            f"{what.capitalize()} {play} of {moved.partition} is {play + by} in Kafka's own log."
            for moved in self.epochs
            for what, play, by in (
                ("leader epoch", moved.leader, moved.leader_moved),
                ("partition epoch", moved.version, moved.version_moved),
            )
            if by
        ]
        for before, point in pairwise((OffsetPoint(0, 0), *self.points)):
            if point.kafka - point.play != before.kafka - before.play:
                where = f"{point.play} is {point.kafka}"
                sentences.append(f"Metadata offset {where} in Kafka's own log, and so on.")
        return tuple(sentences)
