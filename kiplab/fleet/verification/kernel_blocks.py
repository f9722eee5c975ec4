"""Naive years of the kernel, cut into blocks."""

from __future__ import annotations

from collections.abc import Sequence

from ..kernel.simulation import Counts, simulate
from ..kernel.world import YEAR, World
from .refereed import Counted

BLOCKS = 40
SEED = 20_130
"""The one that is shipped; any other finds the same, but for chance."""


def lived(world: World, feature_sets: Sequence[str], years: float, seed: int) -> Counts:
    """About so many years of replica sets, a whole number of them in each block.

    Raises ValueError for a world that there is not.
    """
    each = max(1, round(years / BLOCKS))
    return simulate(
        world,
        seed=seed,
        first=0,
        last=BLOCKS * each,
        horizon_us=max(1, round(years * YEAR / BLOCKS / each)),
        feature_sets=feature_sets,
    )


def yearly(counts: Counts, features: str, metric: str) -> Counted:
    """A metric per replica set and year, block by block."""
    each = (counts.last - counts.first) // BLOCKS
    years = counts.exposure_us / BLOCKS / YEAR
    starts = range(counts.first, counts.last, each)
    return Counted(
        tuple(
            sum(counts.count(r, features, metric) for r in range(start, start + each))
            for start in starts
        ),
        years,
    )
