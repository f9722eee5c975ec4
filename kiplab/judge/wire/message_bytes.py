"""Values to bytes and back, by a schema. A struct is a dict by Kafka's names of its fields; what is
left out has its default.
"""

import struct
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from .message_schemas import MessageSchema, SchemaField

INT16, INT32 = struct.Struct(">h"), struct.Struct(">i")
UUID_BYTES = 16
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


# --- numbers in as many bytes as they need, seven bits a byte, the lowest first -------------------


def unsigned_varint(number: int) -> bytes:
    """`number`, which is not negative, as the protocol writes lengths and tags."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def read_unsigned_varint(data: bytes, at: int) -> tuple[int, int]:
    """(number, where it ends). Raises IndexError where the data ends first."""
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """(number with a sign, where it ends), as record batches write them.

    Raises IndexError where the data ends first.
    """
    number, at = read_unsigned_varint(data, at)
    return (number >> 1) ^ -(number & 1), at


# --- writing --------------------------------------------------------------------------------------


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


# --- reading --------------------------------------------------------------------------------------


def read_message(
    schema: MessageSchema, data: bytes, version: int, at: int = 0
) -> tuple[dict[str, Any], int]:
    """(value, where it ends). Raises IndexError or struct.error where the data ends first."""
    return _read_struct(schema.fields, data, at, version, schema.flexible.have(version))


def _read_struct(
    fields: Sequence[SchemaField], data: bytes, at: int, version: int, flexible: bool
) -> tuple[dict[str, Any], int]:
    value: dict[str, Any] = {}
    for field in fields:
        if not field.versions.have(version):
            continue
        if field.tag is not None and field.tagged.have(version):
            value[field.name] = field.default
        else:
            value[field.name], at = _read_field(field, data, at, version)
    return (value, _read_tagged(value, fields, data, at, version)) if flexible else (value, at)


def _read_tagged(
    value: dict[str, Any], fields: Sequence[SchemaField], data: bytes, at: int, version: int
) -> int:
    """Fields with a tag; one that the schema does not know is passed over, as Kafka does."""
    known = {f.tag: f for f in fields if f.tag is not None and f.tagged.have(version)}
    count, at = read_unsigned_varint(data, at)
    for _ in range(count):
        tag, at = read_unsigned_varint(data, at)
        size, at = read_unsigned_varint(data, at)
        if tag in known:
            value[known[tag].name], _ = _read_field(known[tag], data, at, version)
        at += size
    return at


def _read_field(field: SchemaField, data: bytes, at: int, version: int) -> tuple[Any, int]:
    flexible = field.flexible.have(version)
    if field.is_array:
        return _read_array(field, data, at, version, flexible)
    if field.fields and field.nullable.have(version):
        if data[at] > 0x7F:
            return None, at + 1
        at += 1
    return _read_one(field, data, at, version, flexible)


def _read_array(
    field: SchemaField, data: bytes, at: int, version: int, flexible: bool
) -> tuple[tuple[Any, ...] | None, int]:
    size, at = _read_length(data, at, flexible)
    if size is None:
        return None, at
    values = []
    for _ in range(size):
        value, at = _read_one(field, data, at, version, flexible)
        values.append(value)
    return tuple(values), at


def _read_one(
    field: SchemaField, data: bytes, at: int, version: int, flexible: bool
) -> tuple[Any, int]:
    if field.fields:
        return _read_struct(field.fields, data, at, version, flexible)
    if field.kind in FIXED:
        fixed = FIXED[field.kind]
        return fixed.unpack_from(data, at)[0], at + fixed.size
    if field.kind == "uuid":
        return uuid.UUID(bytes=bytes(data[at : at + UUID_BYTES])), at + UUID_BYTES
    size, at = _read_length(data, at, flexible, short=field.kind == "string")
    if size is None:
        return None, at
    value = bytes(data[at : at + size])
    return value.decode() if field.kind == "string" else value, at + size


def _read_length(
    data: bytes, at: int, flexible: bool, *, short: bool = False
) -> tuple[int | None, int]:
    if flexible:
        size, at = read_unsigned_varint(data, at)
        return (size - 1 if size else None), at
    fixed = INT16 if short else INT32
    size = fixed.unpack_from(data, at)[0]
    return (size if size >= 0 else None), at + fixed.size
