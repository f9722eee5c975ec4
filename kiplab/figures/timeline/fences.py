"""Fences on a broker's lane: a hatch while the controller keeps it out, between two signs.

⛔ stands where the fence begins, ✓ in a ring where it ends because the controller opened it.
"""

from ...rows.columns import SpanRow
from ..drawing.canvas import Box
from ..drawing.text_width import width_of
from . import icons
from .mask import Lasting
from .panel import Panel

SIGN_ROOM, STEP = 15, 4
"""Pixels that a sign on the hatch takes; from one place that is tried to the next."""


def draw_fence(panel: Panel, span: SpanRow) -> None:
    """The hatch over the band, in an outline."""
    canvas, y = panel.canvas, panel.lanes.band(span.lane)
    half = canvas.sizes.band / 2
    edge = {"color": canvas.theme.hatch, "width": 1}
    icons.cross_hatch(canvas, span.x0, span.x1, y - half, y + half, canvas.theme.hatch)
    canvas.rect(span.x0, span.x1, y - half, y + half, "rgba(0,0,0,0)", line=edge)
    canvas.take(Box(canvas.px(span.x0), y - half, canvas.px(span.x1), y + half))


def say_fence(panel: Panel, span: SpanRow) -> None:
    """⛔ at the beginning, or behind the words that stand there, and what it means if that fits."""
    canvas, y = panel.canvas, panel.lanes.band(span.lane)
    gate = icons.GATE if span in panel.rows.gates(span.lane) else 0
    left, end = canvas.px(span.x0) + 1, canvas.px(span.x1) - gate
    while left + SIGN_ROOM <= end:
        sign = Box(left, y - 7, left + SIGN_ROOM, y + 7)
        if not any(sign.overlaps(said) for said in canvas.said):
            _sign(panel, span, left, end)
            return
        left += STEP


def _sign(panel: Panel, span: SpanRow, left: float, end: float) -> None:
    canvas, y, size = panel.canvas, panel.lanes.band(span.lane), panel.canvas.sizes.small
    theme, wide = canvas.theme, SIGN_ROOM + width_of("fenced", size) + 3
    words = Box(left, y - 7, left + wide, y + 7)
    spoken = words.x1 <= end and not any(words.overlaps(said) for said in canvas.said)
    right = canvas.at(words.x1 if spoken else left + SIGN_ROOM)
    canvas.rect(canvas.at(left), right, y - 7.5, y + 7.5, theme.tile)
    icons.no_entry(canvas, left + SIGN_ROOM / 2, y, theme.muted, theme.tile)
    if spoken:
        at, known = canvas.at(left + SIGN_ROOM), Lasting(span.x0)
        canvas.text(at, y, "fenced", theme.muted, size=size, lasting=known)


def draw_gates(panel: Panel, lane: str) -> None:
    """Where a fence ends because the controller let the broker in again."""
    canvas, y = panel.canvas, panel.lanes.band(lane)
    for span in panel.rows.gates(lane):
        middle = canvas.px(span.x1) - min(icons.GATE, (span.x1 - span.x0) * canvas.unit) / 2
        icons.gate(canvas, middle, y, canvas.theme.text, canvas.theme.tile)


def is_fenced_from(panel: Panel, span: SpanRow) -> bool:
    """Whether the hatch lies where this span begins."""
    return any(f.x0 <= span.x0 < f.x1 for f in panel.spans(span.lane, "fenced"))


def is_on_a_fence(panel: Panel, lane: str, box: Box) -> bool:
    """Whether a hatch lies under some of this box on the lane."""
    canvas = panel.canvas
    fences = panel.spans(lane, "fenced")
    return any(canvas.px(f.x0) < box.x1 and box.x0 < canvas.px(f.x1) for f in fences)
