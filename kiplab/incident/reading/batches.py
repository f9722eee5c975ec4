"""Record batches of format 2, the content of segments and checkpoints."""

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from ..log_items import LogRecord, Remark
from .message_bytes import signed_varint, varint

_HEADER = struct.Struct(">qiibIhiqq14xi")
COUNTED_FROM, SUMMED_FROM = 12, 21
"""Where the bytes begin that a header's length counts, and those that its checksum covers."""
_MAGIC, _IS_CONTROL, COMPRESSION = 2, 0x20, 0x07
_NO_KEY = b"\x01"
"""The size -1, as a number with a sign is written."""


class BatchHeader(NamedTuple):
    """A header, as it is written. `length` counts what follows it; times are milliseconds."""

    base: int
    length: int
    controller_epoch: int
    magic: int
    crc: int
    attributes: int
    last_delta: int
    first_time: int
    last_time: int
    records: int

    @property
    def size(self) -> int:
        """Bytes of the whole batch."""
        return self.length + COUNTED_FROM

    @property
    def is_control(self) -> bool:
        """Whether the quorum wrote it for itself."""
        return bool(self.attributes & _IS_CONTROL)

    @property
    def is_sane(self) -> bool:
        """Whether it can be the header of a batch."""
        return self.magic == _MAGIC and self.length >= HEADER_SIZE - COUNTED_FROM and self.base >= 0


HEADER_SIZE = _HEADER.size


def header_at(data: bytes, at: int = 0) -> BatchHeader:
    """The header at a place of `data`. Raises struct.error where there is not enough."""
    return BatchHeader._make(_HEADER.unpack_from(data, at))


class RecordPlace(msgspec.Struct, gc=False):
    """A record of a batch: distances from the batch's offset and time, places of key and value."""

    offset_delta: int
    time_delta: int
    key: int
    value: int


def record_places(batch: bytes, count: int) -> Iterator[RecordPlace]:
    """The records of a whole batch. Raises IndexError or ValueError for a damaged one."""
    at = HEADER_SIZE
    for _ in range(count):
        size, at = signed_varint(batch, at)
        end = at + size
        if not at < end <= len(batch):
            raise ValueError(f"a record of {size} bytes at {at}")
        # Its attributes say nothing.
        numbers = batch[at + 1 : at + 4]
        if numbers.isascii() and numbers.endswith(_NO_KEY):
            # One byte each, as nearly all records have them: no call is needed.
            time, offset, _ = numbers
            time_delta, offset_delta = (time >> 1) ^ -(time & 1), (offset >> 1) ^ -(offset & 1)
            key = behind = at + 4
        else:
            time_delta, at = signed_varint(batch, at + 1)
            offset_delta, at = signed_varint(batch, at)
            key_size, key = signed_varint(batch, at)
            behind = key + max(key_size, 0)
        value = behind + 1 if batch[behind] < 0x80 else varint(batch, behind)[1]
        yield RecordPlace(offset_delta, time_delta, key, value)
        at = end


def record_number(batch: bytes, at: int) -> tuple[int, int, int]:
    """(number, version, where its fields begin) of a metadata record whose value is at a place.

    Raises IndexError or ValueError for what is none.
    """
    numbers = batch[at : at + 3]
    if numbers.isascii():
        frame, number, version = numbers
        at += 3
    else:
        frame, at = varint(batch, at)
        number, at = varint(batch, at)
        version, at = varint(batch, at)
    if frame != 1:
        raise ValueError(f"a frame of version {frame}")
    return number, version, at


Decoded = tuple[str, int, dict[str, Any] | None]
"""Type, version and fields of a record; None for one that is not known, and what it is."""


class LogBatch(msgspec.Struct, gc=False):
    """What both readers make of their input: records that were written at once.

    Their offsets are from `base` to `end`, exclusive. `crc` is as its header has it. Of a batch
    with a `damage` nothing is known but the offsets. `undecoded` are (offset, what it is) of
    records that are not known; `missing` of them are not in the input. A record whose batch is not
    known is `loose`.
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

    def add(self, offset: int, time: int, decoded: Decoded) -> None:
        """One record more, known or not."""
        kind, version, fields = decoded
        if fields is None:
            self.undecoded.append((offset, kind))
        else:
            record = LogRecord(offset, time, self.controller_epoch, kind, version, fields)
            self.records.append(record)


def left_over(size: int, file: str) -> Iterator[Remark]:
    """What is said of bytes behind the last batch."""
    if size:
        text = f"{size} bytes of an unfinished batch are left out"
        yield Remark("left over", text, file)
