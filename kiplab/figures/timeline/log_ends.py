"""On a broker's lane: where its log ends and where its high watermark is, wherever they change."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from ...rows.columns import SpanRow
from ..drawing.canvas import Box, Canvas
from ..drawing.text_width import width_of
from .lanes import Panel

DENSE_BELOW = 30
"""Pixels of a moment below which lines are drawn, for there would be no room for words."""
AFTER, CLOSE, APART, STEP, STEPS_MAX = 8, 4, 4, 12, 12
"""Pixels between a tick and its words, at least; between words; from one try to the next; tries."""
HIGH_WATERMARK = "high watermark "
"""How the flag of a log's span begins; the number follows."""


class Stretch(NamedTuple):
    """From moment `x0` to `x1` a log ends at `end`; `mark` is its high watermark, if it has one."""

    x0: float
    x1: float
    end: int
    mark: int | None

    @property
    def text(self) -> str:
        """``LEO 110 · HW 100``."""
        return f"LEO {self.end}" if self.mark is None else f"LEO {self.end} · HW {self.mark}"


Uptime = list[Stretch]


class LogEndPlace(NamedTuple):
    """A line of words on a lane: its middle, and what stands on it already."""

    y: float
    taken: list[Box]

    def is_free(self, box: Box) -> bool:
        """Whether nothing stands there yet."""
        return not any(box.overlaps(other) for other in self.taken)


def is_dense(canvas: Canvas) -> bool:
    """Whether there is room for lines only."""
    return canvas.unit < DENSE_BELOW


def draw_log_ends(panel: Panel) -> None:
    """``LEO 110 · HW 100`` behind a tick where either changes, as far as there is room: always on
    the lower line of the tiles, so that a log is read off one line.

    What has none is left out, the least telling first: hover cards and tables have it. Where
    moments are narrow, a stepped line for the end of the log, filled up to the high watermark.
    """
    found = {lane: list(_lives(panel, lane)) for lane in panel.lanes.brokers}
    if is_dense(panel.canvas):
        _draw_lines(panel, found)
        return
    for lane, incarnations in found.items():
        place = _place(panel, panel.bottom_line(lane))
        for before, now in sorted(
            (c for incarnation in incarnations for c in _changes(incarnation)), key=_rank
        ):
            _say(panel.canvas, now, before, place)


def _lives(panel: Panel, lane: str) -> Iterator[Uptime]:
    """What the log was while a process lived: nobody reads a disk whose broker is down."""
    logs = list(panel.spans(lane, "log"))
    for x0, x1 in uptimes(panel.spans(lane, "uptime")):
        here = [span for span in logs if span.x0 < x1 and span.x1 > x0]
        if here:
            yield [Stretch(max(s.x0, x0), min(s.x1, x1), int(s.value), _mark(s)) for s in here]


def uptimes(uptimes: Iterator[SpanRow]) -> Iterator[tuple[int, int]]:
    """From when to when processes lived; one that is registered meanwhile goes on."""
    ends: tuple[int, int] | None = None
    for span in uptimes:
        if ends is not None and ends[1] == span.x0:
            ends = ends[0], span.x1
            continue
        if ends is not None:
            yield ends
        ends = span.x0, span.x1
    if ends is not None:
        yield ends


def _mark(span: SpanRow) -> int | None:
    found = (flag.removeprefix(HIGH_WATERMARK) for flag in span.flags)
    return next(map(int, found), None)


# --- words --------------------------------------------------------------------------------------

StretchChange = tuple[Stretch | None, Stretch]


def _changes(incarnation: Uptime) -> Iterator[StretchChange]:
    """(before, now); the first stretch of an incarnation has none before it."""
    yield None, incarnation[0]
    yield from pairwise(incarnation)


def _rank(change: StretchChange) -> tuple[bool, float]:
    """Moves of the high watermark alone come first: nothing else in the picture tells of them."""
    before, now = change
    return before is None or before.end != now.end, now.x0


def _texts(before: Stretch | None, now: Stretch) -> tuple[str, str]:
    """All of it, and what has changed."""
    only_mark = before is not None and before.end == now.end and now.mark is not None
    return now.text, f"HW {now.mark}" if only_mark else f"LEO {now.end}"


def _place(panel: Panel, y: float) -> LogEndPlace:
    """A line on a tile, with all that its words have to keep away from."""
    canvas = panel.canvas
    half = canvas.sizes.small * 0.6
    strip = Box(0, y - half, canvas.width, y + half)
    here = [box for box in (*canvas.taken, *canvas.soft) if box.overlaps(strip)]
    return LogEndPlace(y, here)


