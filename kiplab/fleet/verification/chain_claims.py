"""The kernel's counts beside exact chains, in worlds where delays that the chain lacks are tiny."""

from collections.abc import Iterator, Mapping
from functools import partial

from msgspec.structs import replace

from ..kernel.world import SECOND, YEAR, Constant, Exponential, Uniform, World
from ..reference.last_standing_chain import StandingRates, standing_rates
from ..reference.unclean_election_chain import UncleanRates, unclean_rates
from .checked_worlds import BOTH
from .kernel_blocks import lived, yearly
from .refereed import Certain, Claim, Referee

NOTICED = SECOND // 100
AT_ONCE = World(
    session_us=NOTICED,
    heartbeat_interval_us=1_000,
    heartbeat_age=Uniform(0, 1_000),
    shutdown=Constant(0),
    ready=Constant(0),
    catch_up=Constant(0),
    alter_partition_fast=Constant(0),
    alter_partition_slow=Constant(0),
    failover_mean_us=0,
    # Longer than a leader waits for who is gone: every unflushed tail has committed records in it.
    flush_age=Constant(40 * SECOND),
)
_REPAIR = 60 * SECOND
_TAILS, _DISKS = 0.2, 0.1
"""Shares of crashes."""
_STANDING = (*((1, 20_000, 20), (2, 20_000, 8), (3, 50_000, 4), (4, 100_000, 1), (5, 150_000, 1)),)
"""Replicas, crashes a year of each, years."""


def chain_claims(effort: float, seed: int) -> Iterator[Claim]:
    """Years in proportion to `effort`."""
    for replicas, crashes, years in _STANDING:
        yield from _last_standing(replicas, crashes, years * effort, seed)
    yield from _unclean(2_000 * effort, seed)


def _last_standing(replicas: int, crashes: int, years: float, seed: int) -> Iterator[Claim]:
    least, bounces = 2 if replicas > 2 else 1, crashes // 2
    world = replace(
        AT_ONCE,
        replication_factor=replicas,
        min_insync_replicas=least,
        crash_mean_us=YEAR // crashes,
        bounce_mean_us=YEAR // bounces,
        crash_restart=Exponential(_REPAIR),
        clean_restart=Exponential(_REPAIR),
        tail_lost=_TAILS,
        disk_replaced=_DISKS,
    )
    rates = StandingRates(
        replicas=replicas,
        crash=crashes,
        bounce=bounces,
        restart=YEAR / _REPAIR,
        lost=_TAILS + _DISKS,
    )
    exact = standing_rates(rates, least)
    if least > 1:
        # Short of replicas nothing is committed, which the chain does not know.
        del exact["last_replica_loss"]
    else:
        exact["committed_loss"] = exact["last_replica_loss"]
        del exact["under_min_us"]
    several = "1 replica" if replicas == 1 else f"{replicas} replicas"
    regime = f"{several}, {crashes:,} crashes a year, back after a minute"
    # Each is missed that much less long, and may meet another before it is noticed.
    margin = replicas * NOTICED * (1 / _REPAIR + crashes / YEAR)
    yield from _by_chain(world, BOTH, years, seed, exact, regime, margin=margin)


def _unclean(years: float, seed: int) -> Iterator[Claim]:
    crashes, repair, level, recovery = 500, 420 * SECOND, 180 * SECOND, SECOND
    world = replace(
        AT_ONCE,
        crash_mean_us=YEAR // crashes,
        bounce_mean_us=0,
        unclean_elections=True,
        tail_lost=0.0,
        crash_restart=Exponential(repair),
        catch_up=Exponential(level),
        leader_recovery=Exponential(recovery),
    )
    built = UncleanRates(crash=crashes, restart=YEAR / repair, level=YEAR / level)
    wanted = replace(built, recovered=YEAR / recovery)
    regime = "unclean elections on, 500 crashes a year"
    unnoticed = 2 * NOTICED / level
    # Who has caught up while its leader recovers joins with the end of that: the chain begins anew.
    for features, rates, margin in (
        (BOTH, built, unnoticed),
        (f"{BOTH}+704", wanted, unnoticed + recovery / level),
    ):
        exact = unclean_rates(rates)
        yield from _by_chain(world, features, years, seed, exact, regime, margin=margin)


def _by_chain(
    world: World,
    features: str,
    years: float,
    seed: int,
    exact: Mapping[str, float],
    regime: str,
    *,
    margin: float,
) -> Iterator[Claim]:
    counts = lived(world, (features,), years, seed)
    for metric, expected in exact.items():
        ours, theirs = yearly(counts, features, metric), partial(Certain, expected)
        yield Claim(metric, features, Referee.EXACT_CHAIN, regime, ours, theirs, margin)
