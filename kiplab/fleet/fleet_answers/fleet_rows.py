"""Rows from the blocks of a study: each with the interval that fits its sampling."""

from collections.abc import Callable, Iterable

import msgspec

from ..estimators.forced_outages import left_out
from ..parameters.as_world import horizon_us
from ..parameters.fleet_study import FleetStudy
from ..parameters.meaningful_sets import standing_of
from ..parameters.scenario import Scenario
from ..parameters.years import MICROSECONDS_PER_YEAR
from ..pipeline.study_plan import FORCED, METHODS, NAIVE
from ..pipeline.study_summary import SummaryRow
from ..statistics.block_means import FEWEST_BLOCKS, weighed_rate
from ..statistics.clustered_counts import clustered_rate, time_rate
from ..statistics.event_rates import FoundRate, NeverSeen, WeighedRate, event_rate
from .counted_metrics import COUNTED, counted_in
from .fleet_row import FleetRow
from .never_rules import never_in

FLOOR = 1e-30
"""A rate below that is never, for any purpose: the age of the universe is 10^10 years."""


def fleet_rows(study: FleetStudy, summary: Iterable[SummaryRow]) -> tuple[FleetRow, ...]:
    """By scenario, feature set, metric and method, each in the order of the study.

    Raises MissingExtraError without scipy.
    """
    scenarios = {scenario.scenario_id: scenario for scenario in study.scenarios}
    rows = [
        _row_of(study, scenarios[one.scenario_id], one)
        for one in summary
        # Stopped before there was enough to say how sure it is.
        if one.method == NAIVE or len(one.weights) >= FEWEST_BLOCKS
    ]
    return tuple(sorted(rows, key=_order(study)))


def _order(study: FleetStudy) -> Callable[[FleetRow], tuple[int, ...]]:
    points = [scenario.scenario_id for scenario in study.scenarios]
    lists = (points, study.feature_sets, [*COUNTED], METHODS)
    places = [{name: place for place, name in enumerate(names)} for names in lists]

    def order(row: FleetRow) -> tuple[int, ...]:
        keys = (row.scenario_id, row.features, row.metric, row.method)
        return tuple(place[name] for place, name in zip(places, keys, strict=True))

    return order


def _row_of(study: FleetStudy, scenario: Scenario, one: SummaryRow) -> FleetRow:
    return FleetRow(
        scenario_id=one.scenario_id,
        features=one.features,
        label=str(standing_of(one.features)),
        metric=one.metric,
        counts=counted_in(one.metric, one.method),
        unit=COUNTED[one.metric].unit,
        events=one.events,
        exposure=one.exposure_us / MICROSECONDS_PER_YEAR,
        found=_found(scenario, one),
        method=one.method,
        swept=tuple((name, getattr(scenario.parameters, name)) for name in study.swept),
    )


def _found(scenario: Scenario, one: SummaryRow) -> FoundRate:
    never = never_in(scenario, one.features, one.metric)
    if never is not None and one.events == 0:
        return never
    years = one.exposure_us / MICROSECONDS_PER_YEAR
    if one.method != NAIVE:
        rate = weighed_rate(one.weights, years)
        return rate if one.method != FORCED else _with_left_out(rate, scenario, one.metric)
    if not COUNTED[one.metric].is_time:
        return clustered_rate(one.counted, years)
    if one.events:
        return time_rate(one.counted, one.clusters_hit, years)
    return _longest(scenario, years)


def _with_left_out(rate: FoundRate, scenario: Scenario, metric: str) -> FoundRate:
    """An interval is no narrower than what the estimate is known to leave out."""
    if not isinstance(rate, WeighedRate):
        return rate
    if rate.high < FLOOR:
        return NeverSeen(high=FLOOR, method=f"{rate.method}, below what means anything")
    share = min(left_out(scenario.parameters, metric), 1.0)
    method = f"{rate.method}, and {100 * share:.2g} % that first order leaves out"
    return msgspec.structs.replace(
        rate, low=rate.low * (1 - share), high=rate.high * (1 + share), method=method
    )


def _longest(scenario: Scenario, years: float) -> NeverSeen:
    """None was seen to begin, and none lasts longer than a replication, nor a year for a year."""
    begins = event_rate(0, years)
    high = min((begins.high or 0.0) * horizon_us(scenario.parameters), MICROSECONDS_PER_YEAR)
    return NeverSeen(high=high, method=f"{begins.method}, each as long as a replication")
