"""A study from its name to its answer, in this process; on Spark it is the same (by command)."""

import shutil
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from msgspec.structs import replace

from kiplab import fleet
from kiplab.cli.fleet_text import answer_text
from kiplab.fleet.fleet_answers.fleet_answer import FleetAnswer
from kiplab.fleet.parameters.fleet_study import study_of
from kiplab.fleet.parameters.scenario import MICROSECONDS_PER_YEAR
from kiplab.fleet.pipeline import study_folder
from kiplab.fleet.pipeline.study_folder import StudyFolderError
from kiplab.fleet.statistics.event_rates import NeverHappens, NeverSeen, SeenRate, WeighedRate

YEARS = 4_000.0
NOTHING = {
    "bounces_per_year": 0.0,
    "network_cuts_per_year": 0.0,
    "controller_failovers_per_year": 0.0,
    "rack_shocks_per_year": 0.0,
    "cluster_shocks_per_year": 0.0,
}
BUSY = study_of(
    {
        "about": "often enough to see it in a test",
        "parameters": {
            "crashes_per_year": [20.0, 40.0],
            "slow_alter_partition_share": 0.1,
            "horizon_years": 10.0,
        },
        "feature_sets": ["none", "841+903"],
    }
)


def settled(found: FleetAnswer) -> FleetAnswer:
    return replace(found, seconds=None)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, FleetAnswer]:
    folder = tmp_path_factory.mktemp("studies") / "busy"
    return folder, fleet.run(BUSY, folder, years=YEARS, spark=False)


def test_it_lives_through_the_years_asked_for(found: tuple[Path, FleetAnswer]) -> None:
    _, answer = found
    assert answer.finished
    assert answer.partition_years == YEARS
    assert {row.scenario_id for row in answer.rows} == {s.scenario_id for s in BUSY.scenarios}


def test_every_row_has_an_interval_around_its_rate_or_says_why_not(
    found: tuple[Path, FleetAnswer],
) -> None:
    for row in found[1].rows:
        match row.found:
            case SeenRate():
                assert row.events > 0
                assert 0 <= row.low <= row.found.rate <= row.found.high
                low, high = row.words.partition("(")[2].rstrip(")").split(" to ")
                assert float(low) < float(high)
            case NeverSeen():
                assert (row.events, row.rate, row.low) == (0, None, 0.0)
                assert row.high is not None
                assert row.high > 0
            case NeverHappens():
                assert (row.events, row.rate, row.high) == (0, 0.0, 0.0)
                assert row.why_never
        assert "0 (" not in row.words.split(" ")[0]


def test_a_time_that_was_never_seen_is_at_most_a_year_in_a_year(tmp_path: Path) -> None:
    quiet = {**NOTHING, "crashes_per_year": 0.0001, "disk_failures_per_year": 0}
    study = study_of({"parameters": quiet})
    row = fleet.run(study, tmp_path / "quiet", years=100, spark=False).row("none", "offline_us")
    assert isinstance(row.found, NeverSeen)
    assert row.high == MICROSECONDS_PER_YEAR


def test_both_ways_of_sampling_stand_beside_each_other(found: tuple[Path, FleetAnswer]) -> None:
    _, answer = found
    seen = answer.row("none", "stale_join", method="naive", crashes_per_year=20.0)
    forced = answer.row("none", "stale_join", crashes_per_year=20.0)
    assert (seen.method, forced.method) == ("naive", "forced")
    assert isinstance(seen.found, SeenRate)
    assert isinstance(forced.found, WeighedRate)
    assert seen.low < forced.found.rate < seen.found.high
    assert forced.found.method.endswith("% that first order leaves out")
    rare = answer.row("none", "race_loss", crashes_per_year=20.0)
    assert isinstance(rare.found, WeighedRate)
    refused = answer.row("841+903", "race_loss", crashes_per_year=20.0)
    assert isinstance(refused.found, NeverHappens)


def test_a_row_that_is_not_there_is_named_with_what_is(found: tuple[Path, FleetAnswer]) -> None:
    with pytest.raises(LookupError, match="say which crashes_per_year"):
        found[1].row("none", "offline")
    with pytest.raises(LookupError, match=r"offline under 380: .* feature sets are none, 841\+903"):
        found[1].row("380", "offline")


def test_a_folder_holds_the_whole_answer(found: tuple[Path, FleetAnswer]) -> None:
    folder, answer = found
    assert fleet.answer_in(folder) == settled(answer)
    assert fleet.read_study(folder / "study.toml") == BUSY


def test_a_folder_that_holds_a_study_is_gone_on_with_only_when_asked(
    found: tuple[Path, FleetAnswer],
) -> None:
    folder, answer = found
    with pytest.raises(StudyFolderError, match="--resume"):
        fleet.run(BUSY, folder, years=YEARS, spark=False)
    again = fleet.run(BUSY, folder, years=YEARS, spark=False, resume=True)
    assert settled(again) == settled(answer)


def test_going_on_for_longer_comes_to_what_one_run_would_have(tmp_path: Path) -> None:
    fleet.run(BUSY, tmp_path / "a", years=1_600, spark=False, method="naive")
    longer = fleet.run(BUSY, tmp_path / "a", years=2_400, spark=False, method="naive", resume=True)
    once = fleet.run(BUSY, tmp_path / "b", years=2_400, spark=False, method="naive")
    counted = [(row.metric, row.features, row.events, row.exposure) for row in once.rows]
    assert [(r.metric, r.features, r.events, r.exposure) for r in longer.rows] == counted
    assert longer.partition_years == 2_400


