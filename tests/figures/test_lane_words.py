"""Words and signs on a broker's lane: each has its line, and stays on the tile it is about."""

import re
from typing import Any, NamedTuple

import pytest

from kiplab.figures.drawing.canvas import Box
from kiplab.figures.drawing.theme import LIGHT
from kiplab.figures.timeline import lane_marks
from kiplab.figures.timeline.arrows import ENDS_MIN
from kiplab.figures.timeline.axis import labels
from kiplab.figures.timeline.icons import LATE
from kiplab.figures.timeline.log_ends import DENSE_BELOW
from kiplab.figures.timeline.sheet import PictureOptions
from kiplab.figures.timeline.whole_runs import timeline
from kiplab.rows.columns import Rows
from tests.figures.boxes import TAG, scale, so_far, texts, words
from tests.figures.small_plays import PAIR, WIPED, play, shapes
from tests.kafka_14139 import rows_on
from tests.repeated import every_play, in_long

QUICK = "tests/figures/test_lane_words.py::test_a_log_is_read_off_the_lower_line_of_its_tile"
WIDTHS = [840, *in_long([600, 1100, 1500], QUICK)]
LOG = re.compile(r"(LEO|HW) \d+")


class Sheet(NamedTuple):
    """The picture of a run, the pixels of a moment, where the first stands, and its brokers' tiles
    in pixels; those that follow each other at once are one.
    """

    rows: Rows
    figure: Any
    unit: float
    left: float
    tiles: list[Box]


def sheet_of(name: str, width: int) -> Sheet:
    rows = rows_on(name, "3.5")
    figure = timeline(rows, width=width, legend=False)
    left, unit = scale(figure)
    tiles: list[Box] = []
    for s in shapes(figure, fillcolor=LIGHT.tile, type="rect"):
        if s.y1 - s.y0 > 40:
            box = Box((s.x0 - left) * unit, s.y0, (s.x1 - left) * unit, s.y1)
            if tiles and tiles[-1].y0 == box.y0 and tiles[-1].x1 >= box.x0 - 0.1:
                box = box._replace(x0=tiles.pop().x0)
            tiles.append(box)
    return Sheet(rows, figure, unit, left, tiles)


@pytest.fixture(scope="module", params=every_play())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", params=WIDTHS)
def sheet(request: pytest.FixtureRequest, name: str) -> Sheet:
    return sheet_of(name, request.param)


def test_a_log_is_read_off_the_lower_line_of_its_tile(sheet: Sheet) -> None:
    if sheet.unit < DENSE_BELOW:
        return
    for word in (w for w in words(sheet.figure) if LOG.match(w.text)):
        here = [t for t in sheet.tiles if t.y0 < word.box.y0 < t.y1]
        (tile,) = [t for t in here if t.x0 <= word.box.x0 <= t.x1]
        assert (word.box.y0 + word.box.y1) / 2 > tile.y1 - 12, word.text


def test_no_note_runs_past_the_tile_it_is_about(sheet: Sheet) -> None:
    remarks = {m.text for m in sheet.rows.marks if m.kind in lane_marks.SPOKEN}
    for word in (w for w in words(sheet.figure) if w.text.strip("◇! ") in remarks):
        middle = (word.box.y0 + word.box.y1) / 2
        here = [t for t in sheet.tiles if t.y0 < middle < t.y1]
        assert any(t.x0 <= word.box.x0 and word.box.x1 <= t.x1 for t in here), word.text


@pytest.mark.parametrize("width", [840, 1100, 1500])
def test_a_broker_epoch_is_written_out_also_where_an_arrow_leaves(width: int) -> None:
    said = texts(timeline(rows_on("kafka-14139", "3.5"), width=width))
    assert {"broker epoch 40", "broker epoch 41", "broker epoch 57", "broker epoch 61"} <= set(said)
    assert not [text for text in said if text.startswith("be ")]


@pytest.mark.parametrize("width", WIDTHS)
def test_a_gate_is_a_tick_in_a_ring_inside_its_fence(width: int) -> None:
    figure = timeline(play(WIPED), width=width, legend=False)
    (ring,) = shapes(figure, type="circle", line_color=LIGHT.text)
    assert 3 < ring.x0 < ring.x1 <= 4


