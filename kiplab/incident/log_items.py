"""What the readers hand on: records of a metadata log, and what is to be said of the input.

Times are milliseconds since 1970 by the clock of the active controller, UNKNOWN where the input has
none. Offsets are those of the log.
"""

from typing import Any, Literal

import msgspec

UNKNOWN = -1
"""A time, offset, controller epoch or controller's id that the input does not tell."""


class OffsetAndTime(msgspec.Struct, frozen=True, order=True, gc=False):
    """A place in the log and the controller's time there. Order is by offset only."""

    offset: int
    time: int = UNKNOWN


class LogRecord(msgspec.Struct, frozen=True, gc=False):
    """One record. `type` is Kafka's name of it, ``PARTITION_CHANGE_RECORD``; `fields` have Kafka's
    names and what Kafka's own tool prints: a field at its default may be absent, and a uuid is text
    of 22 characters. A control record of the quorum has its name as `type`, ``LEADER_CHANGE``.
    """

    offset: int
    time: int
    controller_epoch: int
    type: str
    version: int = 0
    fields: dict[str, Any] = {}

    @property
    def moment(self) -> OffsetAndTime:
        """Where and when it was written."""
        return OffsetAndTime(self.offset, self.time)


class SavedState(msgspec.Struct, frozen=True):
    """A checkpoint: the state before the offset `end`, as records. Their offsets and times say
    nothing; `time` is that of the last record that the checkpoint contains.
    """

    end: int
    controller_epoch: int
    time: int
    records: tuple[LogRecord, ...]
    file: str


RemarkKind = Literal[
    "left over", "damaged", "gap", "truncated", "undecoded", "clock back", "broken line"
]


class Remark(msgspec.Struct, frozen=True):
    """Something about the input that its reader is told: at `offset` of the log, in `file`.

    After a gap or a damaged batch the records between `offset` and `until` (exclusive) are missing.
    """

    kind: RemarkKind
    text: str
    file: str
    offset: int = UNKNOWN
    until: int = UNKNOWN


LogItem = LogRecord | SavedState | Remark
"""What a reader yields, in the order of the log."""


class FileRead(msgspec.Struct, frozen=True):
    """A file that was read: what it is, and the offsets of its first and last records."""

    file: str
    kind: Literal["segment", "checkpoint", "dump"]
    first: int
    last: int


class UnreadableInputError(ValueError):
    """An input that no history can be made of: what was wrong, where, and what to do."""
