"""Formulas on one line, to first order in what is rare: each good to some thousandths, and a check
on everything that is longer.

Rates are per partition and year. Exponential delays, unless a name says otherwise.
"""

from ..parameters.parameter_table import Parameters
from ..parameters.years import SECONDS_PER_YEAR
from .two_replica_chain import lost_share, replaced_share, tail_lost_share


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


def last_replica_losses(parameters: Parameters) -> float:
    """The last member of the ISR crashes and loses records. Two replicas.

    With min.insync.replicas=2 nothing is appended while one is missing: an unflushed tail has
    committed records only as long as it reaches back to before. A follower that has crashed is
    missed when its session ends; what was appended until then is below the high watermark then
    (before KIP-966), and so counts as committed.
    """
    alone = alone_share(parameters)
    if parameters.min_insync_replicas == 1:
        return alone * parameters.crashes_per_year * lost_share(parameters)
    tail, notice = parameters.unflushed_s, parameters.session_s - parameters.heartbeat_s / 2
    later = notice - notice**2 / (2 * tail) if notice < tail else tail / 2
    reaches = expansions(parameters) * tail / 2 + parameters.crashes_per_year * later
    fatal = alone * replaced_share(parameters)
    fatal += reaches * tail_lost_share(parameters) / SECONDS_PER_YEAR
    return fatal * parameters.crashes_per_year


def shock_losses(parameters: Parameters) -> float:
    """A common cause takes every replica, and what was not flushed is gone."""
    rack = parameters.racks == 1 or parameters.replication_factor == 1
    shocks = parameters.cluster_shocks_per_year + rack * parameters.rack_shocks_per_year
    return shocks * parameters.shock_tail_lost
