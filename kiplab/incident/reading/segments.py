"""Segments and checkpoints: bytes to batches, damaged ones told apart by their checksum."""

import re
import struct
from collections.abc import Iterator
from itertools import chain

from ..log_items import UNKNOWN, Remark
from .batches import (
    COMPRESSION,
    HEADER_SIZE,
    SUMMED_FROM,
    BatchHeader,
    Decoded,
    LogBatch,
    RecordPlace,
    crc32c,
    header_at,
    left_over,
    record_number,
    record_places,
)
from .known_records import known_readers, record_schemas
from .message_bytes import DUMP_FORMS, INT16, message_reader

NO_OP = b"\x14\0\0\0\x01\x08\x01\x14\0\0\0"
"""The one record of a batch that a controller writes while nothing happens."""
SNAPSHOT_HEADER = 3
_FURTHEST = 1 << 20
"""Offsets from a damaged batch to the next one that is believed."""
_LARGEST = 1 << 24
"""Bytes of a batch that are believed; a controller writes 8 MB at most."""
_HEADER = re.compile(rb"(?=\0{3}.{5}\0.{7}\x02)", re.DOTALL)
"""Where a batch may begin: a base offset below 2**40, a size below 2**24, and the format."""
_DAMAGES = (IndexError, ValueError, struct.error)
Found = tuple[LogBatch | None, int]
"""A batch and the place behind it; None where more bytes are needed."""


def segment_batches(chunks: Iterator[bytes], file: str) -> Iterator[LogBatch | Remark]:
    """The batches of a segment or a checkpoint; at the end, how many bytes are left over."""
    data, at, expected = b"", 0, UNKNOWN
    for chunk in chain(chunks, [b""]):
        data, at = data[at:] + chunk, 0
        while at + HEADER_SIZE <= len(data):
            batch, at = _batch_at(data, at, expected, not chunk)
            if batch is None:
                break
            yield batch
            expected = batch.end
    yield from left_over(len(data) - at, file)


def _batch_at(data: bytes, at: int, expected: int, is_last: bool) -> Found:
    header = header_at(data, at)
    end = at + header.size
    if header.is_sane and header.length < _LARGEST:
        if end + HEADER_SIZE > len(data) and not is_last:
            return None, at
        if end <= len(data):
            batch = _decoded(data[at:end], header)
            if not batch.damage and expected in (header.base, UNKNOWN):
                return batch, end
            behind = _base_at(data, end)
            # An offset is not part of what the checksum covers.
            if not batch.damage and header.base > expected and behind in (batch.end, UNKNOWN):
                return batch, end
            expected = header.base if expected == UNKNOWN else expected
            if behind > expected or end == len(data):
                damage = batch.damage or "its offset is not the one after the batch before it"
                return _damaged(expected, behind, damage), end
    return _next_batch(data, at, expected, is_last)


def _base_at(data: bytes, at: int) -> int:
    """The offset of the batch that begins at a place, UNKNOWN where none does."""
    if at + HEADER_SIZE > len(data):
        return UNKNOWN
    header = header_at(data, at)
    return header.base if header.is_sane else UNKNOWN


def _damaged(base: int, end: int, damage: str) -> LogBatch:
    return LogBatch(base, max(base + 1, end), UNKNOWN, UNKNOWN, UNKNOWN, [], damage)


def _next_batch(data: bytes, at: int, expected: int, is_last: bool) -> Found:
    """What is lost up to the next batch behind a place that is whole and sound."""
    for found in _HEADER.finditer(data, at + 1):
        place = found.start()
        base = _base_at(data, place)
        if expected < base <= expected + _FURTHEST and _is_sound(data, place):
            return _damaged(expected, base, "no batch begins where the one before it ends"), place
    # So that what is no segment at all does not fill the memory.
    return None, at if is_last else max(at, len(data) - _LARGEST)


def _is_sound(data: bytes, at: int) -> bool:
    header = header_at(data, at)
    batch = data[at : at + header.size]
    return len(batch) == header.size and crc32c(batch[SUMMED_FROM:]) == header.crc


def _decoded(data: bytes, header: BatchHeader) -> LogBatch:
    """The bytes of a whole batch to its records."""
    base, end = header.base, header.base + max(header.last_delta, 0) + 1
    batch = LogBatch(base, end, header.controller_epoch, header.crc, header.last_time, [])
    if len(data) == HEADER_SIZE + len(NO_OP) and data.endswith(NO_OP):
        batch.add(base, header.first_time, ("NO_OP_RECORD", 0, {}))
    elif crc32c(data[SUMMED_FROM:]) != header.crc:
        batch.damage = "its bytes do not have the checksum that was written with them"
    elif header.attributes & COMPRESSION:
        batch.damage = "it is compressed, which the batches of a metadata log never are"
    else:
        _decode(data, header, batch)
    return batch


def _decode(data: bytes, header: BatchHeader, batch: LogBatch) -> None:
    decode = _control if header.is_control else _metadata
    try:
        for place in record_places(data, header.records):
            offset, time = header.base + place.offset_delta, header.first_time + place.time_delta
            batch.add(offset, time, decode(data, place))
    except _DAMAGES:
        batch.undecoded.append((header.base, "a batch with other records than Kafka's"))


def _metadata(data: bytes, place: RecordPlace) -> Decoded:
    try:
        number, version, at = record_number(data, place.value)
        name, read = known_readers()[number, version]
        return name, version, read(data, at)[0]
    except KeyError:
        return f"number {number}, version {version}", version, None
    except _DAMAGES:
        return "no metadata record", 0, None


def _control(data: bytes, place: RecordPlace) -> Decoded:
    (number,), (version,) = (
        INT16.unpack_from(data, at) for at in (place.key + INT16.size, place.value)
    )
    schema = record_schemas("control").get(number)
    if schema is None:
        return f"control record {number}", version, None
    return schema.name, version, message_reader(schema, version, DUMP_FORMS)(data, place.value)[0]
