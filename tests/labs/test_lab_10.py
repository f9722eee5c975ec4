"""Lab 10: every number that it says, and what its cells show."""

import json
from pathlib import Path

import pytest

import kiplab
from kiplab import fleet
from kiplab.classroom.exercise_table import ALL_WHAT_IFS, WHAT_IFS, exercise
from kiplab.classroom.exercises import reading_rates
from kiplab.fleet.statistics.event_rates import NeverHappens, NeverSeen, event_rate
from tests.labs.running import BETWEEN, cells, shown
from tests.repeated import in_long

LAB = "10-fleet"
CAUSE = "shock_loss"


@pytest.fixture(scope="module")
def found() -> fleet.FleetAnswer:
    return fleet.estimate("small")


def rate(found: fleet.FleetAnswer, features: str, metric: str, method: str | None = None) -> float:
    row = found.row(features, metric, method=method)
    assert row.rate is not None
    return row.rate


def test_with_both_kips_what_takes_all_brokers_loses_most(found: fleet.FleetAnswer) -> None:
    shock = rate(found, "841+903", CAUSE)
    last = rate(found, "841+903", "last_replica_loss", "forced")
    assert shock > 3 * last
    assert 1e-4 < shock < 4e-4
    assert 2e-5 < last < 4e-5
    assert isinstance(found.row("841+903", "race_loss").found, NeverHappens)


def test_without_them_the_race_loses_ten_powers_of_ten_less_often(found: fleet.FleetAnswer) -> None:
    race = rate(found, "none", "race_loss", "forced")
    assert 1e-15 < race < 1e-13
    assert rate(found, "none", CAUSE) / race > 1e9


def test_zero_in_a_million_leaves_three_in_a_million_possible() -> None:
    none = event_rate(0, 1e6)
    assert isinstance(none, NeverSeen)
    assert none.high == pytest.approx(3.7e-6, rel=0.01)


@pytest.mark.parametrize("letter", WHAT_IFS)
def test_a_what_if_comes_out_as_its_list_says(letter: str) -> None:
    assert reading_rates.outcome_of(letter) == WHAT_IFS[letter].comes


@pytest.mark.parametrize(("letter", "times"), [("A", 1 / 340), ("D", 4.2), ("E", 64)])
def test_by_how_much_is_what_the_teachers_notes_say(letter: str, times: float) -> None:
    before, after = reading_rates.rates_of(letter)
    assert after.rate / before.rate == pytest.approx(times, rel=0.05)


def test_every_statement_of_the_text_is_one_of_the_exercise() -> None:
    text = cells(LAB, "markdown")["rates"]
    assert [line[4] for line in text.splitlines() if line.startswith("- **")] == [
        *exercise("fleet/rates").ideas
    ]


def test_three_replicas_lose_hardly_less_by_all_causes_together(found: fleet.FleetAnswer) -> None:
    three = fleet.estimate("small", replication_factor=3)
    two_rate, three_rate = (rate(a, "841+903", "committed_loss") for a in (found, three))
    assert two_rate / 3 < three_rate < 3 * two_rate


@pytest.mark.parametrize("replicas", [3, *in_long([2])])
def test_the_story_is_a_loss_in_the_engine_in_which_all_brokers_go_at_once(replicas: int) -> None:
    play = reading_rates.loss_of(replication_factor=replicas)
    run = kiplab.run(play)
    assert run.verdict == "loss"
    assert "committed records lost" in run.sentence
    assert len([s for s in play.statements if s.verb == "crash"]) == replicas


def test_a_cause_that_is_none_is_refused_in_a_sentence() -> None:
    with pytest.raises(LookupError, match=", ".join(reading_rates.CAUSES)):
        reading_rates.loss_of("fire")


def test_quick_requests_do_not_help_and_copies_and_crashes_stay() -> None:
    fewer = reading_rates.times_fewer((("slow_alter_partition_share", 1e-4),))
    assert fewer < reading_rates.FACTORS[0]
    for name in reading_rates.FIXED:
        assert not kiplab.check("fleet/safer", {name: 2}).attempted


def test_beyond_what_is_usual_or_with_three_changes_it_is_no_answer() -> None:
    for made in (
        {"tail_lost": 0},
        {"tail_lost": 0.1, "shutdown_s": 1, "catch_up_s": 10},
        {"speed": 1},
        {"tail_lost": "little"},
        {None: 3},
    ):
        judged = kiplab.check("fleet/safer", made)
        assert (judged.points, judged.attempted) == (0, False)
        assert judged.message.endswith(".")


def test_the_sliders_open_with_the_last_of_the_what_ifs(own_folder: Path) -> None:
    *most, last = ((id, BETWEEN[id]) for id in ALL_WHAT_IFS)
    for locked, said in ((most, "above. 1 to go."), ([*most, last], "<FleetLab: last_replica")):
        (own_folder / "kiplab-work.json").write_text(json.dumps({"predictions": dict(locked)}))
        assert said in shown(LAB, "setup", "fleet-lab")["fleet-lab"]["text/plain"]
