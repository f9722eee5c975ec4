"""Bytes to values and back, by a schema. A struct is a dict by Kafka's names.

To read there is one function for each version of a message, made once. Such a function and its
parts take the data and a place in it, and give the value and the place behind it. They raise
IndexError, struct.error or ValueError for data that is cut off or damaged.
"""

import struct
import uuid
from binascii import b2a_base64
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

from .message_fields import MessageSchema, SchemaField

ReadValue = Callable[[bytes, int], tuple[Any, int]]
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
_UUID, _URL_SAFE = struct.Struct("16s"), bytes.maketrans(b"+/", b"-_")
_LONGEST_VARINT = 70
"""Bits that ten bytes can hold."""


class ValueForms(NamedTuple):
    """How values are given: as Python's own types, or as Kafka's dump tool writes them."""

    uuid: Callable[[bytes], Any]
    raw: Callable[[bytes], Any]
    many: Callable[[Sequence[Any]], Any]
    tells_defaults: bool
    """Whether a field with a tag is there while it is at its default."""


@lru_cache(maxsize=1 << 16)
def uuid_text(data: bytes) -> str:
    """16 bytes in the 22 characters that Kafka writes."""
    return b2a_base64(data, newline=False)[:22].translate(_URL_SAFE).decode()


PYTHON_FORMS = ValueForms(lambda data: uuid.UUID(bytes=data), bytes, tuple, True)
DUMP_FORMS = ValueForms(
    uuid_text, lambda data: b2a_base64(data, newline=False).decode(), list, False
)


@cache
def message_reader(schema: MessageSchema, version: int, forms: ValueForms) -> ReadValue:
    """What reads a message or record of that version, without any header, as a dict."""
    return _struct_reader(schema.fields, version, schema.flexible.have(version), forms)


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A number that is not negative, as `message_bytes.unsigned_varint` writes it.

    Raises IndexError where it is cut off, ValueError for more than ten bytes.
    """
    number = data[at]
    if number < 0x80:
        return number, at + 1
    number &= 0x7F
    for shift in range(7, _LONGEST_VARINT, 7):
        at += 1
        byte = data[at]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at + 1
    raise ValueError(f"no number at {at}")


def signed_varint(data: bytes, at: int) -> tuple[int, int]:
    """A number with a sign, as record batches write them."""
    number, at = varint(data, at)
    return (number >> 1) ^ -(number & 1), at


def pass_tags(data: bytes, at: int) -> int:
    """The place behind fields with a tag."""
    return _tagged(data, at, {}, {})


def _tagged(
    data: bytes, at: int, known: Mapping[int, tuple[str, ReadValue]], value: dict[str, Any]
) -> int:
    """Reads fields with a tag into `value`; one that is not known is passed over, as Kafka does."""
    count, at = (data[at], at + 1) if data[at] < 0x80 else varint(data, at)
    for _ in range(count):
        numbers = data[at : at + 2]
        if numbers.isascii():
            tag, size = numbers
            at += 2
        else:
            tag, at = varint(data, at)
            size, at = varint(data, at)
        if tag in known:
            name, read = known[tag]
            value[name], _ = read(data, at)
        at += size
    return at


def _struct_reader(
    fields: Sequence[SchemaField], version: int, flexible: bool, forms: ValueForms
) -> ReadValue:
    there = [field for field in fields if field.versions.have(version)]
    readers = {f.name: _field_reader(f, version, forms) for f in there}
    with_tag = [f for f in there if f.tag is not None and f.tagged.have(version)]
    tagged = {f.tag or 0: (f.name, readers.pop(f.name)) for f in with_tag}
    defaults = {f.name: f.default for f in with_tag} if forms.tells_defaults else {}
    placed = tuple(readers.items())

    def read(data: bytes, at: int) -> tuple[dict[str, Any], int]:
        value = dict(defaults)
        for name, read_field in placed:
            value[name], at = read_field(data, at)
        return value, _tagged(data, at, tagged, value) if flexible else at

    return read


def _field_reader(field: SchemaField, version: int, forms: ValueForms) -> ReadValue:
    flexible, nullable = field.flexible.have(version), field.nullable.have(version)
    read_one = _one_reader(field, version, flexible, forms)
    if field.is_array and field.kind == "int32":
        return _sized_reader(flexible, INT32, partial(_numbers, forms))
    if field.is_array:
        return _sized_reader(flexible, INT32, partial(_elements, forms, read_one))
    if not field.fields or not nullable:
        return read_one
    return lambda data, at: (None, at + 1) if data[at] > 0x7F else read_one(data, at + 1)


def _numbers(forms: ValueForms, data: bytes, at: int, size: int) -> tuple[Any, int]:
    return forms.many(_form_of_numbers(size).unpack_from(data, at)), at + 4 * size


@lru_cache
def _form_of_numbers(count: int) -> struct.Struct:
    return struct.Struct(f">{count}i")


def _elements(
    forms: ValueForms, read_one: ReadValue, data: bytes, at: int, size: int
) -> tuple[Any, int]:
    values = []
    for _ in range(size):
        value, at = read_one(data, at)
        values.append(value)
    return forms.many(values), at


def _one_reader(field: SchemaField, version: int, flexible: bool, forms: ValueForms) -> ReadValue:
    if field.fields:
        return _struct_reader(field.fields, version, flexible, forms)
    if field.kind in FIXED:
        unpack_from, size = FIXED[field.kind].unpack_from, FIXED[field.kind].size
        return lambda data, at: (unpack_from(data, at)[0], at + size)
    if field.kind == "uuid":
        return lambda data, at: (forms.uuid(_UUID.unpack_from(data, at)[0]), at + _UUID.size)
    is_text = field.kind == "string"
    made: Callable[[bytes], Any] = bytes.decode if is_text else forms.raw
    return _sized_reader(
        flexible,
        INT16 if is_text else INT32,
        lambda data, at, size: (made(data[at : at + size]), at + size),
    )


def _sized_reader(
    flexible: bool, form: struct.Struct, read_content: Callable[[bytes, int, int], tuple[Any, int]]
) -> ReadValue:
    """What has its size before it; -1 is null. A compact length is one more than the size."""

    def read(data: bytes, at: int) -> tuple[Any, int]:
        if flexible:
            length, at = (data[at], at + 1) if data[at] < 0x80 else varint(data, at)
        else:
            length, at = form.unpack_from(data, at)[0] + 1, at + form.size
        # Each element has a byte at least.
        if length - 1 > len(data) - at:
            raise ValueError(f"{length - 1} elements at {at} of {len(data)} bytes")
        return read_content(data, at, length - 1) if length > 0 else (None, at)

    return read


# --- values to bytes ------------------------------------------------------------------------------


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
    name: str, fields: Sequence[SchemaField], value: StructValue, version: int, flexible: bool
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
