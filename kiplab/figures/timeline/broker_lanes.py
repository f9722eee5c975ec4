"""The brokers' lanes: a tile per uptime, a band for what the broker is to the partition, signs and
words of a process that shuts down, a gap for one that is gone.
"""

from collections.abc import Iterator
from itertools import pairwise, product

from ...rows.columns import SpanRow
from ..drawing.canvas import Box, Canvas, safe
from ..drawing.text_width import first_fit, width_of, wrapped
from . import icons
from .lane_marks import draw_tile
from .lanes import Panel
from .log_ends import draw_log_ends
from .mask import Lasting

_PAD, EPOCH_STEP = 8, 12
"""Pixels: before words, and from one place that is tried for a broker epoch to the next."""
THIN_SHIFT = 84
"""Pixels that the words behind a broker epoch are from where it begins."""
FARTHER = 24
"""Pixels from one place that is tried for the words of a role to the next."""
GAPS = {"disk replaced": "⌀", "tail lost": "⌀"}
_SIGN, _STEP = 14, 12


def draw_brokers(panel: Panel) -> None:
    """All lanes: tiles, bands, hatches, gaps."""
    for lane in panel.lanes.brokers:
        panel.canvas.margin(panel.lanes.band(lane), lane, bold=True)
        for span in panel.spans(lane, "uptime"):
            draw_tile(panel.canvas, (span.x0, span.x1), panel.lanes.brokers[lane])
            _say_epoch(panel, span)
        for span in panel.spans(lane, "registered"):
            # The edges of the tile go on while ZooKeeper counts a process in that is gone.
            for y in panel.lanes.brokers[lane]:
                edge = panel.canvas.theme.tile_edge
                panel.canvas.line(span.x0, y, span.x1, y, edge, dash="2px,3px")
    # Before all other words of the lanes: the ends of the logs have a line to themselves.
    draw_log_ends(panel)
    drawn = (
        *(("role", _role), ("fenced", _fence), ("role", _say_role), ("fenced", _say_fence)),
        *(("shutting down", _say_power), ("passed over", _say_power), ("down", _down)),
    )
    for lane in panel.lanes.brokers:
        for track, draw in drawn:
            for span in panel.spans(lane, track):
                draw(panel, span)
        # Where a fence ends because the controller let the broker in again.
        for span in panel.rows.gates(lane):
            wide = min(icons.GATE, (span.x1 - span.x0) * panel.canvas.unit)
            place = panel.canvas.px(span.x1) - wide / 2, panel.lanes.band(lane)
            icons.gate(panel.canvas, *place, panel.canvas.theme.text, panel.canvas.theme.tile)
        if next(panel.spans(lane, "role"), None) is None:
            _say_no_copy(panel, lane)


def _say_epoch(panel: Panel, span: SpanRow) -> None:
    """Written out at the tile's beginning, or behind an arrow that leaves there; else short."""
    canvas, (y, _), size = panel.canvas, panel.lines(span.lane), panel.canvas.sizes.small
    # A bare number could be any of the four epochs.
    short = "unregistered" if span.value == "none" else f"be {span.value}"
    if panel.lanes.zookeeper is not None and span.value != "none":
        short = f"cz {span.value}"
    start, end = canvas.px(span.x0) + _PAD, canvas.px(span.x1)
    for text, at, _ in canvas.along((span.text, short), start, end, y, EPOCH_STEP):
        if canvas.is_free(canvas.box_of(at, y, text, size)):
            # Further on it is known from where it stands: a mask may still lie there before.
            since = max(span.x0, int(at) if at > canvas.at(start) else 0)
            canvas.text(at, y, safe(text), canvas.theme.muted, size=size, since=since)
            return


def _role(panel: Panel, span: SpanRow) -> None:
    """The band in pieces: half as high while the broker shuts down."""
    canvas, y = panel.canvas, panel.lanes.band(span.lane)
    full = canvas.sizes.band / 2 * icons.HEIGHTS[span.value]
    for x0, x1, leaving in _pieces(panel, span):
        half = full / 2 if leaving else full
        icons.BANDS[span.value](canvas, icons.Band(x0, x1, y - half, y + half, span.flags))


def _pieces(panel: Panel, span: SpanRow) -> Iterator[tuple[int, int, bool]]:
    leaving = list(panel.spans(span.lane, "shutting down"))
    cuts = {x for other in leaving for x in (other.x0, other.x1) if span.x0 < x < span.x1}
    for x0, x1 in pairwise(sorted({span.x0, span.x1, *cuts})):
        yield x0, x1, any(other.x0 <= x0 < other.x1 for other in leaving)


