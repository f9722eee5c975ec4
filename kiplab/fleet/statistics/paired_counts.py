"""Two feature sets on the same schedules: events that only one of them had."""

from __future__ import annotations

import msgspec

from .event_rates import poisson_interval
from .intervals import CONFIDENCE


class CountGap(msgspec.Struct, frozen=True, kw_only=True):
    """How much higher a rate is here than there, from what happened in only one of them."""

    gap: float
    low: float
    high: float
    method: str


def count_gap(
    only_here: int, only_there: int, exposure: float, *, confidence: float = CONFIDENCE
) -> CountGap:
    """The difference of two rates over one exposure; what happened in both cancels.

    Two exact Poisson intervals, each so wide that both hold together: it covers at least what it
    says. Raises ValueError for impossible counts, MissingExtraError without scipy.
    """
    each = 1 - (1 - confidence) / 2
    here = poisson_interval(only_here, exposure, confidence=each)
    there = poisson_interval(only_there, exposure, confidence=each)
    return CountGap(
        gap=(only_here - only_there) / exposure,
        low=here.low - there.high,
        high=here.high - there.low,
        method=f"exact Poisson of what only one had, {100 * confidence:g} % together",
    )
