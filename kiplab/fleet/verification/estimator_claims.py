"""What forced windows and failure biasing estimate, beside exact chains and beside naive years.

With the chain's own exponential delays they are held to the chain, at base rates; with real delays
to the kernel, where it happens often enough to be seen.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..estimators.failure_biasing import biased_blocks
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
from ..reference.two_replica_chain import (
    LAST_REPLICA_LOSS,
    RACE_LOSS,
    STALE_JOIN_AFTER_CRASH,
    chain_rates,
    two_replica_chain,
    yearly_rates,
)
from ..statistics.block_means import alarms
from .kernel_blocks import BLOCKS, SEED, lived, yearly
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


def estimator_claims(effort: float) -> Iterator[Claim]:
    """Naive years in proportion to `effort`. Raises MissingExtraError without numpy and scipy."""
    yield from _by_the_chain()
    yield from _at_base_rates(400_000 * effort)
    yield from _sooner(_OFTEN, 1_000 * effort, "2,000 crashes a year, all requests slow", 0.1)
    yield from _sooner(_LOOPING, 5_000 * effort, "crash loops, all requests slow", 0.05)


def _by_the_chain() -> Iterator[Claim]:
    for features, kips in _SETS.items():
        exact = yearly_rates(_BASE, kips)
        forced = _forced(_BASE, kips, exponential_draws)
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
            ours=_biased(_BASE, kips, RACE_LOSS),
            theirs=Certain(exact[RACE_LOSS]),
        )


def _at_base_rates(years: float) -> Iterator[Claim]:
    """Leaders that stop are asked for once more: often enough to be seen."""
    sets = ("none", "903")
    counts = lived(world_of(_BASE), sets, years)
    for features in sets:
        yield Claim(
            metric=STALE_JOIN,
            features=features,
            referee=Referee.NAIVE,
            regime="forced windows, at base rates: seen without being accelerated",
            ours=_forced(_BASE, _SETS[features], real_draws)[STALE_JOIN],
            theirs=yearly(counts, features, STALE_JOIN),
            room=5e-3,
        )


def _sooner(p: Parameters, years: float, regime: str, room: float) -> Iterator[Claim]:
    """Nothing is planned, so that every stale join begins with a crash."""
    counts = lived(world_of(p), (*_SETS, _BOTH), years)
    for features, kips in _SETS.items():
        forced = _forced(p, kips, real_draws)
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


def _forced(p: Parameters, kips: frozenset[str], draw: DrawWindows) -> dict[str, Weighed]:
    found = [
        forced_block(p, kips, seed=SEED, block=block, samples=_SAMPLES, draw=draw)
        for block in range(BLOCKS)
    ]
    years = forced_exposure(p, _SAMPLES)
    return {
        metric: Weighed(
            tuple(block[metric].total / years for block in found),
            alarms([block[metric] for block in found]),
        )
        for metric in METRICS
    }


def _biased(p: Parameters, kips: frozenset[str], event: str) -> Weighed:
    chain = two_replica_chain(chain_rates(p), kips)
    blocks, seconds = biased_blocks(chain, event, seed=SEED, blocks=BLOCKS, cycles=1000)
    years = seconds / BLOCKS / SECONDS_PER_YEAR
    return Weighed(tuple(block.total / years for block in blocks), alarms(blocks))
