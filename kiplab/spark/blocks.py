"""Blocks of work over Spark: one row per block, the rows they return as one Arrow table.

A block is a small order ("draw replications 3000 to 3999"), not data: it is worked off where it
lands, and only its result travels back. What a block returns may not depend on where it ran, so
the table is the same for any number of partitions and cores, and the same without Spark.
"""

import functools
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from .complaints import complaint
from .progress import watch
from .row_bytes import arrow_schema, pack, unpack
from .running_session import is_connect, java_gone, java_has_ended
from .session import session
from .unavailable import SparkUnavailable

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

Function = Callable[[bytes], Sequence[Mapping[str, Any]]]

ANSWER = "block bigint, rows binary, failure string"
# Enough tasks per core that the last one to finish keeps few cores waiting.
_TASKS_PER_CORE = 4
_TASKS_ON_CONNECT = 32


class BlockFailed(Exception):  # noqa: N818 - says what happened to the block
    """The function raised, or returned rows that do not fit the schema.

    ``block`` is the number of the first block that failed, counted from 0 in the list given;
    ``reason`` is the exception's name, message and place, ``order`` the block itself where blocks
    come in waves.
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


def run_blocks(
    function: Function,
    blocks: Sequence[Any],
    *,
    schema: "pa.Schema | str",
    master: str | None = None,
    partitions: int | None = None,
    progress: bool | None = None,
) -> "pa.Table":
    """Calls ``function(payload)`` for every block on Spark and returns all rows in block order.

    ``blocks`` are bytes, or anything msgspec can write as JSON, which is then what the function
    gets. ``function`` is importable on the executors and returns a list of dicts with exactly the
    columns of ``schema``: an Arrow schema, or a line like ``"years double, losses bigint"``.
    ``master`` is as for ``session``; ``partitions`` is the number of tasks (default: four per
    core); ``progress`` True or False forces the bar, None shows it in notebooks and terminals.

    Raises BlockFailed for the first block that fails, SparkUnavailable if Spark cannot run,
    ValueError for a schema or a number of partitions that makes no sense.
    """
    columns = arrow_schema(schema)
    payloads = [payload_of(block) for block in blocks]
    if partitions is not None and partitions < 1:
        raise ValueError(f"partitions is {partitions}; expected 1 or more")
    if not payloads:
        return columns.empty_table()
    spark = session(master, app="kiplab blocks")
    tasks = min(len(payloads), partitions or _default_tasks(spark))
    orders = _orders(spark, payloads)
    with watch(spark, orders, blocks=len(payloads), tasks=tasks, show=progress):
        return assembled(collected(_answered(orders, tasks, function, columns)), columns)


def run_blocks_plainly(
    function: Function, blocks: Sequence[Any], schema: "pa.Schema | str"
) -> "pa.Table":
    """The same table as ``run_blocks``, worked out in this process without Spark.

    Raises BlockFailed at the first block that fails, ValueError for a schema without sense.
    """
    columns = arrow_schema(schema)
    payloads = [payload_of(block) for block in blocks]
    answers = (answer_of(function, columns, n, payload) for n, payload in enumerate(payloads))
    return assembled(answers, columns)


def payload_of(block: Any) -> bytes:
    """A block as an executor gets it."""
    return block if isinstance(block, bytes) else msgspec.json.encode(block)


def _default_tasks(spark: "SparkSession") -> int:
    if is_connect(spark):
        return _TASKS_ON_CONNECT
    return _TASKS_PER_CORE * spark.sparkContext.defaultParallelism


def _orders(spark: "SparkSession", payloads: list[bytes]) -> "DataFrame":
    import pyarrow as pa

    numbers = pa.array(range(len(payloads)), pa.int64())
    return spark.createDataFrame(
        pa.table({"block": numbers, "payload": pa.array(payloads, pa.binary())})
    )


def _answered(
    orders: "DataFrame", tasks: int, function: Function, columns: "pa.Schema"
) -> "DataFrame":
    """Sorted within each task, so that the first block to fail is always among those tried."""
    spread = orders.repartition(tasks).sortWithinPartitions("block")
    return spread.mapInArrow(functools.partial(_work, function, columns), ANSWER)


def _work(
    function: Function, columns: "pa.Schema", batches: Iterator["pa.RecordBatch"]
) -> Iterator["pa.RecordBatch"]:
    """Runs on an executor. After a failure the task only drains its input: the result is lost
    anyway, and raising here would make Spark retry what fails every time."""
    import pyarrow as pa

    failed = False
    for batch in batches:
        for order in batch.to_pylist():
            if failed:
                continue
            answer = answer_of(function, columns, order["block"], order["payload"])
            failed = answer.failure is not None
            yield pa.RecordBatch.from_pylist([answer._asdict()], schema=arrow_schema(ANSWER))


def answer_of(function: Function, columns: "pa.Schema", block: int, payload: bytes) -> BlockAnswer:
    """Work one block off, wherever this runs; what it raises is told, not raised."""
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


def collected(answered: "DataFrame") -> Iterator[BlockAnswer]:
    """Let Spark work; the answers in the order of the blocks.

    Raises SparkUnavailable when it gives up.
    """
    with giving_up_told():
        table = answered.toArrow()
    return (BlockAnswer(**answer) for answer in table.sort_by("block").to_pylist())


@contextmanager
def giving_up_told() -> Iterator[None]:
    """Whatever Spark raises in the body becomes a sentence. Raises SparkUnavailable."""
    try:
        yield
    except Exception as error:
        if java_has_ended():
            raise java_gone() from None
        raise SparkUnavailable(
            f"Spark gave up before all blocks were done: {complaint(error)}.",
            _mend(str(error)),
        ) from None


def _mend(report: str) -> str:
    if "No module named" in report:
        return (
            "Install it for the Python of the executors: the README lists what they need, under"
            ' "On your cluster".'
        )
    return (
        "Check that it still runs, and that the executors have memory left and can import the"
        " function."
    )


def assembled(answers: Iterator[BlockAnswer], columns: "pa.Schema") -> "pa.Table":
    """All rows, in the order of the answers. Raises BlockFailed at the first without rows."""
    import pyarrow as pa

    tables = [columns.empty_table()]
    for answer in answers:
        if answer.rows is None:
            raise BlockFailed(answer.block, answer.failure or "")
        tables.append(unpack(answer.rows))
    return pa.concat_tables(tables).combine_chunks()
