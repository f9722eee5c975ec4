"""The events that can hit a replica set: a clock for each kind of event and each set of victims."""

from math import exp

import msgspec

from ..kernel.set_events import BOUNCE, CRASH, CUT_OFF, OUTAGE_BEGINS
from ..kernel.world import Distribution, Exponential, LogNormal, Uniform, World

MOST_EXPECTED = 3.0
"""Events within a window: where there are more, plain sampling sees what comes of them."""


class Clock(msgspec.Struct, frozen=True, kw_only=True):
    """Events of a kind, at `rate` per microsecond, each to all of `brokers` at once."""

    kind: str
    rank: int
    brokers: tuple[int, ...]
    rate: float
    is_shock: bool = False


def clocks_of(world: World) -> tuple[Clock, ...]:
    """Every clock that always runs in that world."""
    brokers = range(world.replication_factor)
    racks = world.racks or tuple(brokers)
    alone = (
        ("crash", CRASH, world.crash_mean_us),
        ("bounce", BOUNCE, world.bounce_mean_us),
        ("cut", CUT_OFF, world.cut_mean_us),
    )
    clocks: list[tuple[str, int, tuple[int, ...], int, bool]]
    clocks = [(kind, rank, (b,), mean, False) for kind, rank, mean in alone for b in brokers]
    for rack in sorted(set(racks)):
        inside = tuple(b for b in brokers if racks[b] == rack)
        clocks.append(("rack shock", CRASH, inside, world.rack_shock_mean_us, True))
    clocks.append(("shock", CRASH, tuple(brokers), world.cluster_shock_mean_us, True))
    clocks.append(("failover", OUTAGE_BEGINS, (0,), world.failover_mean_us, False))
    return tuple(
        Clock(kind=kind, rank=rank, brokers=of, rate=1 / mean, is_shock=shock)
        for kind, rank, of, mean, shock in clocks
        if mean
    )


def early_mean(world: World) -> float:
    """How many early crashes are expected of a broker that is just back, beyond the usual ones."""
    if world.early_factor <= 1 or not world.crash_mean_us:
        return 0.0
    return (world.early_factor - 1) * world.early_within_us / world.crash_mean_us


def expected(world: World) -> float:
    """How many events come while one is being dealt with."""
    rate = sum(clock.rate for clock in clocks_of(world))
    return rate * _window_us(world) + early_mean(world)


def _window_us(world: World) -> float:
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
    return world.session_us + sum(parts)


def _long(distribution: Distribution | None) -> float:
    """What is hardly ever exceeded."""
    if distribution is None:
        return 0
    if isinstance(distribution, Exponential):
        return 7 * distribution.mean_us
    if isinstance(distribution, LogNormal):
        return distribution.median_us * exp(3 * distribution.sigma)
    return distribution.high_us if isinstance(distribution, Uniform) else distribution.us
