"""What a message's fields take on the wire, read off its schema: bytes, strings, arrays.

Only versions before the flexible ones (KIP-482), in which a length is as long as any other, and
only messages in which structs stand in arrays, as in those of a controller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from kiplab.judge.wire.message_bytes import FIXED, INT16, INT32, UUID_BYTES
from kiplab.judge.wire.message_schemas import MessageSchema, SchemaField


class FieldSizes(msgspec.Struct, frozen=True, omit_defaults=True):
    """A struct of a message. `fixed` are the bytes that it always takes, the lengths of its strings
    and arrays among them; an array has what one of its elements takes.
    """

    fixed: int
    strings: tuple[str, ...] = ()
    arrays: dict[str, FieldSizes] = {}


def body_size(
    sizes: FieldSizes, lengths: Mapping[str, int], counts: Mapping[str, int], times: int = 1
) -> int:
    """Bytes of a body, or of `times` such structs: `lengths` are those of its strings by the name
    of the field, 0 for null; `counts` say how many elements all arrays of a name have together.

    Raises KeyError for a string or an array of which nothing is said.
    """
    here = sizes.fixed + sum(lengths[name] for name in sizes.strings)
    inside = (body_size(one, lengths, counts, counts[name]) for name, one in sizes.arrays.items())
    return times * here + sum(inside)


class FlexibleVersionError(ValueError):
    """A version in which lengths are as long as they need to be."""


def field_sizes(schema: MessageSchema, version: int) -> FieldSizes:
    """Of a message's body in this version. Raises FlexibleVersionError for a flexible one."""
    if schema.flexible.have(version):
        raise FlexibleVersionError(f"{schema.name} v{version} is flexible")
    return _of_struct(schema.fields, version)


def _of_struct(fields: Sequence[SchemaField], version: int) -> FieldSizes:
    there = [field for field in fields if field.versions.have(version)]
    return FieldSizes(
        fixed=sum(map(_always, there)),
        strings=tuple(f.name for f in there if f.kind == "string" and not f.is_array),
        arrays={f.name: _of_element(f, version) for f in there if f.is_array},
    )


def _always(field: SchemaField) -> int:
    """The bytes that a field takes whatever is in it; of what has no size, those of its length."""
    if field.is_array:
        return INT32.size
    if field.kind == "string":
        return INT16.size
    return UUID_BYTES if field.kind == "uuid" else FIXED[field.kind].size


def _of_element(field: SchemaField, version: int) -> FieldSizes:
    if field.fields:
        return _of_struct(field.fields, version)
    return FieldSizes(FIXED[field.kind].size)
