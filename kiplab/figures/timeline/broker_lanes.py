"""The brokers' lanes: a tile per uptime, a band for what the broker is to the partition."""

from collections.abc import Iterator
from itertools import pairwise, product

from ...rows.columns import SpanRow
from ..drawing.canvas import Box, Canvas, safe
from ..drawing.text_width import width_of
from . import icons, replica_bands
from .lanes import Panel
from .log_ends import draw_log_ends
from .mask import Lasting
from .process_states import (
    draw_down,
    draw_passed_over,
    draw_registered,
    draw_shutting_down,
    is_thin,
    top_line,
)

_PAD, EPOCH_STEP = 8, 12
"""Pixels: before words, and from one place that is tried for a broker epoch to the next."""
THIN_SHIFT = 84
"""Pixels that the words behind a broker epoch are from where it begins."""


def draw_brokers(panel: Panel) -> None:
    """All lanes: tiles, bands, hatches, gaps."""
    for lane in panel.lanes.brokers:
        _name(panel, lane)
        for span in panel.spans(lane, "uptime"):
            _uptime(panel, span)
        for span in panel.spans(lane, "registered"):
            draw_registered(panel, span)
    # Before all other words of the lanes: the ends of the logs have a line to themselves.
    draw_log_ends(panel)
    for lane in panel.lanes.brokers:
        for span in panel.spans(lane, "role"):
            _role(panel, span)
        for span in panel.spans(lane, "fenced"):
            draw_fence(panel, span)
        for span in panel.spans(lane, "role"):
            _say_role(panel, span)
        for span in panel.spans(lane, "fenced"):
            say_fence(panel, span)
        for span in panel.spans(lane, "shutting down"):
            draw_shutting_down(panel, span)
        for span in panel.spans(lane, "passed over"):
            draw_passed_over(panel, span)
        for span in panel.spans(lane, "down"):
            draw_down(panel, span)
        draw_gates(panel, lane)
        if next(panel.spans(lane, "role"), None) is None:
            _say_no_copy(panel, lane)


def _name(panel: Panel, lane: str) -> None:
    panel.canvas.margin(panel.lanes.band(lane), lane, bold=True)


def _uptime(panel: Panel, span: SpanRow) -> None:
    """The tile of one broker epoch, with a hard edge where that epoch was registered."""
    canvas, (top, bottom) = panel.canvas, panel.lanes.brokers[span.lane]
    canvas.rect(span.x0, span.x1, top, bottom, canvas.theme.tile)
    if span.x0 > 0:
        canvas.line(span.x0, top, span.x0, bottom, canvas.theme.tile_edge, width=2)
        canvas.take(Box(canvas.px(span.x0) - 1, top, canvas.px(span.x0) + 1, bottom))
    _say_epoch(panel, span)


def _say_epoch(panel: Panel, span: SpanRow) -> None:
    """Written out at the tile's beginning, or behind an arrow that leaves there; else short."""
    canvas, y, size = panel.canvas, top_line(panel, span.lane), panel.canvas.sizes.small
    # A bare number could be any of the four epochs.
    short = "unregistered" if span.value == "none" else f"be {span.value}"
    if panel.lanes.zookeeper is not None and span.value != "none":
        short = f"cz {span.value}"
    for text in (span.text, short):
        left, last = canvas.px(span.x0) + _PAD, canvas.px(span.x1) - width_of(text, size)
        while left <= last:
            at = canvas.at(left)
            if canvas.is_free(canvas.box_of(at, y, text, size)):
                # Further on it is known from where it stands: a mask may still lie there before.
                since = max(span.x0, int(at) if left > canvas.px(span.x0) + _PAD else 0)
                canvas.text(at, y, safe(text), canvas.theme.muted, size=size, since=since)
                return
            left += EPOCH_STEP


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
    found = next(_places_of_role(panel, span, candidates), None)
    if found is None:
        return
    text, left, x0, low = found
    size, at = canvas.sizes.text, canvas.at(left)
    box = canvas.box_of(at, y, text, size)
    if span.value == "proposed" or low or is_on_a_fence(panel, span.lane, box):
        left, right = canvas.at(box.x0 - 3), canvas.at(box.x1 + 3)
        canvas.rect(left, right, box.y0, box.y1, fill)
    shorter = [safe(other) for other in candidates[candidates.index(text) + 1 :]]
    lasting = Lasting(x0, span.x1, shorter)
    canvas.text(at, y, safe(text), color, size=size, lasting=lasting)


