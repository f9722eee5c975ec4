"""What biased samples are made of: an event of any clock of a replica set, and those behind it.

Half of the first events are as they come, half of every kind alike; what comes within a window
behind it is drawn in several ways (`biased_ways`).
"""

from __future__ import annotations

from math import exp
from typing import Any

import msgspec

from ...extras import needed_by
from ..kernel.set_events import BOUNCE, CRASH, CUT_OFF, OUTAGE_BEGINS
from ..kernel.world import Distribution, Exponential, LogNormal, Uniform, World
from .biased_ways import MOST, Follow, balanced, picked, ways_of
from .counted_uniforms import uniforms

_WAY, _FIRST = range(2)
_FREE = 2
SPARE = 4
"""Uniform numbers of a sample that are for the delays and fates of its events."""
_EVENTS = _FREE + SPARE
_COLUMNS = _EVENTS + 3 * MOST


class Clock(msgspec.Struct, frozen=True, kw_only=True):
    """Events of a kind, at `rate` per microsecond, each to all of `brokers` at once."""

    kind: str
    rank: int
    brokers: tuple[int, ...]
    rate: float
    is_shock: bool = False


class Structures(msgspec.Struct, frozen=True, kw_only=True):
    """Arrays by sample: the clock of its first event, and (samples, MOST) the clocks of those that
    follow, -1 where there is none, with how much later they come; `weight` is in events of any
    kind, `spare` has uniform numbers.
    """

    first: Any
    clocks: Any
    after: Any
    weight: Any
    spare: Any


def clocks_of(world: World) -> tuple[Clock, ...]:
    """Every clock that runs in that world."""
    brokers = range(world.replication_factor)
    racks = world.racks or tuple(brokers)
    alone = (
        ("crash", CRASH, world.crash_mean_us),
        ("bounce", BOUNCE, world.bounce_mean_us),
        ("cut", CUT_OFF, world.cut_mean_us),
    )
    found: list[tuple[str, int, tuple[int, ...], int, bool]]
    found = [(kind, rank, (b,), mean, False) for kind, rank, mean in alone for b in brokers]
    for rack in sorted(set(racks)):
        inside = tuple(b for b in brokers if racks[b] == rack)
        found.append(("rack shock", CRASH, inside, world.rack_shock_mean_us, True))
    found.append(("shock", CRASH, tuple(brokers), world.cluster_shock_mean_us, True))
    found.append(("failover", OUTAGE_BEGINS, (0,), world.failover_mean_us, False))
    return tuple(
        Clock(kind=kind, rank=rank, brokers=of, rate=1 / mean, is_shock=shock)
        for kind, rank, of, mean, shock in found
        if mean
    )


def window_us(world: World) -> int:
    """How long what follows from an event takes, but once in some thousand times."""
    slow = world.alter_partition_slow if world.alter_partition_slow_share else None
    away = (
        world.crash_restart,
        world.clean_restart,
        world.cut_lasts if world.cut_mean_us else None,
    )
    behind = (world.shutdown, world.ready, world.catch_up, world.alter_partition_fast, slow)
    recovery = world.leader_recovery if world.unclean_elections else None
    parts = [max(map(_long, away)), *map(_long, behind), _long(recovery)]
    return round(world.session_us + sum(parts))


def _long(found: Distribution | None) -> float:
    """What is hardly ever exceeded."""
    if found is None:
        return 0
    if isinstance(found, Exponential):
        return 7 * found.mean_us
    if isinstance(found, LogNormal):
        return found.median_us * exp(3 * found.sigma)
    return found.high_us if isinstance(found, Uniform) else found.us


def structures(world: World, *, seed: int, block: int, samples: int) -> Structures:
    """The events of a block's samples, and their weights; a function of the arguments alone.

    Raises ValueError where so much happens that plain sampling sees it, MissingExtraError without
    numpy and scipy.
    """
    with needed_by("an estimate"):
        from numpy import array, zeros

    clocks, window = clocks_of(world), window_us(world)
    rates = array([clock.rate for clock in clocks])
    u = uniforms(seed, block, samples, _COLUMNS)
    first, ratio = _first(clocks, rates, u[:, _FIRST])
    ways = ways_of(clocks, rates * window, world.replication_factor)
    way = (u[:, _WAY] * len(ways)).astype(int)
    each = u[:, _EVENTS:].reshape(samples, 3, MOST)
    kinds, at = zeros((samples, MOST), int) - 1, zeros((samples, MOST))
    for number, one in enumerate(ways):
        mine = way == number
        follow = one.draw(first[mine], each[mine])
        kinds[mine], at[mine] = follow.kinds, follow.at
    densities = [one.density(first, Follow(kinds, at)) for one in ways]
    return Structures(
        first=first,
        clocks=kinds,
        after=1 + (at * window).astype(int),
        weight=ratio * densities[0] * len(ways) / sum(densities),
        spare=u[:, _FREE:_EVENTS],
    )


def _first(clocks: tuple[Clock, ...], rates: Any, u: Any) -> tuple[Any, Any]:
    """The clock of the first event, half of them as they come, half balanced; and the ratio."""
    from numpy import array

    truth = rates / rates.sum()
    shares = (truth + balanced([clock.kind for clock in clocks])) / 2
    chosen = picked(array([shares] * len(u)), u[:, None])[:, 0]
    return chosen, (truth / shares)[chosen]
