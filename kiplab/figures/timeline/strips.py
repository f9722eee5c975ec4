"""The flat parts of a panel: grid, title, partition strips, committed records, and the partitions
that the picture does not follow: one thin row each, and one for all the rest.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from ...plays.verdict import VERDICT_SIGNS
from ...rows.columns import FINDINGS, STRIPS, STRIPS_OF_ELR, Rows, SpanRow
from ..drawing.canvas import Box, Canvas, safe
from ..drawing.text_width import first_fit, shortened, width_of
from ..drawing.theme import Theme
from .hover_cards import folded
from .icons import CELL, CELL_GAP, CELLS, bracket, struck_cells
from .lanes import Lanes, Panel
from .mask import Lasting

CELLS_ROOM = CELLS * (CELL + CELL_GAP) + 6
"""Pixels that crossed cells take, with a gap to the end of their span."""
GLYPHS = {"lost": "▼", "at risk": "▲", "offline": "○", "safe": "●"}
"""What became of the committed records, the worst first."""


def draw_grid(panel: Panel) -> None:
    """A faint line per moment, and the wash over the time in which records are at risk."""
    canvas, lanes = panel.canvas, panel.lanes
    canvas.grid(lanes.top - 4, lanes.bottom + 4)
    for span in panel.spans("records", "state"):
        if span.value == "at risk":
            first = min(top for top, _ in lanes.brokers.values())
            low = lanes.records[1]
            canvas.rect(span.x0, span.x1, first - 8, low, canvas.theme.risk, opacity=0.6)
            canvas.hatch(span.x0, span.x1, first - 8, first - 2, canvas.theme.risk_edge, step=6)
            canvas.keep(span.x0, span.x1, first - 8, first - 2)


def verdict_color(canvas: Canvas, verdict: str) -> str:
    """The colour of its words."""
    theme = canvas.theme
    return {"loss": theme.lost_text, "harm": theme.text, "safe": theme.safe_text}[verdict]


def draw_title(panel: Panel, title: str) -> None:
    """The panel's name at the left, the verdict in words at the right, where there is one."""
    canvas, y, size = panel.canvas, panel.lanes.title, panel.canvas.sizes.title
    canvas.text(0, y, safe(title), size=size, bold=True)
    name = shortened(panel.partition, canvas.sizes.left - 16, canvas.sizes.text)
    canvas.margin(y, safe(name), canvas.theme.muted)
    if not panel.rows.meta.verdict:
        return
    color, words = verdict_color(canvas, panel.rows.meta.verdict), verdict_words(panel, title)
    at, layer = canvas.end, "verdict"
    canvas.text(at, y, words, color, size=size, anchor="right", bold=True, layer=layer)


def verdict_words(panel: Panel, title: str) -> str:
    """The verdict's sentence, or its first half where the title leaves no room for all."""
    canvas, meta = panel.canvas, panel.rows.meta
    size = canvas.sizes.title
    room = canvas.end * canvas.unit - width_of(safe(title), size, bold=True) - 24
    glyph = VERDICT_SIGNS[meta.verdict]
    short: tuple[str, ...] = (meta.sentence.split(", ")[0],)
    if panel.lanes.zookeeper is not None:
        short = harms(meta.sentence)
    for text in (meta.sentence, *short, meta.verdict):
        if width_of(text, size, bold=True) + 2 * size <= room:
            return f"{glyph} {safe(text)}"
    return glyph


def harms(sentence: str) -> tuple[str, ...]:
    """A verdict with less and less of its words: that nothing is lost yet goes first."""
    harm = sentence.removeprefix("nothing lost yet, but ")
    fewer, _, last = harm.rpartition(" and ")
    return (harm, f"{fewer}, and more") if fewer and last else (harm,)


