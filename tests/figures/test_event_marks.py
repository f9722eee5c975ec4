"""What is told in words and the marks of a picture know each other by the ids of the events."""

import re
from typing import Any

import pytest

from kiplab.figures.timeline.ladder import ladder_drawing
from kiplab.figures.timeline.whole_runs import (
    drawing_so_far,
    timeline,
    timeline_drawing,
    twin_drawing,
)
from kiplab.plays.library import load
from kiplab.plays.runner import run_play
from kiplab.plays.stage import Stage
from kiplab.plays.transcript import event_lines
from kiplab.rows.columns import EventRow, Rows
from kiplab.rows.message_paths import drawn_messages, marked_messages
from kiplab.rows.rows_of_stage import rows_of, rows_until
from kiplab.rows.sentences import story, story_html, table_html
from kiplab.widgets.history_tree.playback import open_playback
from tests.repeated import every_play

ON_THE_AXIS = "its node has no lane: the number of its step stands for it"
UNTOLD = {"delivered": "a routine message that came at once goes without saying"}
"""Kinds of events that a mark may be about though no words tell them, and why."""


def marks(drawing: Any) -> list[list[Any]]:
    """Those of what happened; the numbers of steps are `steps`."""
    return [mark for mark in drawing["layout"]["meta"]["marks"] if "." in mark[0]]


def steps(drawing: Any) -> list[list[Any]]:
    return [mark for mark in drawing["layout"]["meta"]["marks"] if "." not in mark[0]]


def ids(found: list[list[Any]]) -> set[str]:
    return {id for about, *_ in found for id in about.split()}


def told(stage: Stage, rows: Rows) -> set[str]:
    """The ids that sentences, log lines and the transcript have."""
    said = {id for s in story(rows) for part in s.parts for id in part.events}
    said |= {event.id for event in rows.events if event.log}
    return said | {id for done in stage.performed for id, _ in event_lines(stage, done)}


def why_on_the_axis(event: EventRow, rows: Rows) -> str:
    lanes = ("controller", *(f"broker {id}" for id in rows.meta.brokers))
    return "" if event.node in lanes else ON_THE_AXIS


@pytest.fixture(scope="module", params=every_play())
def shipped(request: pytest.FixtureRequest) -> tuple[Stage, Rows, Any]:
    """A shipped play, its rows and its picture."""
    stage = run_play(load(request.param))
    rows = rows_of(stage)
    return stage, rows, timeline_drawing(rows, fold=False)


def test_what_is_told_has_a_mark_of_the_same_id(shipped: tuple[Stage, Rows, Any]) -> None:
    stage, rows, drawing = shipped
    without = [e for e in rows.events if e.id in told(stage, rows) - ids(marks(drawing))]
    missing = [f"{e.id}: {e.text}" for e in without if not why_on_the_axis(e, rows)]
    assert not missing, f"say in places.py where these are: {missing}"
    assert ids(steps(drawing)) == {str(moment.x) for moment in rows.moments}


def test_a_mark_is_about_something_that_is_told(shipped: tuple[Stage, Rows, Any]) -> None:
    stage, rows, drawing = shipped
    kinds = {event.id: event.kind for event in rows.events}
    said = told(stage, rows)
    for about, *_ in marks(drawing):
        untold = {kinds[id] for id in about.split()} - UNTOLD.keys()
        assert not untold or said & set(about.split()), about


def test_marks_ticks_and_arrows_of_the_rows_are_among_them(
    shipped: tuple[Stage, Rows, Any],
) -> None:
    _, rows, drawing = shipped
    known = ids(marks(drawing))
    assert {mark.event for mark in rows.marks if mark.lane != "world"} <= known
    assert {tick.events[-1] for tick in rows.ticks} <= known
    assert {id for m in rows.messages if m.is_telling for id in m.ended} <= known


def test_html_says_of_every_part_what_it_is_about(lossy: Rows) -> None:
    html = story_html(lossy)
    (crash,) = re.findall(r'<span data-about="([^"]*)">broker 2 crashes', html)
    (log,) = re.findall(r'data-about="([^"]*)">in the controller log[^<]*Fencing broker 2 ', html)
    assert (crash, log) == ("2.1", "3.2")
    assert '<span data-about="6">6. deliver alter-partition' in html
    assert '<tr data-about="6"><th scope="row">6</th>' in table_html(lossy)
    assert "data-about" not in html[html.index("At the end:") :]


