"""A study before it runs: its scenarios in blocks of replications, each ordered and answered; and
afterwards: the partials added up, one row for each scenario, feature set and metric.

Weights are added in the order of the blocks, because the order decides the last bits of a sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec

from ...machine.cache import sources_digest
from ..parameters.scenario import Scenario
from ..statistics.block_means import Weights, together

if TYPE_CHECKING:
    import pyarrow as pa

NAIVE, FORCED = "naive", "forced"
METHODS = (NAIVE, FORCED)
"""How replications are drawn: as they come, or with the rare windows forced."""
FORMAT = 3
"""Of the files in a study's folder."""

BlockKey = tuple[str, int]
"""Scenario and block: what is worked out once."""


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

    @property
    def key(self) -> BlockKey:
        """What the answer is kept under."""
        return self.scenario.scenario_id, self.block


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """`blocks` blocks of `block_replications` replications of one scenario.

    `years` are the partition-years of one replication. The size of a block is part of a study;
    the number of blocks is not: a study may be gone on with for longer.
    """

    scenario: Scenario
    block_replications: int
    blocks: int
    years: float


class StudyPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be worked out, and by which code: each scenario and each feature set once."""

    workloads: tuple[Workload, ...]
    feature_sets: tuple[str, ...]
    study_seed: int
    code: str
    method: str = NAIVE

    @property
    def orders(self) -> list[FleetOrder]:
        """All blocks, mixed: neighbours in the grid cost alike, and no task gets all dear ones."""
        every = [
            FleetOrder(
                scenario=load.scenario,
                study_seed=self.study_seed,
                block=n,
                first=n * load.block_replications,
                last=(n + 1) * load.block_replications,
                feature_sets=self.feature_sets,
                method=self.method,
            )
            for load in self.workloads
            for n in range(load.blocks)
        ]
        return sorted(every, key=lambda order: sha256("{} {}".format(*order.key).encode()).digest())

    @property
    def identity(self) -> dict[str, Any]:
        """What makes this study another than any other, ready for JSON."""
        scenarios = {
            load.scenario.scenario_id: {
                "block_replications": load.block_replications,
                "scenario": msgspec.to_builtins(load.scenario),
            }
            for load in self.workloads
        }
        return {
            "format": FORMAT,
            "code": self.code,
            "study_seed": self.study_seed,
            "method": self.method,
            "feature_sets": list(self.feature_sets),
            "scenarios": dict(sorted(scenarios.items())),
        }


class Partial(msgspec.Struct, frozen=True, kw_only=True):
    """What one block saw of one metric under one feature set; partials of blocks can be added up.

    `exposure_us` is in partition-microseconds. `events` are partitions hit, each by an incident of
    its own, `clusters_hit` the replications with at least one. `sum_w`, `sum_w2` and `max_w` are
    the weights of a weighted method: their sum, that of their squares, the largest; 0 where nothing
    is weighted. `cross` counts the events that also happened under the first feature set. `checks`
    counts what the kernel found wrong with itself: it has to be 0.
    """

    scenario_id: str
    block: int
    features: str
    metric: str
    replications: int
    exposure_us: int
    events: int
    clusters_hit: int = 0
    sum_w: float = 0.0
    sum_w2: float = 0.0
    max_w: float = 0.0
    cross: int = 0
    checks: int = 0


WorkBlock = Callable[[FleetOrder], Sequence[Partial]]


def partials_schema() -> pa.Schema:
    """The columns of a table of partials, read off Partial.

    Whole numbers are decimals: 292,000 partition-years are more microseconds than 64 bits hold, and
    a block may have more.
    """
    import pyarrow as pa

    arrow = {str: pa.string(), int: pa.decimal128(38, 0), float: pa.float64()}
    fields = msgspec.structs.fields(Partial)
    return pa.schema([(field.name, arrow[field.type]) for field in fields])


def worked_off(work_block: WorkBlock, payload: bytes) -> list[dict[str, Any]]:
    """The rows of one order. Raises ValueError when partials do not answer it, or are wrong."""
    order = msgspec.json.decode(payload, type=FleetOrder)
    partials = work_block(order)
    for one in partials:
        if one.checks:
            where = f"({one.features}, {one.metric})"
            raise ValueError(f"the kernel found itself wrong {one.checks} times {where}")
    seen = [(one.features, one.metric) for one in partials]
    wanted = {(features, metric) for features in order.feature_sets for _, metric in seen}
    if not seen or len(seen) != len(wanted) or {*seen} != wanted:
        raise ValueError(
            "there has to be one partial for each feature set that was asked for and each metric"
        )
    return [msgspec.structs.asdict(partial) for partial in partials]


def code_version() -> str:
    """12 hexadecimal digits of the sources that decide what a block counts: the fleet and the
    protocol. The same for a folder of them and for a zip of it.
    """
    house = __package__.partition(".")[0]
    return f"{sources_digest(f'{house}.fleet', f'{house}.protocol'):014x}"[:12]


# --- added up -------------------------------------------------------------------------------------

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
