"""The JSON of a dump's record lines, checked by the schemas of the records while it is decoded."""

from collections.abc import Mapping
from functools import cache, reduce
from operator import or_
from typing import Any, NotRequired, TypedDict

import msgspec

from .known_records import control_records, known_records
from .message_fields import NUMBERS, MessageSchema, SchemaField

CONTROL_NAMES = {
    b"LeaderChange": 2,
    b"SnapshotHeader": 3,
    b"SnapshotFooter": 4,
    b"KRaftVersion": 5,
    b"KRaftVoters": 6,
}
"""How the tool calls the control records whose fields it prints, and their types."""


@cache
def payload_decoder() -> msgspec.json.Decoder[Any]:
    """Decodes ``{"type":...,"version":...,"data":{...}}`` to a struct of the class of its type.

    Raises msgspec.ValidationError for a type that is not known, or fields that are not its own.
    """
    return msgspec.json.Decoder(reduce(or_, payload_types()))


@cache
def payload_types() -> Mapping[type, MessageSchema]:
    """The schema that each class of payloads is made by."""
    return {
        msgspec.defstruct(
            schema.name,
            [("version", int), ("data", _fields_type(schema.name, schema.fields))],
            tag=schema.name,
            tag_field="type",
        ): schema
        for schema in known_records().values()
    }


@cache
def control_decoder(number: int) -> msgspec.json.Decoder[dict[str, Any]]:
    """Decodes the fields of a control record of that type."""
    schema = control_records()[number]
    return msgspec.json.Decoder(_fields_type(schema.name, schema.fields))


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
