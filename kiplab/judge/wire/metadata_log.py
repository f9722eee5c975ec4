"""The metadata log of a running controller, read from its segment file as it grows.

A segment holds record batches of format 2, which a KRaft controller never compresses. The content
of control batches (the leader of the quorum) is left out; their offsets are counted.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from ...incident.reading.batches import (
    HEADER_SIZE,
    RecordPlace,
    header_at,
    record_number,
    record_places,
)
from ...incident.reading.message_bytes import PYTHON_FORMS, message_reader
from ...protocol.ids import MetadataOffset
from .message_schemas import ReleaseSchemas

SEGMENT = Path("__cluster_metadata-0", f"{0:020}.log")
"""Where the log is, in the folder that ``log.dirs`` names. It is called after its first offset."""


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
        header = header_at(batch)
        self.leader_epoch = header.controller_epoch
        for place in record_places(batch, header.records):
            offset = MetadataOffset(header.base + place.offset_delta)
            self.end = MetadataOffset(offset + 1)
            if not header.is_control:
                self.last_record = offset
                yield self._record(offset, batch, place)

    def _record(self, offset: int, batch: bytes, place: RecordPlace) -> LoggedRecord:
        key, version, at = record_number(batch, place.value)
        schema = self._schemas.records.get(key)
        if schema is None:
            raise UnknownRecordError(f"offset {offset}: no schema of a metadata record {key}")
        fields, _ = message_reader(schema, version, PYTHON_FORMS)(batch, at)
        return LoggedRecord(offset, schema.name, version, fields)


def _whole_batches(data: bytes) -> Iterator[bytes]:
    """A batch that is being written is left for later."""
    at = 0
    while at + HEADER_SIZE <= len(data):
        header = header_at(data, at)
        end = at + header.size
        if header.length <= 0 or end > len(data):
            return
        yield data[at:end]
        at = end
