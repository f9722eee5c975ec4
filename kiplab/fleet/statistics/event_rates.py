"""The rate of an event: with its interval, never seen, impossible, or not reached by the sampling;
and the share of independent schedules that had it.

Types of their own, so that nobody can print one as another: an event that was never seen has no
rate, only an upper bound; one that a rule makes impossible has neither. What a rate means is the
probability of at least one event within some years, never a mean time: one loss in 10^14 years
tells nobody whether to expect it.
"""

from __future__ import annotations

from math import exp, expm1, lgamma, log, log1p

import msgspec
from msgspec.structs import replace

from ...extras import Deferred
from ...figures.how_often.fleet_words import share_range_words, share_words

stats = Deferred("scipy.stats", "an interval")
CONFIDENCE = 0.95
LEVEL = f"{100 * CONFIDENCE:g} %"
METHOD = f"Clopper-Pearson, {LEVEL}"
_PRECISE = 1e-14


class Interval(msgspec.Struct, frozen=True):
    """What a number lies between, in its own unit: a share, a rate, a difference."""

    low: float
    high: float


EXACT, JEFFREYS = "exact Poisson", "Jeffreys"
YEARS = (1, 5, 10)


class FoundRate(msgspec.Struct, frozen=True, kw_only=True, tag=True, omit_defaults=True):
    """What is known of a rate, per unit of exposure.

    `rate` is None where none was seen, `high` where nothing bounds it, `method` where there is no
    interval. `because` is the rule that makes it impossible. `alarms` say in sentences why a
    weighted rate is not to be believed, `effective_samples` how many equal weights would be as
    sure.
    """

    rate: float | None = None
    low: float = 0.0
    high: float | None = None
    method: str | None = None
    because: str | None = None
    alarms: tuple[str, ...] = ()
    effective_samples: float | None = None

    def times(self, factor: float) -> FoundRate:
        """The same for so many times as much."""
        rate = None if self.rate is None else factor * self.rate
        high = None if self.high is None else factor * self.high
        return replace(self, rate=rate, low=factor * self.low, high=high)


class SeenRate(FoundRate, frozen=True, kw_only=True):
    """Events per unit of exposure, with the interval that `method` gives."""

    rate: float
    low: float
    high: float
    method: str


class NeverSeen(FoundRate, frozen=True, kw_only=True):
    """Nothing in all that exposure: the rate is below `high`, and may be anything there."""

    high: float
    method: str


class NeverHappens(FoundRate, frozen=True, kw_only=True):
    """It cannot happen in the model: zero by construction, with the rule that makes it so."""

    because: str
    rate: float | None = 0.0
    high: float | None = 0.0


class WeighedRate(FoundRate, frozen=True, kw_only=True):
    """A rate by weighted sampling, with how far it can be believed."""

    rate: float
    low: float
    high: float
    method: str
    effective_samples: float


class NothingWeighed(FoundRate, frozen=True, kw_only=True):
    """No weighted sample hit anything, which bounds nothing: the sampling looks elsewhere."""

    samples: int


EveryRate = SeenRate | NeverSeen | NeverHappens | WeighedRate | NothingWeighed


def poisson_interval(
    events: float, exposure: float, *, method: str = EXACT, confidence: float = CONFIDENCE
) -> Interval:
    """Bounds of a rate from a count, two-sided.

    Exact: chi-square quantiles, which cover at least what they say. Jeffreys: quantiles of gamma
    with `events` + 1/2, which cover it on average, and are narrower. Both begin at 0 where nothing
    was seen. A part of an event is what one of a cluster is worth. Raises ValueError for an
    impossible count, exposure or method, MissingExtraError without scipy.
    """
    if events < 0 or exposure <= 0:
        problem = f"{events} events in an exposure of {exposure:g}"
        raise ValueError(f"{problem}; expected 0 or more, in an exposure above 0")
    if method not in (EXACT, JEFFREYS):
        raise ValueError(f"there is no method {method!r}; there are {EXACT!r} and {JEFFREYS!r}")
    tail = (1 - confidence) / 2
    if method == JEFFREYS:
        low, high = (stats.gamma.ppf(share, events + 0.5) for share in (tail, 1 - tail))
    else:
        low = stats.chi2.ppf(tail, 2 * events) / 2 if events else 0
        high = stats.chi2.ppf(1 - tail, 2 * events + 2) / 2
    return Interval(float(low) / exposure if events else 0.0, float(high) / exposure)


