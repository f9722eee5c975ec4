"""Bootstrap of whole blocks: simultaneous events are drawn together.

A draw is a function of the seed alone: scipy's bootstrap over numpy's Philox, which counts.
"""

from collections.abc import Sequence
from typing import Any

from ...extras import needed_by
from .intervals import CONFIDENCE, Interval

FEWEST = 10
"""Of what is drawn: fewer say too little of how they differ."""
_DRAWS = 4_999


def ratio_interval(here: Sequence[float], there: Sequence[float], *, seed: int = 0) -> Interval:
    """For the ratio of two totals over the same blocks: both are drawn as pairs, by percentiles.

    Raises ValueError where they are not as many, fewer than 10, or `there` has nothing in more than
    half of them, so that the ratio has no hold; MissingExtraError without scipy.
    """
    _check(here)
    _check(there)
    hit = sum(value != 0 for value in there)
    if len(here) != len(there) or hit <= len(there) / 2:
        problem = f"{len(here)} here, {len(there)} there, of which {hit} saw anything"
        raise ValueError(f"{problem}; a ratio needs pairs, most of them above zero there")
    if len({one / other if other else None for one, other in zip(here, there, strict=True)}) == 1:
        return Interval(sum(here) / sum(there), sum(here) / sum(there))
    return _bootstrapped(here, there, seed)


def _check(values: Sequence[float]) -> None:
    if len(values) < FEWEST:
        raise ValueError(f"{len(values)} are too few to draw from; expected {FEWEST} or more")
    if not any(values):
        raise ValueError(
            f"nothing was seen in any of {len(values)}, and drawing again will not see it either;"
            " bound the rate of incidents instead"
        )


def _ratio(here: Any, there: Any, axis: int) -> Any:
    return here.sum(axis=axis) / there.sum(axis=axis)


def _bootstrapped(here: Sequence[float], there: Sequence[float], seed: int) -> Interval:
    with needed_by("a bootstrap"):
        from numpy import asarray
        from numpy.random import Generator, Philox
        from scipy.stats import bootstrap

    bounds = bootstrap(
        (asarray(here, float), asarray(there, float)),
        _ratio,
        n_resamples=_DRAWS,
        batch=500,
        vectorized=True,
        paired=True,
        confidence_level=CONFIDENCE,
        method="percentile",
        random_state=Generator(Philox(key=seed)),
    ).confidence_interval
    return Interval(float(bounds.low), float(bounds.high))
