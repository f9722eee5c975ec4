"""The log end and the high watermark on a broker's lane, wherever they change."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from ...rows.columns import SpanRow
from ...rows.log_blocks import high_watermark
from ..drawing.canvas import Box, Canvas
from ..drawing.text_width import width_of
from .lanes import Panel

DENSE_BELOW = 30
"""Pixels of a moment below which lines are drawn, for there would be no room for words."""
AFTER, CLOSE, APART, STEP, STEPS_MAX = 8, 4, 4, 12, 12
"""Pixels between a tick and its words, at least; between words; from one try to the next; tries."""
SIZE = 12
"""Pixels, larger than other small text: many runs are about these numbers."""


class Stretch(NamedTuple):
    """From moment `x0` to `x1` a log ends at `end`; `mark` is its high watermark, if it has one."""

    x0: float
    x1: float
    end: int
    mark: int | None = None


Uptime = list[Stretch]
StretchChange = tuple[Stretch | None, Stretch]
"""Before and now; the first stretch of an incarnation has none before it."""


def end_words(end: int | None, mark: int | None) -> str:
    """``LEO 110 · HW 100``."""
    return f"LEO {end}" if mark is None else f"LEO {end} · HW {mark}"


def is_dense(canvas: Canvas) -> bool:
    """Whether there is room for lines only; with the logs beside the lanes there is nothing."""
    return canvas.unit < DENSE_BELOW and not canvas.sizes.aside


def draw_log_ends(panel: Panel) -> None:
    """``LEO 110 · HW 100`` behind a tick where either changes, as far as there is room: always on
    the lower line of the tiles, so that a log is read off one line.

    What has none is left out, the least telling first: hover cards and tables have it. Where
    moments are narrow, a stepped line for the end of the log, filled up to the high watermark.
    Nothing where the logs are drawn beside the lanes.
    """
    if panel.canvas.sizes.aside:
        return
    logs = {lane: list(_lives(panel, lane)) for lane in panel.lanes.brokers}
    if is_dense(panel.canvas):
        _draw_lines(panel, logs)
        return
    for lane, incarnations in logs.items():
        _, y = panel.lines(lane)
        taken = _taken(panel.canvas, y)
        pairs = (pair for one in incarnations for pair in pairwise([None, *one]))
        changes = [(before, now) for before, now in pairs if now]
        # Moves of the high watermark alone come first: nothing else in the picture tells of them.
        moved = [before is None or before.end != now.end for before, now in changes]
        for _, _, n in sorted((m, changes[n][1].x0, n) for n, m in enumerate(moved)):
            _say(panel.canvas, changes[n], y, taken)


def _lives(panel: Panel, lane: str) -> Iterator[Uptime]:
    """What the log was while a process lived: nobody reads a disk whose broker is down."""
    logs = [Stretch(s.x0, s.x1, int(s.value), high_watermark(s)) for s in panel.spans(lane, "log")]
    for x0, x1 in uptimes(panel.spans(lane, "uptime")):
        here = [s for s in logs if s.x0 < x1 and s.x1 > x0]
        if here:
            yield [s._replace(x0=max(s.x0, x0), x1=min(s.x1, x1)) for s in here]


def uptimes(uptimes: Iterator[SpanRow]) -> list[tuple[int, int]]:
    """From when to when processes lived; one that is registered meanwhile goes on."""
    ends: list[tuple[int, int]] = []
    for span in uptimes:
        first = ends.pop()[0] if ends and ends[-1][1] == span.x0 else span.x0
        ends.append((first, span.x1))
    return ends


def _taken(canvas: Canvas, y: float) -> list[Box]:
    half = SIZE * 0.6
    strip = Box(0, y - half, canvas.width, y + half)
    return [box for box in (*canvas.taken, *canvas.soft) if box.overlaps(strip)]


def _say(canvas: Canvas, change: StretchChange, y: float, taken: list[Box]) -> None:
    """The longest words that find room, and a tick if they stand where the stretch begins."""
    (before, now), size = change, SIZE
    half = size * 0.6
    only_mark = before is not None and before.end == now.end and now.mark is not None
    short = f"HW {now.mark}" if only_mark else f"LEO {now.end}"
    for text, left in _places(canvas, now, (end_words(now.end, now.mark), short)):
        room = Box(left - APART, y - half, left + width_of(text, size) + APART, y + half)
        if any(room.overlaps(other) for other in taken):
            continue
        box = canvas.text(canvas.at(left), y, text, canvas.theme.muted, size=size, since=now.x0)
        taken.append(Box(box.x0 - APART, box.y0, box.x1 + APART, box.y1))
        if before is not None and left <= canvas.px(now.x0) + AFTER:
            edge = canvas.theme.tile_edge
            canvas.line(now.x0, y - half, now.x0, y + half, edge, width=1.5)
        return


def _places(canvas: Canvas, now: Stretch, texts: tuple[str, str]) -> Iterator[tuple[str, float]]:
    """Words, and where they may begin: at the tick if possible, in the stretch."""
    start = canvas.px(now.x0)
    for text in texts:
        last = canvas.px(now.x1) - width_of(text, SIZE)
        first = start + max(min(AFTER, last - start), CLOSE)
        tries = (first + step * STEP for step in range(STEPS_MAX))
        yield from ((text, left) for left in tries if left <= last)


def _draw_lines(panel: Panel, logs: dict[str, list[Uptime]]) -> None:
    """All on one scale, from the lowest end or high watermark to the highest end in the panel."""
    stretches = [s for incarnations in logs.values() for one in incarnations for s in one]
    if not stretches:
        return
    low = min(min(s.end, s.end if s.mark is None else s.mark) for s in stretches)
    scale = low, max(*(s.end for s in stretches), low + 1)
    for lane, incarnations in logs.items():
        band, half = panel.lanes.band(lane), panel.canvas.sizes.band / 2
        ends = panel.lanes.brokers[lane][1] - 2, band + half + 2
        for incarnation in incarnations:
            draw_line(panel.canvas, incarnation, ends, scale)
        if incarnations:
            _say_last(panel, lane, incarnations[-1][-1])


def draw_line(
    canvas: Canvas, incarnation: Uptime, ends: tuple[float, float], scale: tuple[int, int]
) -> None:
    """Stepped, from `ends[0]` (lowest offset) to `ends[1]`, filled up to the high watermark."""
    (bottom, top), (low, high) = ends, scale

    def steps(offsets: Iterator[int]) -> str:
        heights = (bottom - (bottom - top) * (offset - low) / (high - low) for offset in offsets)
        pieces = zip(incarnation, heights, strict=True)
        return "".join(f"L{s.x0},{y:.1f}L{s.x1},{y:.1f}" for s, y in pieces)

    filled = steps(low if s.mark is None else s.mark for s in incarnation)
    around = f"M{incarnation[0].x0},{bottom:.1f}{filled}L{incarnation[-1].x1},{bottom:.1f}Z"
    canvas.path(around, canvas.theme.line, fill=canvas.theme.line, width=0, opacity=0.55)
    line = steps(s.end for s in incarnation)
    canvas.path(f"M{line[1:]}", canvas.theme.muted, width=1.2)


def _say_last(panel: Panel, lane: str, last: Stretch) -> None:
    """At the end of its line, over the band."""
    canvas, (y, _), size = panel.canvas, panel.lines(lane), SIZE
    at, taken = canvas.beside(last.x1, -APART), _taken(panel.canvas, y)
    for text in (end_words(last.end, last.mark), f"LEO {last.end}"):
        box = canvas.box_of(at, y, text, size, "right")
        room = Box(box.x0 - APART, y - size * 0.4, box.x1, y + size * 0.4)
        if not any(room.overlaps(other) for other in taken):
            canvas.text(at, y, text, canvas.theme.muted, size=size, anchor="right")
            return
