"""A process that shuts down or is gone: a sign and words on its broker's lane, a gap."""

from __future__ import annotations

from ...rows.columns import SpanRow
from ..drawing.canvas import Box
from ..drawing.text_width import first_fit, width_of, wrapped
from . import icons
from .panel import Panel
from .veil import Lasting

GAPS = {"disk replaced": "⌀", "tail lost": "⌀"}
_PAD, _SIGN = 8, 14


def draw_shutting_down(panel: Panel, span: SpanRow) -> None:
    """The sign, and words; that the band is lower says the same."""
    px, y = sign_below(panel, span, "shutting down", "shuts down", early=True)
    icons.power(panel.canvas, px, y, panel.canvas.theme.muted)


def draw_down(panel: Panel, span: SpanRow) -> None:
    """A gap: the sign of records that are gone, and what is left in words if they fit."""
    canvas, size = panel.canvas, panel.canvas.sizes.small
    theme, y = canvas.theme, panel.lanes.band(span.lane)
    room, left = (span.x1 - span.x0) * canvas.unit - 18 - _PAD, canvas.px(span.x0) + 18
    sign = GAPS.get(span.value, "")
    full = f"{sign} {span.text}".strip()
    text = first_fit([full], room, size) or wrapped(full, room, size) or ""
    if text and text.count("<br>") < 3:
        known = Lasting(span.x0)
        canvas.text(canvas.at(left), y, text, theme.muted, size=size, lasting=known)
    elif sign:
        # Beside the cross of the crash, or above it where the gap is narrow.
        roomy = room + 18 + _PAD >= 30
        at, height = (left + 3, y) if roomy else (canvas.px(span.x0) + 8, y - 13)
        color, size = theme.gone, canvas.sizes.text
        canvas.text(canvas.at(at), height, sign, color, size=size, anchor="center", bold=True)


def sign_below(
    panel: Panel, span: SpanRow, *candidates: str, early: bool = False
) -> tuple[float, float]:
    """Words on the tile's bottom line, in the middle of the span or at its beginning, and room for
    a sign before them; returns the sign's place in pixels.
    """
    canvas, size = panel.canvas, panel.canvas.sizes.small
    room = (span.x1 - span.x0) * canvas.unit + 6 - _SIGN
    text = first_fit(candidates, room, size)
    y, middle = bottom_line(panel, span.lane), (canvas.px(span.x0) + canvas.px(span.x1)) / 2
    wide = width_of(text, size) if text else 0
    left = middle - (wide + (_SIGN if text else 0)) / 2
    if early:
        left = min(left, canvas.px(span.x0) + _PAD)
    if text:
        at, known = canvas.at(left + _SIGN), Lasting(span.x0)
        canvas.text(at, y, text, canvas.theme.muted, size=size, lasting=known)
    canvas.take(Box(left, y - 6, left + _SIGN, y + 6))
    return left + 5, y


def bottom_line(panel: Panel, lane: str) -> float:
    """The middle of the words at a tile's lower edge."""
    return panel.lanes.brokers[lane][1] - panel.canvas.sizes.small * 0.8
