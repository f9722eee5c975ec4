"""A controller that is listened to: whatever it says in a conversation is written down."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from ...protocol.facts import RecordWritten
from ...protocol.ids import BrokerId, MetadataOffset
from ...protocol.messages import Request
from ...protocol.registrations import PartitionRegistration
from ..conversation.deciding_side import Answered, DecidingSide
from ..wire.message_schemas import MessageVersions
from .answer_rows import record_rows, row_of
from .recordings import Entry

T = TypeVar("T")
_BYTE = 0xFF


class RecordingController:
    """`asked` itself, to whoever asks; `entries` is what it has said so far."""

    def __init__(self, asked: DecidingSide) -> None:
        self._asked = asked
        self.entries: list[Entry] = []

    @property
    def end(self) -> MetadataOffset:
        """Written down, as every other answer here."""
        return self._noted("end", self._asked.end)

    @property
    def last_record(self) -> MetadataOffset:
        """Written down."""
        return self._noted("last_record", self._asked.last_record)

    @property
    def alter_partition(self) -> MessageVersions:
        """Written down."""
        return self._noted("alter_partition", self._asked.alter_partition)

    @property
    def metadata_version(self) -> str:
        """Written down."""
        return self._noted("metadata_version", self._asked.metadata_version)

    def ask(self, request: Request, *, expected: int = 0) -> Answered:
        """The answer and its records, with a byte of the request."""
        answered = self._asked.ask(request, expected=expected)
        rows = record_rows(answered.records)
        self.entries.append([byte_of(request), row_of(answered.response), rows])
        return answered

    def records(self) -> tuple[RecordWritten, ...]:
        """Written down."""
        return self._noted_records("records", self._asked.records())

    def barrier(self) -> tuple[RecordWritten, ...]:
        """Written down."""
        return self._noted_records("barrier", self._asked.barrier())

    def advance(self, ms: int) -> None:
        """Nothing is said to that."""
        self._asked.advance(ms)

    def restart(self) -> int:
        """Written down."""
        return self._noted("restart", self._asked.restart())

    def return_from_resignation(self) -> int:
        """Written down."""
        return self._noted("return", self._asked.return_from_resignation())

    def raise_metadata_version(self, metadata_version: str) -> tuple[str, int]:
        """Written down."""
        return self._noted("raise", self._asked.raise_metadata_version(metadata_version))

    def create(
        self, topic: str, replicas: Sequence[Sequence[int]], *, unclean: bool = False
    ) -> tuple[PartitionRegistration, ...]:
        """Written down."""
        return self._noted("create", self._asked.create(topic, replicas, unclean=unclean))

    def clear(self, brokers: Sequence[BrokerId]) -> int:
        """Not written down: the conversation is over."""
        return self._asked.clear(brokers)

    def _noted(self, what: str, said: T) -> T:
        self.entries.append([what, msgspec.to_builtins(said)])
        return said

    def _noted_records(
        self, what: str, records: tuple[RecordWritten, ...]
    ) -> tuple[RecordWritten, ...]:
        self.entries.append([what, record_rows(records)])
        return records


def byte_of(request: Request) -> int:
    """By which a request is recognised: the same today and tomorrow, on every machine."""
    return zlib.crc32(msgspec.json.encode(request)) & _BYTE
