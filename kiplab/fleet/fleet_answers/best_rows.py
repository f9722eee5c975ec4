"""The most precise row where one rate was found in more than one way."""

from collections.abc import Iterable

from ..pipeline.work_orders import NAIVE
from ..statistics.block_means import NothingWeighed
from ..statistics.event_rates import SeenRate
from .fleet_row import FleetRow


def best_rows(rows: Iterable[FleetRow], metric: str) -> tuple[FleetRow, ...]:
    """Of each scenario and feature set the row that says most, in the order of the rows."""
    best: dict[tuple[str, str], FleetRow] = {}
    for row in rows:
        if row.metric == metric:
            key = (row.scenario_id, row.features)
            best[key] = min(best.get(key, row), row, key=rank)
    return tuple(best.values())


def rank(row: FleetRow) -> int:
    """Rates of plain sampling include every way to an event; weights find what it never sees;
    weights without a hit give no bound.
    """
    if isinstance(row.found, NothingWeighed):
        return 3
    if row.method == NAIVE:
        return 0 if isinstance(row.found, SeenRate) else 2
    return 1