def draw_strips(panel: Panel) -> None:
    """Leader epoch, partition epoch, ISR, and what there is of KIP-966: one stepped row each."""
    canvas, theme = panel.canvas, panel.canvas.theme
    for track, (y0, y1) in panel.lanes.strips.items():
        if track == FINDINGS:
            _name(canvas, track, (y0 + y1) / 2)
            continue
        # Of a panel without the list, beside one that has it, the row is left empty.
        if track in STRIPS or panel.rows.meta.has_elr or any(panel.spans("partition", track)):
            _name(canvas, track, (y0 + y1) / 2)
        fill = theme.epoch_fill if track.endswith("epoch") else theme.isr_fill
        for span in panel.spans("partition", track):
            _step(canvas, (span.x0, span.x1, y0, y1), fill)
            packed, y = span.value.replace(", ", ","), (y0 + y1) / 2
            texts = [span.text, span.value, packed]
            if not _centred(canvas, (span.x0, span.x1), y, texts, "", canvas.sizes.text):
                _packed(panel, span, y, packed.strip("{}"))
        canvas.keep(0, canvas.end, y0, y1)
    if "ELR" in panel.lanes.strips:
        y0, y1 = panel.lanes.strips["ELR"]
        for mark in panel.marks("from ELR"):  # it moves up into the ISR
            canvas.line(mark.x, y1 - 2, mark.x, y0, theme.text, width=2)
            canvas.head(mark.x, y1, mark.x, y0 - canvas.sizes.gap, theme.text, size=9)


def _packed(panel: Panel, span: SpanRow, y: float, text: str) -> None:
    """What found no room in its cell: smaller, past its end if nothing follows, or … there."""
    canvas, size = panel.canvas, panel.canvas.sizes.small
    end = canvas.px(span.x1)
    if span.x1 == panel.rows.meta.end:
        end = canvas.px(canvas.end) + canvas.sizes.right - 4
    said = first_fit((text, "…", "·"), end - canvas.px(span.x0) - 2, size)
    canvas.text(canvas.beside(span.x0, 2), y, said, size=size, since=span.x0)


def _step(canvas: Canvas, ends: tuple[int, int, float, float], fill: str) -> None:
    x0, x1, y0, y1 = ends
    canvas.rect(x0, x1, y0, y1, fill, line={"color": canvas.theme.paper, "width": 2})
    if x0 > 0:
        canvas.line(x0, y0 + 1, x0, y1 - 1, canvas.theme.tile_edge, width=2)


# --- committed records ----------------------------------------------------------------------------


def draw_records(panel: Panel) -> None:
    """What became of the committed records: safe, at risk, lost, offline."""
    canvas, theme, (y0, y1) = panel.canvas, panel.canvas.theme, panel.lanes.records
    y, edges = (y0 + y1) / 2, {"lost": {"color": theme.lost_text, "width": 1}}
    edges["offline"] = {"color": theme.line, "width": 1, "dash": "dot"}
    if y1 <= y0:
        return
    canvas.keep(0, canvas.end, y0, y1)
    _name(canvas, "committed records", y)
    safe_colors = theme.safe, theme.safe_text
    for span in panel.spans("records", "state"):
        ends, (fill, color) = (span.x0, span.x1), _colors(theme, span.value) or safe_colors
        canvas.rect(*ends, y0, y1, fill, line=edges.get(span.value, {"width": 0}))
        text = _centred(canvas, ends, y, _record_words(span), color, canvas.sizes.text)
        if span.value == "at risk":
            _hatch(canvas, Box(canvas.px(span.x0), y0, canvas.px(span.x1), y1), text)
        elif span.value == "lost":
            bracket(canvas, *ends, y0 - 8, color)
            # Cells that are crossed out stand at the right end if words and cells find room.
            left, middle = canvas.px(span.x1) - CELLS_ROOM, canvas.px((span.x0 + span.x1) / 2)
            if middle + width_of(text, canvas.sizes.text) / 2 + 8 <= left:
                struck_cells(canvas, left, y, color)


def _hatch(canvas: Canvas, box: Box, text: str) -> None:
    """The diagonals of records at risk, on both sides of the words."""
    canvas.hatch(canvas.at(box.x0), canvas.at(box.x1), box.y0, box.y1, canvas.theme.risk_edge)
    if text:
        (px, y), half = box.middle, width_of(text, canvas.sizes.text) / 2
        canvas.plate(Box(px - half, y - 8, px + half, y + 8), canvas.theme.risk, 5)


