"""What the kernel counts, beside exact chains and formulas, each in a world where these hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from ...protocol.releases import Mode
from ..kernel.world import SECOND, YEAR, Constant, Exponential, Uniform, World
from ..parameters.as_world import as_world
from ..parameters.parameter_table import Parameters
from ..parameters.scenario import Scenario
from ..reference import closed_forms
from ..reference.last_standing_chain import StandingRates, standing_rates
from ..reference.unclean_election_chain import UncleanRates, unclean_rates
from .kernel_blocks import lived, yearly
from .refereed import Certain, Claim, Referee

_AT_ONCE = World(
    session_us=10_000,
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
"""What takes time in Kafka and none in the chains takes next to none."""
_QUIET = Parameters(
    disk_failures_per_year=0.0,
    controller_failovers_per_year=0.0,
    rack_shocks_per_year=0.0,
    cluster_shocks_per_year=0.0,
)
_BOTH = "841+903"
_REPAIR = 60 * SECOND
_TAILS, _DISKS = 0.2, 0.1
"""Shares of crashes."""


def kernel_claims(effort: float, seed: int) -> Iterator[Claim]:
    """Years in proportion to `effort`. Raises MissingExtraError without scipy."""
    yield from _at_base(200_000 * effort, seed)
    for replicas, crashes, years in _STANDING:
        yield from _last_standing(replicas, crashes, years * effort, seed)
    yield from _unclean(2_000 * effort, seed)
    yield from _short_of_replicas(100 * effort, seed)
    yield from _shocks(2_000 * effort, seed)
    yield from _zookeeper(2_000 * effort, seed)


_STANDING = ((1, 20_000, 20), (2, 20_000, 8), (3, 50_000, 4), (4, 100_000, 1), (5, 150_000, 1))
"""Replicas, crashes a year of each, years."""


def _at_base(years: float, seed: int) -> Iterator[Claim]:
    sets = ("none", _BOTH)
    counts = lived(world_of(_QUIET), sets, years, seed)
    leaders_stop = _QUIET.bounces_per_year
    again = {"none": leaders_stop, _BOTH: 0.0}
    returns = closed_forms.expansions(_QUIET)
    for features in sets:
        for metric, expected in (
            ("incidents", returns),
            ("expansions", returns + again[features]),
        ):
            yield Claim(
                metric=metric,
                features=features,
                referee=Referee.CLOSED_FORM,
                regime="two replicas at base rates",
                ours=yearly(counts, features, metric),
                theirs=Certain(expected),
                room=1e-3,
            )


def _last_standing(replicas: int, crashes: int, years: float, seed: int) -> Iterator[Claim]:
    least = 2 if replicas > 2 else 1
    world = replace(
        _AT_ONCE,
        replication_factor=replicas,
        min_insync_replicas=least,
        crash_mean_us=YEAR // crashes,
        bounce_mean_us=2 * YEAR // crashes,
        crash_restart=Exponential(_REPAIR),
        clean_restart=Exponential(_REPAIR),
        tail_lost=_TAILS,
        disk_replaced=_DISKS,
    )
    rates = StandingRates(
        replicas=replicas,
        crash=crashes,
        bounce=crashes / 2,
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
    regime = f"{replicas} replicas, {crashes:,} crashes a year, back after a minute"
    yield from _by_chain(world, (_BOTH,), years, seed, exact, regime, room=2e-3)


def _unclean(years: float, seed: int) -> Iterator[Claim]:
    crashes, repair, level, recovery = 500, 420 * SECOND, 180 * SECOND, SECOND
    world = replace(
        _AT_ONCE,
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
    both = _BOTH + "+704"
    for features, rates, room in ((_BOTH, built, 2e-3), (both, wanted, 1e-2)):
        yield from _by_chain(
            world, (features,), years, seed, unclean_rates(rates), regime, room=room
        )


def _by_chain(
    world: World,
    sets: tuple[str, ...],
    years: float,
    seed: int,
    exact: Mapping[str, float],
    regime: str,
    *,
    room: float,
) -> Iterator[Claim]:
    counts = lived(world, sets, years, seed)
    for features in sets:
        for metric, expected in exact.items():
            yield Claim(
                metric=metric,
                features=features,
                referee=Referee.EXACT_CHAIN,
                regime=regime,
                ours=yearly(counts, features, metric),
                theirs=Certain(expected),
                room=room,
            )


def _short_of_replicas(years: float, seed: int) -> Iterator[Claim]:
    parameters = replace(
        _QUIET,
        min_insync_replicas=2,
        crashes_per_year=4_000.0,
        bounces_per_year=0.0,
        # Longer than the tail of what was not flushed reaches back.
        crash_restart_s=40.0,
        crash_restart_sigma=0.0,
        catch_up_s=1.0,
        tail_lost=1.0,
    )
    counts = lived(world_of(parameters), (_BOTH,), years, seed)
    yield Claim(
        metric="last_replica_loss",
        features=_BOTH,
        referee=Referee.CLOSED_FORM,
        regime="min.insync.replicas=2, 4,000 crashes a year that lose what was not flushed",
        ours=yearly(counts, _BOTH, "last_replica_loss"),
        theirs=Certain(closed_forms.last_replica_losses(parameters)),
        room=0.04,
    )


def _shocks(years: float, seed: int) -> Iterator[Claim]:
    for racks, regime in ((3, "shocks of the cluster"), (1, "shocks of cluster and rack")):
        parameters = replace(
            _QUIET,
            replication_factor=3,
            racks=racks,
            crashes_per_year=0.0,
            bounces_per_year=0.0,
            cluster_shocks_per_year=20.0,
            rack_shocks_per_year=20.0 if racks == 1 else 0.0,
            shock_tail_lost=0.5,
        )
        counts = lived(world_of(parameters), (_BOTH,), years, seed)
        for metric in ("shock_loss", "committed_loss"):
            yield Claim(
                metric=metric,
                features=_BOTH,
                referee=Referee.CLOSED_FORM,
                regime=f"three replicas, {regime}",
                ours=yearly(counts, _BOTH, metric),
                theirs=Certain(closed_forms.shock_losses(parameters)),
                room=2e-3,
            )


def _zookeeper(years: float, seed: int) -> Iterator[Claim]:
    cut = replace(_QUIET, network_cuts_per_year=4.0, network_cut_s=60.0)
    bounce_s = 15
    world = replace(
        world_of(cut, Mode.ZOOKEEPER),
        shutdown=Constant(3 * SECOND),
        clean_restart=Constant((bounce_s - 3) * SECOND),
    )
    counts = lived(world, ("none", "380", "343"), years, seed)
    requests = closed_forms.stale_control_requests(cut, bounce_s)
    for metric, features, each in (
        ("stale_control_request", "none", requests),
        ("stale_control_request", "380", 0.0),
        ("stale_metadata_us", "none", _metadata_us(cut, frozenset())),
        ("stale_metadata_us", "343", _metadata_us(cut, frozenset({"343"}))),
    ):
        yield Claim(
            metric=metric,
            features=features,
            referee=Referee.CLOSED_FORM,
            regime="ZooKeeper, planned restarts of 15 s, 4 cuts a year of a minute",
            ours=yearly(counts, features, metric),
            theirs=Certain(cut.replication_factor * each),
            room=1e-3,
        )


def _metadata_us(parameters: Parameters, kips: frozenset[str]) -> float:
    return closed_forms.stale_metadata_s(parameters, kips) * SECOND


def world_of(parameters: Parameters, mode: Mode = Mode.KRAFT) -> World:
    """The kernel's world of some parameters."""
    return as_world(Scenario(mode=mode, feature_sets=("none",), parameters=parameters))
