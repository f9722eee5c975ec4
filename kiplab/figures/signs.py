"""Signs drawn from lines, because few fonts have them: no entry, power, gate, bracket, strike.

x is in moments or in pixels from the left as each says, y in pixels from the top.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin

from .canvas import Canvas

SIGN = 5.0
"""Half of a sign's height in pixels."""


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


def gate(canvas: Canvas, x: float, y0: float, y1: float, color: str) -> None:
    """A gate at moment `x`, both its wings open to what comes after."""
    px = canvas.px(x)
    canvas.path(_points(canvas, [(px, y0), (px, y1)]), color, width=1)
    for y, swing in ((y0 + 3, -4), (y1 - 3, 4)):
        canvas.path(_points(canvas, [(px, y), (px + 9, y + swing)]), color, width=2)


def bracket(canvas: Canvas, x0: float, x1: float, y: float, color: str) -> None:
    """⎴ over the time from moment `x0` to `x1`."""
    left, right = canvas.px(x0) + 1, canvas.px(x1) - 1
    ends = [(left, y + 5), (left, y), (right, y), (right, y + 5)]
    canvas.path(_points(canvas, ends), color, width=1.5)


def strike(canvas: Canvas, px: float, wide: float, y: float, color: str) -> None:
    """A line through words that begin at `px`."""
    canvas.path(_points(canvas, [(px, y), (px + wide, y)]), color, width=1.4)


def _points(canvas: Canvas, points: Sequence[tuple[float, float]]) -> str:
    """An open SVG path through pixels."""
    return "M" + "L".join(f"{canvas.at(px):.4f},{y:.1f}" for px, y in points)
