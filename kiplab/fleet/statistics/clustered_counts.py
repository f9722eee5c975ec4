"""Counts that come in clusters: one incident counts several times, and the next one waits.

Few of them tell too little about the clusters: the count of a replication is then one incident, of
that weight. Of many the spread over replications is used. The counts that only one of two feature
sets has, on the same schedules, tell how far apart their rates are.
"""

from math import sqrt

import msgspec

from .block_means import Weights
from .event_rates import NeverSeen, SeenRate, event_rate, poisson_interval
from .intervals import CONFIDENCE, LEVEL
from .summed_times import gamma_bounds

_MORE_THAN_CHANCE = 4.0
"""Standard errors."""
_FEW, _SELDOM = 10, 0.2
"""So few events, or so few in a replication, are hardly ever two incidents of one replication."""


def dispersion(counts: Weights) -> float:
    """How many times more the counts of replications vary than Poisson's: about how many events
    come together. 1 where that is no more than chance would have it.
    """
    if counts.samples < 2 or counts.total <= 0:
        return 1.0
    mean = counts.total / counts.samples
    ratio = (counts.squares - counts.total * mean) / (counts.samples - 1) / mean
    chance = sqrt(2 / counts.samples + 1 / counts.total)
    return ratio if ratio > 1 + _MORE_THAN_CHANCE * chance else 1.0


def size_together(counts: Weights) -> float:
    """How many events an incident counts for, about: of few that of a replication, weighed."""
    if _are_few(counts):
        return max(1.0, counts.squares / counts.total)
    return dispersion(counts)


def _are_few(counts: Weights) -> bool:
    return 0 < counts.total <= max(_FEW, _SELDOM * counts.samples)


def clustered_rate(counts: Weights, exposure: float) -> SeenRate | NeverSeen:
    """The rate of events that were counted in independent replications.

    Where some come together it is as sure as so many fewer that come alone.
    Raises ValueError for an impossible count or exposure, MissingExtraError without scipy.
    """
    if counts.largest > 1 and _are_few(counts):
        return _of_replications(counts, exposure)
    together = dispersion(counts)
    if together == 1:
        return event_rate(round(counts.total), exposure)
    alone = counts.total / together
    bounds = poisson_interval(alone, exposure / together)
    method = f"Poisson of clusters of {together:.2g}, {LEVEL}"
    return SeenRate(rate=counts.total / exposure, low=bounds.low, high=bounds.high, method=method)


def _of_replications(counts: Weights, exposure: float) -> SeenRate:
    low, high = gamma_bounds(counts)
    return SeenRate(
        rate=counts.total / exposure,
        low=low / exposure,
        high=high / exposure,
        method=f"gamma, what a replica set has is one incident, {LEVEL}",
    )


class CountGap(msgspec.Struct, frozen=True, kw_only=True):
    """How much higher a rate is here than there, from what happened in only one of them."""

    gap: float
    low: float
    high: float
    method: str


def count_gap(
    only_here: int, only_there: int, exposure: float, *, together: float = 1.0
) -> CountGap:
    """The difference of two rates over one exposure; what happened in both cancels.

    Two exact Poisson intervals, each so wide that both hold together: it covers at least what it
    says. Where so many events come `together` it is as sure as so many fewer that come alone.
    Raises ValueError for impossible counts, MissingExtraError without scipy.
    """
    each = 1 - (1 - CONFIDENCE) / 2
    here, there = (
        poisson_interval(only / together, exposure / together, confidence=each)
        for only in (only_here, only_there)
    )
    how = "exact Poisson" if together == 1 else f"Poisson of clusters of {together:.2g}"
    return CountGap(
        gap=(only_here - only_there) / exposure,
        low=here.low - there.high,
        high=here.high - there.low,
        method=f"{how} of what only one had, {LEVEL} together",
    )
