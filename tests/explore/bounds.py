"""Bounds of a search as its keywords take them: `explore(play, **bounds)`."""

from typing import TypedDict


class Bounds(TypedDict, total=False):
    """What a level counts. A bound that is left out has the level's default."""

    writes: int
    crashes: int
    fences: int
    shutdowns: int
    lags: int


FAR: Bounds = {"writes": 2, "crashes": 2, "fences": 1}
"""Out of reach."""
RACE: Bounds = {"writes": 0, "crashes": 1, "fences": 0}
"""Within these lies the race of KAFKA-14139, and little else."""
