"""A release's own schemas, and by them the metadata log of a running controller, as it grows.

kafka-clients carries ``common/message/*.json`` and kafka-metadata ``common/metadata/*.json``, from
which Kafka generates its Java classes. They are JSON with ``//`` comments. A segment holds record
batches of format 2, which a KRaft controller never compresses. The content of control batches (the
leader of the quorum) is left out; their offsets are counted.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import msgspec

from ...incident.reading.batches import HEADER_SIZE, header_at, record_number, record_places
from ...incident.reading.message_bytes import PYTHON_FORMS, message_reader
from ...incident.reading.message_fields import MessageSchema, described_schema
from ...protocol.ids import MetadataOffset

FOLDERS = ("common/message/", "common/metadata/")
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*')


class ReleaseSchemas(msgspec.Struct, frozen=True):
    """One release's schemas: requests and responses by API, metadata records by number."""

    requests: Mapping[str, MessageSchema]
    responses: Mapping[str, MessageSchema]
    records: Mapping[int, MessageSchema]


class NoSchemasError(ValueError):
    """Jars without Kafka's schemas in them, or files that are no jars."""


def schemas_in(jars: Iterable[Path]) -> ReleaseSchemas:
    """The schemas in one release's jars. Raises NoSchemasError for a damaged file, or none."""
    jars = tuple(jars)
    schemas = [schema_of(text) for jar in jars for text in _texts(jar)]
    if not schemas:
        named = ", ".join(str(jar) for jar in jars) or "no files"
        raise NoSchemasError(f"none of Kafka's message schemas in {named}")
    return ReleaseSchemas(
        requests={s.name.removesuffix("Request"): s for s in schemas if s.kind == "request"},
        responses={s.name.removesuffix("Response"): s for s in schemas if s.kind == "response"},
        records={s.api_key: s for s in schemas if s.kind == "metadata" and s.api_key is not None},
    )


def _texts(jar: Path) -> Iterator[str]:
    try:
        with ZipFile(jar) as archive:
            for name in archive.namelist():
                if name.startswith(FOLDERS) and name.endswith(".json"):
                    yield archive.read(name).decode()
    except (BadZipFile, OSError) as problem:
        raise NoSchemasError(f"{jar} cannot be read as a jar: {problem}") from None


def schema_of(text: str) -> MessageSchema:
    """One schema. Raises msgspec.DecodeError for what is no JSON but for its comments."""
    return described_schema(msgspec.json.decode(_COMMENT.sub(lambda match: match[1] or "", text)))


# --- the log --------------------------------------------------------------------------------------

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
            if header.is_control:
                continue
            self.last_record = offset
            key, version, at = record_number(batch, place.value)
            schema = self._schemas.records.get(key)
            if schema is None:
                raise UnknownRecordError(f"offset {offset}: no schema of a metadata record {key}")
            fields, _ = message_reader(schema, version, PYTHON_FORMS)(batch, at)
            yield LoggedRecord(offset, schema.name, version, fields)


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
