"""Fences on a broker's lane: a hatch while the controller keeps it out, a gate where that ends."""

from __future__ import annotations

from ...rows.columns import SpanRow
from ..drawing.canvas import Box
from . import icons
from .panel import Panel
from .process_states import sign_below


def draw_fence(panel: Panel, span: SpanRow) -> None:
    """The hatch over the band, and the sign of no entry with a word below it."""
    canvas, y = panel.canvas, panel.lanes.band(span.lane)
    half = canvas.sizes.band / 2
    icons.cross_hatch(canvas, span.x0, span.x1, y - half, y + half, canvas.theme.hatch)
    canvas.take(Box(canvas.px(span.x0), y - half, canvas.px(span.x1), y + half))
    px, low = sign_below(panel, span, "fenced")
    icons.no_entry(canvas, px, low, canvas.theme.muted, canvas.theme.tile)


def draw_gates(panel: Panel, lane: str) -> None:
    """Where a fence ends because the controller let the broker in again."""
    canvas, y, half = panel.canvas, panel.lanes.band(lane), panel.canvas.sizes.band / 2
    for span in panel.rows.gates(lane):
        wide = min(icons.GATE, (span.x1 - span.x0) * canvas.unit / 2)
        ends = (canvas.at(canvas.px(span.x1) - wide), span.x1)
        icons.gate(canvas, ends, (y - half, y + half), canvas.theme.tile_edge, canvas.theme.tile)


def is_fenced_from(panel: Panel, span: SpanRow) -> bool:
    """Whether the hatch lies where this span begins."""
    return any(f.x0 <= span.x0 < f.x1 for f in panel.spans(span.lane, "fenced"))
