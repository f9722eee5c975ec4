"""The world of a replica set: how often things happen to it, and how long what follows takes.

All times are whole microseconds; a mean time between events of 0 is never. Where a number comes
from, and what it may be, is said with the parameters of a study; here is what the kernel takes.
"""

from decimal import Decimal
from functools import lru_cache
from math import exp

import msgspec

from . import set_words as word
from .machine_code import Longs, as_words
from .quantile_tables import constant, exponential, log_normal, longest, uniform

SECOND = 1_000_000
HOUR, DAY, YEAR = 3_600 * SECOND, 86_400 * SECOND, 365 * 86_400 * SECOND
_TICK_US = 1_000
"""A session is over a millisecond after its time."""


class Exponential(msgspec.Struct, frozen=True, tag=True):
    """With this mean."""

    mean_us: int


class LogNormal(msgspec.Struct, frozen=True, tag=True):
    """With this median; `sigma` is the spread of the logarithm."""

    median_us: int
    sigma: float


def with_mean(mean_us: int, sigma: float) -> LogNormal:
    """A log-normal by its mean."""
    return LogNormal(round(mean_us * exp(-sigma * sigma / 2)), sigma)


class Uniform(msgspec.Struct, frozen=True, tag=True):
    """Between two times."""

    low_us: int
    high_us: int


class Constant(msgspec.Struct, frozen=True, tag=True):
    """Always the same."""

    us: int


Distribution = Exponential | LogNormal | Uniform | Constant


class World(msgspec.Struct, frozen=True, kw_only=True):
    """The base case of two replicas. `racks` are those of the replicas, one each if empty.

    Shares are between 0 and 1. `tail_lost` and `disk_replaced` are shares of all crashes;
    `shock_tail_lost` of those by a shock. `early_factor` is how much likelier a crash is within
    `early_within_us` of a restart (1: no likelier).
    """

    replication_factor: int = 2
    min_insync_replicas: int = 1
    unclean_elections: bool = False
    bounces_wait: bool = True
    racks: tuple[int, ...] = ()
    crash_mean_us: int = YEAR
    bounce_mean_us: int = YEAR // 12
    cut_mean_us: int = 0
    failover_mean_us: int = YEAR // 4
    rack_shock_mean_us: int = 0
    cluster_shock_mean_us: int = 0
    tail_lost: float = 0.1
    disk_replaced: float = 0.0
    shock_tail_lost: float = 0.1
    shock_fate_shared: bool = True
    crash_restart: Distribution = LogNormal(300 * SECOND, 0.5)
    clean_restart: Distribution = with_mean(120 * SECOND, 0.5)
    shutdown: Distribution = Constant(3 * SECOND)
    ready: Distribution = Constant(SECOND)
    catch_up: Distribution = Exponential(180 * SECOND)
    cut_lasts: Distribution = Exponential(30 * SECOND)
    failover_lasts: Distribution = Uniform(2 * SECOND, 30 * SECOND)
    leader_recovery: Distribution = Exponential(30 * SECOND)
    alter_partition_fast: Distribution = Exponential(10_000)
    alter_partition_slow: Distribution = Exponential(30 * SECOND)
    alter_partition_slow_share: float = 0.001
    heartbeat_age: Distribution = Uniform(0, 2 * SECOND)
    lag_check_phase: Distribution = Uniform(0, 15 * SECOND)
    flush_age: Distribution = Uniform(0, 35 * SECOND)
    session_us: int = 9 * SECOND
    heartbeat_interval_us: int = 2 * SECOND
    shutdown_patience_us: int = 300 * SECOND
    lag_us: int = 30 * SECOND
    early_factor: float = 1.0
    early_within_us: int = 600 * SECOND


class WorldWords(msgspec.Struct, frozen=True):
    """A world as compiled code takes it: numbers, and all tables behind one another."""

    numbers: Longs
    tables: Longs


def compiled_world(world: World, *, lasts_on: bool = False) -> WorldWords:
    """`lasts_on`: the session of a broker that stopped does, as from 4.0 on.

    Raises ValueError for a world that there is not: replicas, shares or racks out of range.
    """
    _check(world)
    w = [0] * word.WORLD_SIZE
    tables: Longs = []
    longest_of: dict[str, int] = {}
    for name, at in word.TABLES.items():
        table = _table(world, name)
        w[at] = len(tables) if table else -1
        longest_of[name] = longest(table) if table else 0
        tables += table
    _fill(w, world)
    w[word.LASTS_ON_US] = w[word.SESSION_OVER_US] + w[word.RETRY_US] if lasts_on else 0
    _bound(w, world, longest_of)
    return WorldWords(as_words(w), as_words(tables or [0]))


