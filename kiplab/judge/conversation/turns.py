"""What a conversation consists of, turn by turn: all that an engine needs to be judged again
without Kafka.
"""

from __future__ import annotations

import msgspec

from ...protocol.facts import RecordWritten
from ...protocol.ids import BrokerId, MetadataOffset
from ...protocol.messages import Request
from ...protocol.registrations import PartitionRegistration
from .deciding_side import Answered
from .partings import Parting, told


class Exchange(msgspec.Struct, frozen=True, tag="asked"):
    """One question and both answers, `at_ms` since the conversation began."""

    at_ms: int
    request: Request
    kafka: Answered
    engine: Answered
    partings: tuple[Parting, ...]


class Created(msgspec.Struct, frozen=True, tag="created"):
    """Kafka has made a topic of these partitions, and its log ends at `end` since."""

    partitions: tuple[PartitionRegistration, ...]
    end: MetadataOffset


class Waited(msgspec.Struct, frozen=True, tag="waited"):
    """So much time has passed."""

    ms: int


class TookOver(msgspec.Struct, frozen=True, tag="took-over"):
    """A new controller, on the same log: it was active `ms` later, and the log ends at `end`.

    `restarted` says that the old one was stopped; else it had resigned, by what it was asked.
    """

    restarted: bool
    ms: int
    end: MetadataOffset


class Raised(msgspec.Struct, frozen=True, tag="raised"):
    """Both were to raise the metadata version. Empty is done; else why it was refused.

    It took `ms` until all that follows was written, and the log ends at `end`.
    """

    metadata_version: str
    kafka: str
    engine: str
    ms: int
    end: MetadataOffset


class Noticed(msgspec.Struct, frozen=True, tag="noticed"):
    """From 4.0 on: Kafka has looked for brokers that were silent for too long, and written this;
    and what the engine writes when the same brokers are fenced.
    """

    kafka: tuple[RecordWritten, ...]
    engine: tuple[RecordWritten, ...]


Turn = Exchange | Created | Waited | TookOver | Raised | Noticed


def parted(turn: Turn) -> bool:
    """Whether the two were not of one mind."""
    if isinstance(turn, Raised):
        return bool(turn.kafka) != bool(turn.engine)
    if isinstance(turn, Noticed):
        return told(turn.kafka) != told(turn.engine)
    return isinstance(turn, Exchange) and bool(turn.partings)


def fenced_in(records: tuple[RecordWritten, ...]) -> tuple[BrokerId, ...]:
    """Whom these records fence, in their order."""
    words = [record.text.split() for record in records if _fences(record)]
    return tuple(BrokerId(int(word.removeprefix("broker="))) for _, word, *_ in words)


def _fences(record: RecordWritten) -> bool:
    return "fenced=1" in record.text or record.record == "FenceBrokerRecord"
