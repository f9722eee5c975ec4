"""Between a play's numbers and Kafka's: the same order, other numbers where they must be.

A real controller begins with partition epoch 0 and with some records in its log, and a play with
whatever its header says. Only the order of epochs and offsets counts for Kafka, so each is moved:
the epochs of a partition by so many, metadata offsets (and with them broker epochs) by so many from
some offset on. Where a play's numbers can be reached, nothing is moved.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec.structs import replace

from ...engine.renumbering import Numbering, Renumber, renumbered

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
        begun = [point for point in self.points if point.play <= play]
        last = begun[-1] if begun else OffsetPoint(0, 0)
        after = self.points[len(begun)].kafka - 1 if len(begun) < len(self.points) else None
        offset = min(last.kafka + play - last.play, HIGHEST_OFFSET)
        return offset if after is None else min(offset, after)

    def play_offset(self, kafka: int) -> int:
        """The other way round."""
        begun = [point for point in self.points if point.kafka <= kafka]
        last = begun[-1] if begun else OffsetPoint(0, 0)
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
        moved_by = 0
        for point in self.points:
            if point.kafka - point.play != moved_by:
                moved_by = point.kafka - point.play
                sentences.append(
                    f"Metadata offset {point.play} is {point.kafka} in Kafka's own log, and so on."
                )
        return tuple(sentences)