def _colors(theme: Theme, state: str) -> tuple[str, str] | None:
    """What the strip of records is filled with in this state, and its words; None for safe."""
    return {
        "lost": (theme.lost, theme.lost_text),
        "at risk": (theme.risk, theme.risk_text),
        "offline": (theme.offline, theme.text),
    }.get(state)


def _record_words(span: SpanRow) -> list[str]:
    """From long to short."""
    glyph = GLYPHS[span.value]
    texts = [f"{glyph} {span.value}"]
    if span.value == "offline":
        texts = [f"{glyph} {span.text}", *texts]
    elif span.value == "lost":
        numbers = span.text.removesuffix(" lost").removeprefix("offsets ")
        long = [f"{glyph} {said}" for said in (span.text, f"{numbers} lost", numbers)]
        texts = [*long, *texts]
    return [*texts, glyph]


def _centred(
    canvas: Canvas, ends: tuple[int, int], y: float, texts: Sequence[str], color: str, size: float
) -> str:
    """The first of `texts` that fits in what lasts, in its middle; returns it, or nothing."""
    room = (ends[1] - ends[0]) * canvas.unit - (4 if size == canvas.sizes.text else 6)
    text = first_fit(texts, room, size)
    if text:
        shorter = [safe(other) for other in texts[texts.index(text) + 1 :]]
        middle, lasting = (ends[0] + ends[1]) / 2, Lasting(*ends, shorter)
        canvas.text(middle, y, safe(text), color, size=size, anchor="center", since=lasting)
    return text


def _name(canvas: Canvas, name: str, y: float) -> None:
    size = canvas.sizes.small
    if width_of(name, size) > canvas.sizes.left - 16:
        first, _, last = name.rpartition(" ")
        name = f"{first}<br>{last}"
    canvas.margin(y, name, canvas.theme.muted, size=size)


# --- other partitions -----------------------------------------------------------------------------

ROWS_MAX = 2
"""So many get a row of their own; the others share one."""
ROW, GAP, ABOVE = 16, 4, 9
_LEADS, _NOBODY = ("leader", "elected"), "nobody"
_WORST = tuple(GLYPHS)


class StripReading(NamedTuple):
    """What a row says from moment `x0` to `x1`: `texts` from long to short, `state` as records."""

    x0: int
    x1: int
    state: str
    texts: tuple[str, ...]


class Other(NamedTuple):
    """A row: its name, what is in it, and whose it is."""

    name: str
    readings: tuple[StripReading, ...]
    partitions: tuple[str, ...]


def other_rows(rows: Rows, partition: str) -> tuple[Other, ...]:
    """The rows below the lanes, those with trouble first to get one of their own."""
    names = [name for name in rows.meta.partitions if name != partition]
    worst: dict[str, int] = {}
    for span in rows.spans:
        if span.track == "state":
            trouble = _WORST.index(span.value)
            worst[span.partition] = min(worst.get(span.partition, trouble), trouble)
    own = sorted(names, key=lambda name: worst.get(name, len(_WORST)))[:ROWS_MAX]
    rest = tuple(name for name in names if name not in own)
    single = tuple(Other(n, tuple(readings(rows, n)), (n,)) for n in names if n in own)
    if not rest:
        return single
    return (*single, Other(f"and {len(rest)} more", tuple(_folded(rows, rest)), rest))


def readings(rows: Rows, name: str) -> Iterator[StripReading]:
    """Leader and ISR of one partition; equal neighbours are one."""
    for x0, x1, (leader, isr, state) in stretches(_states(rows, name)):
        mark = "" if state in ("safe", "offline") else f"{GLYPHS[state]} {state} · "
        who = f"★ {leader}" if leader else "no leader"
        who = f"○ {who}" if state == "offline" else who
        short = mark.replace(" · ", "").strip()
        texts = (f"{mark}{who} · ISR {isr}", f"{mark}{who} {isr}", f"{who} {isr}", short or who)
        yield StripReading(x0, x1, state, (*texts, GLYPHS[state]))


