"""Values to bytes, by a schema. A struct is a dict by Kafka's names of its fields; what is left out
has its default.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from .message_schemas import MessageSchema, SchemaField
from .varints import INT16, INT32, unsigned_varint

FIXED = {
    "bool": struct.Struct(">?"),
    "int8": struct.Struct(">b"),
    "int16": struct.Struct(">h"),
    "uint16": struct.Struct(">H"),
    "int32": struct.Struct(">i"),
    "uint32": struct.Struct(">I"),
    "int64": struct.Struct(">q"),
    "float64": struct.Struct(">d"),
}
"""How values of one size are written."""


class UnknownMessageFieldError(ValueError):
    """A value names a field that its schema does not have."""


def written_message(schema: MessageSchema, value: Mapping[str, Any], version: int) -> bytes:
    """The bytes of a message or record, without any header.

    Raises UnknownMessageFieldError for a field that there is none of, struct.error for a number
    that does not fit.
    """
    out = bytearray()
    _write_struct(out, schema.name, schema.fields, value, version, schema.flexible.have(version))
    return bytes(out)


def _write_struct(
    out: bytearray,
    name: str,
    fields: Sequence[SchemaField],
    value: Mapping[str, Any],
    version: int,
    flexible: bool,
) -> None:
    unknown = value.keys() - {field.name for field in fields}
    if unknown:
        raise UnknownMessageFieldError(f"{name} has no field {', '.join(sorted(unknown))}")
    tagged: list[tuple[int, bytes]] = []
    for field in fields:
        if not field.versions.have(version):
            continue
        given = value.get(field.name, field.default)
        if field.tag is None or not field.tagged.have(version):
            _write_field(out, field, given, version)
        elif given != field.default:
            body = bytearray()
            _write_field(body, field, given, version)
            tagged.append((field.tag, bytes(body)))
    if flexible:
        _write_tagged(out, tagged)


def _write_tagged(out: bytearray, tagged: list[tuple[int, bytes]]) -> None:
    out += unsigned_varint(len(tagged))
    for tag, body in sorted(tagged):
        out += unsigned_varint(tag) + unsigned_varint(len(body)) + body


def _write_field(out: bytearray, field: SchemaField, value: Any, version: int) -> None:
    flexible = field.flexible.have(version)
    if field.is_array:
        out += _length(None if value is None else len(value), flexible)
        for one in value or ():
            _write_one(out, field, one, version, flexible)
        return
    if field.fields and field.nullable.have(version):
        out += b"\xff" if value is None else b"\x01"
    if not field.fields or value is not None:
        _write_one(out, field, value, version, flexible)


def _write_one(
    out: bytearray, field: SchemaField, value: Any, version: int, flexible: bool
) -> None:
    if field.fields:
        _write_struct(out, field.kind, field.fields, value, version, flexible)
    elif field.kind in FIXED:
        out += FIXED[field.kind].pack(value)
    elif field.kind == "uuid":
        out += value.bytes
    else:
        data = value.encode() if isinstance(value, str) else value
        size = None if data is None else len(data)
        out += _length(size, flexible, short=field.kind == "string") + (data or b"")


def _length(size: int | None, flexible: bool, *, short: bool = False) -> bytes:
    """How long something is; None for null. A compact length is one more than the size."""
    if flexible:
        return unsigned_varint(0 if size is None else size + 1)
    return (INT16 if short else INT32).pack(-1 if size is None else size)
