"""The worlds that claims are made about."""

from ..kernel.world import World
from ..parameters.as_world import as_world
from ..parameters.parameter_table import Parameters
from ..parameters.scenario import Scenario

QUIET = Parameters(
    disk_failures_per_year=0.0,
    controller_failovers_per_year=0.0,
    rack_shocks_per_year=0.0,
    cluster_shocks_per_year=0.0,
)
"""Crashes and planned restarts, and nothing else."""
BOTH = "841+903"


def world_of(parameters: Parameters) -> World:
    """The kernel's world of some parameters."""
    return as_world(Scenario(feature_sets=("none",), parameters=parameters))
