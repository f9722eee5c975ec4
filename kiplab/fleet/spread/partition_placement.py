"""The placement of a cluster's partitions: their brokers and their leaders.

At random over all replica sets there are (scatter), or over few of them that were chosen before
(copysets): the same number of copies, and another number of sets whose loss loses something. The
brokers stand on the racks in turn, and so do the replicas of a set: no rack has two more than
another. Of these sets of brokers every one is as likely as any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from math import comb, prod
from typing import TYPE_CHECKING, Any

import msgspec

from ...extras import Deferred
from ..kernel.machine_code import plain
from ..kernel.quantile_tables import philox

if TYPE_CHECKING:
    from ..parameters import Parameters

np = Deferred("numpy", "a placement of partitions")
REPLICA_SETS, PARTITIONS, LEADERS, SHOCKS = range(1 << 16, (1 << 16) + 4)
"""What a word is for. The kernel's own streams have smaller numbers."""


class Placement(msgspec.Struct, frozen=True, kw_only=True):
    """`sets` are the replica sets that hold something, one per row (its brokers, descending).

    Of each partition `set_of` has the row of its set, and `leader` the column of its leader there.
    """

    brokers: int
    sets: Any
    set_of: Any
    leader: Any


def sets_in_use(parameters: Parameters) -> int:
    """How many replica sets a cluster has: within its limit, its racks and its partitions."""
    p = parameters
    held_by_racks = _held(p.brokers, p.replication_factor, p.racks)
    possible = sum(_ways(p.brokers, held) for held in held_by_racks)
    return min(p.replica_sets or possible, possible, p.partitions)


@lru_cache(maxsize=8)
def placed(
    *,
    brokers: int,
    partitions: int,
    replication_factor: int,
    replica_sets: int,
    seed: int,
    racks: int = 1,
) -> Placement:
    """`partitions` partitions on `brokers` brokers, drawn by counting: a function of its arguments.

    From as many `replica_sets` on as there are, and with 0, every partition draws its own. Raises
    ValueError for what cannot be placed, MissingExtraError without numpy.
    """
    if not 1 <= replication_factor <= brokers or partitions < 1 or replica_sets < 0:
        what = f"{partitions} partitions in {replica_sets} sets of {replication_factor} replicas"
        raise ValueError(f"{what} cannot be placed on {brokers} brokers")
    held_by_racks = _held(brokers, replication_factor, racks)
    possible = sum(_ways(brokers, held) for held in held_by_racks)
    drawn = _long_words(seed, PARTITIONS, partitions)
    if 0 < replica_sets < possible:
        chosen = np.array(_distinct(seed, replica_sets, possible), dtype=np.int64)
        ranks = chosen[(drawn % np.uint64(replica_sets)).astype(np.int64)]
    else:
        ranks = (drawn % np.uint64(possible)).astype(np.int64)
    held, set_of = np.unique(ranks, return_inverse=True)
    return Placement(
        brokers=brokers,
        sets=_brokers_of(held, brokers, held_by_racks),
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


def _held(brokers: int, replication_factor: int, racks: int) -> tuple[tuple[int, ...], ...]:
    """How many replicas of a set each rack can have."""
    fewest, more = divmod(replication_factor, racks)
    fuller = combinations(range(racks), more)
    every = (tuple(fewest + (rack in some) for rack in range(racks)) for some in fuller)
    return tuple(held for held in every if _ways(brokers, held))


def _ways(brokers: int, held: tuple[int, ...]) -> int:
    """How many sets of brokers there are with so many on each rack."""
    pairs = zip(_sizes(brokers, len(held)), held, strict=True)
    return prod(comb(size, count) for size, count in pairs)


def _sizes(brokers: int, racks: int) -> Iterator[int]:
    """How many brokers stand on each rack."""
    return (len(range(rack, brokers, racks)) for rack in range(racks))


def _brokers_of(ranks: Any, brokers: int, held_by_racks: tuple[tuple[int, ...], ...]) -> Any:
    """The sets with these numbers, if all are counted through, brokers descending."""
    sets, first = np.empty((len(ranks), sum(held_by_racks[0])), dtype=np.int64), 0
    for held in held_by_racks:
        count = _ways(brokers, held)
        here = (ranks >= first) & (ranks < first + count)
        left, columns = ranks[here] - first, []
        for rack, (size, replicas) in enumerate(zip(_sizes(brokers, len(held)), held, strict=True)):
            left, of_rack = np.divmod(left, comb(size, replicas))
            columns += [at * len(held) + rack for at in _combination(of_rack, size, replicas)]
        sets[here] = np.stack(columns, axis=1)
        first += count
    return -np.sort(-sets, axis=1)


def _combination(ranks: Any, size: int, count: int) -> Iterator[Any]:
    """`count` of `size` for each number, if all are counted through by the largest."""
    left = ranks.copy()
    for taken in range(count, 0, -1):
        below = np.array([comb(place, taken) for place in range(size)], dtype=np.int64)
        largest = np.searchsorted(below, left, side="right") - 1
        left -= below[largest]
        yield largest


def counted_words(seed: int, purpose: int, count: int) -> Any:
    """The first `count` words of 32 bits for one purpose, as an array: the kernel's Philox, which
    makes them a function of seed and purpose.

    Raises MissingExtraError without numpy.
    """
    ordinals: Any = np.arange(-(-count // 4), dtype=np.int64)
    words: Any = plain(philox)(seed, 0, ordinals, 0, 0, purpose)
    return np.stack(words, axis=1).reshape(-1)[:count]
