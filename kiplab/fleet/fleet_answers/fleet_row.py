"""One line of an answer: a metric under a feature set at a point of the parameter space."""

from collections.abc import Iterable
from typing import Any

import msgspec

from ...figures.how_often.number_words import NARROW, telling_digits
from ..pipeline.study_plan import NAIVE
from ..statistics.event_rates import (
    EXACT,
    JEFFREYS,
    FoundRate,
    NothingWeighed,
    poisson_interval,
)

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
    def is_time(self) -> bool:
        """Whether its events are microseconds."""
        return self.metric.endswith("_us")

    @property
    def shown(self) -> FoundRate:
        """What was found, a time in seconds and not in microseconds."""
        return self.found.times(1e-6) if self.is_time else self.found

    @property
    def shown_unit(self) -> str:
        """The unit of `shown`."""
        return self.unit.replace("microseconds", "seconds")

    @property
    def words(self) -> str:
        """The rate with its interval, without the unit; never a bare zero."""
        found = self.shown
        if found.because is not None:
            return f"cannot happen: {found.because}"
        if found.high is None:
            return "unknown: no weighted sample hit anything"
        if found.rate is None:
            return f"none seen (at most {found.high:.2g})"
        digits = telling_digits(found.low, found.high)
        first, last = f"{found.low:.{digits}g}", f"{found.high:.{digits}g}"
        return f"{found.rate:.{digits}g} ({f'{first} to {last}' if first != last else NARROW})"

    def report(self) -> dict[str, Any]:
        """As an object of JSON. Raises MissingExtraError without scipy.

        Beside an exact Poisson interval stands Jeffreys's narrower one, which is right on average.
        """
        found, low, high = self.found, None, None
        if (found.method or "").startswith(EXACT) and not self.is_time:
            jeffreys = poisson_interval(self.events, self.exposure, method=JEFFREYS)
            low, high = jeffreys.low, jeffreys.high
        return {
            "features": self.features,
            "metric": self.metric,
            "events": self.events,
            "exposure": self.exposure,
            "rate": found.rate,
            "low": found.low,
            "high": found.high,
            "jeffreys_low": low,
            "jeffreys_high": high,
            "method": self.method,
            "interval": found.method,
            "label": self.label,
            "counts": self.counts,
            "unit": self.unit,
            "why_never": found.because,
            "effective_samples": found.effective_samples,
            "alarms": list(found.alarms),
            "swept": dict(self.swept),
            "scenario": self.scenario_id,
        }


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
