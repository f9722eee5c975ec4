"""The partials of a study added up: one row for each scenario, feature set and metric.

Weights are added in the order of the blocks, because the order decides the last bits of a sum.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec

from ..statistics.block_means import Weights, together
from .study_plan import NAIVE

if TYPE_CHECKING:
    import pyarrow as pa

_KEY = ("scenario_id", "features", "metric")
_COUNTS = ("replications", "exposure_us", "events", "clusters_hit", "cross")


class SummaryRow(msgspec.Struct, frozen=True, kw_only=True):
    """All blocks of one scenario, feature set and metric; the fields are those of Partial.

    `weights` are those of each block, in the order of the blocks.
    """

    scenario_id: str
    features: str
    metric: str
    method: str = NAIVE
    replications: int
    exposure_us: int
    events: int
    clusters_hit: int
    cross: int
    weights: tuple[Weights, ...] = ()

    @property
    def counted(self) -> Weights:
        """What replications counted, or weighed, and how much that differs."""
        return together(self.weights)


def summarise(partials: pa.Table, method: str = NAIVE) -> tuple[SummaryRow, ...]:
    """In the order of scenarios, feature sets and metrics; the partials may be in any order."""
    rows = partials.sort_by([(name, "ascending") for name in (*_KEY, "block")]).to_pylist()
    groups = groupby(rows, key=lambda row: tuple(row[name] for name in _KEY))
    return tuple(_added_up(key, method, list(group)) for key, group in groups)


def _added_up(key: tuple[str, ...], method: str, rows: list[dict[str, Any]]) -> SummaryRow:
    columns: dict[str, Any] = dict(zip(_KEY, key, strict=True))
    columns |= {name: sum(int(row[name]) for row in rows) for name in _COUNTS}
    weights = tuple(
        Weights(
            samples=int(row["replications"]),
            total=row["sum_w"],
            squares=row["sum_w2"],
            largest=row["max_w"],
        )
        for row in rows
    )
    return SummaryRow(**columns, method=method, weights=weights)