def test_another_study_in_that_folder_is_refused_by_what_differs(
    found: tuple[Path, FleetAnswer],
) -> None:
    with pytest.raises(StudyFolderError, match=r"another study: .*crashes_per_year, "):
        fleet.run("small", found[0], years=YEARS, spark=False, resume=True)


@pytest.mark.parametrize("method", ["naive", "forced"])
def test_one_folder_holds_one_seed_however_it_is_sampled(
    found: tuple[Path, FleetAnswer], method: str
) -> None:
    with pytest.raises(StudyFolderError, match="another study: the seed is not the same"):
        fleet.run(BUSY, found[0], years=YEARS, spark=False, resume=True, seed=1, method=method)


def test_two_who_begin_at_the_same_moment_do_not_share_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, real = tmp_path / "study", study_folder._alone_in

    def late(path: Path) -> AbstractContextManager[None]:
        monkeypatch.setattr(study_folder, "_alone_in", real)
        fleet.run(BUSY, folder, years=20, spark=False, method="naive")
        return real(path)

    monkeypatch.setattr(study_folder, "_alone_in", late)
    with pytest.raises(StudyFolderError, match=r"another study: .*crashes_per_year, "):
        fleet.run("small", folder, years=YEARS, spark=False)
    assert fleet.read_study(folder / "study.toml") == BUSY


def test_partials_of_another_study_are_not_called_those_of_this_one(
    found: tuple[Path, FleetAnswer], tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(found[0], tmp_path / "copy"))
    other = (copy / "study.toml").read_text().replace("[20.0,40.0]", "[20.0,41.0]")
    (copy / "study.toml").write_text(other)
    with pytest.raises(StudyFolderError, match="holds partials that are none of its study"):
        fleet.answer_in(copy)


def test_a_folder_with_something_else_in_it_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_bytes(b"x")
    with pytest.raises(StudyFolderError, match="holds no study"):
        fleet.run("small", tmp_path, years=100, spark=False)
    assert [path.name for path in tmp_path.iterdir()] == ["photo.jpg"]
    with pytest.raises(StudyFolderError, match="is a file"):
        fleet.run("small", tmp_path / "photo.jpg" / "study", years=100, spark=False)


@pytest.mark.parametrize("years", [0, -1, float("inf"), float("nan"), 1e13])
def test_years_that_cannot_be_are_refused(years: float) -> None:
    with pytest.raises(ValueError, match=r"expected (partition-years|less)"):
        fleet.run("small", years=years, spark=False)


def test_forced_samples_alone_say_what_they_are_for() -> None:
    alone = study_of({"parameters": {"replication_factor": 1}})
    with pytest.raises(ValueError, match="replication_factor = 2"):
        fleet.run(alone, spark=False, method="forced")


def test_a_method_that_is_none_is_named_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="no method 'guessed'; there are naive, forced"):
        fleet.run("small", spark=False, method="guessed")


def test_more_replicas_have_their_outages_forced_beside_what_is_counted() -> None:
    three = study_of(
        {
            "parameters": {"replication_factor": 3, "min_insync_replicas": 2},
            "feature_sets": ["none", "841+903"],
        }
    )
    found = fleet.run(three, years=200, spark=False)
    for features in three.feature_sets:
        row = found.row(features, "last_replica_loss")
        assert isinstance(row.found, WeighedRate)
        assert 0 < row.low < row.found.rate < row.found.high < 1e-8
        assert row.report()["effective_samples"] > 100
    text = answer_text(found)
    named = "last_replica_loss, all_replicas_gone (without cuts, shocks and failovers of the"
    assert f"Forced, because they are rare: {named} controller). Every" in text
    assert "effective samples" in text


FIVE = (
    *("What is the chance of losing acknowledged records?", "Of which cause?"),
    *("What would change it most?", "How sure is that?", "Under which assumptions?"),
)


def test_the_text_names_every_feature_set_and_never_a_bare_zero(
    found: tuple[Path, FleetAnswer],
) -> None:
    text = answer_text(found[1])
    places = [text.find(question) for question in FIVE]
    assert places == sorted(places)
    assert places[0] == 0
    assert "\noften enough to see it in a test\n4,000 partition-years over 2 scenarios" in text
    assert "841+903  cannot happen: KIP-841 refuses the join" in text
    assert "crashes_per_year = 40.0" in text
    chance = "at least one committed_loss in all clusters of the study, within 1, 5, 10 years"
    assert text.count(chance) == 2
    assert text.count("with ZooKeeper instead of KRaft, by formula") == 2
    assert " 0 " not in text.replace(" 0 (", "")


def test_json_has_what_the_command_promises(found: tuple[Path, FleetAnswer]) -> None:
    said = found[1].report()
    assert (said["scenarios"], said["partition_years"]) == (2, YEARS)
    promised = {"features", "metric", "events", "exposure", "rate", "low", "high", "method"}
    assert all(promised <= row.keys() for row in said["rows"])
    assert len(found[1].frame()) == len(said["rows"])
    exact = [row for row in said["rows"] if (row["interval"] or "").startswith("exact Poisson, ")]
    assert {row["events"] > 0 for row in exact} == {False, True}
    for row in exact:
        if not row["metric"].endswith("_us"):
            assert row["low"] <= row["jeffreys_low"] <= row["jeffreys_high"] < row["high"]
    chances = [row["at_least_one"] for row in said["rows"] if row["metric"] == "committed_loss"]
    assert [[one["years"] for one in several] for several in chances] == [[1, 5, 10]] * 4
    assert all(0 < one["probability"] < one["high"] for several in chances for one in several)
