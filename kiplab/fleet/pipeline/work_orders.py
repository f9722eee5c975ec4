"""The order for a block of replications, and its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from ..parameters.scenario import Scenario

if TYPE_CHECKING:
    import pyarrow as pa

NAIVE, FORCED = "naive", "forced"
METHODS = (NAIVE, FORCED)
"""How replications are drawn: as they come, or with the rare windows forced."""


class FleetOrder(msgspec.Struct, frozen=True, kw_only=True):
    """Work out the replications first..last-1 of a scenario, under every one of `feature_sets`.

    `block` is for whoever keeps the answer: no random number may depend on it. `method` is one of
    METHODS.
    """

    scenario: Scenario
    study_seed: int
    block: int
    first: int
    last: int
    feature_sets: tuple[str, ...]
    method: str = NAIVE


class Partial(msgspec.Struct, frozen=True, kw_only=True):
    """What one block saw of one metric under one feature set; partials of blocks can be added up.

    `exposure_us` is in partition-microseconds. `events` are partitions hit, `incidents` what hit
    them, `clusters_hit` the replications with at least one. `sum_w`, `sum_w2` and `max_w` are the
    weights of a weighted method: their sum, that of their squares, the largest; 0 where nothing is
    weighted. `cross` counts the events that also happened under the first feature set. `histogram`
    counts incidents by their partitions, in the bins of `incident_sizes.BIN_EDGES`, or nothing.
    `checks` counts what the kernel found wrong with itself: it has to be 0.
    """

    scenario_id: str
    block: int
    features: str
    metric: str
    replications: int
    exposure_us: int
    events: int
    incidents: int = 0
    clusters_hit: int = 0
    sum_w: float = 0.0
    sum_w2: float = 0.0
    max_w: float = 0.0
    cross: int = 0
    histogram: tuple[int, ...] = ()
    checks: int = 0


WorkBlock = Callable[[FleetOrder], Sequence[Partial]]


def partials_schema() -> pa.Schema:
    """The columns of a table of partials, read off Partial.

    Whole numbers are decimals: 292,000 partition-years are more microseconds than 64 bits hold, and
    a block may have more.
    """
    import pyarrow as pa

    arrow = {str: pa.string(), int: pa.decimal128(38, 0), float: pa.float64()}
    return pa.schema(
        [
            (field.name, arrow.get(field.type, pa.list_(pa.int64())))
            for field in msgspec.structs.fields(Partial)
        ]
    )


def worked_off(work_block: WorkBlock, payload: bytes) -> list[dict[str, Any]]:
    """The rows of one order, where it landed.

    Raises ValueError when the partials do not answer the order, or found themselves wrong.
    """
    order = msgspec.json.decode(payload, type=FleetOrder)
    partials = work_block(order)
    wrong = _wrong(order, partials)
    if wrong is not None:
        raise ValueError(wrong)
    return [msgspec.structs.asdict(partial) for partial in partials]


def _wrong(order: FleetOrder, partials: Sequence[Partial]) -> str | None:
    asked = (order.scenario.scenario_id, order.block, order.last - order.first)
    for one in partials:
        if (one.scenario_id, one.block, one.replications) != asked:
            return f"a partial of {one.metric} does not answer the order: {asked} was asked"
        if one.checks:
            return (
                f"the kernel found itself wrong {one.checks} times ({one.features}, {one.metric})"
            )
    seen = [(one.features, one.metric) for one in partials]
    metrics = dict.fromkeys(metric for _, metric in seen)
    wanted = {(features, metric) for features in order.feature_sets for metric in metrics}
    if not seen or len(seen) != len(set(seen)) or set(seen) != wanted:
        return "there has to be one partial for each feature set that was asked for and each metric"
    return None
