"""What a review of the fleet found, each as a test, and the numbers that it had from elsewhere.

A test's name begins with the number of its finding. ELSEWHERE has those that stand beside others.
"""

import random
import re
from contextlib import suppress
from math import erf, exp, sqrt
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest

from kiplab import fleet
from kiplab.cli.fleet_text import answer_text
from kiplab.fleet.estimators.forced_windows import forced_rates
from kiplab.fleet.fleet_answers.assumed_share import loss_levers
from kiplab.fleet.fleet_answers.counted_metrics import never_in
from kiplab.fleet.fleet_answers.first_screen import first_screen
from kiplab.fleet.fleet_answers.fleet_row import FleetRow, best_rows
from kiplab.fleet.fleet_answers.quick_estimate import changed
from kiplab.fleet.fleet_answers.yearly_incidents import incidents_per_rate
from kiplab.fleet.kernel.simulation import simulate
from kiplab.fleet.kernel.world import compiled_world
from kiplab.fleet.parameters import PARAMETERS, ParameterError, Parameters, Scenario
from kiplab.fleet.parameters.fleet_study import read_study, with_settings
from kiplab.fleet.parameters.parameter_table import Basis
from kiplab.fleet.parameters.scenario import as_world
from kiplab.fleet.pictures.answer_pictures import pictures_of
from kiplab.fleet.spread.partition_placement import sets_in_use
from kiplab.fleet.statistics.event_rates import NeverSeen, SeenRate, WeighedRate
from kiplab.pages.fleet_page import rates_in

pytestmark = pytest.mark.filterwarnings("error")
ELSEWHERE = {
    4: (
        "fleet_answers/test_zookeeper_rates.py",
        "test_missed_bounces_hang_on_the_shape_of_planned_restarts",
    ),
    11: ("test_study_folder.py", "test_a_block_that_is_there_twice_is_not_counted_twice"),
}
"""By finding: the file beside this one, and its test there."""
KRAFT_IN_TROUBLE: dict[str, Any] = {
    **dict.fromkeys(["crashes_per_year", "disk_failures_per_year"], 20_000.0),
    **dict.fromkeys([n for n in PARAMETERS if n.endswith(("cks_per_year", "ers_per_year"))], 0.0),
    **{"bounces_per_year": 0.0, "crash_restart_s": 60.0, "crash_restart_sigma": 0.5},
    **{"catch_up_s": 30.0, "ready_s": 2.0, "lag_s": 120.0, "horizon_years": 0.5},
    **{"slow_alter_partition_share": 0.3, "slow_alter_partition_s": 30.0},
}
"""The fleet of the review's own simulator, in which all that is rare is frequent. Its planned
restarts have another rule than kiplab's by now, so there are none."""


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
    assert any("(cluster_shocks_per_year) = 0.002" in line for line in assumed.sentences)


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


def test_every_finding_has_its_test() -> None:
    here = {int(number) for name in globals() for number in re.findall(r"^test_(\d+)_", name)}
    assert here.isdisjoint(ELSEWHERE)
    assert here | {*ELSEWHERE} == {*range(1, 13)}
    for file, name in ELSEWHERE.values():
        assert f"\ndef {name}(" in (Path(__file__).parent / file).read_text("utf-8")


# --- what a number rests on -----------------------------------------------------------------------

SHOCKS = ["cluster_shocks_per_year", "shock_tail_lost"]


def test_1_a_number_names_the_assumed_parameters_that_more_than_half_of_it_rests_on(
    small: fleet.FleetAnswer,
) -> None:
    assumed = {row.metric: small.assumed(row) for row in small.rows if row.features == "none"}
    assert sorted(assumed["shock_loss"]) == SHOCKS
    assert assumed["offline"] == SHOCKS[:1]
    assert assumed["incidents"] == ["bounces_per_year"]
    assert {"crashes_per_year", "tail_lost"} <= {*assumed["last_replica_loss"]}
    assert "slow_alter_partition_share" in assumed["race_loss"]
    assert not assumed["unclean_loss"], "what cannot happen rests on nothing"


