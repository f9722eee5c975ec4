"""The estimate of a class that asks 'what if': at once, and the same wherever it is asked."""

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from kiplab import fleet
from kiplab.fleet.estimators.forced_outages import OUTAGE_METRICS
from kiplab.fleet.estimators.forced_windows import METRICS as WINDOW_METRICS
from kiplab.fleet.fleet_answers import quick_estimate
from kiplab.fleet.fleet_answers.counted_metrics import forced_metrics, forced_words
from kiplab.fleet.fleet_answers.quick_estimate import changed
from kiplab.fleet.statistics.event_rates import NeverHappens, NeverSeen, SeenRate, WeighedRate
from tests.repeated import in_long


@pytest.fixture(autouse=True, scope="module")
def quickly() -> Iterator[None]:
    """A tenth of the kernel's years is enough to see what is common."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quick_estimate, "_WORK", 200_000)
        yield


def test_the_same_question_has_the_same_answer() -> None:
    one, other = (fleet.estimate("small", bounces_per_year=52.0) for _ in range(2))
    assert replace(one, seconds=None) == replace(other, seconds=None)
    assert one.rows != fleet.estimate("small", bounces_per_year=52.0, seed=1).rows


def test_what_is_rare_is_weighed_and_what_is_frequent_counted() -> None:
    found = fleet.estimate("small")
    assert isinstance(found.row("none", "expansions").found, SeenRate)
    rare = found.row("none", "race_loss")
    assert isinstance(rare.found, WeighedRate)
    assert 0 < rare.low < rare.found.rate < rare.found.high < 1e-10
    assert not rare.found.alarms
    assert isinstance(found.row("841+903", "stale_join").found, NeverHappens)


@pytest.mark.parametrize(
    ("replicas", "least"),
    [(3, 2), (2, 2), (2, 1), (1, 1), *in_long([(5, 1), (4, 2), (3, 1)], rows=True)],
)
def test_what_is_not_forced_has_an_upper_bound_at_least(replicas: int, least: int) -> None:
    found = fleet.estimate("small", replication_factor=replicas, min_insync_replicas=least)
    (scenario,) = found.study.scenarios
    forced = {row.metric for row in found.rows if row.method == "forced"}
    assert forced == {*forced_metrics(scenario)}
    assert ({*WINDOW_METRICS} <= forced) is ((replicas, least) == (2, 1))
    assert ({*OUTAGE_METRICS} <= forced) is (replicas > 1)
    for row in found.rows:
        if row.method == "naive":
            assert isinstance(row.found, SeenRate | NeverSeen | NeverHappens)
            assert row.high is not None
        elif row.metric in OUTAGE_METRICS:
            assert isinstance(row.found, WeighedRate)
            assert 0 < row.low < row.found.rate < row.found.high


@pytest.mark.parametrize(
    "changes",
    [
        {"crashes_per_year": 0.0, "disk_failures_per_year": 0.0},
        {"bounces_wait": False},
        {"unclean_elections": True},
    ],
)
def test_outages_are_not_forced_where_they_go_another_way(changes: dict[str, Any]) -> None:
    found = fleet.estimate("small", replication_factor=3, **changes)
    assert {row.method for row in found.rows} == {"naive"}


def test_it_is_said_which_metrics_are_forced_at_which_points() -> None:
    study = fleet.read_study("small")
    both = changed(study, {"replication_factor": [2, 3]}).scenarios
    said = forced_words(both)
    assert "stale_join (at some points)" in said
    assert "last_replica_loss, all_replicas_gone (without cuts, shocks and" in said
    alone = fleet.estimate("small", replication_factor=1)
    assert alone.sampling_words == "Nothing is forced: every rate is what was counted."
    assert fleet.estimate("small").sampling_words == forced_words(study.scenarios)


def test_a_sweep_has_a_row_for_each_point_with_its_value() -> None:
    found = fleet.estimate("small", slow_alter_partition_share=[1e-3, 1e-2])
    rates = [
        found.row("none", "stale_join_after_crash", slow_alter_partition_share=share).found
        for share in (1e-3, 1e-2)
    ]
    assert all(isinstance(rate, WeighedRate) for rate in rates)
    low, high = (rate.rate for rate in rates if isinstance(rate, WeighedRate))
    assert high == pytest.approx(10 * low, rel=0.01)


def test_a_wrong_parameter_is_named_with_what_there_is() -> None:
    with pytest.raises(fleet.ParameterError, match="did you mean bounces_per_year"):
        fleet.estimate("small", bounce_per_year=4)
    with pytest.raises(fleet.ParameterError, match="crashes_per_year"):
        fleet.estimate("small", crashes_per_year=-1.0)