def event_rate(events: int, exposure: float) -> SeenRate | NeverSeen:
    """What a count of independent events says of their rate.

    Count incidents, not partitions: what falls together is one event. Raises ValueError and
    MissingExtraError as `poisson_interval` does.
    """
    bounds, method = poisson_interval(events, exposure), f"{EXACT}, {LEVEL}"
    if events == 0:
        return NeverSeen(high=bounds.high, method=method)
    return SeenRate(rate=events / exposure, low=bounds.low, high=bounds.high, method=method)


class AtLeastOne(msgspec.Struct, frozen=True, kw_only=True):
    """The probability of at least one within so many years; None where only `high` is known."""

    years: float
    probability: float | None
    low: float
    high: float

    @property
    def words(self) -> str:
        """``0.29 %``; of what was never seen no more than a bound."""
        if self.probability is None:
            return f"at most {share_words(self.high)}"
        return share_words(self.probability)

    @property
    def words_with_interval(self) -> str:
        """``0.29 % (0.24 to 0.35 %)``."""
        if self.probability is None:
            return f"unknown, {self.words}"
        within = share_range_words(self.low, self.high)
        return f"{self.words}{f' ({within})' if within else ''}" if self.high else "cannot happen"


def at_least_one(rate: FoundRate, years: tuple[float, ...] = YEARS) -> tuple[AtLeastOne, ...]:
    """For each of `years`. The rate is of what is independent: of incidents, not of partitions."""
    return tuple(
        AtLeastOne(
            years=some,
            probability=None if rate.rate is None else _some(rate.rate * some),
            low=_some(rate.low * some),
            high=1.0 if rate.high is None else _some(rate.high * some),
        )
        for some in years
    )


def _some(expected: float) -> float:
    """That a Poisson number is not 0, precise for small expectations too."""
    return -expm1(-expected)


# --- shares ---------------------------------------------------------------------------------------


def exact(events: int, exposure: int) -> Interval:
    """The exact binomial interval of Clopper and Pearson for a share, two-sided.

    It covers at least what it says, mostly more. With no event at all `high` is still above 0: that
    nothing was seen does not mean that it cannot happen. Raises ValueError for impossible counts.
    """
    if not 0 <= events <= exposure or exposure == 0:
        problem = f"{events} events in {exposure} schedules"
        raise ValueError(f"{problem}; expected 0 to {exposure}, of 1 or more")
    tail, others = (1 - CONFIDENCE) / 2, exposure - events
    return Interval(
        _share(tail, events, others + 1) if events else 0.0,
        1 - _share(tail, others, events + 1) if others else 1.0,
    )


def _share(level: float, a: int, b: int) -> float:
    """The share below which a beta distribution has `level`, by halving."""
    low, high = 0.0, 1.0
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if _beta_below(middle, a, b) < level else (low, middle)
    return middle


def _beta_below(x: float, a: int, b: int) -> float:
    """How much of the distribution lies below `x`: Lentz's method for the continued fraction of the
    incomplete beta function, which converges fast below the mean.
    """
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_below(1 - x, b, a)
    logarithm = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)
    upper, lower = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction, factor, n = lower, 0.0, 0
    while abs(factor - 1) > _PRECISE:
        n += 1
        even = n * (b - n) * x / ((a + 2 * n - 1) * (a + 2 * n))
        odd = -(a + n) * (a + b + n) * x / ((a + 2 * n) * (a + 2 * n + 1))
        for term in (even, odd):
            upper, lower = 1 + term / upper, 1 / (1 + term * lower)
            factor = upper * lower
            fraction *= factor
    return exp(logarithm) * fraction / a


def in_words(events: int, exposure: int, interval: Interval) -> str:
    """``"4.5 % (3.9 to 5.1 %)"``, or ``"none seen (at most 0.074 %)"``; never a bare zero."""
    if events == 0:
        return f"none seen (at most {_percent(interval.high)} %)"
    low, high = _percent(interval.low), _percent(interval.high)
    return f"{_percent(events / exposure)} % ({low} to {high} %)"


def _percent(share: float) -> str:
    """Two significant digits below 10 %, one decimal above."""
    percent = 100 * share
    return f"{percent:.1f}" if percent >= 10 else f"{percent:#.2g}"
