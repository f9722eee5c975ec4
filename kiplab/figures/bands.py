"""The brokers' lanes: a tile per uptime, a band for what the broker is to the partition."""

from __future__ import annotations

from collections.abc import Callable

from .canvas import Box, Canvas, safe
from .columns import SpanRow
from .measure import first_fit, wrapped
from .panel import Panel

_PAD = 8


def draw_brokers(panel: Panel) -> None:
    """All lanes: tiles, bands, hatches, gaps."""
    for lane in panel.lanes.brokers:
        _name(panel, lane)
        for span in panel.spans(lane, "uptime"):
            _uptime(panel, span)
        for span in panel.spans(lane, "role"):
            _ROLES[span.value](panel.canvas, span, panel.lanes.band(lane))
        for span in panel.spans(lane, "fenced"):
            _fenced(panel, span)
        for span in panel.spans(lane, "role"):
            _say_role(panel, span)
        for span in panel.spans(lane, "shutting down"):
            _shutting_down(panel, span)
        for span in panel.spans(lane, "down"):
            _down(panel, span)


def _name(panel: Panel, lane: str) -> None:
    canvas = panel.canvas
    x = canvas.at(canvas.sizes.left - 12)
    canvas.text(x, panel.lanes.band(lane), lane, anchor="right", bold=True)


def _uptime(panel: Panel, span: SpanRow) -> None:
    """The tile of one broker epoch, with a hard edge where that epoch was registered."""
    canvas, (top, bottom) = panel.canvas, panel.lanes.brokers[span.lane]
    canvas.rect(span.x0, span.x1, top, bottom, canvas.theme.tile)
    if span.x0 > 0:
        canvas.line(span.x0, top, span.x0, bottom, canvas.theme.tile_edge, width=2)
        canvas.take(Box(canvas.px(span.x0) - 1, top, canvas.px(span.x0) + 1, bottom))
    room = (span.x1 - span.x0) * canvas.unit - _PAD
    size, at = canvas.sizes.small, canvas.at(canvas.px(span.x0) + _PAD)
    for text in (span.text, span.text.removeprefix("broker "), span.value):
        box = canvas.box_of(at, top + size * 0.75, text, size)
        if box.x1 - box.x0 <= room and canvas.is_free(box):
            canvas.text(at, top + size * 0.75, safe(text), canvas.theme.muted, size=size)
            return


# --- roles --------------------------------------------------------------------------------------


def _leader(canvas: Canvas, span: SpanRow, y: float) -> None:
    theme, half = canvas.theme, canvas.sizes.band / 2
    recovering = "recovering" in span.flags
    edge = {"color": theme.refused if recovering else theme.band_edge, "width": 1.5}
    line = {**edge, "dash": "dot"} if recovering else edge
    canvas.rect(span.x0, span.x1, y - half, y + half, theme.leader, line=line)


def _member(canvas: Canvas, span: SpanRow, y: float) -> None:
    theme, half = canvas.theme, canvas.sizes.band / 2 - 3
    edge = {"color": theme.member_edge, "width": 1.5}
    canvas.rect(span.x0, span.x1, y - half, y + half, theme.member, line=edge)


def _proposed(canvas: Canvas, span: SpanRow, y: float) -> None:
    theme, half = canvas.theme, canvas.sizes.band / 2 - 3
    edge = {"color": theme.member_edge, "width": 1.5, "dash": "dash"}
    canvas.hatch(span.x0, span.x1, y - half, y + half, theme.member_edge)
    canvas.rect(span.x0, span.x1, y - half, y + half, "rgba(0,0,0,0)", line=edge)


def _out(canvas: Canvas, span: SpanRow, y: float) -> None:
    canvas.line(span.x0, y, span.x1, y, canvas.theme.line, width=3)


def _believes(canvas: Canvas, span: SpanRow, y: float) -> None:
    """It leads in its own eyes only: the leader's shape, hollow."""
    theme, half = canvas.theme, canvas.sizes.band / 2
    edge = {"color": theme.band_edge, "width": 1.5, "dash": "dash"}
    canvas.rect(span.x0, span.x1, y - half, y + half, theme.box, line=edge)


_ROLES: dict[str, Callable[[Canvas, SpanRow, float], None]] = {
    "leader": _leader,
    "elected": _believes,
    "believes": _believes,
    "in ISR": _member,
    "proposed": _proposed,
    "out": _out,
}


