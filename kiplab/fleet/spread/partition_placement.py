"""The placement of a cluster's partitions: their brokers and their leaders.

At random over all replica sets there are (scatter), or over few of them that were chosen before
(copysets): the same number of copies, and another number of sets whose loss loses something. Racks
are left out: every set of brokers is as likely as any other.
"""

from functools import lru_cache
from math import comb
from typing import Any

import msgspec

from ...extras import needed_by
from .counted_words import LEADERS, PARTITIONS, REPLICA_SETS, counted_words


class Placement(msgspec.Struct, frozen=True, kw_only=True):
    """`sets` are the replica sets that hold something, one per row (its brokers, descending).

    Of each partition `set_of` has the row of its set, and `leader` the column of its leader there.
    """

    brokers: int
    sets: Any
    set_of: Any
    leader: Any

    @property
    def replication_factor(self) -> int:
        """How many brokers keep a partition."""
        return int(self.sets.shape[1])


@lru_cache(maxsize=8)
def placed(
    *, brokers: int, partitions: int, replication_factor: int, replica_sets: int, seed: int
) -> Placement:
    """`partitions` partitions on `brokers` brokers, drawn by counting: a function of its arguments.

    From as many `replica_sets` on as there are, every partition draws its own. Raises ValueError
    for what cannot be placed, MissingExtraError without numpy.
    """
    if not 1 <= replication_factor <= brokers or partitions < 1 or replica_sets < 1:
        what = f"{partitions} partitions in {replica_sets} sets of {replication_factor} replicas"
        raise ValueError(f"{what} cannot be placed on {brokers} brokers")
    with needed_by("a placement of partitions"):
        import numpy as np

    possible = comb(brokers, replication_factor)
    drawn = _long_words(seed, PARTITIONS, partitions)
    if replica_sets < possible:
        chosen = np.array(_distinct(seed, replica_sets, possible), dtype=np.int64)
        ranks = chosen[(drawn % np.uint64(replica_sets)).astype(np.int64)]
    else:
        ranks = (drawn % np.uint64(possible)).astype(np.int64)
    held, set_of = np.unique(ranks, return_inverse=True)
    return Placement(
        brokers=brokers,
        sets=_brokers_of(held, brokers, replication_factor),
        set_of=set_of,
        leader=counted_words(seed, LEADERS, partitions) % replication_factor,
    )


def _long_words(seed: int, purpose: int, count: int) -> Any:
    """Words of 64 bits: a remainder of them is even enough for the largest number of sets."""
    words = counted_words(seed, purpose, 2 * count).astype("uint64")
    return (words[::2] << 32) | words[1::2]


def _distinct(seed: int, count: int, possible: int) -> list[int]:
    """So many different numbers below `possible`: the first cards of a shuffle."""
    moved: dict[int, int] = {}
    drawn = []
    for place, word in enumerate(_long_words(seed, REPLICA_SETS, count).tolist()):
        other = place + word % (possible - place)
        drawn.append(moved.get(other, other))
        moved[other] = moved.get(place, place)
    return drawn


def _brokers_of(ranks: Any, brokers: int, replication_factor: int) -> Any:
    """The sets with these numbers, if all are counted through by their largest broker."""
    import numpy as np

    left, columns = ranks.copy(), []
    for size in range(replication_factor, 0, -1):
        below = np.array([comb(broker, size) for broker in range(brokers)], dtype=np.int64)
        largest = np.searchsorted(below, left, side="right") - 1
        left -= below[largest]
        columns.append(largest)
    return np.stack(columns, axis=1)
