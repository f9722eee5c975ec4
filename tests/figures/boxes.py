"""Where the words of a picture stand, in pixels: for tests that none is cut off or covered."""

import re
from itertools import combinations
from typing import Any, NamedTuple

from kiplab.figures.drawing.canvas import Box, as_figure
from kiplab.figures.drawing.flat import flat
from kiplab.figures.drawing.svg import across, json_of
from kiplab.figures.drawing.text_width import height_of, width_of
from kiplab.figures.timeline.mask import shapes_at, traces_at
from kiplab.figures.timeline.whole_runs import drawing_so_far

SHARES = {"right": 0.0, "center": 0.5, "left": 1.0}
TAG = re.compile(r"<[^>]*>")
so_far = as_figure(drawing_so_far)
SMALLEST = 11
"""Pixels; smaller letters are hard to read."""
GLYPHS_MAX = 1
"""A mark of one character may touch what it marks."""


class Word(NamedTuple):
    text: str
    box: Box


def words(picture: Any) -> list[Word]:
    """Every text of every trace and axis of a figure or a drawing, with the box it takes."""
    drawing = flat(json_of(picture))
    found = []
    for trace in (t for t in drawing["data"] if t.get("mode") == "text"):
        pixel = across(drawing["layout"], trace.get("xaxis") or "x")
        places, sizes = trace["textposition"], trace["textfont"]["size"]
        columns = (trace["x"], trace["y"], trace["text"], places, sizes)
        for x, y, text, position, size in zip(*columns, strict=True):
            wide, high = width_of(text, size), height_of(text, size)
            start = pixel(x) - wide * SHARES[position.removeprefix("middle ")]
            found.append(Word(text, Box(start, y - high / 2, start + wide, y + high / 2)))
    return found


def scale(picture: Any) -> tuple[float, float]:
    """The moment at the left edge of a picture, and the pixels of one."""
    layout = json_of(picture)["layout"]
    left, right = layout["xaxis"]["range"]
    return left, layout["width"] / (right - left)


def texts(picture: Any) -> list[str]:
    """What the words say."""
    return [word.text for word in words(picture)]


def cut_off(picture: Any) -> list[str]:
    """The words that reach over the edges."""
    layout = json_of(picture)["layout"]
    sheet = Box(0, 0, layout["width"], layout["height"])
    return [word.text for word in words(picture) if not word.box.within(sheet)]


def covered(picture: Any) -> list[tuple[str, str]]:
    """Pairs of words of which one stands on the other by more than a line's leading."""
    long = [w for w in words(picture) if len(TAG.sub("", w.text)) > GLYPHS_MAX]
    shrunk = [(word.text, _shrunk(word.box)) for word in long]
    pairs = combinations(shrunk, 2)
    return [(one, other) for (one, a), (other, b) in pairs if a.overlaps(b)]


def too_small(picture: Any) -> list[str]:
    """The words whose letters are smaller than can be read with ease."""
    letters = ((w.text, (w.box.y1 - w.box.y0) / height_of(w.text, 1)) for w in words(picture))
    return [text for text, size in letters if size < SMALLEST - 0.01]


def unreadable(picture: Any) -> list[Any]:
    """The words that are cut off or too small, and the pairs of which one covers the other."""
    return [*cut_off(picture), *too_small(picture), *covered(picture)]


def _shrunk(box: Box) -> Box:
    return Box(box.x0 + 2, box.y0 + 3, box.x1 - 2, box.y1 - 3)


def move_cursor(figure: Any, until: int | None) -> None:
    """Mask what comes after moment `until`, or nothing, and leave the words that are known then."""
    drawing = figure.to_plotly_json()
    for number, change in shapes_at(drawing, until).items():
        figure.layout.shapes[number].update(change)
    for number, change in traces_at(drawing, until).items():
        figure.data[number].update(change)
