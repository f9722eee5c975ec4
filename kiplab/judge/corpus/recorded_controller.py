"""What a real controller has said in one conversation, asked again: it needs no Java."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from ...protocol.facts import RecordWritten
from ...protocol.ids import BrokerId, MetadataOffset
from ...protocol.messages import Request
from ...protocol.registrations import PartitionRegistration
from ..conversation.deciding_side import Answered
from ..wire.message_schemas import MessageVersions
from .answer_rows import AnswerRow, answer_of_row, records_of_rows
from .recording_controller import byte_of
from .recordings import Entry, RecordedConversation

T = TypeVar("T")


class AnotherConversationError(Exception):
    """It is asked what it was not asked when it was recorded; the message says what."""


class RecordedController:
    """Says what it said before, as long as it is asked the same.

    Every question raises AnotherConversationError if another one, or none, was recorded there.
    """

    def __init__(self, recorded: RecordedConversation) -> None:
        self._left = iter(recorded.entries)

    @property
    def end(self) -> MetadataOffset:
        """The offset of the next record then."""
        return MetadataOffset(self._said("end", int))

    @property
    def last_record(self) -> MetadataOffset:
        """The offset of the last record then that was not the quorum's own."""
        return MetadataOffset(self._said("last_record", int))

    @property
    def alter_partition(self) -> MessageVersions:
        """The versions of AlterPartition that it spoke."""
        return self._said("alter_partition", MessageVersions)

    @property
    def metadata_version(self) -> str:
        """The one that it ran at."""
        return self._said("metadata_version", str)

    def ask(self, request: Request, *, expected: int = 0) -> Answered:  # noqa: ARG002
        """Its answer then, and the records that came with it."""
        entry = self._next(request.in_words())
        if entry[0] != byte_of(request):
            raise AnotherConversationError(f"it was not asked {request.in_words()}")
        _byte, answer, records = entry
        try:
            return Answered(answer_of_row(request, answer), records_of_rows(records))
        except msgspec.ValidationError:
            # One byte tells 255 of 256 other questions from this one.
            raise AnotherConversationError(f"it was not asked {request.in_words()}") from None

    def records(self) -> tuple[RecordWritten, ...]:
        """What it had written since."""
        return records_of_rows(self._said("records", list[AnswerRow]))

    def barrier(self) -> tuple[RecordWritten, ...]:
        """What it had decided by then."""
        return records_of_rows(self._said("barrier", list[AnswerRow]))

    def advance(self, ms: int) -> None:
        """Nothing was said to that."""

    def restart(self) -> int:
        """The milliseconds that it took."""
        return self._said("restart", int)

    def return_from_resignation(self) -> int:
        """The milliseconds that it took."""
        return self._said("return", int)

    def raise_metadata_version(self, metadata_version: str) -> tuple[str, int]:  # noqa: ARG002
        """Why it was refused, or nothing; the milliseconds that it took."""
        return self._said("raise", tuple[str, int])

    def create(
        self,
        topic: str,  # noqa: ARG002
        replicas: Sequence[Sequence[int]],  # noqa: ARG002
        *,
        unclean: bool = False,  # noqa: ARG002
    ) -> tuple[PartitionRegistration, ...]:
        """The partitions that it made."""
        return self._said("create", tuple[PartitionRegistration, ...])

    def clear(self, brokers: Sequence[BrokerId]) -> int:  # noqa: ARG002
        """A recording forgets nothing, and no time passes."""
        return 0

    def _said(self, what: str, kind: type[T]) -> T:
        entry = self._next(what)
        if entry[0] != what:
            raise AnotherConversationError(f"{what} was not asked of it there")
        return msgspec.convert(entry[1], kind)

    def _next(self, what: str) -> Entry:
        entry: Any = next(self._left, None)
        if entry is None:
            raise AnotherConversationError(f"it was over before {what}")
        found: Entry = entry
        return found
