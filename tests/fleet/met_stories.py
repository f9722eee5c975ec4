"""Stories for tests: a world in which much goes wrong, and the first replication that met it."""

from functools import cache

from kiplab import fleet
from kiplab.fleet.kernel.simulation import simulate
from kiplab.fleet.kernel.world import DAY, SECOND, YEAR, Exponential, LogNormal, World
from kiplab.plays.play import Play

SLOW = World(
    crash_mean_us=DAY // 4,
    bounce_mean_us=0,
    tail_lost=0.9,
    crash_restart=LogNormal(600 * SECOND, 0.5),
    catch_up=Exponential(300 * SECOND),
    alter_partition_slow_share=1.0,
    alter_partition_slow=Exponential(300 * SECOND),
)
"""Brokers crash four times a day, and every request takes minutes."""


@cache
def first_met(
    world: World, features: str, metric: str, *, seed: int, replications: int, years: float
) -> int:
    """The first of the replications that counts some of it."""
    horizon_us, sets = round(years * YEAR), [features]
    for number in range(replications):
        counted = simulate(
            world,
            seed=seed,
            first=number,
            last=number + 1,
            horizon_us=horizon_us,
            feature_sets=sets,
        )
        if counted.total(features, metric):
            return number
    raise LookupError(f"no {metric} in {replications} replications")


@cache
def met_story(
    world: World, features: str, metric: str, *, seed: int, replications: int, years: float
) -> Play:
    """What happened there."""
    number = first_met(world, features, metric, seed=seed, replications=replications, years=years)
    return fleet.story(
        world, seed=seed, replication=number, features=features, metric=metric, years=years
    )
