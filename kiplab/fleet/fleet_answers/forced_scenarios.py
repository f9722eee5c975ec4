"""Metrics and feature sets of a scenario that have forced samples; also in words."""

from collections.abc import Iterable

from ..estimators.forced_outages import ELR_METRICS, OUTAGE_METRICS
from ..estimators.forced_windows import METRICS as WINDOW_METRICS
from ..kernel.feature_sets import OF_TODAY
from ..parameters.fleet_study import FleetStudy
from ..parameters.scenario import Scenario
from .counted_metrics import FORCED_WITHOUT

WHAT_FOR = (
    "windows are forced for two replicas of which one suffices (replication_factor = 2,"
    " min_insync_replicas = 1), outages for two or more that crash, whose planned restarts wait"
    " (bounces_wait = true) and without unclean_elections; neither where networks are cut"
)
"""What can be forced, in a sentence's part."""


def forced_scenarios(study: FleetStudy) -> tuple[Scenario, ...]:
    """Those of a study in which any metric can be forced."""
    return tuple(filter(can_force, study.scenarios))


def can_force(scenario: Scenario) -> bool:
    """Whether windows or outages of that scenario can be forced."""
    return can_force_windows(scenario) or can_force_outages(scenario)


def can_force_windows(scenario: Scenario) -> bool:
    """Two replicas of which one suffices, that crash or restart, and no network is cut."""
    p = scenario.parameters
    two = (p.replication_factor, p.min_insync_replicas) == (2, 1)
    stops = p.crashes_per_year + p.bounces_per_year > 0
    return two and stops and p.network_cuts_per_year == 0


def can_force_outages(scenario: Scenario) -> bool:
    """Two replicas or more that crash, one by one; a single one needs no forcing.

    An unclean election gives the partition a leader that outages know nothing of.
    """
    p = scenario.parameters
    return (
        p.replication_factor > 1
        and p.bounces_wait
        and not p.unclean_elections
        and p.crashes_per_year > 0
        and p.network_cuts_per_year == 0
    )


def forced_metrics(scenario: Scenario) -> tuple[str, ...]:
    """What is forced there; where windows and outages give the same metric, windows do.

    How long an outage lasts, and what it marks, is asked for beside eligible leader replicas.
    """
    windows = WINDOW_METRICS if can_force_windows(scenario) else ()
    of_today = ELR_METRICS if {*OF_TODAY} & {*scenario.feature_sets} else ()
    outages = (*OUTAGE_METRICS, *of_today) if can_force_outages(scenario) else ()
    return tuple(dict.fromkeys((*windows, *outages)))


def forced_words(scenarios: Iterable[Scenario]) -> str:
    """What has a forced estimate in these scenarios, which have some, and what was only counted."""
    scenarios = tuple(scenarios)
    forced = [frozenset(forced_metrics(scenario)) for scenario in scenarios]
    names = ", ".join(
        name if all(name in f for f in forced) else f"{name} (at some points)"
        for name in dict.fromkeys((*WINDOW_METRICS, *OUTAGE_METRICS, *ELR_METRICS))
        if any(name in f for f in forced)
    )
    return (
        f"Forced, because they are rare: {names} ({FORCED_WITHOUT})."
        " Every other rate is what was counted."
    )
