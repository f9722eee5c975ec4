"""Two feature sets on the same schedules: events that only one of them had."""

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
    only_here: int,
    only_there: int,
    exposure: float,
    *,
    together: float = 1.0,
    confidence: float = CONFIDENCE,
) -> CountGap:
    """The difference of two rates over one exposure; what happened in both cancels.

    Two exact Poisson intervals, each so wide that both hold together: it covers at least what it
    says. Where so many events come `together` it is as sure as so many fewer that come alone.
    Raises ValueError for impossible counts, MissingExtraError without scipy.
    """
    each = 1 - (1 - confidence) / 2
    here, there = (
        poisson_interval(only / together, exposure / together, confidence=each)
        for only in (only_here, only_there)
    )
    how = "exact Poisson" if together == 1 else f"Poisson of clusters of {together:.2g}"
    return CountGap(
        gap=(only_here - only_there) / exposure,
        low=here.low - there.high,
        high=here.high - there.low,
        method=f"{how} of what only one had, {100 * confidence:g} % together",
    )
