"""The FleetLab without a browser: a slider is turned, and the answer follows."""

import asyncio
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from ipywidgets.widgets.widget import _instances

from kiplab import FleetLab, PlayError
from kiplab.fleet.fleet_answers import quick_estimate, work_block
from kiplab.fleet.parameters import PARAMETERS, ParameterError, read_study
from kiplab.fleet.parameters.fleet_study import with_settings
from kiplab.fleet.pictures.picture_rows import measured
from kiplab.widgets.fleet_lab import fleet_question as asks
from kiplab.widgets.fleet_lab import grid_panel, lab_of_fleets
from kiplab.widgets.fleet_lab.lab_of_fleets import LastQuestion
from tests.protocol.building import present
from tests.widgets.hands import hear


@pytest.fixture(autouse=True, scope="module")
def quickly() -> Iterator[None]:
    """A little of the kernel and few samples are enough to see that everything follows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quick_estimate, "_WORK", 20_000)
        patch.setattr(work_block, "SAMPLES", 50)
        yield
    lab_of_fleets._estimated.cache_clear()


@pytest.fixture
def lab() -> FleetLab:
    return FleetLab()


# --- sliders --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", asks.DIALS)
def test_a_slider_goes_over_the_usual_range_and_begins_where_the_study_is(name: str) -> None:
    about = PARAMETERS[name]
    scale = asks.ParameterDial(name, about.default)
    assert (scale.values[0], scale.values[-1]) == (
        min(about.usual[0], about.default),
        max(about.usual[1], about.default),
    )
    assert scale.values == sorted(set(scale.values))
    assert scale.value == about.default


def test_a_wide_range_is_walked_by_ratios_and_one_from_zero_evenly() -> None:
    wide = asks.ParameterDial("slow_alter_partition_share", 1e-3).values
    ratios = [later / earlier for earlier, later in pairwise(wide)]
    assert max(ratios) < 1.5
    even = asks.ParameterDial("cluster_shocks_per_year", 0.0).values
    assert even[0] == 0
    assert even[len(even) // 2] == pytest.approx(even[-1] / 2)


def test_a_value_beyond_the_usual_range_has_a_position_of_its_own() -> None:
    scale = asks.ParameterDial("bounces_per_year", 400.0)
    assert scale.value == scale.values[-1] == 400.0


@pytest.mark.parametrize("name", asks.DIALS)
def test_a_slider_says_what_it_does_its_unit_and_its_source(name: str) -> None:
    about, said = PARAMETERS[name], asks.dial_tooltip(PARAMETERS[name])
    assert [word for word in (about.does, about.unit, about.source) if word not in said] == []


def test_a_sweep_has_the_ends_of_the_usual_range() -> None:
    assert asks.spread_over("replication_factor", 9) == (1, 2, 3, 4)
    assert asks.spread_over("slow_alter_partition_s", 4)[0] == 3
    assert asks.spread_over("slow_alter_partition_s", 4)[-1] == 300


def test_an_answer_is_dimmed_while_that_of_another_question_is_worked_out(
    lab: FleetLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab._last, "ask", lambda: None)
    lab.dials["bounces_per_year"].slider.value = 0
    assert "kiplab-stale" in lab.shown.classes
    lab._answer_now()
    assert lab.shown.classes == ()


# --- what is asked --------------------------------------------------------------------------------


def test_kips_are_seen_without_them_each_alone_and_all_together() -> None:
    assert asks.sets_seen(["903", "841"]) == ("none", "903", "841", "841+903")
    assert asks.sets_seen(["704"]) == ("none", "704")
    assert asks.sets_seen([]) == ("none",)


def test_eligible_leader_replicas_are_seen_without_them_and_with_them(lab: FleetLab) -> None:
    assert not lab.elr.value
    lab.elr.value = True
    assert {"no-elr", "elr"} < {*present(lab.answer).study.feature_sets}
    assert "Kafka 4.3 with ELR, partition-hours a year" in lab.sentence
    assert lab.sentence.count("cannot happen") >= 2
    lab.reset()
    assert "ELR" not in lab.sentence


def test_the_same_question_is_worked_out_once(lab: FleetLab) -> None:
    first = lab.answer
    lab.turn("bounces_per_year", 52)
    assert lab.answer is not first
    lab.turn("bounces_per_year", 12)
    assert lab.answer is first


def test_of_quick_questions_the_last_one_alone_is_answered() -> None:
    heard: list[str] = []
    asked: list[str] = []

    async def hurry() -> None:
        last = LastQuestion(lambda: heard.append(asked[-1]))
        for question in ("one", "two", "three"):
            asked.append(question)
            last.ask()
        while not heard:
            await asyncio.sleep(0)

    asyncio.run(hurry())
    assert heard == ["three"]


# --- what is answered -----------------------------------------------------------------------------


def test_more_reboots_more_losses(lab: FleetLab) -> None:
    def rate() -> float:
        lab.look_at("last_replica_loss")
        (row, *_) = lab._rows()
        assert row.rate is not None
        return float(row.rate)

    few = rate()
    lab.turn("bounces_per_year", 52)
    assert rate() > 2 * few


def test_picture_sentence_and_table_are_of_one_answer(lab: FleetLab) -> None:
    lab.look_at("race_loss")
    assert "Lost by the race" in lab.sentence
    assert "Lost by the race" in lab.table.value
    assert "Lost by the race" in str(lab.picture.drawing)
    assert lab.sentence in lab.text


def test_what_cannot_happen_is_not_what_was_never_seen(lab: FleetLab) -> None:
    lab.look_at("race_loss")
    never = {row.features: measured(row.found).certainty.value for row in lab._rows()}
    assert never["841+903"] == "cannot happen"
    lab.dials["unclean_elections"].slider.value = 1
    lab.look_at("unclean_loss")
    assert "cannot happen" not in lab.table.value
    lab.dials["unclean_elections"].slider.value = 0
    assert "cannot happen: unclean elections are off" not in lab.sentence
    assert "unclean elections are off" in lab.table.value


def test_what_nobody_has_worked_out_is_said_and_not_drawn(lab: FleetLab) -> None:
    lab.look_at("all_replicas_gone")
    assert lab.picture.layout.display != "none"
    lab.dials["unclean_elections"].slider.value = 1
    assert "Nobody has an estimate of that" in lab.note.value
    assert lab.picture.layout.display == lab.table.layout.display == "none"


def test_a_contradiction_is_explained_and_the_last_answer_stays() -> None:
    lab = FleetLab(with_settings(read_study("small"), ["brokers=3"]))
    before = lab.answer
    lab.turn("replication_factor", 4)
    assert "more than brokers" in lab.note.value
    assert "alert" in lab.note.value
    assert lab.answer is before
    lab.reset()
    assert "alert" not in lab.note.value


def test_without_packages_it_says_what_mends_it_or_shows_what_was_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lab_of_fleets._estimated.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "scipy", None)
    lab = FleetLab(with_settings(read_study("small"), ["brokers=5"]))
    assert lab.answer is None
    assert "pip install &#x27;kiplab[fleet]&#x27; mends it" in lab.note.value
    assert lab.sentence == ""
    assert FleetLab().answer is not None


def test_a_study_that_there_is_none_of_is_refused_in_a_sentence() -> None:
    with pytest.raises(ParameterError, match="crash-loop"):
        FleetLab("nothing-like-it")
    assert not issubclass(ParameterError, PlayError)


def test_of_a_parameter_with_several_values_the_first_is_where_it_begins() -> None:
    study = quick_estimate.changed(read_study("small"), {"bounces_per_year": [52.0, 4.0]})
    assert FleetLab(study).dials["bounces_per_year"].value == 52


def test_it_is_two_models_however_many_sliders() -> None:
    before = len(_instances)
    FleetLab()
    assert len(_instances) - before <= 2


def test_a_page_turns_a_slider_and_gets_the_answer(lab: FleetLab) -> None:
    slider = lab.dials["bounces_per_year"].slider
    hear(lab, {"part": slider.id, "name": "value", "value": slider.max, "by": "1"})
    assert slider.words[slider.value] == "52"
    assert repr(lab) == "<FleetLab: last_replica_loss, bounces_per_year=52>"


def test_light_and_dark_are_the_same_picture_in_other_colours(lab: FleetLab) -> None:
    light = str(lab.picture.drawing)
    lab.box.theme = "dark"
    assert str(lab.picture.drawing) != light


# --- the grid -------------------------------------------------------------------------------------


def test_a_grid_is_kept_and_asked_again_is_gone_on_with(lab: FleetLab, tmp_path: Path) -> None:
    lab.grid.folder.value = str(tmp_path)
    lab.grid.years.options = (("few", 1_600.0), ("more", 3_200.0))
    lab.grid.begin(spark=False)
    lab.grid.wait()
    first = lab.grid.run
    assert first is not None
    assert first.answer is not None
    assert first.answer.finished
    assert len(first.answer.study.scenarios) == 16
    assert "Done: " in lab.grid.status.value
    assert lab.grid.table.value.count("<th scope") == 1 + 4 + 4
    assert f"{lab.grid.down.value} ↓ · {lab.grid.across.value} →" in lab.grid.table.value
    lab.grid.years.value = 3_200.0
    lab.grid.begin(spark=False)
    lab.grid.wait()
    again = lab.grid.run
    assert again is not None
    assert again.folder == first.folder
    assert again.answer is not None
    assert again.answer.partition_years > first.answer.partition_years


def test_another_grid_has_another_folder(lab: FleetLab) -> None:
    one = lab.grid._place(lab._grid_asked("bounces_per_year", "tail_lost", 4))
    lab.turn("crashes_per_year", 4)
    assert lab.grid._place(lab._grid_asked("bounces_per_year", "tail_lost", 4)) != one


def test_a_grid_over_one_parameter_twice_is_refused_in_a_sentence(lab: FleetLab) -> None:
    lab.grid.down.value = lab.grid.across.value
    lab.grid.start.click()
    assert "it is chosen twice" in lab.grid.status.value
    assert lab.grid.run is None


def test_a_file_where_the_folder_should_be_is_said(lab: FleetLab, tmp_path: Path) -> None:
    (tmp_path / "here").write_text("a file")
    lab.grid.folder.value = str(tmp_path / "here")
    lab.grid.begin(spark=False)
    lab.grid.wait()
    assert "alert" in lab.grid.status.value
    assert "is a file" in lab.grid.status.value


def test_without_spark_the_button_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid_panel, "find_spec", lambda _name: None)
    lab = FleetLab()
    assert lab.grid.start.disabled
    assert "kiplab[fleet]" in lab.grid.start.tooltip
    assert "kiplab[fleet]" in lab.grid.status.value
