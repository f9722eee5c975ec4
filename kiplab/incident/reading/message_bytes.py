"""Values to bytes, by a schema. A struct is a dict by Kafka's names; the rest is at its default."""

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from .message_fields import MessageSchema, SchemaField

SchemaFields = Sequence[SchemaField]
StructValue = Mapping[str, Any]
INT16, INT32 = struct.Struct(">h"), struct.Struct(">i")
FIXED = {
    "bool": struct.Struct(">?"),
    "int8": struct.Struct(">b"),
    "int16": INT16,
    "uint16": struct.Struct(">H"),
    "int32": INT32,
    "uint32": struct.Struct(">I"),
    "int64": struct.Struct(">q"),
    "float64": struct.Struct(">d"),
}
"""How values of one size are written."""


class UnknownMessageFieldError(ValueError):
    """A value names a field that its schema does not have."""


def unsigned_varint(number: int) -> bytes:
    """`number`, not negative, as lengths and tags are written: seven bits a byte, lowest first."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def written_message(schema: MessageSchema, value: StructValue, version: int) -> bytes:
    """The bytes of a message or record, without any header.

    Raises UnknownMessageFieldError for a field that there is none of, struct.error for a number
    that does not fit.
    """
    return _struct(schema.name, schema.fields, value, version, schema.flexible.have(version))


def _struct(
    name: str, fields: SchemaFields, value: StructValue, version: int, flexible: bool
) -> bytes:
    unknown = value.keys() - {field.name for field in fields}
    if unknown:
        raise UnknownMessageFieldError(f"{name} has no field {', '.join(sorted(unknown))}")
    out = bytearray()
    tagged: dict[int, bytes] = {}
    for field in fields:
        field_value = value.get(field.name, field.default)
        if not field.versions.have(version):
            continue
        if field.tag is None or not field.tagged.have(version):
            out += _field(field, field_value, version)
        elif field_value != field.default:
            tagged[field.tag] = _field(field, field_value, version)
    if flexible:
        out += unsigned_varint(len(tagged))
        for tag, body in sorted(tagged.items()):
            out += unsigned_varint(tag) + unsigned_varint(len(body)) + body
    return bytes(out)


def _field(field: SchemaField, value: Any, version: int) -> bytes:
    flexible = field.flexible.have(version)
    if field.is_array:
        size = _length(None if value is None else len(value), flexible)
        return size + b"".join(_one(field, one, version, flexible) for one in value or ())
    if not field.fields or not field.nullable.have(version):
        return _one(field, value, version, flexible)
    return b"\xff" if value is None else b"\x01" + _one(field, value, version, flexible)


def _one(field: SchemaField, value: Any, version: int, flexible: bool) -> bytes:
    if field.fields:
        return _struct(field.kind, field.fields, value, version, flexible)
    if field.kind in FIXED:
        return FIXED[field.kind].pack(value)
    if field.kind == "uuid":
        return bytes(value.bytes)
    data = value.encode() if isinstance(value, str) else value
    size = None if data is None else len(data)
    return _length(size, flexible, short=field.kind == "string") + (data or b"")


def _length(size: int | None, flexible: bool, *, short: bool = False) -> bytes:
    """How long something is; None for null. A compact length is one more than the size."""
    if flexible:
        return unsigned_varint(0 if size is None else size + 1)
    return (INT16 if short else INT32).pack(-1 if size is None else size)
