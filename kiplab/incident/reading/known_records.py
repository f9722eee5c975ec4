"""Every record that Kafka 3.3 to 4.3 writes into its metadata log, by its table of schemas."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from .byte_reader import DUMP_FORMS, ReadValue, message_reader
from .message_fields import (
    ALL_VERSIONS,
    LATEST,
    NO_VERSION,
    MessageSchema,
    MessageVersions,
    SchemaField,
    default_of,
)

KNOWN_RELEASES = "3.3 to 4.3"


@cache
def record_schemas(kind: str) -> Mapping[int, MessageSchema]:
    """By number those of ``"metadata"`` records, by type those of the quorum's ``"control"``."""
    text = (files(__package__) / "record_schemas.toml").read_text("utf-8")
    every = (_schema(name, described) for name, described in tomllib.loads(text).items())
    return {s.api_key: s for s in every if s.kind == kind and s.api_key is not None}


@cache
def known_readers() -> Mapping[tuple[int, int], tuple[str, ReadValue]]:
    """(type, reader) of a metadata record by (number, version)."""
    return {
        (number, version): (schema.name, message_reader(schema, version, DUMP_FORMS))
        for number, schema in record_schemas("metadata").items()
        for version in range(schema.versions.last + 1)
    }


def _schema(name: str, described: Mapping[str, Any]) -> MessageSchema:
    kind = "control" if "control" in described else "metadata"
    number = described.get("control", described.get("number"))
    versions = MessageVersions(0, described.get("newest", 0))
    fields = _fields(described.get("fields", {}))
    return MessageSchema(name, kind, number, versions, ALL_VERSIONS, fields)


def _fields(described: Mapping[str, Any]) -> tuple[SchemaField, ...]:
    return tuple(_field(name, written) for name, written in described.items())


def _field(name: str, written: Any) -> SchemaField:
    text, default, fields = name, "", _fields({})
    if isinstance(written, str):
        text, _, default = written.partition(" = ")
    elif isinstance(written, list):
        text, fields = f"{name}[]", _fields(written[0])
    else:
        fields = _fields(written)
    kind, *words = text.split()
    is_array, is_nullable = "[]" in kind, kind.endswith("?")
    kind = kind.rstrip("[]?")
    tags = [int(word[1:]) for word in words if word.startswith("#")]
    first = [int(word[:-1]) for word in words if word.endswith("+")]
    versions = MessageVersions(first[0], LATEST) if first else ALL_VERSIONS
    return SchemaField(
        name=name,
        kind=kind,
        is_array=is_array,
        versions=versions,
        nullable=versions if is_nullable else NO_VERSION,
        tag=tags[0] if tags else None,
        tagged=versions if tags else NO_VERSION,
        flexible=ALL_VERSIONS,
        fields=fields,
        default=default_of(default or None, kind, is_array, fields),
    )