def test_a_second_run_of_a_page_has_ids_of_its_own(lossy: Rows, saved: Rows) -> None:
    second = {id for id in ids(marks(twin_drawing(lossy, saved))) if id.startswith("b")}
    assert {id[1:] for id in second} <= {event.id for event in saved.events}
    html = story_html(saved, 1)
    (refused,) = re.findall(r'data-about="([^"]*)">controller refuses', html)
    assert refused in second


def test_a_ladder_has_marks_in_every_panel(lossy: Rows, saved: Rows) -> None:
    drawing = ladder_drawing((lossy, saved, lossy), width=1000)
    panels = {about.split()[0].rstrip("0123456789.") for about, *_ in marks(drawing)}
    assert panels == {"", "b", "c"}
    right = [x0 for about, x0, *_ in marks(drawing) if about.startswith("b")]
    assert min(right) > 500


def test_a_mark_lies_where_its_thing_is_drawn(lossy: Rows) -> None:
    drawing = drawing_so_far(lossy, lossy, width=934, legend=False)
    places = drawing["layout"]["meta"]["places"]
    lanes = {thing: (top, bottom) for thing, top, bottom in places["lanes"]}
    px = dict(places["steps"])
    (crash,) = (mark for mark in marks(drawing) if "2.1" in mark[0].split())
    assert crash[1:5] == [px[2], lanes["broker 2"][0], px[3], lanes["broker 2"][1]]
    (arrow,) = (mark for mark in marks(drawing) if mark[-1] is True)
    assert arrow[1:5] == places["arrows"][0][1:5]


def test_while_a_run_is_under_way_no_mark_is_about_what_comes() -> None:
    stage = run_play(load("kafka-14139"))
    whole = rows_of(stage)
    for moment in range(1, whole.meta.end - 1):
        now = rows_until(whole, run_play_until(moment))
        drawing = drawing_so_far(now, whole, width=934, legend=False)
        assert {int(id.split(".")[0]) for id in ids(marks(drawing))} <= set(range(moment + 1))
        assert ids(steps(drawing)) == {str(x) for x in range(moment + 1)}


def run_play_until(moment: int) -> Stage:
    return open_playback(load("kafka-14139")).frames[moment].stage


def test_a_folded_column_stands_for_all_of_its_steps() -> None:
    rows = rows_of(run_play(load("epochs-twelve")))
    drawing = timeline_drawing(rows, between=(2, 5))
    assert ids(steps(drawing)) == {"2", "3", "4", "5"}
    assert {id.split(".")[0] for id in ids(marks(drawing))} <= {"1", "2", "3", "4", "5"}


def test_a_dense_picture_marks_metadata_where_it_arrives_and_keeps_the_arrow_of_this_step() -> None:
    playback = open_playback(load("hole-never-level"))
    whole = rows_of(playback.whole)
    marked = marked_messages(whole, "orders-0")
    assert {m.kind for m in marked} == {"metadata"}
    sheet: dict[str, Any] = {"width": 934, "legend": False}
    here = {m.x_arrived for m in marked}
    for step in range(1, whole.meta.end):
        now = rows_until(whole, playback.frames[step].stage)
        found = marks(drawing_so_far(now, whole, **sheet))
        drawn = [mark for mark in found if mark[-1] is True]
        hidden = [mark for mark in found if mark[-1] == "hidden"]
        arrows = len(drawn_messages(now, "orders-0"))
        assert (len(drawn) < arrows, len(drawn) + len(hidden)) == (bool(hidden), arrows)
        every = marks(drawing_so_far(now, whole, every_message=True, **sheet))
        assert sum(mark[-1] is True for mark in every) == arrows
        assert not any(mark[-1] == "hidden" for mark in every)
        for about, *ends, _ in hidden:
            assert any(tick[0] == about and len(tick) == 5 for tick in found), ends
        if step in here:
            assert str(step) in {id.split(".")[0] for mark in drawn for id in mark[0].split()}


def test_harm_is_marked_once_where_it_begins(lossy: Rows, saved: Rows) -> None:
    drawing = drawing_so_far(lossy, lossy, width=934, legend=False)
    (harm,) = (mark for mark in marks(drawing) if mark[-1] == "harm")
    assert {id.split(".")[0] for id in harm[0].split()} == {"6"}
    assert "harm" not in [mark[-1] for mark in marks(timeline_drawing(saved))]


def test_a_figure_without_words_beside_it_carries_none(lossy: Rows) -> None:
    assert "marks" not in timeline(lossy).layout.meta
