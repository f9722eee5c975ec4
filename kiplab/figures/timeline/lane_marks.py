"""What happened at one moment on a broker's lane: a glyph there, and words if there is room."""

from __future__ import annotations

from ...rows.columns import MarkKind, MarkRow
from ..drawing.canvas import Box, safe
from .log_ends import draw_log_ends
from .panel import Panel
from .process_states import bottom_line
from .veil import Lasting

GLYPHS: dict[MarkKind, str] = {"crashed": "✕", "stopped": "✕", "caught up": "◆"}
SIGNS: dict[MarkKind, str] = {"not proposed": "◇ ", "unclean": "▲ "}
COLORS: dict[MarkKind, str] = {"not proposed": "refused", "unclean": "gone", "truncated": "gone"}
"""Names of the theme's colours; the other marks are muted."""
_SPOKEN: tuple[MarkKind, ...] = (
    *("truncated", "unclean", "not proposed"),
    *("caught up", "withdrawn", "polled"),
)
"""In order of importance: the first finds room first."""
_ON_THE_AXIS = "it happens on no broker's lane: the moment's label and its card say it"
NOT_DRAWN: dict[MarkKind, str] = {
    "appended": "the end of the log moves there",
    "destroyed": "the broker is down from there on, with its records gone",
    "lost": "the strip of the committed records says so, from there on",
    "broken": "the verdict and the sentences name the property",
    "not applicable": _ON_THE_AXIS,
    "happened": _ON_THE_AXIS,
}
"""Marks without a glyph or words on a lane, and why."""


def draw_glyphs(panel: Panel) -> None:
    """Crosses, diamonds: they stand whether or not there is room for words."""
    canvas = panel.canvas
    for mark in panel.marks(*GLYPHS):
        if mark.lane in panel.lanes.brokers:
            color = canvas.theme.text if mark.kind == "crashed" else canvas.theme.muted
            y = panel.lanes.band(mark.lane)
            glyph = GLYPHS[mark.kind]
            # A cross stands just after the end of the band, a diamond on its beginning.
            shift = canvas.at(canvas.px(0) + 8) if glyph == "✕" else 0
            canvas.text(mark.x + shift, y, glyph, color, anchor="center", size=14, bold=True)


def draw_remarks(panel: Panel) -> None:
    """Words on the tiles' bottom lines, as long as nothing is there yet."""
    for kind in _SPOKEN:
        for mark in panel.marks(kind):
            if mark.lane in panel.lanes.brokers:
                _say(panel, mark)
    draw_log_ends(panel)
    _say_out(panel)


def _say(panel: Panel, mark: MarkRow) -> None:
    """At the mark, or beside it; what must not be missed leaves at least its sign."""
    canvas, size = panel.canvas, panel.canvas.sizes.small
    y, px = bottom_line(panel, mark.lane), canvas.px(mark.x)
    sign = SIGNS.get(mark.kind, "")
    color = getattr(canvas.theme, COLORS.get(mark.kind, "muted"))
    texts = [f"{sign}{mark.text}", sign.strip()] if sign else [mark.text]
    for text in texts:
        for shift, anchor in ((0.0, "center"), (9.0, "left"), (-9.0, "right")):
            at = canvas.at(px + shift)
            box = canvas.box_of(at, y, text, size, anchor)
            roomy = Box(box.x0 - 4, box.y0, box.x1 + 4, box.y1)
            if canvas.is_free(roomy) and canvas.px(0) <= box.x0 and box.x1 <= canvas.px(canvas.end):
                known = Lasting(mark.x)
                canvas.text(at, y, safe(text), color, size=size, anchor=anchor, lasting=known)
                return


def _say_out(panel: Panel) -> None:
    """Thin lines say "out of the ISR" once per lane, if it can be said without crowding."""
    canvas, size = panel.canvas, panel.canvas.sizes.small
    for lane in panel.lanes.brokers:
        y = bottom_line(panel, lane)
        widest = sorted(panel.spans(lane, "role"), key=lambda s: s.x0 - s.x1)
        for span in (s for s in widest if s.value == "out"):
            middle = (span.x0 + span.x1) / 2
            box = canvas.box_of(middle, y, span.text, size, "center")
            fits = box.x1 - box.x0 + 12 <= (span.x1 - span.x0) * canvas.unit
            if fits and canvas.is_free(box):
                color = canvas.theme.muted
                known = Lasting(middle)
                canvas.text(middle, y, span.text, color, size=size, anchor="center", lasting=known)
                break
