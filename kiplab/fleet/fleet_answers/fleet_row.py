"""One line of an answer: a metric under a feature set at a point of the parameter space."""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from ...figures.how_often.number_words import NARROW, telling_digits
from ..pipeline.study_plan import NAIVE
from ..statistics import event_rates
from ..statistics.block_means import NothingWeighed, WeighedRate
from ..statistics.intervals import Interval

FoundRate = event_rates.EventRate | WeighedRate | NothingWeighed
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
        match self.found:
            case event_rates.SeenRate() | WeighedRate():
                return self.found.rate
            case event_rates.NeverHappens():
                return 0.0
            case _:
                return None

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.found.low if isinstance(self.found, event_rates.SeenRate | WeighedRate) else 0.0

    @property
    def high(self) -> float | None:
        """The upper end of the interval; None where nothing bounds it."""
        match self.found:
            case event_rates.SeenRate() | WeighedRate() | event_rates.NeverSeen():
                return self.found.high
            case event_rates.NeverHappens():
                return 0.0
            case NothingWeighed():
                return None

    @property
    def why_never(self) -> str | None:
        """The rule that makes it impossible, None where it is possible."""
        return self.found.because if isinstance(self.found, event_rates.NeverHappens) else None

    @property
    def effective_samples(self) -> float | None:
        """How many equal weights would be as sure; None of what was counted."""
        return self.found.effective_samples if isinstance(self.found, WeighedRate) else None

    @property
    def alarms(self) -> tuple[str, ...]:
        """Why a weighted estimate is not to be believed, in sentences."""
        return self.found.alarms if isinstance(self.found, WeighedRate) else ()

    @property
    def shown(self) -> FoundRate:
        """What was found, a time in seconds and not in microseconds."""
        return scaled(self.found, 1e-6) if self.metric.endswith("_us") else self.found

    @property
    def shown_unit(self) -> str:
        """The unit of `shown`."""
        return self.unit.replace("microseconds", "seconds")

    @property
    def words(self) -> str:
        """The rate with its interval, without the unit; never a bare zero."""
        match self.shown:
            case (
                event_rates.SeenRate(rate=rate, low=low, high=high)
                | WeighedRate(rate=rate, low=low, high=high)
            ):
                digits = telling_digits(low, high)
                first, last = f"{low:.{digits}g}", f"{high:.{digits}g}"
                return f"{rate:.{digits}g} ({f'{first} to {last}' if first != last else NARROW})"
            case event_rates.NeverSeen(high=high):
                return f"none seen (at most {high:.2g})"
            case event_rates.NeverHappens(because=because):
                return f"cannot happen: {because}"
            case NothingWeighed():
                return "unknown: no weighted sample hit anything"

    @property
    def interval(self) -> str | None:
        """How the interval was made, None where there is none."""
        if isinstance(self.found, event_rates.NeverHappens | NothingWeighed):
            return None
        return self.found.method

    @property
    def jeffreys(self) -> Interval | None:
        """The narrower interval, right on average, of what an exact Poisson one bounds."""
        counted = isinstance(
            self.found, event_rates.SeenRate | event_rates.NeverSeen
        ) and not self.metric.endswith("_us")
        if not counted or not (self.interval or "").startswith(event_rates.EXACT):
            return None
        return event_rates.poisson_interval(self.events, self.exposure, method=event_rates.JEFFREYS)

    def report(self) -> dict[str, Any]:
        """As an object of JSON. Raises MissingExtraError without scipy."""
        jeffreys = self.jeffreys
        return {
            "features": self.features,
            "metric": self.metric,
            "events": self.events,
            "exposure": self.exposure,
            "rate": self.rate,
            "low": self.low,
            "high": self.high,
            "jeffreys_low": None if jeffreys is None else jeffreys.low,
            "jeffreys_high": None if jeffreys is None else jeffreys.high,
            "method": self.method,
            "interval": self.interval,
            "label": self.label,
            "counts": self.counts,
            "unit": self.unit,
            "why_never": self.why_never,
            "effective_samples": self.effective_samples,
            "alarms": list(self.alarms),
            "swept": dict(self.swept),
            "scenario": self.scenario_id,
        }


def scaled(found_rate: FoundRate, factor: float) -> FoundRate:
    """The same for so many times as much."""
    match found_rate:
        case (
            event_rates.SeenRate(rate=rate, low=low, high=high)
            | WeighedRate(rate=rate, low=low, high=high)
        ):
            return replace(found_rate, rate=factor * rate, low=factor * low, high=factor * high)
        case event_rates.NeverSeen(high=high):
            return replace(found_rate, high=factor * high)
        case _:
            return found_rate


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
