"""Zero by construction: what a rule calls impossible is never seen where all else happens a lot."""

from functools import cache
from itertools import product

import pytest
from msgspec.structs import replace

from kiplab.fleet.estimators.forced_outages import ALL_GONE_US, ELR_METRICS, OUTAGE_METRICS
from kiplab.fleet.estimators.forced_windows import METRICS as FORCED_METRICS
from kiplab.fleet.estimators.forced_windows import forced_rates
from kiplab.fleet.fleet_answers import counted_metrics
from kiplab.fleet.fleet_answers.counted_metrics import COUNTED, NeverRule, never_in
from kiplab.fleet.kernel.mirrored_guards import EVERY_SET, FEATURE_SETS
from kiplab.fleet.kernel.simulation import METRIC_NAMES, Counts, simulate
from kiplab.fleet.parameters import Parameters, Scenario
from kiplab.fleet.parameters.scenario import as_world, horizon_us, kips_of
from kiplab.fleet.pipeline.study_plan import FORCED, NAIVE
from kiplab.fleet.statistics.event_rates import WeighedRate

SETS = EVERY_SET
OFTEN = Parameters(
    horizon_years=1.0,
    crashes_per_year=400.0,
    bounces_per_year=400.0,
    slow_alter_partition_share=0.3,
    tail_lost=0.5,
    shock_tail_lost=0.5,
    network_cuts_per_year=100.0,
    rack_shocks_per_year=50.0,
    cluster_shocks_per_year=50.0,
    controller_failovers_per_year=200.0,
    clean_restart_s=5.0,
    unclean_elections=True,
    replication_factor=3,
    min_insync_replicas=2,
)
"""Everything that can happen does."""
LOSING = ("tail_lost", "shock_tail_lost", "disk_failures_per_year")
STOPPING = (
    *("crashes_per_year", "bounces_per_year", "network_cuts_per_year"),
    *("rack_shocks_per_year", "cluster_shocks_per_year"),
)
WORLDS = {
    "as it is": OFTEN,
    "two replicas": replace(OFTEN, replication_factor=2, min_insync_replicas=1),
    "one replica": replace(OFTEN, replication_factor=1, min_insync_replicas=1),
    "clean elections": replace(OFTEN, unclean_elections=False),
    "no shocks": replace(OFTEN, rack_shocks_per_year=0.0, cluster_shocks_per_year=0.0),
    "no tail lost in shocks": replace(OFTEN, shock_tail_lost=0.0),
    "no records lost": replace(OFTEN, **dict.fromkeys(LOSING, 0.0), unclean_elections=False),
    "nothing happens": replace(OFTEN, **dict.fromkeys(STOPPING, 0.0), disk_failures_per_year=0.0),
}


@cache
def lived(world: str) -> tuple[Scenario, Counts]:
    scenario = Scenario(feature_sets=SETS, parameters=WORLDS[world])
    counts = simulate(
        as_world(scenario),
        seed=5,
        first=0,
        last=2,
        horizon_us=horizon_us(scenario.parameters),
        feature_sets=SETS,
    )
    assert counts.checks == 0
    return scenario, counts


def test_every_metric_of_the_kernel_and_of_forced_samples_is_described() -> None:
    missing = {*METRIC_NAMES, *FORCED_METRICS, *OUTAGE_METRICS, *ELR_METRICS} ^ {*COUNTED}
    assert not missing, f"say in counted_metrics.toml what {sorted(missing)} counts"
    assert all(one.is_time == name.endswith("_us") for name, one in COUNTED.items())


@pytest.mark.parametrize("world", WORLDS)
def test_what_cannot_happen_is_never_seen(world: str) -> None:
    scenario, counts = lived(world)
    for features, metric in product(SETS, METRIC_NAMES):
        never = never_in(scenario, features, metric)
        seen = counts.total(features, metric)
        assert never is None or seen == 0, f"{features}, {metric}: {seen} in spite of {never}"


@pytest.mark.parametrize("rule", counted_metrics.NEVER_RULES, ids=lambda rule: rule.because)
def test_each_rule_holds_somewhere_and_elsewhere_it_does_happen(rule: NeverRule) -> None:
    points = [(lived(world), features) for world in WORLDS for features in SETS]
    held = [counts for (s, counts), f in points if rule.holds(s, kips_of(f))]
    assert held, "try it in a world of WORLDS"
    for metric in {*rule.metrics} - {*FORCED_METRICS, *OUTAGE_METRICS, ALL_GONE_US}:
        seen = [c.total(f, metric) for (s, c), f in points if never_in(s, f, metric) is None]
        assert max(seen) > 0, f"{metric} is never seen in any world of WORLDS"


@pytest.mark.parametrize("features", FEATURE_SETS)
def test_forced_windows_call_the_same_impossible(features: str) -> None:
    base = Parameters()
    scenario = Scenario(feature_sets=SETS, parameters=base)
    found = forced_rates(base, kips_of(features), seed=1, blocks=30, samples=5)
    for metric, rate in found.items():
        said = never_in(scenario, features, metric)
        assert isinstance(rate, WeighedRate) if said is None else said == rate


def test_what_is_counted_coarsely_says_so() -> None:
    assert "is not counted" in counted_metrics.counted_in("recovery_us", NAIVE)
    assert "without cuts, shocks and failovers" in counted_metrics.counted_in("race_loss", FORCED)
