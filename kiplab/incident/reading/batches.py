"""Record batches of format 2, the content of segments and checkpoints: headers and records."""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from .message_bytes import signed_varint, varint

_HEADER = struct.Struct(">qiibIhiqq14xi")
COUNTED_FROM, SUMMED_FROM = 12, 21
"""Where the bytes begin that a header's length counts, and those that its checksum covers."""
_MAGIC, _IS_CONTROL, _COMPRESSION = 2, 0x20, 0x07


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
    def is_compressed(self) -> bool:
        """Whether its records are compressed, which those of a metadata log never are."""
        return bool(self.attributes & _COMPRESSION)

    @property
    def is_sane(self) -> bool:
        """Whether it can be the header of a batch."""
        return self.magic == _MAGIC and self.length >= HEADER_SIZE - COUNTED_FROM and self.base >= 0


HEADER_SIZE = _HEADER.size


def header_at(data: bytes, at: int = 0) -> BatchHeader:
    """The header at a place of `data`. Raises struct.error where there is not enough."""
    return BatchHeader._make(_HEADER.unpack_from(data, at))


class RecordPlace(NamedTuple):
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
        time_delta, at = signed_varint(batch, at + 1)
        offset_delta, at = signed_varint(batch, at)
        key_size, key = signed_varint(batch, at)
        _, value = signed_varint(batch, key + max(key_size, 0))
        yield RecordPlace(offset_delta, time_delta, key, value)
        at = end


def record_number(batch: bytes, at: int) -> tuple[int, int, int]:
    """(number, version, where its fields begin) of a metadata record whose value is at a place.

    Raises IndexError or ValueError for what is none.
    """
    frame, at = varint(batch, at)
    if frame != 1:
        raise ValueError(f"a frame of version {frame}")
    number, at = varint(batch, at)
    version, at = varint(batch, at)
    return number, version, at