def test_1_what_the_study_sets_is_not_assumed() -> None:
    own = fleet.estimate("small", cluster_shocks_per_year=0.5, shock_tail_lost=0.5)
    assert own.assumed(own.row("none", "shock_loss")) == []
    assert own.assumed(own.row("none", "incidents")) == ["bounces_per_year"]


def test_1_where_no_parameter_alone_is_half_several_are_named(small: fleet.FleetAnswer) -> None:
    """Shocks make 45 % of it, planned restarts less; with both gone hardly any of it is left."""
    parts = {"shock_loss": 0.45, "incidents": 0.45, "refused": 0.1}
    rates = {m: SeenRate(rate=n, low=n, high=n, method="") for m, n in parts.items()}
    assert sorted(small.assumed(small.row("none", "offline"), rates)) == SHOCKS


def test_1_text_and_page_say_it_in_the_line_of_the_number(small: fleet.FleetAnswer) -> None:
    chance, causes, *_ = first_screen(small)
    line = next(line for line in causes.sentences if line.startswith("Lost in a shock"))
    assert re.search("mostly assumed: .*shocks of a cluster", line)
    assert all(line.count("mostly assumed: ") == 2 for line in chance.sentences)
    heads, lines = rates_in(small).heads, rates_in(small).lines
    cells = {line[0]: line[heads.index("mostly assumed")] for line in lines if line[1] == "none"}
    assert cells["incidents"] == "planned restarts"
    assert "in the fleet hard crashes" in cells["committed_loss"]
    text = " ".join(answer_text(small).split())
    assert re.search(r"in the fleet 78\S* \([^)]*\); mostly assumed: planned restarts", text)


def test_no_parameter_of_the_first_screen_has_its_internal_name_alone(
    small: fleet.FleetAnswer,
) -> None:
    sentences = [sentence for part in first_screen(small) for sentence in part.sentences]
    outside = re.sub(r"\([^()]*\)|`[^`]*`", "", " ".join(sentences))
    assert not [name for name in PARAMETERS if "_" in name and name in outside]


# --- what else the first screen and the rows say --------------------------------------------------


def test_a_parameter_is_doubled_as_far_as_its_range_goes() -> None:
    high = fleet.estimate("small", tail_lost=0.8, cluster_shocks_per_year=0.0)
    said = [line for line in first_screen(high)[2].sentences if "(tail_lost)" in line]
    assert said[0].startswith("Crashes that lose what is not flushed (tail_lost): 1.25 times as ")
    assert "half as much makes" in said[0]
    levers = loss_levers(scenario(tail_lost=1.0), "none", 0.0)
    losses = next(lever.losses for lever in levers if lever.parameter == "tail_lost")
    assert losses == {0.5: pytest.approx(0.5, abs=0.02), 1.0: 1.0}, "there is no more than 1"


def test_every_rate_is_said_per_fleet_and_year_too(small: fleet.FleetAnswer) -> None:
    rows = {(row["features"], row["metric"]): row for row in small.report()["rows"]}
    incidents, offline = rows["none", "incidents"], rows["none", "offline_us"]
    assert incidents["fleet"]["rate"] == pytest.approx(6 * 13, rel=0.01), "six brokers"
    assert incidents["fleet"]["unit"] == "incidents per year"
    assert offline["fleet"]["unit"] == "partition-seconds per year"
    assert offline["fleet"]["rate"] == pytest.approx(600 * offline["rate"] / 1e6)
    assert all("rate" in row["fleet"] for row in rows.values())


def test_a_study_in_which_nothing_happens_is_not_simulated_for_long() -> None:
    rates = ("crashes", "bounces", "disk_failures", "rack_shocks", "cluster_shocks")
    quiet = changed(read_study("small"), {f"{name}_per_year": 0.0 for name in rates})
    answer = fleet.run(quiet, years=1e11, spark=False)
    assert answer.finished
    assert answer.partition_years == 100
    assert all(row.why_never or row.metric == "refused" for row in answer.rows)
    chance, _, _, sure, _ = first_screen(answer)
    assert "it cannot happen; with shocks it cannot happen" in chance.sentences[0]
    assert sure.sentences[0].startswith("It is certain in the model")


