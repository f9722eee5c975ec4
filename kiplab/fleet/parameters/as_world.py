"""A scenario as the world of the kernel: whole microseconds, and means in place of rates."""

from ..kernel.world import Constant, Exponential, LogNormal, Uniform, World, with_mean
from .parameter_table import Parameters
from .scenario import Scenario
from .years import MICROSECONDS_PER_YEAR

_SECOND = 1_000_000
_LONGEST_US = 1e30


def as_world(scenario: Scenario) -> World:
    """What one replica set of that fleet lives in."""
    p = scenario.parameters
    replaced = p.disk_failures_per_year / p.crashes_per_year if p.crashes_per_year else 0.0
    return World(
        replication_factor=p.replication_factor,
        # Partition.effectiveMinIsr
        min_insync_replicas=min(p.min_insync_replicas, p.replication_factor),
        unclean_elections=p.unclean_elections,
        bounces_wait=p.bounces_wait,
        racks=tuple(replica % p.racks for replica in range(p.replication_factor)),
        crash_mean_us=_mean_us(p.crashes_per_year),
        bounce_mean_us=_mean_us(p.bounces_per_year),
        cut_mean_us=_mean_us(p.network_cuts_per_year),
        failover_mean_us=_mean_us(p.controller_failovers_per_year),
        rack_shock_mean_us=_mean_us(p.rack_shocks_per_year),
        cluster_shock_mean_us=_mean_us(p.cluster_shocks_per_year),
        tail_lost=(1 - replaced) * p.tail_lost,
        disk_replaced=replaced,
        shock_tail_lost=p.shock_tail_lost,
        shock_fate_shared=p.shock_fate_shared,
        crash_restart=LogNormal(_us(p.crash_restart_s), p.crash_restart_sigma),
        clean_restart=with_mean(_us(p.clean_restart_s), p.clean_restart_sigma),
        shutdown=Constant(_us(p.shutdown_s)),
        ready=Exponential(_us(p.ready_s)),
        catch_up=Exponential(_us(p.catch_up_s)),
        cut_lasts=Exponential(_us(p.network_cut_s)),
        failover_lasts=_between(p.controller_failover_min_s, p.controller_failover_max_s),
        leader_recovery=Exponential(_us(p.leader_recovery_s)),
        alter_partition_fast=Exponential(_us(p.alter_partition_ms / 1000)),
        alter_partition_slow=Exponential(_us(p.slow_alter_partition_s)),
        alter_partition_slow_share=p.slow_alter_partition_share,
        heartbeat_age=_between(0, p.heartbeat_s),
        lag_check_phase=_between(0, p.lag_s / 2),
        flush_age=_between(0, p.unflushed_s),
        session_us=_us(p.session_s),
        heartbeat_interval_us=_us(p.heartbeat_s),
        lag_us=_us(p.lag_s),
        early_factor=p.early_crash_factor,
        early_within_us=_us(p.early_crash_within_s),
    )


def horizon_us(parameters: Parameters) -> int:
    """How long a replication lasts."""
    return round(parameters.horizon_years * MICROSECONDS_PER_YEAR)


def _us(seconds: float) -> int:
    return round(seconds * _SECOND)


def _mean_us(per_year: float) -> int:
    """The time between two, on average; 0 is never. Draws end long before the longest."""
    return max(1, round(min(MICROSECONDS_PER_YEAR / per_year, _LONGEST_US))) if per_year else 0


def _between(low_s: float, high_s: float) -> Uniform:
    return Uniform(_us(low_s), _us(high_s))