def _say_role(panel: Panel, span: SpanRow) -> None:
    """The role in words: at the left end of the band, or of the first piece of it that has room,
    on a plate where a hatch or the edge of a low band lies under them.
    """
    canvas, y = panel.canvas, panel.lanes.band(span.lane)
    candidates, color, fill = _role_words(canvas, span)
    if not candidates:
        return
    half = canvas.sizes.band / 2
    canvas.keep(span.x0, span.x1, y - half, y + half)
    places, size = [*_places_of_role(panel, span, candidates)], canvas.sizes.text
    if not places:
        return
    # Where no arrow goes through the words, if there is such a place.
    text = places[0][0]
    alike = [place for place in places if place[0] == text]
    boxes = [canvas.box_of(canvas.at(left), y, text, size) for _, left, *_ in alike]
    n = next((n for n, box in enumerate(boxes) if not canvas.is_crossed(box)), 0)
    (_, left, x0, low), box = alike[n], boxes[n]
    at = canvas.at(left)
    fences = panel.spans(span.lane, "fenced")
    hatched = any(canvas.px(f.x0) < box.x1 and box.x0 < canvas.px(f.x1) for f in fences)
    if span.value == "proposed" or "lacks committed" in span.flags or low or hatched:
        canvas.plate(box, fill)
    shorter = [safe(other) for other in candidates[candidates.index(text) + 1 :]]
    canvas.text(at, y, safe(text), color, size=size, since=Lasting(x0, span.x1, shorter))


def _places_of_role(
    panel: Panel, span: SpanRow, candidates: list[str]
) -> Iterator[tuple[str, float, int, bool]]:
    """(words, pixels from the left, from which moment they are known, whether the band is low
    there): at the beginning of a piece of the band, behind the sign of a fence, further on, and
    clear of the gate at its end.
    """
    canvas, size = panel.canvas, panel.canvas.sizes.text
    gates = [canvas.px(fence.x1) for fence in panel.rows.gates(span.lane)]
    # The sign of a fence that begins there, if it finds room before the shortest words of the role.
    fences = list(panel.spans(span.lane, "fenced"))
    gate = icons.GATE if any(f.x0 <= span.x0 < f.x1 for f in fences) else 0
    wide = width_of(candidates[-1], size) + (1.6 * _PAD + gate) + SIGN_ROOM
    begins = any(fence.x0 == span.x0 for fence in fences)
    sign = SIGN_ROOM if begins and (span.x1 - span.x0) * canvas.unit >= wide else 0
    for x0, x1, low in _pieces(panel, span):
        start, end = canvas.px(x0), canvas.px(x1)
        if "lacks committed" in span.flags and span.value == "leader" and x1 == panel.rows.meta.end:
            # While a run is under way, what is lost is said as soon as it is lost.
            end = canvas.px(canvas.end)
        behind = [gate for gate in gates if start < gate < end]
        farther = range(round(start + sign) + FARTHER, round(end), FARTHER)
        for text, left in product(candidates, [start + sign, *behind, *farther]):
            stop = min((g - icons.GATE for g in gates if left < g <= end), default=end)
            if left + 1.6 * _PAD + width_of(text, size) <= stop:
                since = x0 if left == start + sign else round(canvas.at(left))
                yield text, left + _PAD, since, low


def _say_no_copy(panel: Panel, lane: str) -> None:
    """Why there is nothing on the tiles of this lane: on the first that has room for it."""
    canvas, size, y = panel.canvas, panel.canvas.sizes.small, panel.lanes.band(lane)
    texts = [f"no copy of {panel.partition}", "no copy"] if panel.partition else []
    fences = {span.x0: span.x1 for span in panel.spans(lane, "fenced")}
    for text, span in product(texts, panel.spans(lane, "uptime")):
        start = fences.get(span.x0, span.x0)
        at = canvas.at(canvas.px(start) + _PAD + (THIN_SHIFT if panel.is_thin(lane) else 0))
        places = [(text, at, y)]
        fits = canvas.box_of(at, y, text, size).x1 + _PAD <= canvas.px(span.x1)
        if fits and canvas.write_first(places, canvas.theme.muted, size=size, since=start):
            return


def _role_words(canvas: Canvas, span: SpanRow) -> tuple[list[str], str, str]:
    """(texts from long to short, their colour, what they stand on); a thin line has no words."""
    theme, flags = canvas.theme, span.flags
    if span.value == "leader":
        texts = [f"★ {span.text}", "★ leader", "★"]
        if "lacks committed" in flags:
            return list(_without(span.text)), theme.lost_text, theme.lost
        if "recovering" in flags:
            texts = ["★ leader · R recovering", "★ R recovering", "★ R", "R"]
        if "unaware" in flags:
            only = "★ leader · R for the controller only"
            texts = [f"{only}, answers clients", only, "★ leader · R", *texts[2:]]
        return texts, theme.leader_text, theme.leader
    if span.value in ("elected", "believes"):
        return [f"☆ {span.text}", f"☆ {span.value}", "☆"], theme.text, theme.box
    if span.value == "in ISR" and "idle" in flags:
        texts = [span.text, "in ISR, does not fetch", "does not fetch", "ISR, idle", "idle"]
        return texts, theme.text, theme.offline
    if span.value == "in ISR":
        hollow = "log empty" in flags
        color, fill = (theme.text, theme.box) if hollow else (theme.member_text, theme.member)
        return [span.text, "in ISR", "ISR"], color, fill
    words = [span.text, "proposed"] if span.value == "proposed" else []
    return words, theme.text, theme.tile


