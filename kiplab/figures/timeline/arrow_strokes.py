"""How a message is drawn: its line, its tail and its end each say one thing.

| part | what it says |
|---|---|
| line | solid: there at once; dashed: late or on its way; dotted: lost; double: a copy sent again |
| tail | a dot; a hollow diamond where the process that sent it, or that it was for, was gone |
| end | a head: accepted; ✕ midway: lost; nothing: still on its way |
| before the head | a shield: a guard refused it; ⊘: it was refused, and no guard did it |
"""

from math import hypot

from ...rows.columns import MessageRow
from ..drawing.canvas import Canvas
from . import icons

LATE, LOST = "7px,4px", "2px,3px"
BEFORE = 19
"""Pixels from the arrow's head to the middle of the sign before it."""
Ends = tuple[float, float, float, float]
"""Moment and pixel of the tail, then of the head."""


def dash_of(message: MessageRow) -> str:
    """Plotly's name or pattern of the line."""
    if message.fate == "dropped":
        return LOST
    late = message.x_arrived is None or message.x_arrived > message.x_sent
    return LATE if late else "solid"


def draw_stroke(
    canvas: Canvas, message: MessageRow, ends: Ends, color: str, *, tailed: bool = True
) -> None:
    """Line, tail and end; a piece that does not begin at the sender is not `tailed`."""
    x0, y0, x1, y1 = ends
    lost = message.fate == "dropped"
    # What is lost never gets there: its line breaks off halfway.
    stop = (x0 + (x1 - x0) * 0.55, y0 + (y1 - y0) * 0.55) if lost else (x1, y1)
    for shift in (-2.2, 2.2) if message.duplicate else (0.0,):
        dx, dy = _beside(canvas, ends, shift)
        line = (x0 + dx, y0 + dy, stop[0] + dx, stop[1] + dy)
        canvas.line(*line, color, width=1.4 if shift else 2, dash=dash_of(message))
    if tailed and message.x_sent >= 0:
        draw_tail(canvas, x0, y0, color, message.is_of_earlier_incarnation)
    if lost:
        size = canvas.sizes.text + 1
        canvas.text(*stop, "✕", color, anchor="center", size=size, bold=True)
    elif message.fate != "in flight":
        canvas.head(*ends, color)
        if message.fate == "refused":
            _no(canvas, ends, color, guarded=bool(message.guard))


def _beside(canvas: Canvas, ends: Ends, shift: float) -> tuple[float, float]:
    """How far to move a line by `shift` pixels across itself: in moments, in pixels."""
    x0, y0, x1, y1 = ends
    across, down = canvas.px(x1) - canvas.px(x0), y1 - y0
    length = hypot(across, down) or 1
    return canvas.at(canvas.px(0) - down / length * shift), across / length * shift


def draw_tail(canvas: Canvas, x: float, y: float, color: str, gone: bool) -> None:
    """A dot; a hollow diamond if the process that sent it was gone when it arrived."""
    r, wide = 4.5, canvas.at(canvas.px(0) + 4.5)
    if gone:
        corners = [(x - wide, y), (x, y - r), (x + wide, y), (x, y + r)]
        points = "L".join(f"{a:.4f},{b:.1f}" for a, b in corners)
        canvas.path(f"M{points}Z", color, fill=canvas.theme.box, width=1.5)
    else:
        edge = {"color": color, "width": 1}
        canvas.rect(x - wide, x + wide, y - r, y + r, color, type="circle", line=edge)


def _no(canvas: Canvas, ends: Ends, color: str, *, guarded: bool) -> None:
    """The sign on the line, just before the receiver."""
    x0, y0, x1, y1 = ends
    across, down = canvas.px(x1) - canvas.px(x0), y1 - y0
    length = hypot(across, down) or 1
    px, y = canvas.px(x1) - across / length * BEFORE, y1 - down / length * BEFORE
    if guarded:
        icons.shield(canvas, px, y, color, canvas.theme.box)
    else:
        _plain_no(canvas, px, y, color)


def _plain_no(canvas: Canvas, px: float, y: float, color: str) -> None:
    """⊘"""
    r = icons.SIGN
    edge = {"color": color, "width": 1.6}
    left, right = canvas.at(px - r), canvas.at(px + r)
    canvas.rect(left, right, y - r, y + r, canvas.theme.box, type="circle", line=edge)
    slant = r * 0.7
    ends = (canvas.at(px - slant), y + slant, canvas.at(px + slant), y - slant)
    canvas.line(*ends, color, width=1.6)
