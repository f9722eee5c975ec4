"""How long something lasts in all, per unit of exposure: times differ, so counts do not bound them.

Rare times are weights of a Poisson count: the gamma interval of Fay and Feuer (Statistics in
Medicine 16, 1997), which is the exact Poisson interval where all weights are equal. Where most
units have some, their mean has Student's interval.
"""

from typing import Any

from ...extras import needed_by
from .block_means import Weights
from .event_rates import SeenRate
from .intervals import CONFIDENCE, LEVEL

_MOST = 0.5
"""Of the units: with time in more of them than that, how they differ is known well enough."""


def time_rate(times: Weights, hit: int, exposure: float) -> SeenRate:
    """Of independent units of equal exposure, `exposure` in all, of which `hit` had any time.

    Raises ValueError where none had, MissingExtraError without scipy.
    """
    if not times.total or not hit:
        raise ValueError("no time was seen at all; bound how often it begins (`event_rates`)")
    often = hit > _MOST * times.samples and times.samples > 1
    low, high = (_by_t if often else gamma_bounds)(times)
    spread = f"Student's t over {times.samples}" if often else f"gamma over {hit}"
    return SeenRate(
        rate=times.total / exposure,
        low=max(low, 0.0) / exposure,
        high=high / exposure,
        method=f"{spread} replica sets, {LEVEL}",
    )


def gamma_bounds(times: Weights) -> tuple[float, float]:
    """Bounds of the total of rare weights; the upper end allows for one more, as large as the
    largest. Raises MissingExtraError without scipy.
    """
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
