"""Metadata logs as files: records to segments, checkpoints and the text of Kafka's dump tool."""

import base64
import struct
import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from kiplab.incident.log_items import LogRecord
from kiplab.incident.reading.checksums import crc32c
from kiplab.incident.reading.known_records import record_schemas
from kiplab.incident.reading.message_bytes import unsigned_varint, written_message
from kiplab.incident.reading.message_fields import SchemaField

TITLES = {2: "LeaderChange: ", 3: "SnapshotHeader ", 4: "SnapshotFooter "}
_CONTROL = {schema.name: schema for schema in record_schemas("control").values()}
_KNOWN = {schema.name: schema for schema in record_schemas("metadata").values()}
BEGIN = 1_795_000_000_000


class Batch(NamedTuple):
    """Records of one kind, control records or metadata, that are written at once."""

    records: Sequence[LogRecord]

    @property
    def first(self) -> LogRecord:
        return self.records[0]

    @property
    def is_control(self) -> bool:
        return self.first.type in _CONTROL


class Encoded(NamedTuple):
    """A batch with its bytes, and how many of them are the key and the value of each record."""

    batch: Batch
    data: bytes
    sizes: Sequence[tuple[int, int]]


def batches_of(records: Iterable[LogRecord]) -> Iterator[Batch]:
    """Records of one time in one batch, as far as they follow each other."""
    together: list[LogRecord] = []
    for record in records:
        if together and (
            record.time != together[0].time
            or "NO_OP_RECORD" in (record.type, together[0].type)
            or (record.type in _CONTROL) != (together[0].type in _CONTROL)
        ):
            yield Batch(together)
            together = []
        together.append(record)
    if together:
        yield Batch(together)


def segment_of(batches: Iterable[Batch]) -> bytes:
    """The bytes of a segment."""
    return b"".join(encoded(batch).data for batch in batches)


def encoded(batch: Batch) -> Encoded:
    """A batch of format 2."""
    first, last, body, sizes = batch.first, batch.records[-1], b"", []
    for record in batch.records:
        key, value = _key_and_value(record)
        sizes.append((len(key) or -1, len(value)))
        framed = b"\0" + _signed(record.time - first.time) + _signed(record.offset - first.offset)
        framed += _signed(len(key) or -1) + key + _signed(len(value)) + value + b"\0"
        body += _signed(len(framed)) + framed
    attributes = 0x20 if batch.is_control else 0
    times = first.time, max(record.time for record in batch.records)
    numbers = attributes, last.offset - first.offset, *times, -1, -1, -1, len(batch.records)
    summed = struct.pack(">hiqqqhii", *numbers) + body
    head = struct.pack(">ibI", first.controller_epoch, 2, crc32c(summed))
    size = struct.pack(">qi", first.offset, len(head) + len(summed))
    return Encoded(batch, size + head + summed, sizes)


def dump_of(batches: Iterable[Batch], title: str = "Log starting offset: 0") -> str:
    """The text of a dump."""
    return dump_title(title) + "".join(dump_lines(map(encoded, batches)))


def dump_title(title: str = "Log starting offset: 0") -> str:
    return f"Dumping /data/__cluster_metadata-0/00000000000000000000.log\n{title}\n"


def dump_lines(batches: Iterable[Encoded]) -> Iterator[str]:
    """The lines of each batch."""
    position = 0
    for one in batches:
        lines = map(_record_line, one.batch.records, one.sizes)
        yield _batch_line(one, position) + "".join(lines)
        position += len(one.data)


def _batch_line(one: Encoded, position: int) -> str:
    records = one.batch.records
    first, last = records[0], records[-1]
    (crc,) = struct.unpack_from(">I", one.data, 17)
    return (
        f"baseOffset: {first.offset} lastOffset: {last.offset} count: {len(records)}"
        " baseSequence: -1 lastSequence: -1 producerId: -1 producerEpoch: -1 partitionLeaderEpoch:"
        f" {first.controller_epoch} isTransactional: false isControl:"
        f" {str(one.batch.is_control).lower()} deleteHorizonMs: OptionalLong.empty position:"
        f" {position} CreateTime: {last.time} size: {len(one.data)} magic: 2 compresscodec: none"
        f" crc: {crc} isvalid: true\n"
    )


def _record_line(record: LogRecord, sizes: tuple[int, int]) -> str:
    head = (
        f"| offset: {record.offset} CreateTime: {record.time} keySize: {sizes[0]}"
        f" valueSize: {sizes[1]} sequence: -1 headerKeys: []"
    )
    if record.type in _CONTROL:
        title = TITLES[_CONTROL[record.type].api_key or 0]
        return f"{head} {title}{msgspec.json.encode(record.fields).decode()}\n"
    return f"{head} payload: {payload(record)}\n"


def payload(record: LogRecord) -> str:
    value = {"type": record.type, "version": record.version, "data": record.fields}
    return msgspec.json.encode(value).decode()


def _key_and_value(record: LogRecord) -> tuple[bytes, bytes]:
    is_control = record.type in _CONTROL
    schema = (_CONTROL if is_control else _KNOWN)[record.type]
    number = schema.api_key or 0
    body = written_message(schema, _python(schema.fields, record.fields), record.version)
    if is_control:
        return struct.pack(">hh", 0, number), body
    return b"", bytes([1, number, record.version]) + body


def _python(fields: Sequence[SchemaField], value: dict[str, Any]) -> dict[str, Any]:
    """What the tool prints, as what is written has it."""
    by_name = {field.name: field for field in fields}
    return {
        name: [_one(by_name[name], one) for one in given]
        if isinstance(given, list)
        else _one(by_name[name], given)
        for name, given in value.items()
    }


def _one(field: SchemaField, value: Any) -> Any:
    if value is None:
        return None
    if field.fields:
        return _python(field.fields, value)
    if field.kind == "uuid":
        return uuid.UUID(bytes=base64.urlsafe_b64decode(value + "=="))
    return base64.b64decode(value) if field.kind == "bytes" else value


def _signed(number: int) -> bytes:
    return unsigned_varint(number << 1 if number >= 0 else (-number << 1) - 1)
