"""Estimates of forced windows and failure biasing, beside exact chains and beside naive years.

With the chain's own exponential delays they are compared with the chain, at base rates; with real
delays with the kernel, where it happens often enough to be seen.
"""

from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from ..estimators.dropped_paths import left_out
from ..estimators.forced_windows import STALE_JOIN
from ..estimators.window_draws import exponential_draws, real_draws
from ..parameters.parameter_table import Parameters
from ..reference.two_replica_chain import (
    LAST_REPLICA_LOSS,
    RACE_LOSS,
    STALE_JOIN_AFTER_CRASH,
    yearly_rates,
)
from .biased_claims import biased_sooner
from .checked_worlds import BOTH, QUIET, world_of
from .kernel_blocks import Lived, lived, yearly
from .refereed import Certain, Claim, Referee
from .weighed_blocks import biased_chain, forced_blocks, samples_for, weighed_by

_OFTEN = replace(
    QUIET,
    crashes_per_year=2_000.0,
    bounces_per_year=0.0,
    slow_alter_partition_share=1.0,
    slow_alter_partition_s=60.0,
    crash_restart_s=30.0,
    lag_s=300.0,
    tail_lost=1.0,
)
_LOOPING = replace(
    QUIET,
    crashes_per_year=100.0,
    bounces_per_year=0.0,
    early_crash_factor=20.0,
    slow_alter_partition_share=1.0,
)
_SETS = {"none": frozenset[str](), "841": frozenset({"841"}), "903": frozenset({"903"})}


def estimator_claims(effort: float, seed: int) -> Iterator[Claim]:
    """Naive years in proportion to `effort`. Raises MissingExtraError without numpy and scipy."""
    samples = samples_for(effort)
    yield from _by_the_chain(samples, seed)
    yield from _at_base_rates(400_000 * effort, samples, seed)
    often, looping = "2,000 crashes a year, all requests slow", "crash loops, all requests slow"
    for p, years, regime in ((_OFTEN, 1_000, often), (_LOOPING, 5_000, looping)):
        counts = lived(world_of(p), (*_SETS, BOTH), years * effort, seed)
        yield from _sooner(p, counts, samples, seed, regime)
        yield from biased_sooner(p, counts, effort, seed, regime)


def _by_the_chain(samples: int, seed: int) -> Iterator[Claim]:
    windows = "forced windows with exponential delays, at base rates"
    biased = "failure biasing of the chain, at base rates"
    for features, kips in _SETS.items():
        exact = yearly_rates(QUIET, kips)
        forced = forced_blocks(QUIET, kips, exponential_draws, samples, seed)
        for metric in (STALE_JOIN_AFTER_CRASH, RACE_LOSS, LAST_REPLICA_LOSS):
            ours, theirs = weighed_by(forced, metric), partial(Certain, exact[metric])
            margin = left_out(QUIET, metric)
            yield Claim(metric, features, Referee.EXACT_CHAIN, windows, ours, theirs, margin)
        ours, theirs = (
            biased_chain(QUIET, kips, RACE_LOSS, seed),
            partial(Certain, exact[RACE_LOSS]),
        )
        yield Claim(RACE_LOSS, features, Referee.EXACT_CHAIN, biased, ours, theirs)


def _at_base_rates(years: float, samples: int, seed: int) -> Iterator[Claim]:
    """Leaders that stop are asked for once more: often enough to be seen."""
    sets = ("none", "903")
    regime = "forced windows, at base rates: seen without being accelerated"
    counts, margin = lived(world_of(QUIET), sets, years, seed), left_out(QUIET, STALE_JOIN)
    for features in sets:
        forced = forced_blocks(QUIET, _SETS[features], real_draws, samples, seed)
        ours, theirs = weighed_by(forced, STALE_JOIN), yearly(counts, features, STALE_JOIN)
        yield Claim(STALE_JOIN, features, Referee.NAIVE, regime, ours, theirs, margin)


def _sooner(p: Parameters, counts: Lived, samples: int, seed: int, regime: str) -> Iterator[Claim]:
    """Nothing is planned, so that every stale join begins with a crash."""
    windows = f"forced windows, {regime}"
    for features, kips in _SETS.items():
        forced = forced_blocks(p, kips, real_draws, samples, seed)
        for metric in (STALE_JOIN_AFTER_CRASH, RACE_LOSS, LAST_REPLICA_LOSS):
            seen = STALE_JOIN if metric == STALE_JOIN_AFTER_CRASH else metric
            ours, theirs = weighed_by(forced, metric), yearly(counts, features, seen)
            margin = left_out(p, metric)
            yield Claim(metric, features, Referee.NAIVE, windows, ours, theirs, margin)
    never, zero = f"cannot happen, {regime}", partial(Certain, 0.0)
    for metric in (STALE_JOIN, RACE_LOSS):
        counted = yearly(counts, BOTH, metric)
        yield Claim(metric, BOTH, Referee.CLOSED_FORM, never, counted, zero)
