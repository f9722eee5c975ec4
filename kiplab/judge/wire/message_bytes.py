"""Values to bytes and back, by a schema. A struct is a dict by Kafka's names; rest is default."""

import struct
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from .message_schemas import MessageSchema, SchemaField

SchemaFields = Sequence[SchemaField]
StructValue = Mapping[str, Any]
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


# --- writing --------------------------------------------------------------------------------------


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


# --- reading --------------------------------------------------------------------------------------


class ByteReader:
    """Reads `data` from `at` on, where the last read ended. Raises IndexError or struct.error."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data, self.at = data, at

    def fixed(self, form: struct.Struct) -> Any:
        """A number of one size."""
        (number,) = form.unpack_from(self.data, self.at)
        self.at += form.size
        return number

    def unsigned_varint(self) -> int:
        """A number as `unsigned_varint` writes it."""
        number = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
            shift += 7

    def varint(self) -> int:
        """A number with a sign, as record batches write them."""
        number = self.unsigned_varint()
        return (number >> 1) ^ -(number & 1)

    def bytes_of(self, size: int) -> bytes:
        """The next `size` bytes."""
        self.at += size
        return bytes(self.data[self.at - size : self.at])

    def pass_tags(self) -> None:
        """Pass over fields with a tag."""
        self._tagged({}, {}, 0)

    def message(self, schema: MessageSchema, version: int) -> dict[str, Any]:
        """A message or record, without any header."""
        return self._struct(schema.fields, version, schema.flexible.have(version))

    def _struct(self, fields: SchemaFields, version: int, flexible: bool) -> dict[str, Any]:
        value: dict[str, Any] = {}
        tagged: dict[int, SchemaField] = {}
        for field in fields:
            if not field.versions.have(version):
                continue
            if field.tag is not None and field.tagged.have(version):
                value[field.name] = field.default
                tagged[field.tag] = field
            else:
                value[field.name] = self._field(field, version)
        if flexible:
            self._tagged(value, tagged, version)
        return value

    def _tagged(self, value: Any, fields: Mapping[int, SchemaField], version: int) -> None:
        """Fields with a tag; one that the schema does not know is passed over, as Kafka does."""
        for _ in range(self.unsigned_varint()):
            tag, size = self.unsigned_varint(), self.unsigned_varint()
            end = self.at + size
            if tag in fields:
                value[fields[tag].name] = self._field(fields[tag], version)
            self.at = end

    def _field(self, field: SchemaField, version: int) -> Any:
        flexible = field.flexible.have(version)
        if field.is_array:
            size = self._length(flexible)
            if size is None:
                return None
            return tuple(self._one(field, version, flexible) for _ in range(size))
        if field.fields and field.nullable.have(version):
            self.at += 1
            if self.data[self.at - 1] > 0x7F:
                return None
        return self._one(field, version, flexible)

    def _one(self, field: SchemaField, version: int, flexible: bool) -> Any:
        if field.fields:
            return self._struct(field.fields, version, flexible)
        if field.kind in FIXED:
            return self.fixed(FIXED[field.kind])
        if field.kind == "uuid":
            return uuid.UUID(bytes=self.bytes_of(UUID_BYTES))
        size = self._length(flexible, short=field.kind == "string")
        if size is None:
            return None
        data = self.bytes_of(size)
        return data.decode() if field.kind == "string" else data

    def _length(self, flexible: bool, *, short: bool = False) -> int | None:
        form = INT16 if short else INT32
        size: int = self.unsigned_varint() - 1 if flexible else self.fixed(form)
        return size if size >= 0 else None
