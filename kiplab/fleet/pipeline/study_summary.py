"""The partials of a study added up, by Spark SQL or without Spark, to the last bit alike.

Integers are decimals: the microseconds of a million partition-years do not fit 64 bits.
Weights are added in the order of the blocks, because the order decides the last bits of a sum.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec

from ...spark import SparkUnavailable, session
from ...spark.running_session import complaint

if TYPE_CHECKING:
    import pyarrow as pa

_KEY = ("scenario_id", "features", "metric")
_COUNTS = ("replications", "exposure_us", "events", "incidents", "clusters_hit", "cross", "checks")
_WEIGHTS = ("sum_w", "sum_w2")
_MOST_DIGITS = "DECIMAL(38, 0)"


class SummaryRow(msgspec.Struct, frozen=True, kw_only=True):
    """All blocks of one scenario, feature set and metric; the fields are those of Partial."""

    scenario_id: str
    features: str
    metric: str
    blocks: int
    replications: int
    exposure_us: int
    events: int
    incidents: int
    clusters_hit: int
    sum_w: float
    sum_w2: float
    max_w: float
    cross: int
    histogram: tuple[int, ...]
    checks: int


def summarise(
    partials: pa.Table, *, master: str | None = None, spark: bool = True
) -> list[SummaryRow]:
    """One row for each scenario, feature set and metric, in their order.

    `master` is as for `kiplab.spark.session`; `spark` False adds up in this process. Raises
    SparkUnavailable where Spark cannot run.
    """
    rows = _by_spark(partials, master) if spark else _by_hand(partials)
    return sorted(rows, key=lambda row: (row.scenario_id, row.features, row.metric))


def _by_spark(partials: pa.Table, master: str | None) -> list[SummaryRow]:
    live = session(master, app="kiplab fleet")
    # A name of its own: a session is shared by all threads, and so are the names of its views.
    view = f"kiplab_partials_{uuid.uuid4().hex}"
    try:
        live.createDataFrame(partials).createOrReplaceTempView(view)
        rows = live.sql(summary_query(view)).toArrow().to_pylist()
        live.catalog.dropTempView(view)
    except Exception as error:
        raise SparkUnavailable(
            f"Spark gave up while it added up: {complaint(error)}.",
            "Check that its executors have memory left.",
        ) from None
    return [_row(columns) for columns in rows]


def summary_query(view: str) -> str:
    """The SQL that adds up the partials of a view."""
    sums = [f"sum(CAST({name} AS {_MOST_DIGITS})) AS {name}" for name in _COUNTS]
    weights = [f"{_in_block_order(name)} AS {name}" for name in _WEIGHTS]
    every = [*_KEY, "count(*) AS blocks", *sums, *weights, "max(max_w) AS max_w", _HISTOGRAM]
    return f"SELECT {', '.join(every)} FROM {view} GROUP BY {', '.join(_KEY)}"


def _in_block_order(name: str) -> str:
    pairs = f"array_sort(collect_list(named_struct('block', block, 'x', {name})))"
    return f"aggregate({pairs}, 0D, (sum, one) -> sum + one.x)"


_HISTOGRAM = (
    "aggregate(collect_list(histogram), CAST(NULL AS ARRAY<BIGINT>), (sum, one) -> CASE"
    " WHEN sum IS NULL THEN one ELSE zip_with(sum, one, (a, b) -> a + b) END) AS histogram"
)


def _row(columns: dict[str, Any]) -> SummaryRow:
    counts = {name: int(columns[name]) for name in ("blocks", *_COUNTS)}
    return SummaryRow(**{**columns, **counts, "histogram": tuple(columns["histogram"])})


def _by_hand(partials: pa.Table) -> Iterable[SummaryRow]:
    order = [(name, "ascending") for name in (*_KEY, "block")]
    rows = partials.sort_by(order).to_pylist()
    for key, group in groupby(rows, key=lambda row: [row[name] for name in _KEY]):
        yield _added_up(key, list(group))


def _added_up(key: Sequence[str], rows: list[dict[str, Any]]) -> SummaryRow:
    bins = zip(*(row["histogram"] for row in rows), strict=True)
    columns: dict[str, Any] = dict(zip(_KEY, key, strict=True))
    columns |= {name: sum(int(row[name]) for row in rows) for name in _COUNTS}
    columns |= {name: _in_order(row[name] for row in rows) for name in _WEIGHTS}
    return SummaryRow(
        **columns,
        blocks=len(rows),
        max_w=max(row["max_w"] for row in rows),
        histogram=tuple(sum(counts) for counts in bins),
    )


def _in_order(values: Iterable[float]) -> float:
    """One after the other: Python's own `sum` of floats compensates from 3.12 on."""
    total = 0.0
    for value in values:
        total += value
    return total
