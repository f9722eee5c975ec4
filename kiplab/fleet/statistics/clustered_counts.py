"""Counts that come in clusters: where one incident counts several times, and the next one waits."""

from __future__ import annotations

from math import sqrt

from .block_means import Weights
from .event_rates import EXACT, NeverSeen, SeenRate, event_rate, poisson_interval
from .intervals import CONFIDENCE

_MORE_THAN_CHANCE = 4.0
"""Standard errors."""


def dispersion(counts: Weights) -> float:
    """How many times more the counts of replications vary than Poisson's: about how many events
    come together. 1 where that is no more than chance would have it.
    """
    if counts.samples < 2 or counts.total <= 0:
        return 1.0
    mean = counts.total / counts.samples
    found = (counts.squares - counts.total * mean) / (counts.samples - 1) / mean
    chance = sqrt(2 / counts.samples + 1 / counts.total)
    return found if found > 1 + _MORE_THAN_CHANCE * chance else 1.0


def clustered_rate(
    counts: Weights, exposure: float, *, confidence: float = CONFIDENCE
) -> SeenRate | NeverSeen:
    """The rate of events that were counted in independent replications.

    Where they come together more than by chance it is as sure as so many fewer that come alone.
    Raises ValueError for an impossible count or exposure, MissingExtraError without scipy.
    """
    together = dispersion(counts)
    if together == 1:
        return event_rate(round(counts.total), exposure, confidence=confidence)
    alone = counts.total / together
    bounds = poisson_interval(alone, exposure / together, confidence=confidence)
    said = f"{EXACT} of clusters of {together:.2g}, {100 * confidence:g} %"
    return SeenRate(rate=counts.total / exposure, low=bounds.low, high=bounds.high, method=said)
