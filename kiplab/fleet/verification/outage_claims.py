"""What forced outages estimate, beside exact chains, a formula, and naive years in which all go."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from ..estimators.forced_outages import ALL_GONE, OUTAGE_METRICS
from ..estimators.window_draws import exponential_draws, real_draws
from ..parameters.years import SECONDS_PER_YEAR
from ..reference.closed_forms import last_replica_losses
from ..reference.last_standing_chain import StandingRates, standing_rates
from ..reference.two_replica_chain import LAST_REPLICA_LOSS
from .checked_worlds import BOTH, QUIET, world_of
from .kernel_blocks import lived, yearly
from .refereed import Certain, Claim, Referee
from .weighed_blocks import outage_blocks, weighed_by

_SEEN_AS = {ALL_GONE: "offline"}
"""What chain and kernel count it as, where nothing else takes the partition offline."""


def outage_claims(effort: float, seed: int) -> Iterator[Claim]:
    """Naive years in proportion to `effort`."""
    yield from _all_gone_by_the_chain(seed)
    yield from _all_gone_sooner(20 * effort, seed)


def _all_gone_by_the_chain(seed: int) -> Iterator[Claim]:
    """Every replica is back after seven minutes, whatever took it away."""
    away_s = 421.0
    alike = replace(
        QUIET,
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
        exact, forced = standing_rates(rates), outage_blocks(p, exponential_draws, seed)
        for metric in OUTAGE_METRICS:
            yield Claim(
                metric=metric,
                features=BOTH,
                referee=Referee.EXACT_CHAIN,
                regime=f"forced outages of {replicas} replicas, exponential, at base rates",
                ours=weighed_by(forced, metric),
                theirs=partial(Certain, exact[_SEEN_AS.get(metric, metric)]),
                room=2e-3,
            )


def _all_gone_sooner(years: float, seed: int) -> Iterator[Claim]:
    short = replace(QUIET, min_insync_replicas=2, tail_lost=1.0)
    yield Claim(
        metric=LAST_REPLICA_LOSS,
        features=BOTH,
        referee=Referee.CLOSED_FORM,
        regime="forced outages, min.insync.replicas=2 of 2, at base rates",
        ours=weighed_by(outage_blocks(short, real_draws, seed), LAST_REPLICA_LOSS),
        theirs=partial(Certain, last_replica_losses(short)),
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
    counts, forced = lived(world_of(p), (BOTH,), years, seed), outage_blocks(p, real_draws, seed)
    for metric in OUTAGE_METRICS:
        yield Claim(
            metric=metric,
            features=BOTH,
            referee=Referee.NAIVE,
            regime="forced outages of 3 replicas, min.insync.replicas=2, 10,000 crashes a year",
            ours=weighed_by(forced, metric),
            theirs=yearly(counts, BOTH, _SEEN_AS.get(metric, metric)),
            room=0.1,
        )
