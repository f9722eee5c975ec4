"""Where the words of a figure stand, in pixels: for tests that none is cut off or covered."""

import re
from typing import Any, NamedTuple

from kiplab.figures.drawing.canvas import Box
from kiplab.figures.drawing.flat import flat
from kiplab.figures.drawing.text_width import height_of, width_of

SHARES = {"right": 0.0, "center": 0.5, "left": 1.0}
TAG = re.compile(r"<[^>]*>")
GLYPHS_MAX = 1
"""A mark of one character may touch what it marks."""


class Word(NamedTuple):
    text: str
    box: Box


def words(figure: Any) -> list[Word]:
    """Every text of every trace and axis, with the box it takes."""
    drawing = flat(figure.to_plotly_json())
    left, right = figure.layout.xaxis.range
    unit = figure.layout.width / (right - left)
    found = []
    for trace in (t for t in drawing["data"] if t.get("mode") == "text"):
        places, sizes = trace["textposition"], trace["textfont"]["size"]
        columns = (trace["x"], trace["y"], trace["text"], places, sizes)
        for x, y, text, position, size in zip(*columns, strict=True):
            wide, high = width_of(text, size), height_of(text, size)
            start = (x - left) * unit - wide * SHARES[position.removeprefix("middle ")]
            found.append(Word(text, Box(start, y - high / 2, start + wide, y + high / 2)))
    return found


def cut_off(figure: Any) -> list[str]:
    """The words that reach over the figure's edges."""
    sheet = Box(0, 0, figure.layout.width, figure.layout.height)
    return [word.text for word in words(figure) if not word.box.within(sheet)]


def covered(figure: Any) -> list[tuple[str, str]]:
    """Pairs of words of which one stands on the other by more than a line's leading."""
    found = [w for w in words(figure) if len(TAG.sub("", w.text)) > GLYPHS_MAX]
    return [
        (a.text, b.text)
        for n, a in enumerate(found)
        for b in found[n + 1 :]
        if _shrunk(a.box).overlaps(_shrunk(b.box))
    ]


def _shrunk(box: Box) -> Box:
    return Box(box.x0 + 2, box.y0 + 3, box.x1 - 2, box.y1 - 3)
