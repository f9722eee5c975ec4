"""Naive years of the kernel, cut into blocks."""

from collections.abc import Callable, Sequence
from functools import cache

from ..kernel.simulation import Counts, simulate
from ..kernel.world import YEAR, World
from .refereed import Counted

BLOCKS = 40
SEED = 20_130
"""The one that is shipped; any other finds the same, but for chance."""

Lived = Callable[[], Counts]
"""Years that are simulated on the first request."""


def lived(world: World, feature_sets: Sequence[str], years: float, seed: int) -> Lived:
    """About so many years of replica sets, a whole number of them in each block.

    Asked for, it raises ValueError for a world that there is not.
    """
    each = max(1, round(years / BLOCKS))

    @cache
    def counts() -> Counts:
        return simulate(
            world,
            seed=seed,
            first=0,
            last=BLOCKS * each,
            horizon_us=max(1, round(years * YEAR / BLOCKS / each)),
            feature_sets=feature_sets,
        )

    return counts


def yearly(years: Lived, features: str, metric: str) -> Callable[[], Counted]:
    """A metric per replica set and year, block by block."""
    return lambda: _counted(years(), features, metric)


def _counted(counts: Counts, features: str, metric: str) -> Counted:
    each = (counts.last - counts.first) // BLOCKS
    starts = range(counts.first, counts.last, each)
    return Counted(
        tuple(
            sum(counts.count(r, features, metric) for r in range(start, start + each))
            for start in starts
        ),
        counts.exposure_us / BLOCKS / YEAR,
    )
