"""The rows of all blocks, in block order, are the same however Spark spreads the blocks."""

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from kiplab.spark import BlockFailed, run_blocks, run_blocks_plainly
from tests.repeated import in_long
from tests.spark import work

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]


@pytest.fixture
def small_batches(spark: "SparkSession") -> Iterator[None]:
    setting = "spark.sql.execution.arrow.maxRecordsPerBatch"
    spark.conf.set(setting, "3")
    yield
    spark.conf.unset(setting)


@pytest.fixture(scope="module")
def plain() -> pa.Table:
    return run_blocks_plainly(work.draw, work.BLOCKS, work.SCHEMA)


@pytest.mark.parametrize("partitions", [1, None, *in_long([3, 8])])
def test_any_number_of_partitions_gives_the_rows_of_plain_python(
    plain: pa.Table, partitions: int | None
) -> None:
    assert plain.num_rows == sum(block["draws"] for block in work.BLOCKS)
    on_spark = run_blocks(work.draw, work.BLOCKS, schema=work.SCHEMA, partitions=partitions)
    assert on_spark.equals(plain)
    assert on_spark.schema == plain.schema


@pytest.mark.usefixtures("small_batches")
def test_a_task_gets_its_blocks_in_any_number_of_batches(plain: pa.Table) -> None:
    assert run_blocks(work.draw, work.BLOCKS, schema=work.SCHEMA, partitions=3).equals(plain)


def test_rows_come_in_block_order_and_within_a_block_as_returned(plain: pa.Table) -> None:
    order = list(zip(plain["seed"].to_pylist(), plain["draw"].to_pylist(), strict=True))
    assert order == sorted(order)


def test_bytes_reach_the_function_untouched() -> None:
    blocks = [b"", b"\x00\xff", b"{}"]
    columns = pa.schema({"payload": pa.binary()})
    assert run_blocks(work.echo, blocks, schema=columns)["payload"].to_pylist() == blocks


def test_no_blocks_give_an_empty_table_with_the_columns_asked_for() -> None:
    table = run_blocks(work.draw, [], schema=work.SCHEMA)
    assert table.num_rows == 0
    assert table.column_names == ["seed", "draw", "value", "note"]
    assert table.equals(run_blocks_plainly(work.draw, [], work.SCHEMA))


@pytest.mark.parametrize("partitions", [1, 3, 8])
def test_the_first_failing_block_is_named_with_its_message(partitions: int) -> None:
    with pytest.raises(BlockFailed) as failure:
        run_blocks(work.refuse_7_and_23, work.BLOCKS, schema=work.SCHEMA, partitions=partitions)
    assert failure.value.block == 7
    text = str(failure.value)
    assert text.startswith("Block 7 failed: ValueError: seed must not be 7 (work.py, line ")
    assert "\n" not in text
    assert failure.value.__cause__ is None


def test_plain_python_names_the_failing_block_alike() -> None:
    with pytest.raises(BlockFailed) as on_spark:
        run_blocks(work.refuse_7_and_23, work.BLOCKS, schema=work.SCHEMA)
    with pytest.raises(BlockFailed) as plainly:
        run_blocks_plainly(work.refuse_7_and_23, work.BLOCKS, work.SCHEMA)
    assert str(plainly.value) == str(on_spark.value)


def test_rows_with_missing_columns_are_refused() -> None:
    with pytest.raises(BlockFailed, match=r"row 0 has the columns .* expected .*'value'"):
        run_blocks(work.forget_columns, work.BLOCKS, schema=work.SCHEMA)


def test_values_of_the_wrong_type_are_refused() -> None:
    with pytest.raises(BlockFailed, match="do not fit the schema: Could not convert 'one'"):
        run_blocks(work.return_text_as_seed, work.BLOCKS, schema=work.SCHEMA)


def test_a_schema_that_makes_no_sense_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"'years dubble' is not a column; expected .*double"):
        run_blocks_plainly(work.draw, [], "seed bigint, years dubble")


def test_no_partitions_are_refused() -> None:
    with pytest.raises(ValueError, match="partitions is 0; expected 1 or more"):
        run_blocks(work.draw, work.BLOCKS, schema=work.SCHEMA, partitions=0)


def test_the_bar_counts_blocks_and_ends_full(capsys: pytest.CaptureFixture[str]) -> None:
    run_blocks(work.draw, work.BLOCKS, schema=work.SCHEMA, progress=True)
    last = capsys.readouterr().err.split("\r")[-1]
    assert "100%" in last
    assert "40/40" in last


@pytest.mark.parametrize("progress", [False, None])
def test_nothing_is_printed_where_nobody_looks(
    capsys: pytest.CaptureFixture[str], progress: bool | None
) -> None:
    run_blocks(work.draw, work.BLOCKS, schema=work.SCHEMA, progress=progress)
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "")


def test_the_bar_is_closed_when_a_block_fails(capsys: pytest.CaptureFixture[str]) -> None:
    threads_before = threading.active_count()
    with pytest.raises(BlockFailed):
        run_blocks(work.refuse_7_and_23, work.BLOCKS, schema=work.SCHEMA, progress=True)
    assert capsys.readouterr().err.endswith("\n")
    assert threading.active_count() <= threads_before
