"""Blocks of work: one row per block, the rows they return as one Arrow table.

A block is a small order ("draw replications 3000 to 3999"), not data: it is run where it lands, and
only its result travels back. The result may not depend on the place of the run, so the table is the
same for any number of partitions and cores, and the same without Spark. `waves.py` spreads blocks
over Spark.
"""

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ..extras import Deferred

if TYPE_CHECKING:
    import pyarrow as pa
else:
    pa = Deferred("pyarrow", "a table of many runs")

Function = Callable[[bytes], Sequence[Mapping[str, Any]]]

ANSWER = "block bigint, rows binary, failure string"


class BlockFailed(Exception):  # noqa: N818 - says what happened to the block
    """The function raised, or returned rows that do not fit the schema.

    ``block`` is the number of the first block that failed, counted from 0 in the list given;
    ``reason`` is the exception's name, message and place, ``order`` the block itself.
    """

    def __init__(self, block: int, reason: str, order: Any = None) -> None:
        super().__init__(block, reason, order)
        self.block = block
        self.reason = reason
        self.order = order

    def __str__(self) -> str:
        return f"Block {self.block} failed: {self.reason}"


class BlockAnswer(NamedTuple):
    """What an executor says of one block: its rows, packed, or why there are none."""

    block: int
    rows: bytes | None
    failure: str | None


def run_blocks_plainly(
    function: Function, blocks: Sequence[Any], schema: "pa.Schema | str"
) -> "pa.Table":
    """The same table as ``run_blocks``, worked out in this process without Spark.

    Raises BlockFailed at the first block that fails, ValueError for a schema without sense.
    """
    columns = arrow_schema(schema)
    payloads = [payload_of(block) for block in blocks]
    answers = (answer_of(function, columns, n, payload) for n, payload in enumerate(payloads))
    return assembled(answers, columns, blocks)


def payload_of(block: Any) -> bytes:
    """A block as an executor gets it."""
    return block if isinstance(block, bytes) else msgspec.json.encode(block)


def answer_of(function: Function, columns: "pa.Schema", block: int, payload: bytes) -> BlockAnswer:
    """Compute one block on any machine; an exception is returned, not raised."""
    try:
        rows = function(payload)
    except Exception as error:
        return BlockAnswer(block, None, _explain(error))
    try:
        return BlockAnswer(block, pack(rows, columns), None)
    except Exception as error:
        return BlockAnswer(block, None, f"the rows it returned do not fit the schema: {error}")


def _explain(error: Exception) -> str:
    """Name, message and place of an exception in one line."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(frame.filename).name}, line {frame.lineno}, in {frame.name}"
    return f"{type(error).__name__}: {error} ({where})"


def assembled(
    answers: Iterator[BlockAnswer], columns: "pa.Schema", blocks: Sequence[Any]
) -> "pa.Table":
    """All rows, in the order of the answers. Raises BlockFailed at the first without rows."""
    tables = [columns.empty_table()]
    for answer in answers:
        if answer.rows is None:
            raise BlockFailed(answer.block, answer.failure or "", blocks[answer.block])
        tables.append(pa.ipc.open_stream(answer.rows).read_all())
    return pa.concat_tables(tables).combine_chunks()


_TYPES = {"int": "int32", "bigint": "int64", "boolean": "bool"}
_TYPES |= {name: name for name in ("float", "double", "string", "binary")}
"""SQL's names for column types, and Arrow's."""


def arrow_schema(schema: "pa.Schema | str") -> "pa.Schema":
    """``schema`` itself, or the Arrow schema of a line like ``"years double, losses bigint"``.

    Raises ValueError naming the column it does not understand; columns of lists or structs
    need an Arrow schema. MissingExtraError without pyarrow.
    """
    if isinstance(schema, pa.Schema):
        return schema
    columns = [column.split() for column in schema.split(",")]
    for column in columns:
        if len(column) != 2 or column[1] not in _TYPES:
            expected = f"expected a name and one of {', '.join(_TYPES)}"
            raise ValueError(f"{' '.join(column)!r} is not a column; {expected}")
    return pa.schema([(name, pa.type_for_alias(_TYPES[kind])) for name, kind in columns])


def pack(rows: Sequence[Mapping[str, Any]], columns: "pa.Schema") -> bytes:
    """The rows as an Arrow stream. Raises ValueError or an Arrow error if one does not fit."""
    expected = set(columns.names)
    for number, row in enumerate(rows):
        if set(row) != expected:
            problem = f"row {number} has the columns {sorted(row)}"
            raise ValueError(f"{problem}, expected {sorted(expected)}")
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, columns) as writer:
        writer.write_table(pa.Table.from_pylist(rows, schema=columns))
    return bytes(sink.getvalue())