def _places_of_role(
    panel: Panel, span: SpanRow, candidates: list[str]
) -> Iterator[tuple[str, float, int, bool]]:
    """(words, pixels from the left, from which moment they are known, whether the band is low
    there): at the beginning of a piece of the band, behind the sign of a fence, and clear of the
    gate at its end.
    """
    canvas, size = panel.canvas, panel.canvas.sizes.text
    less = 1.6 * _PAD + (icons.GATE if is_fenced_from(panel, span) else 0)
    begins = any(f.x0 == span.x0 for f in panel.spans(span.lane, "fenced"))
    sign = SIGN_ROOM if begins and _has_room(panel, span, candidates[-1], less) else 0
    gates = [canvas.px(fence.x1) for fence in panel.rows.gates(span.lane)]
    for x0, x1, low in _pieces(span, list(panel.spans(span.lane, "shutting down"))):
        start, end = canvas.px(x0), canvas.px(x1)
        behind = [gate for gate in gates if start < gate < end]
        for text, left in product(candidates, [start + sign, *behind]):
            stop = min((g - icons.GATE for g in gates if left < g <= end), default=end)
            if left + 1.6 * _PAD + width_of(text, size) <= stop:
                known = x0 if left == start + sign else round(canvas.at(left))
                yield text, left + _PAD, known, low


def _has_room(panel: Panel, span: SpanRow, shortest: str, less: float) -> bool:
    """Whether the sign of a fence finds room before the shortest words of a role."""
    canvas = panel.canvas
    wide = width_of(shortest, canvas.sizes.text) + less + SIGN_ROOM
    return (span.x1 - span.x0) * canvas.unit >= wide


def _say_no_copy(panel: Panel, lane: str) -> None:
    """Why there is nothing on the tiles of this lane: on the first that has room for it."""
    canvas, size, y = panel.canvas, panel.canvas.sizes.small, panel.lanes.band(lane)
    texts = [f"no copy of {panel.partition}", "no copy"] if panel.partition else []
    fences = {span.x0: span.x1 for span in panel.spans(lane, "fenced")}
    for text, span in product(texts, panel.spans(lane, "uptime")):
        start = fences.get(span.x0, span.x0)
        beside = THIN_SHIFT if is_thin(panel, lane) else 0
        at = canvas.at(canvas.px(start) + _PAD + beside)
        box = canvas.box_of(at, y, text, size)
        if box.x1 + _PAD <= canvas.px(span.x1) and canvas.is_free(box):
            canvas.text(at, y, safe(text), canvas.theme.muted, size=size, since=start)
            return


def _role_words(canvas: Canvas, span: SpanRow) -> tuple[list[str], str, str] | None:
    """(texts from long to short, their colour, what they stand on); None for a thin line."""
    theme = canvas.theme
    if span.value == "leader":
        texts = [f"★ {span.text}", "★ leader", "★"]
        if "recovering" in span.flags:
            texts = ["★ leader · R recovering", "★ R recovering", "★ R", "R"]
        if "unaware" in span.flags:
            only = "R for the controller only"
            texts = [
                f"★ leader · {only}, answers clients",
                f"★ leader · {only}",
                "★ leader · R",
                *texts[2:],
            ]
        return texts, theme.leader_text, theme.leader
    if span.value in ("elected", "believes"):
        return [f"☆ {span.text}", f"☆ {span.value}", "☆"], theme.text, theme.box
    if span.value == "in ISR":
        if "idle" in span.flags:
            texts = [span.text, "in ISR, does not fetch", "does not fetch", "ISR, idle", "idle"]
            return texts, theme.text, theme.offline
        hollow = "log empty" in span.flags
        color, fill = (theme.text, theme.box) if hollow else (theme.member_text, theme.member)
        return [span.text, "in ISR", "ISR"], color, fill
    if span.value == "proposed":
        return [span.text, "proposed"], theme.text, theme.tile
    return None


# --- fences ---------------------------------------------------------------------------------------


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
        at = canvas.at(left + SIGN_ROOM)
        canvas.text(at, y, "fenced", theme.muted, size=size, since=span.x0)


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