def _say_role(panel: Panel, span: SpanRow) -> None:
    """The role in words: at the band's left end, on a plate where a hatch lies under them."""
    canvas, y = panel.canvas, panel.lanes.band(span.lane)
    said = _role_words(canvas, span)
    if said is None:
        return
    candidates, color, fill = said
    half = canvas.sizes.band / 2
    canvas.take(Box(canvas.px(span.x0), y - half, canvas.px(span.x1), y + half))
    size = canvas.sizes.text
    text = first_fit(candidates, (span.x1 - span.x0) * canvas.unit - 1.6 * _PAD, size)
    if not text:
        return
    at = canvas.at(canvas.px(span.x0) + _PAD)
    if span.value == "proposed" or _is_hatched(panel, span):
        box = canvas.box_of(at, y, text, size)
        left, right = canvas.at(box.x0 - 3), canvas.at(box.x1 + 3)
        canvas.rect(left, right, y - 8, y + 8, fill)
    canvas.text(at, y, safe(text), color, size=size)


def _role_words(canvas: Canvas, span: SpanRow) -> tuple[list[str], str, str] | None:
    """(texts from long to short, their colour, what they stand on); None for a thin line."""
    theme = canvas.theme
    if span.value == "leader":
        return [f"★ {span.text}", "★ leader", "★"], theme.leader_text, theme.leader
    if span.value in ("elected", "believes"):
        return [f"☆ {span.text}", f"☆ {span.value}", "☆"], theme.text, theme.box
    if span.value == "in ISR":
        return [span.text, "in ISR", "ISR"], theme.member_text, theme.member
    if span.value == "proposed":
        return [span.text, "proposed"], theme.text, theme.tile
    return None


def _is_hatched(panel: Panel, span: SpanRow) -> bool:
    return any(f.x0 <= span.x0 < f.x1 for f in panel.spans(span.lane, "fenced"))


# --- states of the process ----------------------------------------------------------------------


def _fenced(panel: Panel, span: SpanRow) -> None:
    canvas, y = panel.canvas, panel.lanes.band(span.lane)
    half = canvas.sizes.band / 2
    canvas.hatch(span.x0, span.x1, y - half, y + half, canvas.theme.hatch)
    canvas.take(Box(canvas.px(span.x0), y - half, canvas.px(span.x1), y + half))
    if span.x1 < canvas.end:
        # The gate that opens when the controller unfences it.
        canvas.line(span.x1, y - half, span.x1, y + half, canvas.theme.hatch, width=1.5)
    _below(panel, span, "fenced")


def _shutting_down(panel: Panel, span: SpanRow) -> None:
    """A grey bar along the tile's lower edge."""
    canvas, bottom = panel.canvas, panel.lanes.brokers[span.lane][1]
    canvas.rect(span.x0, span.x1, bottom - 3, bottom, canvas.theme.hatch)
    _below(panel, span, "◐ shutting down", "◐")


def _below(panel: Panel, span: SpanRow, *candidates: str) -> None:
    """Words on the tile's bottom line, in the middle of the span."""
    canvas, size = panel.canvas, panel.canvas.sizes.small
    text = first_fit(candidates, (span.x1 - span.x0) * canvas.unit + 6, size)
    if text:
        x, y = (span.x0 + span.x1) / 2, bottom_line(panel, span.lane)
        canvas.text(x, y, text, canvas.theme.muted, size=size, anchor="center")


def bottom_line(panel: Panel, lane: str) -> float:
    """The middle of the words at a tile's lower edge."""
    return panel.lanes.brokers[lane][1] - panel.canvas.sizes.small * 0.8


_GAPS = {"disk replaced": "⌀ ", "tail lost": "⌀ "}


def _down(panel: Panel, span: SpanRow) -> None:
    """A gap: what is left of the broker, in words, wrapped if need be."""
    canvas, size = panel.canvas, panel.canvas.sizes.small
    theme, y = canvas.theme, panel.lanes.band(span.lane)
    room = (span.x1 - span.x0) * canvas.unit - 18 - _PAD
    full = f"{_GAPS.get(span.value, '')}{span.text}"
    text = first_fit([full], room, size) or wrapped(full, room, size) or ""
    if text and text.count("<br>") < 3:
        canvas.text(canvas.at(canvas.px(span.x0) + 18), y, text, theme.muted, size=size)
