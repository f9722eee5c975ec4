"""What both readers make of their input: one batch after another, sound or not."""

from typing import NamedTuple

import msgspec

from ..log_items import LogRecord


class LogBatch(msgspec.Struct, gc=False):
    """Records that were written at once: from the offset `base` to `end`, exclusive.

    `crc` is as its header has it. Of a batch with a `damage` nothing is known but the offsets.
    `undecoded` are (offset, what it is) of records that are not known; `missing` of them are not in
    the input. A record whose batch is not known is `loose`.
    """

    base: int
    end: int
    controller_epoch: int
    crc: int
    time: int
    records: list[LogRecord]
    damage: str = ""
    undecoded: list[tuple[int, str]] = []
    missing: int = 0
    loose: bool = False


class CheckpointPlace(NamedTuple):
    """Before which offset a checkpoint ends, and the controller epoch of the record before it."""

    end: int
    controller_epoch: int


class InputPart(msgspec.Struct, frozen=True):
    """A segment or a checkpoint, or one of those whose dumps are in one file.

    `base` is its first offset, of a checkpoint (`place`) that at which it ends. A dump's part is
    `size` bytes from `start`, and begins in `line`.
    """

    path: str
    file: str
    is_dump: bool
    base: int
    size: int
    place: CheckpointPlace | None = None
    start: int = 0
    line: int = 1
