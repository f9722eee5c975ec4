"""Formulas on one line, to first order in what is rare: each good to some thousandths.

Rates are per partition and year. Exponential delays, unless a name says otherwise.
"""

from math import exp

from msgspec.structs import replace

from ..parameters.parameter_table import Parameters
from ..parameters.years import SECONDS_PER_YEAR


def expansions(parameters: Parameters) -> float:
    """How often an ISR of all replicas shrinks by one and grows again."""
    each = parameters.bounces_per_year + parameters.crashes_per_year
    return parameters.replication_factor * each


def alone_share(parameters: Parameters) -> float:
    """The share of time with one replica out of the ISR, and with that alone in it if of two."""
    crashed = parameters.crashes_per_year * (parameters.session_s + parameters.crash_restart_s)
    bounced = parameters.bounces_per_year * parameters.clean_restart_s
    waiting_s = parameters.slow_alter_partition_share * parameters.slow_alter_partition_s
    each = parameters.crashes_per_year + parameters.bounces_per_year
    missing = crashed + bounced + each * (parameters.catch_up_s + waiting_s)
    return parameters.replication_factor * missing / SECONDS_PER_YEAR


def lost_share(parameters: Parameters) -> float:
    """The share of crashes after which committed records are gone: with the page cache or disk."""
    return replaced_share(parameters) + tail_lost_share(parameters)


def tail_lost_share(parameters: Parameters) -> float:
    """The share of crashes that take the page cache and leave the disk."""
    return (1 - replaced_share(parameters)) * parameters.tail_lost


def replaced_share(parameters: Parameters) -> float:
    """The share of crashes after which the disk is empty."""
    crashes = parameters.crashes_per_year
    return parameters.disk_failures_per_year / crashes if crashes else 0.0


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
