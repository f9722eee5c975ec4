"""The certainty of a share: exact intervals for counts of independent schedules."""

from math import exp, lgamma, log, log1p

import msgspec

CONFIDENCE = 0.95
LEVEL = f"{100 * CONFIDENCE:g} %"
METHOD = f"Clopper-Pearson, {LEVEL}"
_PRECISE = 1e-14


class Interval(msgspec.Struct, frozen=True):
    """What a number lies between, in its own unit: a share, a rate, a difference."""

    low: float
    high: float


def exact(events: int, exposure: int) -> Interval:
    """The exact binomial interval of Clopper and Pearson for a share, two-sided.

    It covers at least what it says, mostly more. With no event at all `high` is still above 0: that
    nothing was seen does not mean that it cannot happen. Raises ValueError for impossible counts.
    """
    if not 0 <= events <= exposure or exposure == 0:
        raise ValueError(
            f"{events} events in {exposure} schedules; expected 0 to {exposure}, of 1 or more"
        )
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
