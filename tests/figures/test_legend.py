"""The legend: what occurs and nothing else, in little room, the same from step to step."""

from itertools import pairwise
from typing import Any

import pytest

from kiplab.figures.timeline import broker_lanes, icons, lane_marks, strips
from kiplab.figures.timeline.legend_marks import GROUPS, MARKS, legend_words, occurring
from kiplab.figures.timeline.whole_runs import timeline, twin
from kiplab.rows.columns import Rows
from tests.figures import zookeeper_plays
from tests.figures.boxes import so_far
from tests.figures.small_plays import ELR_ELECTED, EVERY_MARK, NOT_PROPOSED, STALE_JOIN, play
from tests.incident.other_life import rows as incident
from tests.kafka_14139 import rows_on

IDS = [mark.id for mark in MARKS]


def said(figure: Any) -> list[str]:
    found = [t for t in figure.data if t.name == "legend"]
    return [text for trace in found for text in trace.text if not text.startswith("<b>")]


def cost(rows: Rows, width: int) -> float:
    """Pixels that the legend takes."""
    without = timeline(rows, width=width, legend=False)
    return float(timeline(rows, width=width).layout.height - without.layout.height)


def test_every_entry_is_shown_by_some_play(lossy: Rows) -> None:
    shown = {mark.id for text in EVERY_MARK for mark in occurring((play(text),))}
    shown |= {mark.id for mark in occurring((rows_on("hole-never-level", "3.5"),))}
    shown |= {mark.id for mark in occurring((play(ELR_ELECTED, "4.3", elr=1),))}
    shown |= {mark.id for mark in occurring((incident(),))}
    shown |= {mark.id for run in zookeeper_plays.runs() for mark in occurring((run,))}
    assert set(IDS) - shown - {mark.id for mark in occurring((lossy,), beside=True)} == set()


def test_every_mark_that_is_drawn_has_an_entry() -> None:
    names = {"elected": "believes"}
    drawn = {names.get(role, role) for role in icons.BANDS} | set(strips.GLYPHS)
    drawn |= set(lane_marks.SIGNS) | {"caught up", "down", "wiped", "gate", "fenced"}
    assert drawn <= set(IDS)
    assert set(broker_lanes.GAPS) == {"disk replaced", "tail lost"}
    fates = ("guarded", "dropped", "refused", "in flight", "late", "duplicate", "previous")
    assert {"message", *(f"message {fate}" for fate in fates)} <= set(IDS)


def test_ids_and_words_are_each_used_once() -> None:
    assert len(set(IDS)) == len(IDS)
    assert len({mark.words for mark in MARKS}) == len(MARKS)


def test_signs_in_words_are_in_every_font() -> None:
    """Of Unicode's technical and miscellaneous signs only those that pictures are written with."""
    used = {sign for mark in MARKS for sign in mark.glyph if "\u2300" <= sign < "\u2500"}
    used |= {sign for mark in MARKS for sign in mark.glyph if sign >= "\u2600"}
    assert used == {"⌀", "★", "☆", "☒", "✓", "✕"}


def test_only_what_occurs_is_explained() -> None:
    assert legend_words(play(NOT_PROPOSED)) == [
        ("★", "leader"),
        ("─", "out of the ISR"),
        ("LEO", "log end, HW: high watermark"),
        ("◆", "caught up"),
        ("◇", "not proposed"),
        ("▏", "be: broker epoch"),
        ("▒", "fenced"),
        ("✕", "down"),
        ("┼", "metadata record"),
        ("●", "safe"),
    ]
    assert said(timeline(play(NOT_PROPOSED))) == [w for _, w in legend_words(play(NOT_PROPOSED))]
    assert said(timeline(play(NOT_PROPOSED), legend=False)) == []


def test_a_twin_explains_what_occurs_in_either_run(lossy: Rows, saved: Rows) -> None:
    words = said(twin(lossy, saved))
    assert {"lost for good", "refused by a guard"} <= set(words)
    assert len(words) == len(set(words))
    assert "refused by a guard" not in said(timeline(lossy))


def test_a_growing_picture_keeps_its_height_and_its_legend() -> None:
    whole = play(STALE_JOIN)
    lines = STALE_JOIN.splitlines()
    steps = [play("\n".join(lines[:n]) + "\n") for n in range(4, len(lines) + 1)]
    figures = [so_far(step, whole) for step in steps]
    assert len({figure.layout.height for figure in figures}) == 1
    assert all(said(figure) == said(figures[-1]) for figure in figures)
    assert "on its way" in said(figures[0])


@pytest.mark.parametrize(("width", "most"), [(600, 138), (840, 115), (980, 85), (1600, 70)])
def test_the_legend_costs_little_room(lossy: Rows, width: int, most: int) -> None:
    assert 0 < cost(lossy, width) <= most


def test_marks_stand_in_groups_under_what_they_are_about(lossy: Rows) -> None:
    for mark, following in pairwise(MARKS):
        assert GROUPS.index(mark.group) <= GROUPS.index(following.group), following.id
    figure = timeline(lossy, width=600)
    (headings,) = [t for t in figure.data if t.name == "headings"]
    shown = [text.removeprefix("<b>").removesuffix("</b>") for text in headings.text]
    assert shown == [g for g in GROUPS if g not in ("ZooKeeper", "logs", "metadata log")]
    assert said(figure) == [mark.words for mark in occurring((lossy,))]


@pytest.mark.parametrize(("width", "least"), [(600, 10), (840, 11.5), (1500, 13.5)])
def test_a_legend_is_written_as_large_as_the_picture(lossy: Rows, width: int, least: int) -> None:
    for trace in (t for t in timeline(lossy, width=width).data if t.name in ("legend", "headings")):
        assert min(trace.textfont.size) >= least
