"""Rows from the blocks of a study: each with the interval that fits its sampling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec

from ..estimators.dropped_paths import left_out
from ..parameters.as_world import horizon_us
from ..parameters.fleet_study import FleetStudy
from ..parameters.meaningful_sets import standing_of
from ..parameters.scenario import Scenario
from ..parameters.years import MICROSECONDS_PER_YEAR
from ..pipeline.study_summary import SummaryRow
from ..pipeline.work_orders import FORCED, METHODS, NAIVE
from ..statistics.block_means import FEWEST_BLOCKS, WeighedRate, Weights, weighed_rate
from ..statistics.clustered_counts import clustered_rate
from ..statistics.event_rates import NeverSeen, event_rate
from ..statistics.summed_times import time_rate
from .counted_metrics import COUNTED, counted_in
from .fleet_row import FleetRow, FoundRate
from .never_rules import never_in

if TYPE_CHECKING:
    import pyarrow as pa

RowKey = tuple[str, str, str]
"""Scenario, feature set, metric."""
BlockWeights = Mapping[RowKey, Sequence[Weights]]


class MethodSums(msgspec.Struct, frozen=True, kw_only=True):
    """What one method found: the sums, and where it weighs the weights of each block in order."""

    method: str
    summary: tuple[SummaryRow, ...]
    weights: BlockWeights = {}


def block_weights(partials: pa.Table) -> BlockWeights:
    """Of partials sorted by scenario, feature set, metric and block."""
    columns = [partials[name].to_pylist() for name in (*_KEY, *_WEIGHTS)]
    rows = zip(*columns, strict=True)
    return {key: [_weights(row) for row in group] for key, group in groupby(rows, _key)}


_KEY = ("scenario_id", "features", "metric")
_WEIGHTS = ("replications", "sum_w", "sum_w2", "max_w")


def _key(row: tuple[Any, ...]) -> RowKey:
    scenario, features, metric = row[: len(_KEY)]
    return scenario, features, metric


def _weights(row: tuple[Any, ...]) -> Weights:
    samples, total, squares, largest = row[len(_KEY) :]
    return Weights(samples=samples, total=total, squares=squares, largest=largest)


def fleet_rows(study: FleetStudy, sumses: Iterable[MethodSums]) -> tuple[FleetRow, ...]:
    """By scenario, feature set, metric and method, each in the order of the study.

    Raises MissingExtraError without scipy.
    """
    labels = {name: str(standing_of(name)) for name in study.feature_sets}
    rows = [row for sums in sumses for row in _rows_of(study, sums, labels)]
    return tuple(sorted(rows, key=_order(study)))


def _order(study: FleetStudy) -> Callable[[FleetRow], tuple[int, ...]]:
    points = [scenario.scenario_id for scenario in study.scenarios]
    lists = (points, study.feature_sets, [*COUNTED], METHODS)
    places = [{name: place for place, name in enumerate(names)} for names in lists]

    def order(row: FleetRow) -> tuple[int, ...]:
        keys = (row.scenario_id, row.features, row.metric, row.method)
        return tuple(place[name] for place, name in zip(places, keys, strict=True))

    return order


def _rows_of(study: FleetStudy, sums: MethodSums, labels: Mapping[str, str]) -> Iterator[FleetRow]:
    scenarios = {scenario.scenario_id: scenario for scenario in study.scenarios}
    for one in sums.summary:
        if sums.method != NAIVE and one.blocks < FEWEST_BLOCKS:
            continue  # Stopped before there was enough to say how sure it is.
        scenario = scenarios[one.scenario_id]
        yield FleetRow(
            scenario_id=one.scenario_id,
            features=one.features,
            label=labels[one.features],
            metric=one.metric,
            counts=counted_in(one.metric, sums.method),
            unit=COUNTED[one.metric].unit,
            events=one.events,
            exposure=one.exposure_us / MICROSECONDS_PER_YEAR,
            found=_found(scenario, one, sums),
            method=sums.method,
            swept=tuple((name, getattr(scenario.parameters, name)) for name in study.swept),
        )


def _found(scenario: Scenario, one: SummaryRow, sums: MethodSums) -> FoundRate:
    never = never_in(scenario, one.features, one.metric)
    if never is not None and one.events == 0:
        return never
    years = one.exposure_us / MICROSECONDS_PER_YEAR
    if sums.method != NAIVE:
        rate = weighed_rate(sums.weights[one.scenario_id, one.features, one.metric], years)
        return rate if sums.method != FORCED else _with_left_out(rate, scenario, one.metric)
    if not COUNTED[one.metric].is_time:
        return clustered_rate(replication_counts(one), years)
    if one.events:
        return time_rate(replication_counts(one), one.clusters_hit, years)
    return _longest(scenario, years)


def _with_left_out(rate: FoundRate, scenario: Scenario, metric: str) -> FoundRate:
    """An interval is no narrower than what the estimate is known to leave out."""
    if not isinstance(rate, WeighedRate):
        return rate
    share = min(left_out(scenario.parameters, metric), 1.0)
    method = f"{rate.method}, and {100 * share:.2g} % that first order leaves out"
    return msgspec.structs.replace(
        rate, low=rate.low * (1 - share), high=rate.high * (1 + share), method=method
    )


def replication_counts(one: SummaryRow) -> Weights:
    """What replications counted, and how much that differs."""
    return Weights(samples=one.replications, total=one.sum_w, squares=one.sum_w2, largest=one.max_w)


def _longest(scenario: Scenario, years: float) -> NeverSeen:
    """None was seen to begin, and none lasts longer than a replication, nor a year for a year."""
    begins = event_rate(0, years)
    assert isinstance(begins, NeverSeen)
    high = min(begins.high * horizon_us(scenario.parameters), MICROSECONDS_PER_YEAR)
    return NeverSeen(high=high, method=f"{begins.method}, each as long as a replication")
