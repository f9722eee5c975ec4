"""Small multiples, tested on their data: what every panel says, and that it can be read."""

import json
from pathlib import Path
from typing import Any

import pytest

import kiplab
from kiplab.figures.timeline.icons import SHIELD_ROOM
from kiplab.figures.timeline.ladder import ladder
from kiplab.figures.timeline.whole_runs import logs
from kiplab.pages.export import write
from kiplab.pages.page import page
from kiplab.pages.player import carried
from kiplab.rows.columns import Rows
from tests.figures.boxes import move_cursor, texts, words
from tests.kafka_14139 import rows_on

WIDTHS = [600, 840, 980, 1400]
PANELS = 4


def columns(figure: Any) -> int:
    """How many columns of panels there are: each has an axis over that of the sheet."""
    return len([key for key in figure.layout.to_plotly_json() if key.startswith("xaxis")]) - 1


def test_a_panel_has_title_verdict_answer_and_lanes(two_by_two: tuple[Rows, ...]) -> None:
    said = texts(ladder(two_by_two))
    assert "<b>KIP-841 on · KIP-903 off · Kafka 3.5</b>" in said
    assert said.count("<b>▼ 100 committed records lost</b>") == 2
    assert said.count("<b>● unavailable for a while, nothing lost</b>") == 2
    assert (
        said.count("<b>✓ accepted</b>")
        == said.count(f"<b>{SHIELD_ROOM} INELIGIBLE_REPLICA</b>")
        == 2
    )
    for lane in ("leader epoch", "partition epoch", "<b>broker 1</b>", "<b>broker 2</b>"):
        assert said.count(lane) == PANELS


def test_the_first_difference_from_the_first_panel_is_marked(two_by_two: tuple[Rows, ...]) -> None:
    figure = ladder(two_by_two)
    lines = [s for s in figure.layout.shapes if s.line.dash == "dot" and s.x0 == s.x1 == 6]
    assert len(lines) == 2
    assert texts(figure).count("◆ first differs at 6") == 2
    assert texts(figure).count("no difference from the first panel") == 1


def test_panels_stand_beside_each_other_where_there_is_room(two_by_two: tuple[Rows, ...]) -> None:
    wide, narrow = ladder(two_by_two, width=980), ladder(two_by_two, width=600)
    assert (columns(wide), columns(narrow)) == (2, 1)
    assert narrow.layout.height > 1.5 * wide.layout.height
    left, right = wide.layout.xaxis2, wide.layout.xaxis3
    assert left.range == right.range
    assert (left.domain[0], left.domain[1], right.domain[1]) == (0, right.domain[0], 1)


def test_what_the_numbers_stand_for_is_said_once(two_by_two: tuple[Rows, ...]) -> None:
    said = texts(ladder(two_by_two))
    assert said.count("request arrives") == 1
    assert "broker 1 fetches" in said


def test_the_marks_are_explained_below_the_panels(two_by_two: tuple[Rows, ...]) -> None:
    def legend(figure: Any) -> list[str]:
        return [text for t in figure.data if t.name == "legend" for text in t.text]

    for width in WIDTHS:
        explained = legend(ladder(two_by_two, width=width))
        assert {"fenced", "unfenced", "empty log", "records gone", "no leader"} <= set(explained)
        assert not {"refused", "delayed", "metadata record"} & set(explained), "not in the panels"
    assert legend(ladder(two_by_two, legend=False)) == []


def test_answers_that_find_no_room_on_the_line_stand_above_it() -> None:
    runs = [rows_on("epochs-fences", kafka) for kafka in ("3.4", "3.5")]
    figure = ladder(runs, width=980)
    answers = [w for w in words(figure) if w.text.startswith(f"<b>{SHIELD_ROOM}")]
    answers = [w for w in answers if w.box.x1 < 490]
    assert len(answers) == 3
    assert len({w.box.y0 for w in answers}) > 1


def test_the_mask_covers_every_column_and_hides_every_verdict(
    two_by_two: tuple[Rows, ...],
) -> None:
    figure = ladder(two_by_two, until=4)
    masks = [s for s in figure.layout.shapes if s.name == "mask"]
    assert [(int(v.x1), v.visible) for v in masks] == [(12, True)] * 2
    assert all(4.5 <= v.x0 < 5 for v in masks)
    verdicts = [t for t in figure.data if t.name == "verdict"]
    assert [t.visible for t in verdicts] == [False, False]
    move_cursor(figure, None)
    assert figure == ladder(two_by_two)


def test_the_player_moves_every_mask(two_by_two: tuple[Rows, ...]) -> None:
    figure = ladder(two_by_two)
    (found,) = carried([figure.to_plotly_json()], two_by_two).pictures
    moved = {int(key.split("[")[1].split("]")[0]) for key in found.steps[4].mask}
    names = [figure.layout.shapes[n].name for n in moved]
    assert sorted(names) == sorted([*("mask", "cursor", "shield from 6") * 2])
    assert len(found.verdicts) == 2
    assert found.steps[4].x == 4


def test_pages_and_files_have_every_run(two_by_two: tuple[Rows, ...], tmp_path: Path) -> None:
    text = page(two_by_two, include_plotlyjs=False)
    assert text.count(": the story in sentences</h2>") == PANELS
    assert text.count("<caption>") == PANELS + 2
    told = write(two_by_two, tmp_path / "a.txt").read_text(encoding="utf-8")
    assert told.count("Verdict: ") == PANELS
    assert told.count(" against KIP-841 ") == PANELS - 1
    content = json.loads(write(two_by_two, tmp_path / "a.json").read_text(encoding="utf-8"))
    assert content["first_difference"] == 6
    assert len(content["comparisons"]) == PANELS - 1


@pytest.mark.parametrize("runs", [0, 1, 5])
def test_another_number_of_runs_is_refused(lossy: Rows, runs: int) -> None:
    with pytest.raises(ValueError, match=f"2 to 4 runs of one play, not {runs}"):
        ladder([lossy] * runs)


def test_runs_of_different_plays_are_refused_by_name(lossy: Rows) -> None:
    other = rows_on("last-replica", "3.5")
    with pytest.raises(ValueError, match="runs of one play, and these are of several: 'A brok"):
        ladder([lossy, lossy, other])
    with pytest.raises(ValueError, match="of several"):
        page([lossy, lossy, other])


def test_authors_get_a_figure_of_runs() -> None:
    releases = ("3.2", "3.4", "3.5")
    figure = kiplab.ladder(*(kiplab.run("kafka-14139", kafka=kafka) for kafka in releases))
    assert [f"<b>Kafka {kafka}</b>" in texts(figure) for kafka in releases] == [True] * 3
    frame = kiplab.differences(
        kiplab.run("kafka-14139", kafka="3.4"), kiplab.run("kafka-14139", kafka="3.5")
    )
    assert set(frame["moment"]) == {6, 11}


def test_an_option_that_a_ladder_or_the_logs_have_no_use_for_is_refused(
    two_by_two: list[Rows],
) -> None:
    with pytest.raises(TypeError, match="a ladder has no option 'metrics'"):
        ladder(two_by_two, metrics=True)
    with pytest.raises(TypeError, match="a picture of logs has no option 'until'"):
        logs(two_by_two[0], until=4)
