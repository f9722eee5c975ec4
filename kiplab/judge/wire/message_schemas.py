"""A release's own schemas: every message and metadata record, as the jars describe them.

kafka-clients carries ``common/message/*.json`` and kafka-metadata ``common/metadata/*.json``, from
which Kafka generates its Java classes. They are JSON with ``//`` comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import msgspec

from ...incident.reading.message_fields import MessageSchema, described_schema

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
