"""Segments and checkpoints: bytes to batches, damaged ones told apart by their checksum."""

import re
import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain

from ..log_items import UNKNOWN, Remark
from .batches import (
    COMPRESSION,
    COUNTED_FROM,
    HEADER_SIZE,
    SUMMED_FROM,
    BatchHeader,
    Decoded,
    LogBatch,
    RecordPlace,
    header_at,
    left_over,
    record_number,
    record_places,
)
from .checksums import crc32c, crc32c_of_many
from .known_records import known_readers, record_schemas
from .message_bytes import DUMP_FORMS, INT16, INT32, message_reader

NO_OP = b"\x14\0\0\0\x01\x08\x01\x14\0\0\0"
"""The one record of a batch that a controller writes while nothing happens."""
SNAPSHOT_HEADER = 3
_NO_OP_SIZE = HEADER_SIZE + len(NO_OP)
_MANY = 16
"""As many batches are faster together than one by one."""
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
        sums = _sums(data)
        while at + HEADER_SIZE <= len(data):
            batch, at = _batch_at(data, at, expected, not chunk, sums)
            if batch is None:
                break
            yield batch
            expected = batch.end
    yield from left_over(len(data) - at, file)


def _sums(data: bytes) -> dict[int, int]:
    """The checksums, by place, of most of the batches that follow each other."""
    at, alike = 0, defaultdict[int, dict[int, bytes]](dict)
    while at + HEADER_SIZE <= len(data):
        end = at + COUNTED_FROM + INT32.unpack_from(data, at + COUNTED_FROM - INT32.size)[0]
        if not at + HEADER_SIZE < end <= len(data):
            break
        if end - at != _NO_OP_SIZE:
            summed = data[at + SUMMED_FROM : end]
            alike[len(summed).bit_length()][at] = summed
        at = end
    many = [batches for batches in alike.values() if len(batches) >= _MANY]
    return {
        place: crc
        for batches in many
        for place, crc in zip(batches, crc32c_of_many([*batches.values()]), strict=True)
    }


def _batch_at(data: bytes, at: int, expected: int, is_last: bool, sums: Mapping[int, int]) -> Found:
    header = header_at(data, at)
    end = at + header.size
    if header.is_sane and header.length < _LARGEST:
        if end + HEADER_SIZE > len(data) and not is_last:
            return None, at
        if end <= len(data):
            batch = _decoded(data[at:end], header, sums.get(at))
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


def _decoded(data: bytes, header: BatchHeader, crc: int | None) -> LogBatch:
    """The bytes of a whole batch to its records; `crc` is their checksum, where it is known."""
    base, end = header.base, header.base + max(header.last_delta, 0) + 1
    batch = LogBatch(base, end, header.controller_epoch, header.crc, header.last_time, [])
    if len(data) == _NO_OP_SIZE and data.endswith(NO_OP):
        batch.add(base, header.first_time, ("NO_OP_RECORD", 0, {}))
    elif (crc32c(data[SUMMED_FROM:]) if crc is None else crc) != header.crc:
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
