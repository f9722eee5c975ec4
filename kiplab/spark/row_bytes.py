"""Rows as bytes and back: both ways of running blocks pack them alike, so they agree exactly."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..extras import needed_by

if TYPE_CHECKING:
    import pyarrow as pa

# SQL's names for column types, and Arrow's.
_TYPES = {
    "boolean": "bool",
    "tinyint": "int8",
    "smallint": "int16",
    "int": "int32",
    "integer": "int32",
    "bigint": "int64",
    "float": "float",
    "double": "double",
    "string": "string",
    "binary": "binary",
}


def arrow_schema(schema: "pa.Schema | str") -> "pa.Schema":
    """``schema`` itself, or the Arrow schema of a line like ``"years double, losses bigint"``.

    Raises ValueError naming the column it does not understand; columns of lists or structs
    need an Arrow schema. MissingExtraError without pyarrow.
    """
    with needed_by("a table of many runs"):
        import pyarrow as pa

    if isinstance(schema, pa.Schema):
        return schema
    return pa.schema([_field(column) for column in schema.split(",")])


def _field(column: str) -> "pa.Field":
    import pyarrow as pa

    parts = re.fullmatch(r"\s*(\w+)\s+(\w+)\s*", column)
    if parts is None or parts[2].lower() not in _TYPES:
        raise ValueError(
            f"{column.strip()!r} is not a column; expected a name and one of {', '.join(_TYPES)}"
        )
    return pa.field(parts[1], pa.type_for_alias(_TYPES[parts[2].lower()]))


def pack(rows: Sequence[Mapping[str, Any]], columns: "pa.Schema") -> bytes:
    """The rows as an Arrow stream. Raises ValueError or an Arrow error if one does not fit."""
    import pyarrow as pa

    expected = set(columns.names)
    for number, row in enumerate(rows):
        if set(row) != expected:
            raise ValueError(
                f"row {number} has the columns {sorted(row)}, expected {sorted(expected)}"
            )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, columns) as writer:
        writer.write_table(pa.Table.from_pylist(rows, schema=columns))
    return bytes(sink.getvalue())


def unpack(stream: bytes) -> "pa.Table":
    """The table that ``pack`` wrote."""
    import pyarrow as pa

    return pa.ipc.open_stream(stream).read_all()
