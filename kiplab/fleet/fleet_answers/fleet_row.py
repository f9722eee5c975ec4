"""One line of an answer: a metric under a feature set at a point of the parameter space, with the
interval that fits its sampling.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from ...figures.how_often.fleet_words import NARROW, telling_digits
from ..estimators.forced_outages import left_out
from ..parameters.fleet_study import FleetStudy
from ..parameters.scenario import MICROSECONDS_PER_YEAR, Scenario, horizon_us, standing_of
from ..pipeline.study_plan import METHODS, NAIVE, SummaryRow
from ..statistics import event_rates
from ..statistics.block_means import FEWEST_BLOCKS, clustered_rate, time_rate, weighed_rate
from ..statistics.event_rates import FoundRate, NeverSeen, NothingWeighed
from .counted_metrics import COUNTED, counted_in, never_in

if TYPE_CHECKING:
    from .quick_estimate import RecordedRow

SweptValues = tuple[tuple[str, float | str], ...]


class FleetRow(msgspec.Struct, frozen=True, kw_only=True):
    """How often `metric` happened under `features`, and how sure that is.

    `events` in `exposure` partition-years; where `method` is weighted, weighted events in the
    partition-years that they stand for. A metric that ends in ``_us`` is a time: its events are
    microseconds. `label` says whether Kafka has that feature set, `counts` what is counted, `unit`
    what the rate is per, `swept` the values of this point where several were asked for.
    """

    scenario_id: str
    features: str
    label: str
    metric: str
    counts: str
    unit: str
    events: int
    exposure: float
    found: FoundRate
    method: str
    swept: SweptValues = ()

    @property
    def rate(self) -> float | None:
        """Per `unit`; 0 only where it cannot happen, None where it was never seen."""
        return self.found.rate

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.found.low

    @property
    def high(self) -> float | None:
        """The upper end of the interval; None where nothing bounds it."""
        return self.found.high

    @property
    def why_never(self) -> str | None:
        """The rule that makes it impossible, None where it is possible."""
        return self.found.because

    @property
    def shown(self) -> FoundRate:
        """What was found, a time in seconds and not in microseconds."""
        return self.found.times(1e-6) if COUNTED[self.metric].is_time else self.found

    @property
    def shown_unit(self) -> str:
        """The unit of `shown`."""
        return self.unit.replace("microseconds", "seconds")

    @property
    def fleet_unit(self) -> str:
        """The unit in all clusters of a study: what falls together is one incident."""
        return f"{'partition-seconds' if COUNTED[self.metric].is_time else 'incidents'} per year"

    @property
    def words(self) -> str:
        """The rate with its interval, without the unit; never a bare zero."""
        return found_words(self.shown)

    def report(self) -> dict[str, Any]:
        """As an object of JSON. Raises MissingExtraError without scipy.

        Beside an exact Poisson interval stands Jeffreys's narrower one, which is right on average.
        """
        found, low, high = self.found, None, None
        if (found.method or "").startswith(event_rates.EXACT) and not COUNTED[self.metric].is_time:
            jeffreys = event_rates.poisson_interval(
                self.events, self.exposure, method=event_rates.JEFFREYS
            )
            low, high = jeffreys.low, jeffreys.high
        names = ("features", "metric", "events", "exposure", "rate", "low", "high")
        more = ("label", "counts", "unit", "why_never")
        return {
            **{name: getattr(self, name) for name in names},
            **{"jeffreys_low": low, "jeffreys_high": high},
            **{"method": self.method, "interval": found.method},
            **{name: getattr(self, name) for name in more},
            **{"effective_samples": found.effective_samples, "alarms": list(found.alarms)},
            **{"swept": dict(self.swept), "scenario": self.scenario_id},
        }


def found_words(rate: FoundRate) -> str:
    """A rate with its interval; never a bare zero."""
    if rate.because is not None:
        return f"cannot happen: {rate.because}"
    if rate.high is None:
        return "unknown: no weighted sample hit anything"
    if rate.rate is None:
        return f"none seen (at most {rate.high:.2g})"
    digits = telling_digits(rate.low, rate.high)
    # Through float, so that 620 is not 6.2e+02.
    shown, first, last = (f"{float(f'{n:.{digits}g}'):g}" for n in (rate.rate, rate.low, rate.high))
    return f"{shown} ({f'{first} to {last}' if first != last else NARROW})"


def best_rows(rows: Iterable[FleetRow], metric: str) -> tuple[FleetRow, ...]:
    """Of each scenario and feature set the row that says most, in the order of the rows."""
    best: dict[tuple[str, str], FleetRow] = {}
    for row in rows:
        if row.metric == metric:
            key = (row.scenario_id, row.features)
            best[key] = min(best.get(key, row), row, key=rank)
    return tuple(best.values())


def rank(row: FleetRow) -> int:
    """Forced samples where there are some, whatever plain sampling has seen: a method that is
    chosen by its result is biased. Weights without a hit give no bound.
    """
    if isinstance(row.found, NothingWeighed):
        return 2
    return 1 if row.method == NAIVE else 0


# --- from the blocks of a study -------------------------------------------------------------------

FLOOR = 1e-30
"""A rate below that is never, for any purpose: the age of the universe is 10^10 years."""


def fleet_rows(study: FleetStudy, summary: Iterable[SummaryRow]) -> tuple[FleetRow, ...]:
    """By scenario, feature set, metric and method, each in the order of the study.

    Raises MissingExtraError without scipy.
    """
    scenarios = {scenario.scenario_id: scenario for scenario in study.scenarios}
    lists = (scenarios, study.feature_sets, [*COUNTED], METHODS)
    places = [{name: place for place, name in enumerate(names)} for names in lists]

    def order(row: FleetRow) -> list[int]:
        keys = (row.scenario_id, row.features, row.metric, row.method)
        return [place[name] for place, name in zip(places, keys, strict=True)]

    # Else it was stopped before there was enough to say how sure it is.
    enough = (s for s in summary if s.method == NAIVE or len(s.weights) >= FEWEST_BLOCKS)
    pairs = ((scenarios[one.scenario_id], one) for one in enough)
    return tuple(sorted((row_of(study, at, one, _found(at, one)) for at, one in pairs), key=order))


def row_of(
    study: FleetStudy, scenario: Scenario, one: "SummaryRow | RecordedRow", rate: FoundRate
) -> FleetRow:
    """The row of what was seen in a scenario of the study."""
    return FleetRow(
        scenario_id=scenario.scenario_id,
        features=one.features,
        label=str(standing_of(one.features)),
        metric=one.metric,
        counts=counted_in(one.metric, one.method),
        unit=COUNTED[one.metric].unit,
        events=one.events,
        exposure=one.exposure_us / MICROSECONDS_PER_YEAR,
        found=rate,
        method=one.method,
        swept=tuple((name, getattr(scenario.parameters, name)) for name in study.swept),
    )


def _found(scenario: Scenario, one: SummaryRow) -> FoundRate:
    never = never_in(scenario, one.features, one.metric)
    if never is not None and one.events == 0:
        return never
    years = one.exposure_us / MICROSECONDS_PER_YEAR
    if one.method != NAIVE:
        return _with_left_out(weighed_rate(one.weights, years), scenario, one.metric)
    if not COUNTED[one.metric].is_time:
        return clustered_rate(one.counted, years)
    if one.events:
        return time_rate(one.counted, one.clusters_hit, years)
    return _longest(scenario, years)


def _with_left_out(rate: FoundRate, scenario: Scenario, metric: str) -> FoundRate:
    """An interval is no narrower than what the estimate is known to leave out."""
    if rate.high is None:
        return rate
    if rate.high < FLOOR:
        return NeverSeen(high=FLOOR, method=f"{rate.method}, below what means anything")
    share = min(left_out(scenario.parameters, metric), 1.0)
    method = f"{rate.method}, and {100 * share:.2g} % that first order leaves out"
    low, high = rate.low * (1 - share), rate.high * (1 + share)
    return msgspec.structs.replace(rate, low=low, high=high, method=method)


def _longest(scenario: Scenario, years: float) -> NeverSeen:
    """None was seen to begin, and none lasts longer than a replication, nor a year for a year."""
    begins = event_rates.event_rate(0, years)
    high = min((begins.high or 0.0) * horizon_us(scenario.parameters), MICROSECONDS_PER_YEAR)
    return NeverSeen(high=high, method=f"{begins.method}, each as long as a replication")
