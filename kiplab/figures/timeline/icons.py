"""Signs drawn from lines, because few fonts have them: no entry, power, gate, bracket, shield.

x is in moments or in pixels from the left as each says, y in pixels from the top.
"""

from collections.abc import Sequence
from math import cos, pi, sin

from ..drawing.canvas import Box, Canvas
from ..drawing.text_width import LINE_HEIGHT

SIGN = 5.0
"""Half of a sign's height in pixels."""
GATE = 16.0
"""How many pixels the sign of a gate takes at the end of a fence."""
CELLS, CELL, CELL_GAP = 3, 11.0, 4.0
"""How many cells of a log are drawn as crossed out, their size and what is between them in pixels.
"""
SHIELD = (6.0, 7.0)
"""Half of a shield's width and of its height in pixels."""
SHIELD_ROOM = "\u2003"
"""In words, the place of a shield: as wide as the font is high."""


def cross_hatch(canvas: Canvas, x0: float, x1: float, y0: float, y1: float, color: str) -> None:
    """Diagonals both ways, between moments `x0` and `x1`: what is fenced."""
    canvas.hatch(x0, x1, y0, y1, color)
    left, right, height, step = canvas.px(x0), canvas.px(x1), y1 - y0, 9
    parts, start = [], left - height + step / 2
    while start < right:
        a, b = max(start, left), min(start + height, right)
        if b > a:
            ends = ((a, y0 + (a - start)), (b, y0 + (b - start)))
            parts.append(_points(canvas, ends))
        start += step
    if parts:
        canvas.path("".join(parts), color, width=1)


def no_entry(canvas: Canvas, px: float, y: float, color: str, bar: str) -> None:
    """⛔ at `px`."""
    edge = {"color": color, "width": 1}
    left, right = canvas.at(px - SIGN), canvas.at(px + SIGN)
    canvas.rect(left, right, y - SIGN, y + SIGN, color, type="circle", line=edge)
    canvas.rect(canvas.at(px - 3), canvas.at(px + 3), y - 1, y + 1, bar)


def power(canvas: Canvas, px: float, y: float, color: str) -> None:
    """⏻ at `px`: a ring that is open at the top, and a stroke through the gap."""
    turns = [(-50 + n * 20) * pi / 180 for n in range(15)]
    ring = [(px + SIGN * cos(turn), y + SIGN * sin(turn)) for turn in turns]
    canvas.path(_points(canvas, ring), color, width=1.6)
    canvas.path(_points(canvas, [(px, y - SIGN - 1), (px, y)]), color, width=1.6)


def gate(canvas: Canvas, px: float, y: float, color: str, ground: str) -> None:
    """✓ in a ring at `px`: the controller lets the broker in."""
    r, edge = SIGN + 1.5, {"color": color, "width": 1.4}
    left, right = canvas.at(px - r), canvas.at(px + r)
    canvas.rect(left, right, y - r, y + r, ground, type="circle", line=edge)
    tick = [(px - 3, y + 0.5), (px - 0.8, y + 2.8), (px + 3.2, y - 2.6)]
    canvas.path(_points(canvas, tick), color, width=1.6)


def bracket(canvas: Canvas, x0: float, x1: float, y: float, color: str) -> None:
    """⎴ over the time from moment `x0` to `x1`."""
    left, right = canvas.px(x0) + 1, canvas.px(x1) - 1
    ends = [(left, y + 5), (left, y), (right, y), (right, y + 5)]
    canvas.path(_points(canvas, ends), color, width=1.5)


def struck_cells(canvas: Canvas, px: float, y: float, color: str) -> None:
    """Cells of a log from `px` on, each crossed out: records that are gone."""
    half, parts = CELL / 2, []
    for left in (px + n * (CELL + CELL_GAP) for n in range(CELLS)):
        right = left + CELL
        corners = [(left, y - half), (right, y - half), (right, y + half), (left, y + half)]
        parts.append(f"{_points(canvas, corners)}Z")
        parts.append(_points(canvas, [(left, y - half), (right, y + half)]))
        parts.append(_points(canvas, [(left, y + half), (right, y - half)]))
    canvas.path("".join(parts), color, width=1.2)


def shield(canvas: Canvas, px: float, y: float, color: str, bar: str) -> None:
    """A shield with a bar at `px`: a guard said no."""
    canvas.path(_shield(canvas, px, y, 1), color, fill=color)
    canvas.rect(canvas.at(px - 3.5), canvas.at(px + 3.5), y - 1.5, y + 0.5, bar)


def shield_in(canvas: Canvas, box: Box, color: str, size: float, name: str) -> None:
    """A shield on the first line of words of that size in `box`, which begin with SHIELD_ROOM;
    `name` is that of the shape.
    """
    px, y, scale = box.x0 + size * 0.52, box.y0 + size * LINE_HEIGHT / 2, size / 13.5
    left, right, top, low = px - 3.5 * scale, px + 3.5 * scale, y - 1.5 * scale, y + 0.5 * scale
    # The other way round than the outline: the bar is a hole.
    bar = _points(canvas, [(left, low), (left, top), (right, top), (right, low)])
    canvas.path(f"{_shield(canvas, px, y, scale)}{bar}Z", color, fill=color)
    canvas.shapes[-1]["name"] = name


def _shield(canvas: Canvas, px: float, y: float, scale: float) -> str:
    """The outline, from the left over the top."""
    wide, half = (length * scale for length in SHIELD)
    upper = [(px - wide, y + scale), (px - wide, y - half + scale), (px, y - half - scale)]
    lower = [(px + wide, y - half + scale), (px + wide, y + scale), (px, y + half)]
    return f"{_points(canvas, [*upper, *lower])}Z"


def _points(canvas: Canvas, points: Sequence[tuple[float, float]]) -> str:
    """An open SVG path through pixels."""
    return "M" + "L".join(f"{canvas.at(px):.4f},{y:.1f}" for px, y in points)
