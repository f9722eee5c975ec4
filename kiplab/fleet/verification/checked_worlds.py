"""The worlds that claims are made about, and how much a claim may leave out."""

from __future__ import annotations

from math import exp

from msgspec.structs import replace

from ...protocol.releases import Mode
from ..kernel.world import World
from ..parameters.as_world import as_world
from ..parameters.parameter_table import Parameters
from ..parameters.scenario import Scenario
from ..parameters.years import SECONDS_PER_YEAR

QUIET = Parameters(
    disk_failures_per_year=0.0,
    controller_failovers_per_year=0.0,
    rack_shocks_per_year=0.0,
    cluster_shocks_per_year=0.0,
)
"""Crashes and planned restarts, and nothing else."""
BOTH = "841+903"


def world_of(parameters: Parameters, mode: Mode = Mode.KRAFT) -> World:
    """The kernel's world of some parameters."""
    return as_world(Scenario(mode=mode, feature_sets=("none",), parameters=parameters))


def kips_in(mode: Mode) -> str:
    """The feature set in which no stale replica joins, or as much of it as the mode knows."""
    return BOTH if mode is Mode.KRAFT else "none"


def regime_in(mode: Mode, regime: str) -> str:
    """Said with its mode, where that is not the usual one."""
    return regime if mode is Mode.KRAFT else f"ZooKeeper, {regime}"


def met_by_another(p: Parameters, window_s: float) -> float:
    """The share of windows of this length in which one of the brokers crashes once more.

    That is what an estimate and a formula of first order drop, and so what they may be off by.
    """
    often = p.crashes_per_year * p.early_crash_factor
    return p.replication_factor * often * window_s / SECONDS_PER_YEAR


def away_s(p: Parameters) -> float:
    """How long a broker is out of the ISR after a crash: noticed, restarted, level, asked for."""
    restart = p.crash_restart_s * exp(p.crash_restart_sigma**2 / 2)
    asked = p.slow_alter_partition_share * p.slow_alter_partition_s
    return p.session_s + restart + p.catch_up_s + asked


def race_s(p: Parameters) -> float:
    """The longest window of the race: away with a slow request, or as long as crashes are early."""
    early = p.early_crash_within_s if p.early_crash_factor > 1 else 0.0
    return max(away_s(replace(p, slow_alter_partition_share=1.0)), early)
