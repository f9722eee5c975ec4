"""Counts and times that come in clusters: one incident counts several times, and times differ.

Few of them tell too little about the clusters: what a replication counted is then one incident, of
that weight. The weights of a Poisson count have the gamma interval of Fay and Feuer (Statistics in
Medicine 16, 1997), which is the exact Poisson interval where all weights are equal. Of many the
spread over replications is used. The counts that only one of two feature sets has, on the same
schedules, tell how far apart their rates are.
"""

from math import sqrt
from typing import Any

from ...extras import needed_by
from .block_means import PairedGap, Weights
from .event_rates import NeverSeen, SeenRate, event_rate, poisson_interval
from .intervals import CONFIDENCE, LEVEL

_MORE_THAN_CHANCE = 4.0
"""Standard errors."""
_FEW, _SELDOM = 10, 0.2
"""So few events, or so few in a replication, are hardly ever two incidents of one replication."""
_MOST = 0.5
"""Of the replications: with time in more of them, how they differ is known well enough."""


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
        how = "gamma, what a replica set has is one incident"
        return _seen(counts, gamma_bounds(counts), exposure, how)
    together = dispersion(counts)
    if together == 1:
        return event_rate(round(counts.total), exposure)
    bounds = poisson_interval(counts.total / together, 1 / together)
    how = f"Poisson of clusters of {together:.2g}"
    return _seen(counts, (bounds.low, bounds.high), exposure, how)


def _seen(counts: Weights, bounds: tuple[float, float], exposure: float, how: str) -> SeenRate:
    """`bounds` are of the total."""
    rate, low, high = (n / exposure for n in (counts.total, max(bounds[0], 0.0), bounds[1]))
    return SeenRate(rate=rate, low=low, high=high, method=f"{how}, {LEVEL}")


def time_rate(times: Weights, hit: int, exposure: float) -> SeenRate:
    """Of independent units of equal exposure, `exposure` in all, of which `hit` had any time.

    Raises ValueError where none had, MissingExtraError without scipy.
    """
    if not times.total or not hit:
        raise ValueError("no time was seen at all; bound how often it begins")
    often = hit > _MOST * times.samples and times.samples > 1
    spread = f"Student's t over {times.samples}" if often else f"gamma over {hit}"
    bounds = (_by_t if often else gamma_bounds)(times)
    return _seen(times, bounds, exposure, f"{spread} replica sets")


def gamma_bounds(times: Weights) -> tuple[float, float]:
    """Bounds of a total of rare weights, with room for one more. Raises MissingExtraError."""
    with needed_by("an interval"):
        from scipy.stats import gamma

    tail = (1 - CONFIDENCE) / 2
    low = _quantile(gamma, tail, times.total, times.squares)
    more, squares = times.total + times.largest, times.squares + times.largest**2
    return low, _quantile(gamma, 1 - tail, more, squares)


def _quantile(gamma: Any, level: float, mean: float, variance: float) -> float:
    return float(gamma.ppf(level, mean**2 / variance, scale=variance / mean))


def _by_t(times: Weights) -> tuple[float, float]:
    """Of the total: the mean of the units, so many times."""
    with needed_by("an interval"):
        from scipy.stats import t

    n = times.samples
    spread = max(times.squares - times.total**2 / n, 0.0) / (n - 1)
    half = float(t.ppf((1 + CONFIDENCE) / 2, n - 1)) * (spread * n) ** 0.5
    return times.total - half, times.total + half


def count_gap(
    only_here: int, only_there: int, exposure: float, *, together: float = 1.0
) -> PairedGap:
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
    return PairedGap(
        gap=(only_here - only_there) / exposure,
        low=here.low - there.high,
        high=here.high - there.low,
    )
