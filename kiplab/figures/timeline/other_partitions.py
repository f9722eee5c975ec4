"""The partitions that a picture does not follow: one thin row each, and one for all the rest."""

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple, TypeVar

from ...rows.columns import STRIPS, Rows, SpanRow
from ..drawing.canvas import Box, Canvas, safe
from ..drawing.text_width import first_fit, width_of
from .hover_cards import folded
from .lanes import Lanes, Panel
from .mask import Lasting

ROWS_MAX = 2
"""So many get a row of their own; the others share one."""
ROW, GAP, ABOVE = 16, 4, 9
T = TypeVar("T")
_LEADS, _NOBODY = ("leader", "elected"), "nobody"
_WORST = ("lost", "at risk", "offline", "safe")
_GLYPHS = {"lost": "▼", "at risk": "▲", "offline": "○", "safe": "●"}


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
    own = sorted(names, key=lambda name: _trouble(rows, name))[:ROWS_MAX]
    rest = tuple(name for name in names if name not in own)
    single = [Other(n, tuple(readings(rows, n)), (n,)) for n in names if n in own]
    if not rest:
        return tuple(single)
    return (*single, Other(f"and {len(rest)} more", tuple(_folded(rows, rest)), rest))


def _trouble(rows: Rows, name: str) -> int:
    found = (s.value for s in rows.spans if (s.track, s.partition) == ("state", name))
    return min(map(_WORST.index, found), default=len(_WORST))


def readings(rows: Rows, name: str) -> Iterator[StripReading]:
    """Leader and ISR of one partition; equal neighbours are one."""
    states = list(_states(rows, name))
    for x0, x1, (leader, isr, state) in _runs(states):
        mark = "" if state in ("safe", "offline") else f"{_GLYPHS[state]} {state} · "
        who = f"★ {leader}" if leader else "no leader"
        who = f"○ {who}" if state == "offline" else who
        short = mark.replace(" · ", "").strip()
        texts = (f"{mark}{who} · ISR {isr}", f"{mark}{who} {isr}", f"{who} {isr}", short or who)
        yield StripReading(x0, x1, state, (*texts, _GLYPHS[state]))


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
    for found in zip(*(_states(rows, name) for name in names), strict=True):
        states = [state for _, _, state in found]
        state = min(states, key=_WORST.index)
        worst.append((state, states.count(state)))
    for x0, x1, (state, count) in _runs(worst):
        glyph = _GLYPHS[state]
        said = f"{glyph} all safe" if state == "safe" else f"{glyph} {count} {state}"
        yield StripReading(x0, x1, state, (said, glyph))


def _runs(values: list[T]) -> Iterator[tuple[int, int, T]]:
    x = 0
    for value, same in groupby(values):
        count = len(list(same))
        yield x, x + count, value
        x += count


# --- drawing ------------------------------------------------------------------------------------


def with_room(lanes: Lanes, rows: Rows, partition: str) -> Lanes:
    """The lanes with room below the records for the rows."""
    count = len(other_rows(rows, partition))
    return lanes._replace(bottom=lanes.bottom + count * (ROW + GAP) + ABOVE) if count else lanes


def draw_others(panel: Panel) -> None:
    """The rows, below the strip of committed records, each with its hover cards."""
    for other, y0, y1 in _placed(panel):
        _draw(panel, other, y0, y1)


def places_of_others(panel: Panel) -> Iterator[tuple[tuple[str, ...], float, float]]:
    """Each row's partitions, its top and its bottom."""
    for other, y0, y1 in _placed(panel):
        yield other.partitions, y0, y1


def _placed(panel: Panel) -> Iterator[tuple[Other, float, float]]:
    top = panel.lanes.records[1] + ABOVE
    for place, other in enumerate(other_rows(panel.rows, panel.partition)):
        y0 = top + place * (ROW + GAP) + GAP / 2
        yield other, y0, y0 + ROW


def _draw(panel: Panel, other: Other, y0: float, y1: float) -> None:
    canvas, size, y = panel.canvas, panel.canvas.sizes.small, (y0 + y1) / 2
    room = canvas.sizes.left - 16
    name = first_fit((other.name, other.name.rpartition("-")[0]), room, size) or "…"
    canvas.margin(y, safe(name), canvas.theme.muted, size=size)
    for reading in other.readings:
        _reading(canvas, reading, y0, y1)
        card = folded(_card(panel.rows, other, reading))
        for moment in range(reading.x0, reading.x1):
            canvas.card(moment + 0.5, y, card)
    canvas.take(Box(canvas.px(0), y0, canvas.px(canvas.end), y1))


def _reading(canvas: Canvas, reading: StripReading, y0: float, y1: float) -> None:
    theme, size = canvas.theme, canvas.sizes.small
    fill, color = {
        "lost": (theme.lost, theme.lost_text),
        "at risk": (theme.risk, theme.risk_text),
        "offline": (theme.offline, theme.text),
    }.get(reading.state, (theme.isr_fill, theme.text))
    canvas.rect(reading.x0, reading.x1, y0, y1, fill, line={"color": theme.paper, "width": 2})
    if reading.x0 > 0:
        canvas.line(reading.x0, y0 + 1, reading.x0, y1 - 1, theme.tile_edge, width=2)
    text = first_fit(reading.texts, (reading.x1 - reading.x0) * canvas.unit - 6, size)
    if reading.state == "at risk":
        canvas.hatch(reading.x0, reading.x1, y0, y1, theme.risk_edge)
    if text:
        middle, half = (reading.x0 + reading.x1) / 2, width_of(text, size) / 2 + 4
        if reading.state == "at risk":
            px = canvas.px(middle)
            canvas.rect(canvas.at(px - half), canvas.at(px + half), y0 + 1, y1 - 1, fill)
        shorter = [safe(other) for other in reading.texts[reading.texts.index(text) + 1 :]]
        lasting, y = Lasting(reading.x0, reading.x1, shorter), (y0 + y1) / 2
        canvas.text(middle, y, safe(text), color, size=size, anchor="center", lasting=lasting)


def _card(rows: Rows, other: Other, reading: StripReading) -> Iterator[str]:
    since = f"from {rows.meta.number(reading.x0)} to {rows.meta.number(reading.x1)}"
    yield f"{other.name}, {since}"
    for name in other.partitions:
        said = (f"{s.track} {s.text}" for s in _standing(rows, name, reading.x0))
        yield ", ".join((*((name,) if len(other.partitions) > 1 else ()), *said))


def _standing(rows: Rows, name: str, x: int) -> Iterator[SpanRow]:
    for span in rows.spans:
        if span.partition == name and span.x0 <= x < span.x1:
            if span.track in STRIPS:
                yield span
            elif span.track == "state":
                yield SpanRow(span.lane, "committed records", x, x, span.value, span.text, name)
