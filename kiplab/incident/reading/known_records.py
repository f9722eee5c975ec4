"""Every record that Kafka 3.3 to 4.3 writes into its metadata log, by its table of schemas: what
reads its bytes, and what checks and decodes the JSON that Kafka's dump tool prints of it.
"""

import tomllib
from collections.abc import Mapping
from functools import cache, reduce
from importlib.resources import files
from operator import or_
from typing import Any, NotRequired, TypedDict

import msgspec

from .message_bytes import DUMP_FORMS, ReadValue, message_reader
from .message_fields import NUMBERS, MessageSchema, SchemaField, described_schema

KNOWN_RELEASES = "3.3 to 4.3"
_UNTOLD = {"type": "metadata", "validVersions": "0", "flexibleVersions": "0+"}


@cache
def record_schemas(kind: str) -> Mapping[int, MessageSchema]:
    """By number those of ``"metadata"`` records, by type those of the quorum's ``"control"``."""
    text = (files(__package__) / "record_schemas.toml").read_text("utf-8")
    described = tomllib.loads(text).items()
    every = (described_schema({**_UNTOLD, "name": name, **told}) for name, told in described)
    return {s.api_key: s for s in every if s.kind == kind and s.api_key is not None}


@cache
def known_readers() -> Mapping[tuple[int, int], tuple[str, ReadValue]]:
    """(type, reader) of a metadata record by (number, version)."""
    return {
        (number, version): (schema.name, message_reader(schema, version, DUMP_FORMS))
        for number, schema in record_schemas("metadata").items()
        for version in range(schema.versions.last + 1)
    }


@cache
def payload_decoder() -> msgspec.json.Decoder[Any]:
    """Decodes ``{"type":...,"version":...,"data":{...}}`` to a struct of the class of its type.

    Raises msgspec.ValidationError for a type that is not known, or fields that are not its own.
    """
    return msgspec.json.Decoder(reduce(or_, payload_types()))


@cache
def payload_types() -> Mapping[type, str]:
    """The types of records, each by the class of its payloads."""
    schemas = (*record_schemas("metadata").values(), *record_schemas("control").values())
    return {_payload_type(s.name, s.fields): s.name for s in schemas}


def _payload_type(name: str, fields: tuple[SchemaField, ...]) -> type:
    parts = [("version", int), ("data", _fields_type(name, fields))]
    return msgspec.defstruct(name, parts, tag=name, tag_field="type")


def _fields_type(name: str, fields: tuple[SchemaField, ...]) -> Any:
    return TypedDict(name, {field.name: _field_type(field) for field in fields})  # type: ignore[operator]


def _field_type(field: SchemaField) -> Any:
    if field.fields:
        kind: Any = _fields_type(field.kind, field.fields)
    elif field.kind in NUMBERS:
        kind = float if field.kind == "float64" else int
    else:
        kind = bool if field.kind == "bool" else str
    kind = list[kind] if field.is_array else kind
    kind = kind | None if field.nullable.have(field.nullable.last) else kind
    is_always_there = field.tag is None and field.versions.first == 0
    return kind if is_always_there else NotRequired[kind]