def _states(rows: Rows, name: str) -> Iterator[tuple[str, str, str]]:
    """(leader, ISR, records) per moment; a leader that died leads until somebody notices."""
    end, leader = rows.meta.end, ""
    leads, isrs, states = [""] * end, [""] * end, ["safe"] * end
    for span in (s for s in rows.spans if s.partition == name):
        x0, x1 = span.x0, span.x1
        if span.track == "role" and span.value in _LEADS:
            leads[x0:x1] = [span.lane.removeprefix("broker ")] * (x1 - x0)
        elif span.track == "ISR":
            isrs[x0:x1] = [span.value] * (x1 - x0)
        elif span.track == "state":
            states[x0:x1] = [span.value] * (x1 - x0)
        elif "no leader" in span.flags:
            leads[x0:x1] = [_NOBODY] * (x1 - x0)
    for led, isr, state in zip(leads, isrs, states, strict=True):
        leader = led or leader
        yield ("" if leader == _NOBODY else leader), isr, state


def _folded(rows: Rows, names: tuple[str, ...]) -> Iterator[StripReading]:
    """The worst of several partitions, and how many are as badly off."""
    worst = []
    for standings in zip(*(_states(rows, name) for name in names), strict=True):
        states = [state for _, _, state in standings]
        state = min(states, key=_WORST.index)
        worst.append((state, states.count(state)))
    for x0, x1, (state, count) in stretches(worst):
        text = "all safe" if state == "safe" else f"{count} {state}"
        yield StripReading(x0, x1, state, (f"{GLYPHS[state]} {text}", GLYPHS[state]))


def stretches(values: Iterable[Any]) -> Iterator[tuple[int, int, Any]]:
    """From where to where each value is the same, and which it is."""
    x = 0
    for value, same in groupby(values):
        count = len(list(same))
        yield x, x + count, value
        x += count


def with_room(lanes: Lanes, rows: Rows, partition: str) -> Lanes:
    """The lanes with room below the records for the rows."""
    count = len(other_rows(rows, partition))
    return lanes._replace(bottom=lanes.bottom + count * (ROW + GAP) + ABOVE) if count else lanes


def places_of_others(panel: Panel) -> Iterator[tuple[Other, float, float]]:
    """Each row, its top and its bottom."""
    top = panel.lanes.records[1] + ABOVE
    for place, other in enumerate(other_rows(panel.rows, panel.partition)):
        y0 = top + place * (ROW + GAP) + GAP / 2
        yield other, y0, y0 + ROW


def draw_others(panel: Panel) -> None:
    """The rows, below the strip of committed records, each with its hover cards."""
    canvas, size = panel.canvas, panel.canvas.sizes.small
    for other, y0, y1 in places_of_others(panel):
        short, y = other.name.rpartition("-")[0], (y0 + y1) / 2
        name = first_fit((other.name, short), canvas.sizes.left - 16, size) or "…"
        canvas.margin(y, safe(name), canvas.theme.muted, size=size)
        for reading in other.readings:
            _reading(canvas, reading, y0, y1)
            canvas.cards(reading.x0, reading.x1, y, folded(_card(panel.rows, other, reading)))
        canvas.keep(0, canvas.end, y0, y1)


def _reading(canvas: Canvas, reading: StripReading, y0: float, y1: float) -> None:
    theme, size, ends = canvas.theme, canvas.sizes.small, (reading.x0, reading.x1)
    fill, color = _colors(theme, reading.state) or (theme.isr_fill, theme.text)
    _step(canvas, (*ends, y0, y1), fill)
    text = _centred(canvas, ends, (y0 + y1) / 2, reading.texts, color, size)
    if reading.state == "at risk":
        _hatch(canvas, Box(canvas.px(reading.x0), y0, canvas.px(reading.x1), y1), text)


def _card(rows: Rows, other: Other, reading: StripReading) -> Iterator[str]:
    since = f"from {rows.meta.number(reading.x0)} to {rows.meta.number(reading.x1)}"
    yield f"{other.name}, {since}"
    for name in other.partitions:
        here = (s for s in rows.spans if s.partition == name and s.x0 <= reading.x0 < s.x1)
        lines = (
            f"{'committed records' if s.track == 'state' else s.track} {s.text}"
            for s in here
            if s.track in (*STRIPS, *STRIPS_OF_ELR, "state")
        )
        yield ", ".join((*((name,) if len(other.partitions) > 1 else ()), *lines))
