"""The rate of an event: with its interval, never seen, or impossible.

Three types, so that nobody can print one as another: an event that was never seen has no rate, only
an upper bound; one that a rule makes impossible has neither.
"""

import msgspec

from ...extras import needed_by
from .intervals import CONFIDENCE, LEVEL, Interval

EXACT, JEFFREYS = "exact Poisson", "Jeffreys"


class SeenRate(msgspec.Struct, frozen=True, kw_only=True):
    """Events per unit of exposure, with the interval that `method` gives."""

    rate: float
    low: float
    high: float
    method: str


class NeverSeen(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing in all that exposure: the rate is below `high`, and may be anything there."""

    high: float
    method: str


class NeverHappens(msgspec.Struct, frozen=True, kw_only=True):
    """It cannot happen in the model: zero by construction, with the rule that makes it so."""

    because: str


EventRate = SeenRate | NeverSeen | NeverHappens


def poisson_interval(
    events: float, exposure: float, *, method: str = EXACT, confidence: float = CONFIDENCE
) -> Interval:
    """Bounds of a rate from a count, two-sided.

    Exact: chi-square quantiles, which cover at least what they say. Jeffreys: quantiles of gamma
    with `events` + 1/2, which cover it on average, and are narrower. Both begin at 0 where nothing
    was seen. A part of an event is what one of a cluster is worth. Raises ValueError for an
    impossible count, exposure or method, MissingExtraError without scipy.
    """
    with needed_by("an interval"):
        from scipy.stats import chi2, gamma

    _check(events, exposure, method)
    tail = (1 - confidence) / 2
    if method == JEFFREYS:
        low, high = gamma.ppf(tail, events + 0.5), gamma.ppf(1 - tail, events + 0.5)
    else:
        low = chi2.ppf(tail, 2 * events) / 2 if events else 0
        high = chi2.ppf(1 - tail, 2 * events + 2) / 2
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


def _check(events: float, exposure: float, method: str) -> None:
    if events < 0 or exposure <= 0:
        problem = f"{events} events in an exposure of {exposure:g}"
        raise ValueError(f"{problem}; expected 0 or more, in an exposure above 0")
    if method not in (EXACT, JEFFREYS):
        raise ValueError(f"there is no method {method!r}; there are {EXACT!r} and {JEFFREYS!r}")