def _without(text: str) -> Iterator[str]:
    """``leads without offsets 0–99 · recovering`` from long to short."""
    lead, dot, recovering = text.partition(" · ")
    numbers = lead.replace("offsets ", "").replace("offset ", "")
    mark = " · R" if recovering else ""
    yield from (f"★ {said}{dot}{recovering}" for said in (lead, numbers))
    yield from (f"★ {numbers}{mark}", f"★ {numbers.removeprefix('leads ')}{mark}", f"★{mark}", "★")


# --- fences ---------------------------------------------------------------------------------------


SIGN_ROOM, STEP = 15, 4
"""Pixels that a sign on the hatch takes; from one place that is tried to the next."""


def _fence(panel: Panel, span: SpanRow) -> None:
    """The hatch over the band, in an outline."""
    canvas, y, color = panel.canvas, panel.lanes.band(span.lane), panel.canvas.theme.hatch
    ends = span.x0, span.x1, y - canvas.sizes.band / 2, y + canvas.sizes.band / 2
    icons.cross_hatch(canvas, *ends, color)
    canvas.rect(*ends, "rgba(0,0,0,0)", line={"color": color, "width": 1})
    canvas.keep(*ends)


def _say_fence(panel: Panel, span: SpanRow) -> None:
    """⛔ at the beginning, or behind the words that stand there, and what it means if that fits."""
    canvas, theme, y = panel.canvas, panel.canvas.theme, panel.lanes.band(span.lane)
    gate = icons.GATE if span in panel.rows.gates(span.lane) else 0
    left, end, size = canvas.px(span.x0) + 1, canvas.px(span.x1) - gate, canvas.sizes.small

    def is_clear(wide: float) -> bool:
        box = Box(left, y - 7, left + wide, y + 7)
        return left + wide <= end and not any(box.overlaps(word) for word in canvas.words)

    while not is_clear(SIGN_ROOM):
        left += STEP
        if left + SIGN_ROOM > end:
            return
    spoken = is_clear(wide := SIGN_ROOM + width_of("fenced", size) + 3)
    right = left + (wide if spoken else SIGN_ROOM)
    canvas.plate(Box(left, y - 7.5, right, y + 7.5), theme.tile, 0)
    icons.no_entry(canvas, left + SIGN_ROOM / 2, y, theme.muted, theme.tile)
    if spoken:
        at = canvas.at(left + SIGN_ROOM)
        canvas.text(at, y, "fenced", theme.muted, size=size, since=span.x0)


# --- a process that shuts down or is gone ---------------------------------------------------------


_POWER = {
    "shutting down": ("muted", ("shutting down", "shuts down", "")),
    # A process that runs, and that the controller takes for one that shuts down.
    "passed over": ("gone", ("never elected: treated as shutting down", "never elected", "")),
}


def _say_power(panel: Panel, span: SpanRow) -> None:
    """⏻ and the longest words behind it that find room; at least the sign if there is any."""
    canvas, size, (name, texts) = panel.canvas, panel.canvas.sizes.small, _POWER[span.track]
    color = getattr(canvas.theme, name)
    first, last = round(canvas.px(span.x0)) + _PAD, round(canvas.px(span.x1))
    for text, y in product(texts, panel.lines(span.lane)):
        wide = _SIGN + (width_of(text, size) if text else 0)
        for left in range(first, last - round(wide), _STEP):
            box = Box(left, y - size * 0.6, left + wide, y + size * 0.6)
            if canvas.is_free(Box(left - _PAD, box.y0, box.x1 + _PAD, box.y1)):
                icons.power(canvas, left + icons.SIGN, y, color)
                canvas.taken.append(box)
                if text:
                    at, since = canvas.at(left + _SIGN), int(canvas.at(left))
                    canvas.text(at, y, text, color, size=size, since=since)
                return


def _down(panel: Panel, span: SpanRow) -> None:
    """A gap: the sign of records that are gone, and what is left in words if they fit."""
    canvas, size = panel.canvas, panel.canvas.sizes.small
    theme, y = canvas.theme, panel.lanes.band(span.lane)
    room, left = (span.x1 - span.x0) * canvas.unit - 18 - _PAD, canvas.px(span.x0) + 18
    sign = GAPS.get(span.value, "")
    full = f"{sign} {span.text}".strip()
    text = first_fit([full], room, size) or wrapped(full, room, size) or ""
    if text and text.count("<br>") < 3:
        farther = range(round(left), round(left + room - width_of(text, size)) + 1, _STEP)
        boxes = ((px, canvas.box_of(canvas.at(px), y, text, size)) for px in farther)
        left = next((px for px, box in boxes if not canvas.is_crossed(box)), left)
        canvas.text(canvas.at(left), y, text, theme.muted, size=size, since=span.x0)
    elif sign:
        # Beside the cross of the crash, or above it where the gap is narrow.
        roomy = room + 18 + _PAD >= 30
        at, height = (left + 3, y) if roomy else (canvas.px(span.x0) + 8, y - 13)
        color, size = theme.gone, canvas.sizes.text
        canvas.text(canvas.at(at), height, sign, color, size=size, anchor="center", bold=True)
