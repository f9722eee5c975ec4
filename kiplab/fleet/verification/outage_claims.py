"""Estimates of forced outages, beside exact chains, a formula, and naive years in which all go."""

from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from ..estimators.dropped_paths import away_s, left_out, met_by_another
from ..estimators.forced_outages import ALL_GONE, OUTAGE_METRICS
from ..estimators.window_draws import exponential_draws, real_draws
from ..parameters.years import SECONDS_PER_YEAR
from ..reference.closed_forms import last_replica_losses
from ..reference.last_standing_chain import StandingRates, standing_rates
from ..reference.two_replica_chain import LAST_REPLICA_LOSS
from .checked_worlds import BOTH, QUIET, world_of
from .kernel_blocks import lived, yearly
from .refereed import Certain, Claim, Referee
from .weighed_blocks import outage_blocks, samples_for, weighed_by

_SEEN_AS = {ALL_GONE: "offline"}
"""What chain and kernel count it as, where nothing else takes the partition offline."""


def outage_claims(effort: float, seed: int) -> Iterator[Claim]:
    """Naive years, and weighted samples, in proportion to `effort`."""
    samples = samples_for(effort)
    yield from _all_gone_by_the_chain(samples, seed)
    yield from _short_of_replicas(samples, seed)
    yield from _all_gone_sooner(20 * effort, samples, seed)


def _all_gone_by_the_chain(samples: int, seed: int) -> Iterator[Claim]:
    """Every replica is back after seven minutes, after a restart as after a crash."""
    missing_s = 421.0
    alike = replace(
        QUIET,
        session_s=1.0,
        heartbeat_s=0.01,
        crash_restart_s=missing_s - 1,
        clean_restart_s=missing_s,
        catch_up_s=0.1,
    )
    for replicas in (2, 3, 4, 5):
        p = replace(alike, replication_factor=replicas)
        rates = StandingRates(
            replicas=replicas,
            crash=p.crashes_per_year,
            bounce=p.bounces_per_year,
            restart=SECONDS_PER_YEAR / (missing_s + p.catch_up_s),
            lost=p.tail_lost,
        )
        exact = standing_rates(rates)
        forced = outage_blocks(p, exponential_draws, samples, seed)
        regime = f"forced outages of {replicas} replicas, exponential, at base rates"
        # A second of each is a session's, and not a part of one exponential delay.
        margin = replicas * p.session_s / missing_s + met_by_another(p, missing_s)
        for metric in OUTAGE_METRICS:
            ours = weighed_by(forced, metric)
            theirs = partial(Certain, exact[_SEEN_AS.get(metric, metric)])
            yield Claim(metric, BOTH, Referee.EXACT_CHAIN, regime, ours, theirs, margin)


def _short_of_replicas(samples: int, seed: int) -> Iterator[Claim]:
    base = replace(QUIET, min_insync_replicas=2, tail_lost=1.0)
    # A planned restart may be over before what is not flushed reaches back to it: to first order
    # in both of its delays, weighed over the tail.
    flushed = base.unflushed_s**2 / (12 * base.clean_restart_s * base.catch_up_s)
    for bounces, where, sooner in (
        (base.bounces_per_year, "at base rates", flushed),
        (0.0, "without planned restarts", 0.0),
    ):
        p = replace(base, bounces_per_year=bounces)
        metric, regime = LAST_REPLICA_LOSS, f"forced outages, min.insync.replicas=2 of 2, {where}"
        ours = weighed_by(outage_blocks(p, real_draws, samples, seed), metric)
        theirs = partial(Certain, last_replica_losses(p))
        margin = sooner + met_by_another(p, away_s(p))
        yield Claim(metric, BOTH, Referee.CLOSED_FORM, regime, ours, theirs, margin)


def _all_gone_sooner(years: float, samples: int, seed: int) -> Iterator[Claim]:
    p = replace(
        QUIET,
        min_insync_replicas=2,
        tail_lost=1.0,
        replication_factor=3,
        crashes_per_year=10_000.0,
        bounces_per_year=5_000.0,
        crash_restart_s=40.0,
        clean_restart_s=30.0,
        catch_up_s=10.0,
    )
    counts = lived(world_of(p), (BOTH,), years, seed)
    forced = outage_blocks(p, real_draws, samples, seed)
    regime = "forced outages of 3 replicas, min.insync.replicas=2, 10,000 crashes a year"
    for metric in OUTAGE_METRICS:
        ours, margin = weighed_by(forced, metric), left_out(p, metric)
        theirs = yearly(counts, BOTH, _SEEN_AS.get(metric, metric))
        yield Claim(metric, BOTH, Referee.NAIVE, regime, ours, theirs, margin)