# --- numbers from elsewhere -----------------------------------------------------------------------

YEAR_S = 365.25 * 86_400
RETURNS, SLOW, SLOW_S = 26.0, 1e-3, 30.0
"""Of two brokers with 12 planned restarts and a crash a year: returns to the ISR."""


def _mean_of(value: Any, quantile: Any, points: int = 4_000) -> float:
    return float(mean(value(quantile((n + 0.5) / points)) for n in range(points)))


def _normal(share: float) -> float:
    """The point of the standard normal with that share below it, by halving."""
    low, high = -9.0, 9.0
    for _ in range(60):
        middle = (low + high) / 2
        below = (1 + erf(middle / sqrt(2))) / 2 < share
        low, high = (middle, high) if below else (low, middle)
    return low


def test_stale_joins_are_those_of_two_formulas_by_hand() -> None:
    """The request is read after the session is over, or after the next process is there (KIP-841),
    which then asks to be unfenced after 2 s on average.
    """
    each = RETURNS * SLOW * SLOW_S / YEAR_S
    noticed = each * _mean_of(lambda s: exp(-s / SLOW_S), lambda share: 7 + 2 * share)
    back = _mean_of(lambda s: exp(-s / SLOW_S), lambda u: 300 * exp(0.5 * _normal(u)))
    unfenced = each * back * (1 / 2) / (1 / 2 + 1 / SLOW_S)
    for kips, by_hand in ((frozenset[str](), noticed), (frozenset({"841"}), unfenced)):
        found = forced_rates(Parameters(), kips, seed=0)["stale_join_after_crash"]
        assert found.low <= by_hand <= (found.high or 0.0), (kips, by_hand, found)


@pytest.mark.parametrize(("waits", "by_hand"), [(False, 1.299e-14), (True, 1.51e-15)])
def test_race_losses_are_those_by_hand(waits: bool, by_hand: float) -> None:
    """Where a planned restart waits for a broker that is down, and where it does not."""
    p = Parameters(bounces_wait=waits, clean_restart_sigma=0.0)
    found = forced_rates(p, frozenset(), seed=0)["race_loss"]
    assert found.rate == pytest.approx(by_hand, rel=0.02)


INDEPENDENT = {
    ("none", "stale_join"): (149.5, 3.8),
    ("841", "stale_join"): (27.8, 1.7),
    ("903", "stale_join"): (119.8, 3.6),
    ("841+903", "stale_join"): (0.0, 0.0),
    ("none", "race_loss"): (6.50, 0.75),
    ("841", "race_loss"): (0.20, 0.14),
    ("841+903", "race_loss"): (0.0, 0.0),
    ("none", "last_replica_loss"): (2296.0, 16.0),
    ("841+903", "last_replica_loss"): (2343.0, 15.0),
    ("none", "expansions"): (35_162.0, 56.0),
    ("841+903", "expansions"): (35_142.0, 53.0),
}
"""Per partition and year, with a standard error, of 190 lines of Python that were written from the
KIPs alone. At the joint level of 95 % the largest |z| of so many is 2.9."""


def test_the_kernel_agrees_with_a_simulator_that_somebody_else_wrote() -> None:
    world, sets = as_world(scenario(**KRAFT_IN_TROUBLE)), ("none", "841", "903", "841+903")
    half = round(YEAR_S * 1e6 / 2)
    counts = simulate(world, seed=1, first=0, last=24, horizon_us=half, feature_sets=sets)
    for (features, metric), (theirs, error) in INDEPENDENT.items():
        years = [2.0 * counts.count(n, features, metric) for n in range(24)]
        both = sqrt(error**2 + stdev(years) ** 2 / 24)
        assert abs(mean(years) - theirs) <= 2.9 * both, (features, metric, mean(years), both)
