"""Who decides in a conversation: what is asked of real Kafka, whether it runs or was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from ...protocol.facts import RecordWritten
from ...protocol.ids import BrokerId, MetadataOffset
from ...protocol.messages import Request, Response
from ...protocol.registrations import PartitionRegistration
from ..wire.message_schemas import MessageVersions


class Answered(NamedTuple):
    """What a controller made of one request: its answer, and the records it wrote meanwhile."""

    response: Response
    records: tuple[RecordWritten, ...]


class DecidingSide(Protocol):
    """A controller whose answers count, and all that a conversation has it do.

    Milliseconds are those of its own clock, which stands still unless told to move.
    """

    @property
    def end(self) -> MetadataOffset:
        """Offset of the next record."""

    @property
    def last_record(self) -> MetadataOffset:
        """Offset of the last record that is not the quorum's own; -1 where there is none."""

    @property
    def alter_partition(self) -> MessageVersions:
        """The versions of AlterPartition that it speaks."""

    @property
    def metadata_version(self) -> str:
        """The one that it runs at."""

    def ask(self, request: Request, *, expected: int = 0) -> Answered:
        """Its answer, and the records that came with it: wait for so many."""

    def records(self) -> tuple[RecordWritten, ...]:
        """What it has written since this was asked last."""

    def barrier(self) -> tuple[RecordWritten, ...]:
        """Wait until all that it has decided is committed; the records that were."""

    def advance(self, ms: int) -> None:
        """Let time pass."""

    def restart(self) -> int:
        """A new controller on the same log; the milliseconds until it was active."""

    def return_from_resignation(self) -> int:
        """The same controller, elected again; the milliseconds that took."""

    def raise_metadata_version(self, metadata_version: str) -> tuple[str, int]:
        """Why it was refused, or nothing; the milliseconds until what follows was written."""

    def create(
        self, topic: str, replicas: Sequence[Sequence[int]], *, unclean: bool = False
    ) -> tuple[PartitionRegistration, ...]:
        """A topic whose partitions have these replicas."""

    def clear(self, brokers: Sequence[BrokerId]) -> int:
        """Forget topics and brokers; the milliseconds that passed."""
