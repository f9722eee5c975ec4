"""Which scenarios of a study forced windows are worked out for."""

from __future__ import annotations

from ...protocol.releases import Mode
from ..parameters.fleet_study import FleetStudy
from ..parameters.scenario import Scenario


def forced_scenarios(study: FleetStudy) -> tuple[Scenario, ...]:
    """Two replicas of which one suffices, in KRaft mode; crashes or planned restarts happen."""
    return tuple(filter(can_force, study.scenarios))


def can_force(scenario: Scenario) -> bool:
    """Whether windows of that scenario can be forced."""
    p = scenario.parameters
    return (
        scenario.mode is Mode.KRAFT
        and (p.replication_factor, p.min_insync_replicas) == (2, 1)
        and p.crashes_per_year + p.bounces_per_year > 0
    )
