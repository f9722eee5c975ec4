"""The brokers' lanes: a tile per uptime, a band for what the broker is to the partition."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product

from ...rows.columns import SpanRow
from ..drawing.canvas import Box, Canvas, safe
from ..drawing.text_width import first_fit, width_of, wrapped
from . import icons, replica_bands
from .panel import Panel
from .veil import Lasting

_PAD, _SIGN = 8, 14


def draw_brokers(panel: Panel) -> None:
    """All lanes: tiles, bands, hatches, gaps."""
    for lane in panel.lanes.brokers:
        _name(panel, lane)
        for span in panel.spans(lane, "uptime"):
            _uptime(panel, span)
        for span in panel.spans(lane, "role"):
            _role(panel, span)
        for span in panel.spans(lane, "fenced"):
            _fenced(panel, span)
        for span in panel.spans(lane, "role"):
            _say_role(panel, span)
        for span in panel.spans(lane, "shutting down"):
            _shutting_down(panel, span)
        for span in panel.spans(lane, "down"):
            _down(panel, span)
        _gates(panel, lane)
        if next(panel.spans(lane, "role"), None) is None:
            _say_no_copy(panel, lane)


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
    # A bare number could be any of the four epochs.
    short = "unregistered" if span.value == "none" else f"be {span.value}"
    for text in (span.text, short):
        box = canvas.box_of(at, top + size * 0.75, text, size)
        if box.x1 - box.x0 <= room and canvas.is_free(box):
            known, y = Lasting(span.x0), top + size * 0.75
            canvas.text(at, y, safe(text), canvas.theme.muted, size=size, lasting=known)
            return


# --- roles --------------------------------------------------------------------------------------


def _role(panel: Panel, span: SpanRow) -> None:
    """The band in pieces: half as high while the broker shuts down."""
    canvas, y = panel.canvas, panel.lanes.band(span.lane)
    full = canvas.sizes.band / 2 * replica_bands.HEIGHTS[span.value]
    for x0, x1, leaving in _pieces(span, list(panel.spans(span.lane, "shutting down"))):
        half = full / 2 if leaving else full
        replica_bands.DRAWN[span.value](
            canvas, replica_bands.Band(x0, x1, y - half, y + half, span.flags)
        )


def _pieces(span: SpanRow, leaving: list[SpanRow]) -> Iterator[tuple[int, int, bool]]:
    cuts = {x for other in leaving for x in (other.x0, other.x1) if span.x0 < x < span.x1}
    ends = sorted({span.x0, span.x1, *cuts})
    for x0, x1 in pairwise(ends):
        yield x0, x1, any(other.x0 <= x0 < other.x1 for other in leaving)


def _say_role(panel: Panel, span: SpanRow) -> None:
    """The role in words: at the left end of the band, or of the first piece of it that has room,
    on a plate where a hatch or the edge of a low band lies under them.
    """
    canvas, y = panel.canvas, panel.lanes.band(span.lane)
    said = _role_words(canvas, span)
    if said is None:
        return
    candidates, color, fill = said
    half = canvas.sizes.band / 2
    canvas.take(Box(canvas.px(span.x0), y - half, canvas.px(span.x1), y + half))
    size = canvas.sizes.text
    hatched = _is_hatched(panel, span)
    less = 1.6 * _PAD + (icons.GATE if hatched else 0)
    pieces = _pieces(span, list(panel.spans(span.lane, "shutting down")))
    fitting = (
        (first_fit(candidates, (x1 - x0) * canvas.unit - less, size), x0, low)
        for x0, x1, low in pieces
    )
    text, x0, low = next((found for found in fitting if found[0]), ("", 0, False))
    if not text:
        return
    at = canvas.at(canvas.px(x0) + _PAD)
    if span.value == "proposed" or hatched or low:
        box = canvas.box_of(at, y, text, size)
        left, right = canvas.at(box.x0 - 3), canvas.at(box.x1 + 3)
        canvas.rect(left, right, y - 8, y + 8, fill)
    shorter = [safe(other) for other in candidates[candidates.index(text) + 1 :]]
    lasting = Lasting(x0, span.x1, shorter)
    canvas.text(at, y, safe(text), color, size=size, lasting=lasting)


def _say_no_copy(panel: Panel, lane: str) -> None:
    """Why there is nothing on the tiles of this lane: on the first that has room for it."""
    canvas, size, y = panel.canvas, panel.canvas.sizes.small, panel.lanes.band(lane)
    texts = [f"no copy of {panel.partition}", "no copy"] if panel.partition else []
    fences = {span.x0: span.x1 for span in panel.spans(lane, "fenced")}
    for text, span in product(texts, panel.spans(lane, "uptime")):
        start = fences.get(span.x0, span.x0)
        at = canvas.at(canvas.px(start) + _PAD)
        box = canvas.box_of(at, y, text, size)
        if box.x1 + _PAD <= canvas.px(span.x1) and canvas.is_free(box):
            known = Lasting(start)
            canvas.text(at, y, safe(text), canvas.theme.muted, size=size, lasting=known)
            return


def _role_words(canvas: Canvas, span: SpanRow) -> tuple[list[str], str, str] | None:
    """(texts from long to short, their colour, what they stand on); None for a thin line."""
    theme = canvas.theme
    if span.value == "leader":
        texts = [f"★ {span.text}", "★ leader", "★"]
        if "recovering" in span.flags:
            texts = ["★ leader · R recovering", "★ R recovering", "★ R", "R"]
        return texts, theme.leader_text, theme.leader
    if span.value in ("elected", "believes"):
        return [f"☆ {span.text}", f"☆ {span.value}", "☆"], theme.text, theme.box
    if span.value == "in ISR":
        hollow = "log empty" in span.flags
        color, fill = (theme.text, theme.box) if hollow else (theme.member_text, theme.member)
        return [span.text, "in ISR", "ISR"], color, fill
    if span.value == "proposed":
        return [span.text, "proposed"], theme.text, theme.tile
    return None


def _is_hatched(panel: Panel, span: SpanRow) -> bool:
    return any(f.x0 <= span.x0 < f.x1 for f in panel.spans(span.lane, "fenced"))


# --- states of the process ----------------------------------------------------------------------


def _fenced(panel: Panel, span: SpanRow) -> None:
    canvas, y = panel.canvas, panel.lanes.band(span.lane)
    half = canvas.sizes.band / 2
    icons.cross_hatch(canvas, span.x0, span.x1, y - half, y + half, canvas.theme.hatch)
    canvas.take(Box(canvas.px(span.x0), y - half, canvas.px(span.x1), y + half))
    px, low = _below(panel, span, "fenced")
    icons.no_entry(canvas, px, low, canvas.theme.muted, canvas.theme.tile)


def _gates(panel: Panel, lane: str) -> None:
    """Where a fence ends because the controller let the broker in again."""
    canvas, y, half = panel.canvas, panel.lanes.band(lane), panel.canvas.sizes.band / 2
    for span in panel.rows.gates(lane):
        wide = min(icons.GATE, (span.x1 - span.x0) * canvas.unit / 2)
        ends = (canvas.at(canvas.px(span.x1) - wide), span.x1)
        icons.gate(canvas, ends, (y - half, y + half), canvas.theme.tile_edge, canvas.theme.tile)


def _shutting_down(panel: Panel, span: SpanRow) -> None:
    """The sign, and words; that the band is lower says the same."""
    px, y = _below(panel, span, "shutting down", "shuts down", early=True)
    icons.power(panel.canvas, px, y, panel.canvas.theme.muted)


def _below(
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


GAPS = {"disk replaced": "⌀", "tail lost": "⌀"}


def _down(panel: Panel, span: SpanRow) -> None:
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
        color, size = theme.refused, canvas.sizes.text
        canvas.text(canvas.at(at), height, sign, color, size=size, anchor="center", bold=True)
