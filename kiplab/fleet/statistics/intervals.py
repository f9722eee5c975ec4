"""The certainty of a share: exact intervals for counts of independent schedules."""

import msgspec

from ...extras import needed_by

CONFIDENCE = 0.95
LEVEL = f"{100 * CONFIDENCE:g} %"
METHOD = f"Clopper-Pearson, {LEVEL}"


class Interval(msgspec.Struct, frozen=True):
    """What a number lies between, in its own unit: a share, a rate, a difference."""

    low: float
    high: float


def exact(events: int, exposure: int) -> Interval:
    """The exact binomial interval of Clopper and Pearson for a share, two-sided.

    It covers at least what it says, mostly more. With no event at all `high` is still above 0: that
    nothing was seen does not mean that it cannot happen. Raises ValueError for impossible counts,
    MissingExtraError without scipy.
    """
    with needed_by("an interval"):
        from scipy.stats import binomtest

    if not 0 <= events <= exposure or exposure == 0:
        raise ValueError(
            f"{events} events in {exposure} schedules; expected 0 to {exposure}, of 1 or more"
        )
    bounds = binomtest(events, exposure).proportion_ci(CONFIDENCE, method="exact")
    return Interval(float(bounds.low), float(bounds.high))


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