def test_words_on_a_fence_stand_on_a_plate_that_covers_the_hatch() -> None:
    rows = play(PAIR + "crash 1 disk=replaced\nexpire 1\nstart 1\n")
    figure = timeline(rows, width=1500, legend=False)
    (word,) = [w for w in words(figure) if w.text == "in ISR, log empty"]
    left, unit = scale(figure)
    order = list(figure.layout.shapes)
    hatch = max(n for n, s in enumerate(order) if s.type == "path" and s.line.color == LIGHT.hatch)
    plates = [
        Box((s.x0 - left) * unit, s.y0, (s.x1 - left) * unit, s.y1)
        for s in order[hatch:]
        if s.type == "rect" and s.fillcolor == LIGHT.box
    ]
    assert any(word.box.within(plate) for plate in plates)


def test_the_words_of_an_arrow_touch_it(sheet: Sheet) -> None:
    rows, figure, unit, left, _ = sheet
    arrows = [
        ((s.x0 - left) * unit, s.y0, (s.x1 - left) * unit, s.y1)
        for s in shapes(figure, type="line")
        if s.line.color in (LIGHT.message, LIGHT.refused, LIGHT.muted) and s.line.width in (2, 1.4)
    ]
    labels = {part for m in rows.messages for part in (m.label, m.label.split(" · ")[-1])}
    for word in words(figure):
        if re.sub(", still on its way|, lost", "", TAG.sub("", word.text)) in labels:
            near = min(distance(word.box, arrow) for arrow in arrows)
            assert near <= NEAR, (word.text, near)


NEAR = 12
"""Pixels between a label and its arrow."""


def distance(box: Box, arrow: tuple[float, float, float, float]) -> float:
    """From a box to the nearest of many points of an arrow."""
    x0, y0, x1, y1 = arrow
    points = ((x0 + (x1 - x0) * n / 200, y0 + (y1 - y0) * n / 200) for n in range(201))
    return min(max(box.x0 - x, x - box.x1, 0) + max(box.y0 - y, y - box.y1, 0) for x, y in points)


def test_a_label_on_its_arrow_leaves_both_ends_of_it_in_sight() -> None:
    figure = timeline(rows_on("kafka-14139", "3.5"), width=1500, legend=False)
    (plate,) = [s for s in figure.layout.shapes if (s.name or "").startswith("plate")]
    (arrow,) = shapes(figure, type="line", line_color=LIGHT.refused, line_dash=LATE)
    _, unit = scale(figure)
    assert (plate.x0 - arrow.x0) * unit >= ENDS_MIN - 4
    assert (arrow.x1 - plate.x1) * unit >= ENDS_MIN - 4


def test_no_word_stands_on_the_line_of_a_log_where_moments_are_narrow() -> None:
    _, figure, unit, _, tiles = sheet_of("consumer-old-leader", 600)
    assert unit < DENSE_BELOW
    for word in words(figure):
        middle = (word.box.y0 + word.box.y1) / 2
        on = [t for t in tiles if t.x0 <= word.box.x0 <= t.x1 and t.y0 < middle < t.y1]
        assert not [t for t in on if middle > t.y1 - 12], word.text


def test_no_arrow_goes_through_what_a_replica_lacks() -> None:
    figure = timeline(rows_on("hole-never-level", "3.5"), width=934)
    (word,) = [w for w in words(figure) if w.text == "in ISR, lacks offset 101"]
    left, unit = scale(figure)
    arrows = [s for s in figure.layout.shapes if s.type == "line" and s.line.dash == LATE]
    assert len(arrows) > 1
    for arrow in arrows:
        for n in range(101):
            x = (arrow.x0 + (arrow.x1 - arrow.x0) * n / 100 - left) * unit
            y = arrow.y0 + (arrow.y1 - arrow.y0) * n / 100
            assert not Box(x, y, x + 0.1, y + 0.1).overlaps(word.box)


def test_labels_that_find_no_room_are_counted() -> None:
    rows = rows_on("unclean-election", "3.5")
    figure = timeline(rows, width=900)
    assert not [text for text in texts(figure) if "more on hover" in text]
    sheet = so_far(rows, rows, width=900, low=2)
    (said,) = [text for text in texts(sheet) if "more on hover" in text]
    moments = [m.label for m in rows.moments if m.line]
    shown = labels(PictureOptions(width=900).canvas(rows, low=1), rows.moments, 2)
    assert said == f"{len(moments) - len(shown)} more on hover"
