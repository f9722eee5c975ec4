"""The controls of what the picture shows, and what they do to a Lab."""

from typing import Any

import pytest

import kiplab
from kiplab.plays.grammar import parse
from kiplab.plays.play import Play
from kiplab.rows.rows_of_stage import rows_of
from kiplab.widgets.controls.view_options import ViewControls
from kiplab.widgets.history_tree.playback import open_playback
from tests.figures.long_runs import long_play
from tests.widgets.hands import Hands, at, at_panel

UNTOUCHED = {"partition": None, "kinds": None, "between": None, "fold": None, "metrics": False}
FOLD = "What the picture shows"


@pytest.fixture
def asked() -> list[dict[str, Any]]:
    return []


@pytest.fixture
def hands(asked: list[dict[str, Any]]) -> Hands:
    """At the play of KAFKA-14139."""
    return at_panel(at(0), lambda hands: ViewControls(hands, asked.append, rows_of))


@pytest.fixture
def look(hands: Hands) -> ViewControls:
    looked: ViewControls = hands.panel
    return looked


def show(hands: Hands, play: Play) -> None:
    """Another run."""
    hands.playback = open_playback(play)
    hands.panel.show()


def words(lab: Any) -> list[str]:
    return [text for trace in lab.picture.drawing["data"] for text in trace.get("text") or ()]


def test_left_alone_it_asks_for_nothing(look: ViewControls, asked: list[dict[str, Any]]) -> None:
    assert look.options == UNTOUCHED
    assert asked == []


def test_every_control_has_words(look: ViewControls) -> None:
    words = {
        look.partition: "Partition followed",
        look.fold: "Fold quiet steps where there is no room for every step",
        look.metrics: "Metrics an operator would see",
        look.first: "first step",
        look.last: "last step",
        look.kinds["alter-partition"]: "AlterPartition messages",
        look.everything: "Show everything",
    }
    assert {control: control.description for control in words} == words


def test_only_kinds_that_have_arrows_are_offered(hands: Hands, look: ViewControls) -> None:
    assert list(look.kinds) == ["alter-partition"]
    show(hands, parse("broker 1\ntopic t replicas=1\nproduce t-0 count=1\n"))
    (said,) = look._kinds.children
    assert "No message in this run" in said.value


def test_a_kind_can_be_left_out(look: ViewControls, asked: list[dict[str, Any]]) -> None:
    look.kinds["alter-partition"].value = False
    look.kinds["alter-partition"].value = True
    look.fold.value = False
    assert asked == [{**UNTOUCHED, "kinds": ()}, UNTOUCHED, {**UNTOUCHED, "fold": False}]


def test_a_partition_is_offered_where_there_are_several(hands: Hands, look: ViewControls) -> None:
    assert look.partition.layout.display == "none"
    show(hands, long_play(40))
    assert look.partition.layout.display == ""
    look.partition.value = "parcels-0"
    assert look.options["partition"] == "parcels-0"


def test_two_ends_of_a_range_push_each_other(
    look: ViewControls, asked: list[dict[str, Any]]
) -> None:
    look.first.value = 4
    assert asked[-1]["between"] == (4, 11)
    look.last.value = 3
    assert asked[-1]["between"] == (2, 3)
    look.first.value = 11
    assert asked[-1]["between"] == (10, 11)
    look.everything.click()
    assert asked[-1] == UNTOUCHED


def test_a_longer_run_is_shown_to_its_end(hands: Hands, look: ViewControls) -> None:
    look.first.value = 2
    show(hands, long_play(40))
    assert look.options["between"] == (2, 40)


def test_a_run_is_read_once(look: ViewControls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "_rows_of", lambda _: pytest.fail("read again"))
    look.show()


def test_the_lab_paints_what_is_chosen() -> None:
    lab = kiplab.Lab("kafka-14139")
    lab.folds.open(FOLD)
    lab.seek(lab.playback.last)
    assert "<b>3</b>" in words(lab)
    lab.view_controls.first.value = 5
    assert "<b>3</b>" not in words(lab)
    assert "<b>5</b>" in words(lab)
    assert any("AlterPartition" in word for word in words(lab))
    lab.view_controls.kinds["alter-partition"].value = False
    assert not any("AlterPartition" in word for word in words(lab))


def test_the_choice_lasts_from_step_to_step_and_through_a_shorter_run() -> None:
    lab = kiplab.Lab("kafka-14139")
    lab.folds.open(FOLD)
    lab.view_controls.first.value = 5
    for step in range(lab.playback.last + 1):
        lab.seek(step)
        assert "<b>3</b>" not in words(lab)
    lab.seek(2)
    lab.do("crash 1")
    assert lab.playback.last == 3
    assert "<b>3</b>" in words(lab)


def test_metrics_are_rows_under_the_picture_and_nothing_moves() -> None:
    lab = kiplab.Lab("kafka-14139", kafka="3.5")
    lab.folds.open(FOLD)
    without = lab.picture.drawing["layout"]["height"]
    lab.view_controls.metrics.value = True
    heights, seen = set(), []
    for step in range(lab.playback.last + 1):
        lab.seek(step)
        heights.add(lab.picture.drawing["layout"]["height"])
        seen.append([word for word in words(lab) if word.startswith("FailedIsr")])
    assert len(heights) == 1
    assert min(heights) > without
    assert [len(found) for found in seen] == [0] * 6 + [1] * 6, "it moves at step 6"
    lab.view_controls.metrics.value = False
    assert lab.picture.drawing["layout"]["height"] == without