def _check(world: World) -> None:
    if not 1 <= world.replication_factor <= word.BROKERS:
        raise ValueError(
            f"replication_factor is {world.replication_factor}; expected 1 to {word.BROKERS}"
        )
    if world.racks and len(world.racks) != world.replication_factor:
        raise ValueError(f"racks names {len(world.racks)} racks; expected one for each replica")
    for name in ("tail_lost", "disk_replaced", "shock_tail_lost", "alter_partition_slow_share"):
        if not 0 <= getattr(world, name) <= 1:
            raise ValueError(f"{name} is {getattr(world, name)}; expected a share from 0 to 1")
    if world.tail_lost + world.disk_replaced > 1:
        raise ValueError("tail_lost and disk_replaced are more than 1 together")


def _early_mean_us(world: World) -> int:
    """Between crashes soon after a crash, beyond the usual ones; 0 is never."""
    more = world.early_factor - 1
    return max(1, int(world.crash_mean_us / more)) if more > 0 and world.crash_mean_us else 0


def _table(world: World, name: str) -> tuple[int, ...]:
    of = _early_mean_us(world) if name == "early_mean_us" else getattr(world, name)
    if isinstance(of, int):
        return exponential(of) if of else ()
    return _of(of)


@lru_cache(maxsize=128)
def _of(distribution: Distribution) -> tuple[int, ...]:
    if isinstance(distribution, Exponential):
        return exponential(distribution.mean_us)
    if isinstance(distribution, LogNormal):
        return log_normal(distribution.median_us, Decimal(repr(distribution.sigma)))
    if isinstance(distribution, Uniform):
        return uniform(distribution.low_us, distribution.high_us)
    return constant(distribution.us)


def _fill(w: Longs, world: World) -> None:
    w[word.REPLICAS], w[word.MIN_INSYNC] = world.replication_factor, world.min_insync_replicas
    w[word.UNCLEAN_ALLOWED] = int(world.unclean_elections)
    w[word.BOUNCES_WAIT] = int(world.bounces_wait)
    w[word.SESSION_OVER_US] = world.session_us + _TICK_US
    w[word.LAG_US], w[word.LAG_PERIOD_US] = world.lag_us, world.lag_us // 2
    w[word.PATIENCE_US], w[word.RETRY_US] = world.shutdown_patience_us, world.heartbeat_interval_us
    w[word.DISK_LOST_BELOW] = _below(world.disk_replaced)
    w[word.TAIL_LOST_BELOW] = _below(world.disk_replaced + world.tail_lost)
    w[word.SHOCK_LOST_BELOW] = _below(world.shock_tail_lost)
    w[word.SHOCK_FATE_SHARED] = int(world.shock_fate_shared)
    w[word.SLOW_BELOW] = _below(world.alter_partition_slow_share)
    w[word.EARLY_WITHIN] = world.early_within_us if _early_mean_us(world) else 0
    racks = world.racks or tuple(range(world.replication_factor))
    for b, rack in enumerate(racks):
        w[word.RACK_OF + b] = rack


def _below(share: float) -> int:
    """Words of 32 bits below it are that share of all."""
    return round(share * (1 << 32))


def _bound(w: Longs, world: World, longest_of: dict[str, int]) -> None:
    """How long at most an incident takes that meets no other; 0 where nothing is known of it."""
    back = max(longest_of["ready"], longest_of["catch_up"])
    back += max(longest_of["alter_partition_fast"], longest_of["alter_partition_slow"]) + 1
    gone = max(longest_of["crash_restart"], w[word.SESSION_OVER_US]) + w[word.RETRY_US]
    w[word.CRASH_BOUND] = gone + back
    stopped = max(longest_of["clean_restart"], w[word.LASTS_ON_US])
    w[word.BOUNCE_BOUND] = longest_of["shutdown"] + stopped + back
    w[word.FAST_IN_TIME] = int(longest_of["alter_partition_fast"] + 1 < min(_of(world.shutdown)))
    w[word.OUTAGE_BOUND] = longest_of["failover_lasts"] + 1
    w[word.LOOK_BACK] = max(longest_of["flush_age"], longest_of["heartbeat_age"])
    alone = world.replication_factor == 1 or world.min_insync_replicas >= world.replication_factor
    if alone or w[word.SESSION_OVER_US] > w[word.LAG_US]:
        w[word.CRASH_BOUND] = w[word.BOUNCE_BOUND] = 0
