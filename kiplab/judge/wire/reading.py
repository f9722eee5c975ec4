"""Bytes to values, by a schema: the other way round than `writing`."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from .message_schemas import MessageSchema, SchemaField
from .varints import INT16, INT32, read_unsigned_varint
from .writing import FIXED

UUID_BYTES = 16


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
    found = []
    for _ in range(size):
        one, at = _read_one(field, data, at, version, flexible)
        found.append(one)
    return tuple(found), at


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
    found = bytes(data[at : at + size])
    return found.decode() if field.kind == "string" else found, at + size


def _read_length(
    data: bytes, at: int, flexible: bool, *, short: bool = False
) -> tuple[int | None, int]:
    if flexible:
        size, at = read_unsigned_varint(data, at)
        return (size - 1 if size else None), at
    fixed = INT16 if short else INT32
    size = fixed.unpack_from(data, at)[0]
    return (size if size >= 0 else None), at + fixed.size
