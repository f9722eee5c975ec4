"""What forced windows and failure biasing estimate, beside exact chains and beside naive years.

With the chain's own exponential delays they are held to the chain, at base rates; with real delays
to the kernel, where it happens often enough to be seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from ..estimators.failure_biasing import biased_blocks
from ..estimators.forced_outages import OUTAGE_METRICS, outage_block
from ..estimators.forced_windows import (
    METRICS,
    STALE_JOIN,
    DrawWindows,
    forced_block,
    forced_exposure,
)
from ..estimators.window_draws import exponential_draws, real_draws
from ..parameters.parameter_table import Parameters
from ..parameters.years import SECONDS_PER_YEAR
from ..reference.closed_forms import last_replica_losses
from ..reference.last_standing_chain import StandingRates, standing_rates
from ..reference.two_replica_chain import (
    LAST_REPLICA_LOSS,
    RACE_LOSS,
    STALE_JOIN_AFTER_CRASH,
    chain_rates,
    two_replica_chain,
    yearly_rates,
)
from ..statistics.block_means import Weights, alarms
from .kernel_blocks import BLOCKS, lived, yearly
from .kernel_claims import world_of
from .refereed import Certain, Claim, Referee, Weighed

_BASE = Parameters(
    disk_failures_per_year=0.0,
    controller_failovers_per_year=0.0,
    rack_shocks_per_year=0.0,
    cluster_shocks_per_year=0.0,
)
_OFTEN = replace(
    _BASE,
    crashes_per_year=2_000.0,
    bounces_per_year=0.0,
    slow_alter_partition_share=1.0,
    slow_alter_partition_s=60.0,
    crash_restart_s=30.0,
    lag_s=300.0,
    tail_lost=1.0,
)
_LOOPING = replace(
    _BASE,
    crashes_per_year=100.0,
    bounces_per_year=0.0,
    early_crash_factor=20.0,
    slow_alter_partition_share=1.0,
)
_SETS = {"none": frozenset[str](), "841": frozenset({"841"}), "903": frozenset({"903"})}
_BOTH = "841+903"
_SAMPLES = 500


def estimator_claims(effort: float, seed: int) -> Iterator[Claim]:
    """Naive years in proportion to `effort`. Raises MissingExtraError without numpy and scipy."""
    yield from _by_the_chain(seed)
    yield from _all_gone_by_the_chain(seed)
    yield from _all_gone_sooner(20 * effort, seed)
    yield from _at_base_rates(400_000 * effort, seed)
    yield from _sooner(_OFTEN, 1_000 * effort, seed, "2,000 crashes a year, all requests slow", 0.1)
    yield from _sooner(_LOOPING, 5_000 * effort, seed, "crash loops, all requests slow", 0.05)


def _by_the_chain(seed: int) -> Iterator[Claim]:
    for features, kips in _SETS.items():
        exact = yearly_rates(_BASE, kips)
        forced = _forced(_BASE, kips, exponential_draws, seed)
        for metric in (STALE_JOIN_AFTER_CRASH, RACE_LOSS, LAST_REPLICA_LOSS):
            yield Claim(
                metric=metric,
                features=features,
                referee=Referee.EXACT_CHAIN,
                regime="forced windows with exponential delays, at base rates",
                ours=forced[metric],
                theirs=Certain(exact[metric]),
                room=1e-3,
            )
        yield Claim(
            metric=RACE_LOSS,
            features=features,
            referee=Referee.EXACT_CHAIN,
            regime="failure biasing of the chain, at base rates",
            ours=_biased(_BASE, kips, RACE_LOSS, seed),
            theirs=Certain(exact[RACE_LOSS]),
        )


def _at_base_rates(years: float, seed: int) -> Iterator[Claim]:
    """Leaders that stop are asked for once more: often enough to be seen."""
    sets = ("none", "903")
    counts = lived(world_of(_BASE), sets, years, seed)
    for features in sets:
        yield Claim(
            metric=STALE_JOIN,
            features=features,
            referee=Referee.NAIVE,
            regime="forced windows, at base rates: seen without being accelerated",
            ours=_forced(_BASE, _SETS[features], real_draws, seed)[STALE_JOIN],
            theirs=yearly(counts, features, STALE_JOIN),
            room=5e-3,
        )


def _sooner(p: Parameters, years: float, seed: int, regime: str, room: float) -> Iterator[Claim]:
    """Nothing is planned, so that every stale join begins with a crash."""
    counts = lived(world_of(p), (*_SETS, _BOTH), years, seed)
    for features, kips in _SETS.items():
        forced = _forced(p, kips, real_draws, seed)
        for metric in METRICS:
            seen = STALE_JOIN if metric == STALE_JOIN_AFTER_CRASH else metric
            yield Claim(
                metric=metric,
                features=features,
                referee=Referee.NAIVE,
                regime=f"forced windows, {regime}",
                ours=forced[metric],
                theirs=yearly(counts, features, seen),
                room=room,
            )
    for metric in (STALE_JOIN, RACE_LOSS):
        yield Claim(
            metric=metric,
            features=_BOTH,
            referee=Referee.CLOSED_FORM,
            regime=f"cannot happen, {regime}",
            ours=yearly(counts, _BOTH, metric),
            theirs=Certain(0.0),
        )


def _all_gone_by_the_chain(seed: int) -> Iterator[Claim]:
    """Every replica is back after seven minutes, whatever took it away."""
    away_s = 421.0
    alike = replace(
        _BASE,
        session_s=1.0,
        heartbeat_s=0.01,
        crash_restart_s=away_s - 1,
        clean_restart_s=away_s,
        catch_up_s=0.1,
    )
    for replicas in (2, 3, 4, 5):
        p = replace(alike, replication_factor=replicas)
        rates = StandingRates(
            replicas=replicas,
            crash=p.crashes_per_year,
            bounce=p.bounces_per_year,
            restart=SECONDS_PER_YEAR / (away_s + p.catch_up_s),
            lost=p.tail_lost,
        )
        exact, forced = standing_rates(rates), _outages(p, exponential_draws, seed)
        for metric in OUTAGE_METRICS:
            yield Claim(
                metric=metric,
                features=_BOTH,
                referee=Referee.EXACT_CHAIN,
                regime=f"forced outages of {replicas} replicas, exponential, at base rates",
                ours=forced[metric],
                theirs=Certain(exact[metric]),
                room=2e-3,
            )


def _all_gone_sooner(years: float, seed: int) -> Iterator[Claim]:
    short = replace(_BASE, min_insync_replicas=2, tail_lost=1.0)
    yield Claim(
        metric=LAST_REPLICA_LOSS,
        features=_BOTH,
        referee=Referee.CLOSED_FORM,
        regime="forced outages, min.insync.replicas=2 of 2, at base rates",
        ours=_outages(short, real_draws, seed)[LAST_REPLICA_LOSS],
        theirs=Certain(last_replica_losses(short)),
        room=0.03,
    )
    p = replace(
        short,
        replication_factor=3,
        crashes_per_year=10_000.0,
        bounces_per_year=5_000.0,
        crash_restart_s=40.0,
        clean_restart_s=30.0,
        catch_up_s=10.0,
    )
    counts, forced = lived(world_of(p), (_BOTH,), years, seed), _outages(p, real_draws, seed)
    for metric in OUTAGE_METRICS:
        yield Claim(
            metric=metric,
            features=_BOTH,
            referee=Referee.NAIVE,
            regime="forced outages of 3 replicas, min.insync.replicas=2, 10,000 crashes a year",
            ours=forced[metric],
            theirs=yearly(counts, _BOTH, metric),
            room=0.1,
        )


def _outages(p: Parameters, draw: DrawWindows, seed: int) -> dict[str, Weighed]:
    found = [
        outage_block(p, seed=seed, block=block, samples=_SAMPLES, draw=draw)
        for block in range(BLOCKS)
    ]
    return _weighed(found, forced_exposure(p, _SAMPLES))


def _forced(
    p: Parameters, kips: frozenset[str], draw: DrawWindows, seed: int
) -> dict[str, Weighed]:
    found = [
        forced_block(p, kips, seed=seed, block=block, samples=_SAMPLES, draw=draw)
        for block in range(BLOCKS)
    ]
    return _weighed(found, forced_exposure(p, _SAMPLES))


def _weighed(found: Sequence[Mapping[str, Weights]], years: float) -> dict[str, Weighed]:
    return {
        metric: Weighed(
            tuple(block[metric].total / years for block in found),
            alarms([block[metric] for block in found]),
        )
        for metric in found[0]
    }


def _biased(p: Parameters, kips: frozenset[str], event: str, seed: int) -> Weighed:
    chain = two_replica_chain(chain_rates(p), kips)
    blocks, seconds = biased_blocks(chain, event, seed=seed, blocks=BLOCKS, cycles=1000)
    years = seconds / BLOCKS / SECONDS_PER_YEAR
    return Weighed(tuple(block.total / years for block in blocks), alarms(blocks))
