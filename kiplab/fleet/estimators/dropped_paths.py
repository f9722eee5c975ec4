"""The part that forced samples leave out, as a share of their estimate: computed, never tuned.

They are of first order: they lack the paths that need one more crash than the shortest.
"""

from math import exp

from msgspec.structs import replace

from ..parameters.parameter_table import Parameters
from ..parameters.years import SECONDS_PER_YEAR
from ..reference.closed_forms import alone_share
from .forced_outages import OUTAGE_METRICS
from .forced_windows import STALE_JOIN


def left_out(p: Parameters, metric: str) -> float:
    """How much a forced estimate of a metric may be off by, beside chance."""
    if metric == STALE_JOIN:
        # No leader is stopped while a replica is out.
        return alone_share(p) + met_by_another(p, race_s(p))
    if metric in OUTAGE_METRICS and p.replication_factor > 2:
        # Each of them is away for so long, and every time another may go once more.
        return p.replication_factor * met_by_another(p, away_s(p))
    return met_by_another(p, race_s(p))


def met_by_another(p: Parameters, window_s: float) -> float:
    """The share of windows of this length in which one of the brokers crashes once more.

    That is what an estimate and a formula of first order drop, and so what they may be off by.
    """
    often = p.crashes_per_year * p.early_crash_factor
    return p.replication_factor * often * window_s / SECONDS_PER_YEAR


def away_s(p: Parameters) -> float:
    """How long a broker is out of the ISR after a crash: noticed, restarted, level, asked for."""
    restart = p.crash_restart_s * exp(p.crash_restart_sigma**2 / 2)
    waiting_s = p.slow_alter_partition_share * p.slow_alter_partition_s
    return p.session_s + restart + p.catch_up_s + waiting_s


def race_s(p: Parameters) -> float:
    """The longest window of the race: away with a slow request, or as long as crashes are early."""
    early = p.early_crash_within_s if p.early_crash_factor > 1 else 0.0
    return max(away_s(replace(p, slow_alter_partition_share=1.0)), early)