def _say(canvas: Canvas, now: Stretch, before: Stretch | None, place: LogEndPlace) -> None:
    """The longest words that find room, and a tick if they stand where the stretch begins."""
    found = next(_free(canvas, now, _texts(before, now), place), None)
    if found is None:
        return
    text, left = found
    start, size, half = canvas.px(now.x0), canvas.sizes.small, canvas.sizes.small * 0.6
    at = canvas.at(left)
    box = canvas.text(at, place.y, text, canvas.theme.muted, size=size, since=now.x0)
    place.taken.append(Box(box.x0 - APART, box.y0, box.x1 + APART, box.y1))
    if before is not None and left <= start + AFTER:
        edge = canvas.theme.tile_edge
        canvas.line(now.x0, place.y - half, now.x0, place.y + half, edge, width=1.5)


def _free(
    canvas: Canvas, now: Stretch, texts: tuple[str, str], place: LogEndPlace
) -> Iterator[tuple[str, float]]:
    """Words, and where they may begin."""
    size, half = canvas.sizes.small, canvas.sizes.small * 0.6
    for text in texts:
        wide = width_of(text, size)
        for left in _starts(canvas.px(now.x0), canvas.px(now.x1) - wide):
            ends = left - APART, left + wide + APART
            if place.is_free(Box(ends[0], place.y - half, ends[1], place.y + half)):
                yield text, left


def _starts(start: float, last: float) -> Iterator[float]:
    """Pixels from the left at which words may begin: at the tick if possible, in the stretch."""
    first = start + max(min(AFTER, last - start), CLOSE)
    for step in range(STEPS_MAX):
        left = first + step * STEP
        if left > last:
            return
        yield left


# --- lines --------------------------------------------------------------------------------------


def _draw_lines(panel: Panel, found: dict[str, list[Uptime]]) -> None:
    """All on one scale, from the lowest end or high watermark to the highest end in the panel."""
    stretches = [
        s for incarnations in found.values() for incarnation in incarnations for s in incarnation
    ]
    if not stretches:
        return
    low = min(min(s.end, s.end if s.mark is None else s.mark) for s in stretches)
    scale = low, max(*(s.end for s in stretches), low + 1)
    for lane, incarnations in found.items():
        band, half = panel.lanes.band(lane), panel.canvas.sizes.band / 2
        ends = panel.lanes.brokers[lane][1] - 2, band + half + 2
        for incarnation in incarnations:
            draw_line(panel.canvas, incarnation, ends, scale)
        if incarnations:
            _say_last(panel, lane, incarnations[-1][-1])


def draw_line(
    canvas: Canvas, incarnation: Uptime, ends: tuple[float, float], scale: tuple[int, int]
) -> None:
    """Stepped, from `ends[0]` for the lowest offset of the scale up to `ends[1]` for the highest;
    filled up to the high watermark.
    """
    (bottom, top), (low, high) = ends, scale

    def y(offset: int) -> float:
        return bottom - (bottom - top) * (offset - low) / (high - low)

    filled = [(s.x0, s.x1, y(low if s.mark is None else s.mark)) for s in incarnation]
    path = "".join(f"L{x0},{at:.1f}L{x1},{at:.1f}" for x0, x1, at in filled)
    around = f"M{incarnation[0].x0},{bottom:.1f}{path}L{incarnation[-1].x1},{bottom:.1f}Z"
    canvas.path(around, canvas.theme.line, fill=canvas.theme.line, width=0)
    canvas.shapes[-1]["opacity"] = 0.55
    line = "".join(f"L{s.x0},{y(s.end):.1f}L{s.x1},{y(s.end):.1f}" for s in incarnation)
    canvas.path(f"M{line[1:]}", canvas.theme.muted, width=1.2)


def _say_last(panel: Panel, lane: str, last: Stretch) -> None:
    """At the end of its line, over the band."""
    canvas, above = panel.canvas, _place(panel, panel.top_line(lane))
    at, size = canvas.at(canvas.px(last.x1) - APART), canvas.sizes.small
    for text in (last.text, f"LEO {last.end}"):
        box = canvas.box_of(at, above.y, text, size, "right")
        if above.is_free(Box(box.x0 - APART, above.y - size * 0.4, box.x1, above.y + size * 0.4)):
            canvas.text(at, above.y, text, canvas.theme.muted, size=size, anchor="right")
            return
