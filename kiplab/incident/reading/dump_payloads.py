"""The JSON of a dump's record lines, checked by the schemas of the records while it is decoded."""

from collections.abc import Mapping
from functools import cache, reduce
from operator import or_
from typing import Any, NotRequired, TypedDict

import msgspec

from .known_records import record_schemas
from .message_fields import NUMBERS, SchemaField


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
