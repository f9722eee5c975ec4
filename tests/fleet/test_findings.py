"""What a review of the fleet found, each as a test."""

import random
from contextlib import suppress
from typing import Any

import pytest

from kiplab import fleet
from kiplab.fleet.fleet_answers.first_screen import first_screen
from kiplab.fleet.fleet_answers.fleet_row import FleetRow, best_rows
from kiplab.fleet.fleet_answers.never_rules import never_in
from kiplab.fleet.fleet_answers.yearly_incidents import incidents_per_rate
from kiplab.fleet.kernel.world import compiled_world
from kiplab.fleet.parameters import PARAMETERS, ParameterError, Parameters, Scenario
from kiplab.fleet.parameters.as_world import as_world
from kiplab.fleet.parameters.fleet_study import read_study, with_settings
from kiplab.fleet.parameters.parameter_table import Basis
from kiplab.fleet.pictures.answer_pictures import pictures_of
from kiplab.fleet.spread import sets_in_use
from kiplab.fleet.statistics.event_rates import NeverSeen, SeenRate, WeighedRate

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module")
def small() -> fleet.FleetAnswer:
    return fleet.estimate("small")


def scenario(**values: Any) -> Scenario:
    return Scenario(feature_sets=("none",), parameters=Parameters(**values))


def test_1_one_shock_is_one_incident_whose_brokers_have_one_fate() -> None:
    """With a fate for each broker LinkedIn's clusters had ten times as many incidents."""
    linkedin = read_study("linkedin").scenarios[0].parameters
    assert incidents_per_rate(linkedin, "shock_loss") == linkedin.clusters


def test_1_the_chance_is_said_with_and_without_shocks_and_what_is_assumed(
    small: fleet.FleetAnswer,
) -> None:
    chance, _, change, sure, assumed = first_screen(small)
    assert all("without shocks" in s and "with shocks" in s for s in chance.sentences)
    assert "losing acknowledged records" in chance.question
    assert len(change.sentences) == 3
    assert "error of sampling alone" in sure.sentences[0]
    assert any("cluster_shocks_per_year = 0.002" in line for line in assumed.sentences)


def test_2_the_strongest_parameters_are_those_of_the_loss_that_matters(
    small: fleet.FleetAnswer,
) -> None:
    titles = [picture.sentence for picture in pictures_of(small)]
    assert any("Lost with the last replica" in title for title in titles)
    assert not any("by the race" in title for title in titles[-1:])


def test_3_every_corner_of_the_parameters_works_or_is_refused_in_a_sentence() -> None:
    draw = random.Random(1)
    floats = [p for p in PARAMETERS.values() if p.kind is float]
    tiny = [1e-300, 1e-9, 7e-5]
    for _ in range(40):
        values = {
            p.name: draw.choice([p.low, p.high, p.default, *(t for t in tiny if p.low == 0)])
            for p in draw.sample(floats, 6)
        }
        with suppress(ParameterError):
            compiled_world(as_world(scenario(**values)))


@pytest.mark.parametrize("name", ["cluster_shocks_per_year", "bounces_per_year"])
def test_3_once_in_a_million_years_is_a_rate(name: str) -> None:
    values: dict[str, Any] = {name: 1e-6, "horizon_years": 1.0}
    assert fleet.estimate("small", **values).rows


def test_5_a_planned_restart_waits_while_a_replica_is_missing() -> None:
    """By hand 1.51e-15 a partition and year; with restarts that do not wait it was 1.29e-14."""
    found = fleet.estimate("small", clean_restart_sigma=0.0).row("none", "race_loss").found
    assert isinstance(found, WeighedRate)
    assert found.rate == pytest.approx(1.54e-15, rel=0.05)


@pytest.mark.parametrize("crashes", [0.0, 1e-6])
def test_6_only_a_crash_begins_a_crash_loop(crashes: float) -> None:
    """Planned restarts and shocks had begun most of the early crashes."""
    values: dict[str, Any] = {"bounces_per_year": 365.0, "disk_failures_per_year": 0.0}
    values["early_crash_factor"] = 10_000.0
    row = fleet.estimate("small", crashes_per_year=crashes, **values).row("none", "offline")
    assert not isinstance(row.found, SeenRate) or row.found.rate < 0.01


def test_7_a_slow_controller_is_a_slow_path_to_it() -> None:
    assert read_study("slow-controller").about.startswith("A slow path from leaders")


def test_8_the_method_is_chosen_before_its_result_is_seen(small: fleet.FleetAnswer) -> None:
    rows = [row for row in small.rows if row.metric == "last_replica_loss"]
    assert {type(row.found) for row in rows} == {SeenRate, WeighedRate}
    assert {row.method for row in best_rows(rows, "last_replica_loss")} == {"forced"}


def test_9_what_nobody_has_published_is_not_said_to_be_read() -> None:
    names = ("crashes_per_year", "rack_shocks_per_year", "cluster_shocks_per_year")
    assert {PARAMETERS[name].basis for name in names} == {Basis.ASSUMED}


def test_10_a_small_cluster_needs_two_numbers_and_a_release() -> None:
    study = with_settings(read_study("small"), ["brokers=12", "partitions=4000", "kafka=3.6"])
    assert study.feature_sets == ("841+903",)
    assert sets_in_use(study.scenarios[0].parameters) == 3 * 4 * 4
    with pytest.raises(ParameterError, match=r"a fleet does not play Kafka zk-2\.2"):
        with_settings(study, ["kafka=zk-2.2"])


@pytest.mark.parametrize(
    ("values", "metric"),
    [
        ({"shock_tail_lost": 0.0}, "shock_loss"),
        (
            {"tail_lost": 0.0, "shock_tail_lost": 0.0, "disk_failures_per_year": 0.0},
            "last_replica_loss",
        ),
        (dict.fromkeys([n for n in PARAMETERS if n.endswith("s_per_year")], 0.0), "offline"),
    ],
)
def test_12_what_cannot_happen_is_not_none_seen(values: dict[str, float], metric: str) -> None:
    assert never_in(scenario(**values), "none", metric) is not None
    assert never_in(scenario(), "none", metric) is None


def test_12_a_rate_below_all_meaning_is_no_rate() -> None:
    row = fleet.estimate("small", slow_alter_partition_share=0.0).row("none", "race_loss")
    assert row.found == NeverSeen(high=1e-30, method=row.found.method or "")


def test_a_time_is_said_in_seconds(small: fleet.FleetAnswer) -> None:
    row = small.row("none", "offline_us")
    assert isinstance(row, FleetRow)
    assert row.shown_unit == "seconds per partition and year"
    assert row.words.startswith("0.")
