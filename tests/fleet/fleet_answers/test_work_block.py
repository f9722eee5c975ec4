"""A block of work: the kernel's counts or forced windows' weights, whatever the block is called."""

from collections import Counter

import pytest
from msgspec.structs import replace

from kiplab.fleet.estimators.forced_outages import OUTAGE_METRICS, outage_block
from kiplab.fleet.estimators.forced_windows import METRICS as FORCED_METRICS
from kiplab.fleet.estimators.forced_windows import forced_block
from kiplab.fleet.fleet_answers.work_block import work_block
from kiplab.fleet.kernel.simulation import METRIC_NAMES
from kiplab.fleet.parameters import Parameters, Scenario
from kiplab.fleet.parameters.scenario import kips_of
from kiplab.fleet.pipeline.study_plan import METHODS, FleetOrder, Partial
from kiplab.fleet.statistics.block_means import Weights

OFTEN = Parameters(
    crashes_per_year=50.0, bounces_per_year=100.0, slow_alter_partition_share=0.2, horizon_years=2.0
)
SCENARIO = Scenario(feature_sets=("none", "841", "841+903"), parameters=OFTEN)
ORDER = FleetOrder(
    scenario=SCENARIO, study_seed=3, block=0, first=0, last=12, feature_sets=SCENARIO.feature_sets
)


def totals(*orders: FleetOrder) -> Counter[tuple[str, str, str]]:
    found: Counter[tuple[str, str, str]] = Counter()
    for order in orders:
        for one in work_block(order):
            for name in ("replications", "exposure_us", "events", "clusters_hit", "cross"):
                found[one.features, one.metric, name] += getattr(one, name)
    return found


def of(partials: list[Partial], features: str, metric: str) -> Partial:
    (one,) = (p for p in partials if (p.features, p.metric) == (features, metric))
    return one


def test_there_is_one_partial_for_each_feature_set_and_metric() -> None:
    found = [(one.features, one.metric) for one in work_block(ORDER)]
    assert found == [(sets, metric) for sets in ORDER.feature_sets for metric in METRIC_NAMES]


def test_however_replications_are_cut_into_blocks_the_integers_are_the_same() -> None:
    cuts = [(0, 1), (1, 5), (5, 12)]
    pieces = [replace(ORDER, block=n, first=a, last=b) for n, (a, b) in enumerate(cuts)]
    assert totals(*pieces) == totals(ORDER)
    assert totals(ORDER)["none", "stale_join", "events"] > 0


@pytest.mark.parametrize("method", ["naive", "forced"])
def test_what_a_block_is_called_changes_nothing(method: str) -> None:
    order = replace(ORDER, method=method)
    again = [replace(one, block=0) for one in work_block(replace(order, block=77))]
    assert again == work_block(order)


def test_what_happened_under_the_first_feature_set_too_is_counted() -> None:
    found = work_block(ORDER)
    for metric in METRIC_NAMES:
        first = of(found, "none", metric)
        assert first.cross == first.events
        assert of(found, "841", metric).cross <= first.events
    offline = of(found, "841", "offline")
    assert 0 < offline.cross <= offline.events


def test_weights_of_a_count_are_the_counts_of_replications() -> None:
    one = of(work_block(ORDER), "none", "expansions")
    assert one.sum_w == one.events
    assert one.max_w * one.replications >= one.sum_w
    assert one.sum_w**2 <= one.sum_w2 * one.replications


def test_forced_windows_are_those_of_the_estimator() -> None:
    found = work_block(replace(ORDER, method="forced", block=3, first=750, last=1000))
    assert {one.metric for one in found} == {*FORCED_METRICS, *OUTAGE_METRICS}
    expected = forced_block(OFTEN, frozenset({"841"}), seed=3, block=3, samples=250)
    for metric, weights in expected.items():
        assert weighed(of(found, "841", metric)) == weights


@pytest.mark.parametrize(("replicas", "least"), [(2, 2), (3, 1), (3, 2), (5, 4)])
def test_forced_outages_are_those_of_the_estimator_under_every_set(
    replicas: int, least: int
) -> None:
    several = replace(OFTEN, replication_factor=replicas, min_insync_replicas=least)
    scenario = replace(SCENARIO, parameters=several)
    order = replace(ORDER, scenario=scenario, method="forced", block=3, first=750, last=1000)
    found = work_block(order)
    assert {one.metric for one in found} == {*OUTAGE_METRICS}
    expected = outage_block(several, seed=3, block=3, samples=250)
    for features in order.feature_sets:
        for metric in OUTAGE_METRICS:
            assert weighed(of(found, features, metric)) == expected[metric]


@pytest.mark.parametrize(("replicas", "least"), [(2, 1), (2, 2), (3, 2)])
def test_of_a_release_of_today_outages_say_how_long_they_last_and_what_they_mark(
    replicas: int, least: int
) -> None:
    several = replace(OFTEN, replication_factor=replicas, min_insync_replicas=least)
    scenario = Scenario(feature_sets=("841", "no-elr", "elr"), parameters=several)
    order = replace(ORDER, scenario=scenario, feature_sets=scenario.feature_sets)
    found = work_block(replace(order, method="forced", block=3, first=750, last=1000))
    for features in order.feature_sets:
        expected = outage_block(several, kips_of(features), seed=3, block=3, samples=250)
        for metric in ("all_replicas_gone", "all_gone_us"):
            assert weighed(of(found, features, metric)) == expected[metric]
        marked, unmarked = ("unclean_loss", "last_replica_loss")[:: 1 if features == "elr" else -1]
        assert of(found, features, marked).events
        assert not of(found, features, unmarked).events


def test_a_single_replica_is_not_forced() -> None:
    alone = replace(SCENARIO, parameters=replace(OFTEN, replication_factor=1))
    with pytest.raises(ValueError, match="nothing can be forced in scenario"):
        work_block(replace(ORDER, scenario=alone, method="forced"))


def weighed(one: Partial) -> Weights:
    return Weights(samples=one.replications, total=one.sum_w, squares=one.sum_w2, largest=one.max_w)


def test_every_method_there_is_can_be_asked_for() -> None:
    quieter = replace(SCENARIO, parameters=Parameters(horizon_years=1.0))
    for method in METHODS:
        order = replace(ORDER, scenario=quieter, method=method, feature_sets=("841",))
        assert {one.replications for one in work_block(order)} == {12}
