"""What a message or a record of Kafka consists of, as Kafka's own schemas describe it.

A schema is a mapping by the keys of those files: name, type, apiKey, validVersions, fields.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

NUMBERS = frozenset({"int8", "int16", "uint16", "int32", "uint32", "int64", "float64"})
FLAT = NUMBERS | {"bool", "string", "uuid", "bytes", "records"}
"""Types of fields that have no fields of their own."""
Described = Mapping[str, Any]


class MessageVersions(NamedTuple):
    """Versions of a message from `first` to `last`; none if `last` is smaller."""

    first: int
    last: int

    def have(self, version: int) -> bool:
        """Whether `version` is one of them."""
        return self.first <= version <= self.last


LATEST = 32767
NO_VERSION = MessageVersions(0, -1)


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


def described_schema(described: Described) -> MessageSchema:
    """The schema that is described."""
    flexible = versions_of(described.get("flexibleVersions"))
    shared = {struct["name"]: struct["fields"] for struct in described.get("commonStructs", ())}
    fields = tuple(_field(f, flexible, shared) for f in described.get("fields", ()))
    versions = versions_of(described["validVersions"])
    key = described.get("apiKey")
    return MessageSchema(described["name"], described["type"], key, versions, flexible, fields)


def versions_of(text: str | None) -> MessageVersions:
    """``"1+"``, ``"0-3"``, ``"2"``, ``"none"`` or nothing, as the schemas write versions."""
    if text is None or text == "none":
        return NO_VERSION
    first, between, last = text.partition("-")
    if first.endswith("+"):
        return MessageVersions(int(first[:-1]), LATEST)
    return MessageVersions(int(first), int(last) if between else int(first))


def _field(described: Described, flexible: MessageVersions, shared: Described) -> SchemaField:
    kind = described["type"].removeprefix("[]")
    inner = () if kind in FLAT else described.get("fields") or shared[kind]
    fields = tuple(_field(f, flexible, shared) for f in inner)
    is_array, tagged = described["type"] != kind, described.get("taggedVersions")
    own = described.get("flexibleVersions")
    return SchemaField(
        name=described["name"],
        kind=kind,
        is_array=is_array,
        # A field that is tagged wherever there is one says no more than that.
        versions=versions_of(described.get("versions", tagged or "0+")),
        nullable=versions_of(described.get("nullableVersions")),
        tag=int(described["tag"]) if "tag" in described else None,
        tagged=versions_of(tagged),
        flexible=flexible if own is None else versions_of(own),
        fields=fields,
        default=_default(described.get("default"), kind, is_array, fields),
    )


def _default(
    written: str | int | bool | None, kind: str, is_array: bool, fields: tuple[SchemaField, ...]
) -> Any:
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
