"""What a message or a record of Kafka consists of: fields, and the versions that have them."""

from __future__ import annotations

import uuid
from typing import Any, NamedTuple

import msgspec

NUMBERS = frozenset({"int8", "int16", "uint16", "int32", "uint32", "int64", "float64"})
FLAT = NUMBERS | {"bool", "string", "uuid", "bytes", "records"}
"""Types of fields that have no fields of their own."""


class MessageVersions(NamedTuple):
    """Versions of a message from `first` to `last`; none if `last` is smaller."""

    first: int
    last: int

    def have(self, version: int) -> bool:
        """Whether `version` is one of them."""
        return self.first <= version <= self.last


LATEST = 32767
NO_VERSION, ALL_VERSIONS = MessageVersions(0, -1), MessageVersions(0, LATEST)


class SchemaField(msgspec.Struct, frozen=True, kw_only=True):
    """One field of a message. `kind` is a type of `FLAT`, or the name of a struct with `fields`.

    `tag` is None for a field that always has its place. `default` is a value as `reading` gives it.
    """

    name: str
    kind: str
    is_array: bool
    versions: MessageVersions
    nullable: MessageVersions
    tag: int | None
    tagged: MessageVersions
    flexible: MessageVersions
    fields: tuple[SchemaField, ...]
    default: Any


class MessageSchema(msgspec.Struct, frozen=True):
    """A request, a response or a metadata record. `api_key` is None for a header."""

    name: str
    kind: str
    api_key: int | None
    versions: MessageVersions
    flexible: MessageVersions
    fields: tuple[SchemaField, ...]

    def __hash__(self) -> int:
        """Defaults are of any kind, so that fields have no hash."""
        return hash((self.name, self.kind, self.versions))


def default_of(
    written: str | int | bool | None, kind: str, is_array: bool, fields: tuple[SchemaField, ...]
) -> Any:
    """A default as a schema writes it, None where it writes none, to a value of that kind."""
    if written == "null":
        return None
    if is_array:
        return ()
    if fields:
        return {field.name: field.default for field in fields}
    if kind in NUMBERS:
        return float(written or 0) if kind == "float64" else int(str(written or 0), 0)
    is_true = str(written).lower() == "true"
    empty = {"string": written or "", "uuid": uuid.UUID(int=0), "bool": is_true}
    return empty.get(kind, b"")
