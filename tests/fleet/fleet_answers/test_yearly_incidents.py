"""From a partition's rate to the incidents of a fleet: what falls together is counted once."""

from math import exp
from typing import Any

import pytest
from msgspec.structs import replace

from kiplab.fleet.fleet_answers.counted_metrics import COUNTED
from kiplab.fleet.fleet_answers.fleet_row import FleetRow, best_rows
from kiplab.fleet.fleet_answers.yearly_incidents import (
    TOGETHER,
    YearlyIncidents,
    added,
    incidents_per_rate,
)
from kiplab.fleet.parameters import Parameters, read_study
from kiplab.fleet.parameters.fleet_study import study_of
from kiplab.fleet.statistics.event_rates import (
    FoundRate,
    NeverHappens,
    NeverSeen,
    NothingWeighed,
    SeenRate,
    WeighedRate,
    at_least_one,
)

SMALL: dict[str, Any] = {"brokers": 6, "partitions": 600, "racks": 1}
SEEN = SeenRate(rate=2e-4, low=1e-4, high=3e-4, method="exact")
REFUSED = NeverHappens(because="a rule")


def rows_of(parameters: dict[str, Any], **found: FoundRate) -> tuple[YearlyIncidents, FleetRow]:
    """What is known of some metrics, and the row of the last one."""
    study = study_of({"feature_sets": ["none"], "parameters": {**SMALL, **parameters}})
    rows = [
        FleetRow(
            scenario_id=study.scenarios[0].scenario_id,
            features="none",
            label="as Kafka",
            metric=metric,
            counts=metric,
            unit="per partition and year",
            events=1,
            exposure=1.0,
            found=one,
            method="naive",
        )
        for metric, one in found.items()
    ]
    return YearlyIncidents(study, rows), rows[-1]


# --- how many -------------------------------------------------------------------------------------


def test_partitions_of_one_replica_set_are_lost_once() -> None:
    assert incidents_per_rate(Parameters(**SMALL), "last_replica_loss") == 15
    assert incidents_per_rate(Parameters(**SMALL, clusters=4), "last_replica_loss") == 60


def test_a_shock_is_one_incident_however_many_sets_it_takes() -> None:
    everything = Parameters(**SMALL, shock_tail_lost=1.0)
    assert incidents_per_rate(everything, "shock_loss") == 1
    linkedin = read_study("linkedin").scenarios[0].parameters
    sets, shocks = (
        incidents_per_rate(linkedin, metric) for metric in ("last_replica_loss", "shock_loss")
    )
    assert shocks < sets / 500


def test_a_followers_return_is_one_incident_with_each_of_its_leaders() -> None:
    linkedin = replace(read_study("linkedin").scenarios[0].parameters, clusters=1)
    assert incidents_per_rate(linkedin, "stale_join") == pytest.approx((14 * 26 + 26 * 27) / 2)


@pytest.mark.parametrize("metric", [name for name in COUNTED if name.endswith("_loss")])
def test_every_loss_has_its_incidents(metric: str) -> None:
    causes = dict.fromkeys(("race_loss", "last_replica_loss", "unclean_loss", "shock_loss"), SEEN)
    incidents, _ = rows_of({}, **causes)
    _, row = rows_of({}, **{metric: SEEN})
    found = incidents.of(row)
    assert isinstance(found, SeenRate)
    assert found.low < found.rate < found.high


def test_what_all_causes_take_is_each_cause_by_its_own_incidents() -> None:
    """Fifteen sets that were lost in shocks one by one would be seven times as many."""
    incidents, row = rows_of(
        {"shock_tail_lost": 1.0},
        shock_loss=SEEN,
        last_replica_loss=SeenRate(rate=1e-5, low=0.5e-5, high=2e-5, method="exact"),
        race_loss=REFUSED,
        unclean_loss=REFUSED,
        committed_loss=SeenRate(rate=2.1e-4, low=1e-4, high=4e-4, method="exact"),
    )
    yearly = incidents.of(row)
    assert isinstance(yearly, SeenRate)
    assert yearly.rate == pytest.approx(2e-4 + 15 * 1e-5)
    assert yearly.low == pytest.approx(1e-4 + 15 * 0.5e-5)
    assert yearly.high == pytest.approx(3e-4 + 15 * 2e-5)
    *_, ten = at_least_one(yearly)
    assert ten.probability == pytest.approx(1 - exp(-10 * yearly.rate))


# --- how sure -------------------------------------------------------------------------------------

WEIGHED = WeighedRate(
    rate=2.0,
    low=1.0,
    high=3.0,
    effective_samples=40.0,
    alarms=("only 40 effective samples",),
    method="t",
)


def test_a_cause_that_was_never_seen_widens_the_sum_upwards_only() -> None:
    found = added([SEEN, NeverSeen(high=5e-4, method="exact"), REFUSED])
    assert isinstance(found, SeenRate)
    assert (found.rate, found.low) == (SEEN.rate, SEEN.low)
    assert found.high == pytest.approx(SEEN.high + 5e-4)


def test_causes_that_were_never_seen_are_bounded_together() -> None:
    never = NeverSeen(high=1.0, method="exact")
    assert added([never, never, REFUSED]) == NeverSeen(high=2.0, method="exact")


def test_what_no_cause_can_bring_cannot_happen() -> None:
    assert added([REFUSED, NeverHappens(because="b"), REFUSED]) == NeverHappens(because="a rule; b")


def test_an_alarm_of_one_cause_is_an_alarm_of_the_sum() -> None:
    found = added([SEEN, WEIGHED])
    assert isinstance(found, WeighedRate)
    assert (found.alarms, found.effective_samples) == (WEIGHED.alarms, 40.0)


def test_a_cause_that_no_sample_hit_leaves_the_sum_unknown() -> None:
    assert isinstance(added([SEEN, NothingWeighed(samples=3)]), NothingWeighed)


def test_a_bound_says_more_than_weights_that_hit_nothing() -> None:
    _, bounded = rows_of({}, race_loss=NeverSeen(high=1e-5, method="exact"))
    unhit = replace(bounded, found=NothingWeighed(samples=9), method="forced")
    assert best_rows([unhit, bounded], "race_loss") == (bounded,)


@pytest.mark.parametrize(
    ("parameters", "metric", "together"),
    [
        ({}, "offline", True),
        ({"cluster_shocks_per_year": 0.0, "rack_shocks_per_year": 0.0}, "offline", False),
        ({}, "unclean_loss", False),
        ({"unclean_elections": True}, "unclean_loss", True),
        ({"unclean_elections": True}, "committed_loss", True),
        ({}, "committed_loss", False),
        ({}, "last_replica_loss", False),
        ({"replication_factor": 1, "racks": 3}, "shock_loss", True),
    ],
)
def test_where_shocks_are_counted_apart_it_is_said(
    parameters: dict[str, Any], metric: str, together: bool
) -> None:
    incidents, row = rows_of(parameters, **{metric: SEEN})
    assert incidents.remark(row) == (TOGETHER if together else "")


def test_a_chance_is_never_a_bare_zero() -> None:
    said = [
        at_least_one(found, (10,))[0].words_with_interval
        for found in (SEEN, NeverSeen(high=1e-3, method=""), REFUSED, NothingWeighed(samples=1))
    ]
    assert said == ["0.2 % (0.1 to 0.3 %)", "unknown, at most 1 %", "cannot happen", UNKNOWN]


UNKNOWN = "unknown, at most 100 %"
