"""The metadata log of a running controller, read from its segment file as it grows.

A segment holds record batches of format 2, which a KRaft controller never compresses. The content
of control batches (the leader of the quorum) is left out; their offsets are counted.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from ...protocol.ids import MetadataOffset
from .message_bytes import ByteReader
from .message_schemas import ReleaseSchemas

SEGMENT = Path("__cluster_metadata-0", f"{0:020}.log")
"""Where the log is, in the folder that ``log.dirs`` names. It is called after its first offset."""
_BATCH = struct.Struct(">qii5xh34xi")
"""A batch's header: first offset, bytes after the size, leader epoch, attributes, record count."""
_COUNTED_FROM, _IS_CONTROL = 12, 0x20


class LoggedRecord(msgspec.Struct, frozen=True):
    """One record of Kafka's own metadata log. `fields` have Kafka's names."""

    offset: int
    name: str
    version: int
    fields: dict[str, Any]


class UnknownRecordError(ValueError):
    """A record in the log of which the release's own jars have no schema."""


class MetadataLog:
    """What a controller writes into one `segment` of the folder `data`. `end` is the offset after
    the last record seen, control records too; `last_record` is that of the last one that is none,
    -1 where there is none. `leader_epoch` is the quorum's, of the last batch: every election begins
    with one.
    """

    def __init__(self, data: Path, schemas: ReleaseSchemas, segment: Path = SEGMENT) -> None:
        self.end, self.last_record = MetadataOffset(0), MetadataOffset(-1)
        self.leader_epoch = -1
        self._segment, self._schemas = data / segment, schemas
        self._read = 0

    def new(self) -> tuple[LoggedRecord, ...]:
        """The records of all whole batches that came since the last call. Raises UnknownRecordError
        for one that the release has no schema of, OSError for a segment that cannot be read.
        """
        if not self._segment.exists():
            return ()
        with self._segment.open("rb") as segment:
            segment.seek(self._read)
            data = segment.read()
        records: list[LoggedRecord] = []
        for batch in _whole_batches(data):
            records += self._records(batch)
            self._read += len(batch)
        return tuple(records)

    def _records(self, batch: bytes) -> Iterator[LoggedRecord]:
        first, _, self.leader_epoch, attributes, count = _BATCH.unpack_from(batch)
        reader = ByteReader(batch, _BATCH.size)
        for _ in range(count):
            end = reader.varint() + reader.at
            # Attributes and time.
            reader.at += 1
            reader.varint()
            offset = MetadataOffset(first + reader.varint())
            self.end = MetadataOffset(offset + 1)
            if not attributes & _IS_CONTROL:
                self.last_record = offset
                yield self._record(offset, reader)
            reader.at = end

    def _record(self, offset: int, reader: ByteReader) -> LoggedRecord:
        reader.bytes_of(max(reader.varint(), 0))
        # The size of the value, and the version of its frame.
        reader.varint()
        reader.unsigned_varint()
        key, version = reader.unsigned_varint(), reader.unsigned_varint()
        schema = self._schemas.records.get(key)
        if schema is None:
            raise UnknownRecordError(f"offset {offset}: no schema of a metadata record {key}")
        return LoggedRecord(offset, schema.name, version, reader.message(schema, version))


def _whole_batches(data: bytes) -> Iterator[bytes]:
    """A batch that is being written is left for later."""
    at = 0
    while at + _BATCH.size <= len(data):
        size = _BATCH.unpack_from(data, at)[1]
        end = at + _COUNTED_FROM + size
        if size <= 0 or end > len(data):
            return
        yield data[at:end]
        at = end
