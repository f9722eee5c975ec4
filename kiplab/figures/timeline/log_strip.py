"""Logs as bars on one scale of offsets: filled as far as records are committed, hollow beyond that,
each leader epoch with its number and hatch, what the leader has not struck through.

Beside the lanes there is a bar for each broker, at its lane, as the logs are at one moment. Below
the axis of a whole run, after an unclean election, are blocks of them: those moments at which the
logs diverge.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import log2
from typing import Any, NamedTuple

from ...rows.columns import STRIPS, Rows, offsets
from ...rows.log_blocks import (
    LogBlock,
    LogCell,
    LogSide,
    high_watermark,
    log_blocks,
    logs_at,
    side_words,
)
from ...rows.sentences import about
from ..drawing.canvas import Box, Canvas, safe
from ..drawing.text_width import BOLD, LINE_HEIGHT, first_fit, shortened, width_of
from . import icons
from .client_lanes import margin_name
from .hover_cards import folded
from .lanes import Panel
from .log_ends import end_words
from .mask import from_moment

TITLE = "where the logs diverge"
BLOCK_MIN, GAP, GUTTER = 190, 24, 18
"""Pixels: the narrowest block, between blocks, and for a sign before the cells."""
CELL, STEP, ABOVE = 16, 21, 14
"""Pixels: how high a cell is, from one log to the next, over the strip."""
SAME_WEIGHT = 1.2
"""How wide records of one epoch are at most: 1 for one record, half more for twice as many."""
SIGNS = {"leader": "★", "down": "✕"}


class OffsetScale(NamedTuple):
    """The shares of a width at offsets, both ascending; and all leader epochs, in order."""

    offsets: list[int]
    shares: list[float]
    epochs: list[int]

    def share(self, offset: int) -> float:
        """That of any offset: between two known ones it is in proportion."""
        n = min(max(bisect_right(self.offsets, offset), 1), len(self.offsets) - 1)
        (a, b), (low, high) = self.offsets[n - 1 : n + 1], self.shares[n - 1 : n + 1]
        return low + (high - low) * min(max((offset - a) / (b - a), 0), 1)


def scale_of(runs: Sequence[Rows], partition: str) -> OffsetScale:
    """One for all logs of runs, at whatever moment: from step to step no offset moves."""
    ends: dict[tuple[int, int], int] = {}
    spans = (s for run in runs for s in run.spans if (s.track, s.partition) == ("log", partition))
    edges = {mark for mark in map(high_watermark, spans) if mark is not None}
    for row in (row for run in runs for row in run.logs if row.partition == partition):
        for epoch, first, end in row.ranges:
            ends[epoch, first] = max(end, ends.get((epoch, first), 0))
            edges |= {first, end}
    ordered, widths = sorted(edges) if len(edges) > 1 else [0, 1], [0.0]
    for a, b in pairwise(ordered):
        here = {epoch for (epoch, first), end in ends.items() if first <= a and b <= end}
        same = len(here) == 1 and b - a > 1
        widths.append(widths[-1] + (SAME_WEIGHT if same else 1 + log2(b - a) / 2))
    shares = [wide / widths[-1] for wide in widths]
    return OffsetScale(ordered, shares, sorted({epoch for epoch, _ in ends if epoch >= 0}))


class LogPlace(NamedTuple):
    """Where logs of the run of that number are drawn: from pixel `left` to `right`, signs first."""

    canvas: Canvas
    rows: Rows
    block: LogBlock
    scale: OffsetScale
    left: float = 0
    right: float = 0
    run: int = 0

    def px(self, offset: int) -> float:
        """Pixels from the left of an offset."""
        start = self.left + GUTTER
        return start + (self.right - start) * self.scale.share(offset)

    @property
    def size(self) -> float:
        """Of its numbers: where logs end and what is committed is what one looks for."""
        return max(self.canvas.sizes.small, 12)

    def text(self, px: float, y: float, text: str, color: str = "", **font: Any) -> None:
        """Words that are there from the moment of these logs on."""
        font = {"size": self.size, "since": self.block.x, **font}
        self.canvas.text(self.canvas.at(px), y, text, color, **font)

    def label(self, px: float, y: float, texts: Sequence[str], color: str, bold: bool) -> None:
        """The first words that fit, lower edge at `y`: over `px`, or beside it at an end."""
        size = self.size
        text = first_fit(texts, (self.right - self.left - GUTTER) / (BOLD if bold else 1), size)
        wide = width_of(text, size, bold=bold)
        left = min(max(px - wide / 2, self.left + GUTTER), self.right - wide)
        self.text(left, y - size * LINE_HEIGHT / 2, text, color, bold=bold)

    def name(self, name: str) -> str:
        """The name of a shape that is there from that moment on."""
        return from_moment(name, self.block.x)


# --- beside the lanes -----------------------------------------------------------------------------

ASIDE_MIN, ASIDE_MAX, ASIDE_SHARE = 124, 230, 0.21
"""Pixels that the strip takes, and its share of a picture's width between them."""


def room_aside(width: int) -> float:
    """The pixels that a strip takes of a picture so wide."""
    return min(max(width * ASIDE_SHARE, ASIDE_MIN), ASIDE_MAX)


def draw_strip(panel: Panel, runs: Sequence[Rows]) -> None:
    """The logs as they are at the panel's end, right of its lanes; on one scale for all `runs`."""
    canvas, lanes = panel.canvas, panel.lanes
    x, left = panel.rows.meta.end - 1, canvas.edge + 4
    block, scale = logs_at(panel.rows, panel.partition, x), scale_of(runs, panel.partition)
    place = LogPlace(canvas, panel.rows, block, scale, left, canvas.width - 14)
    heading, row = f"Logs at step {panel.rows.meta.number(x)}", lanes.strips[STRIPS[0]]
    place.text(left + GUTTER, sum(row) / 2, heading, bold=True, size=canvas.sizes.text)
    top, low = next(iter(lanes.brokers.values()))[0] - 2, [*lanes.brokers.values()][-1][1]
    for gone in block.lost:
        _bracket(place, gone, top - place.size * LINE_HEIGHT - 7)
    tops = {lane: lanes.band(lane) - CELL / 2 for lane in lanes.brokers}
    tops |= {name: (y0 + y1 - CELL) / 2 for name, (y0, y1) in lanes.clients.items()}
    shown = [side for side in block.sides if side.holder in tops]
    for y in (tops[side.holder] for side in shown):
        ground = canvas.at(left + GUTTER), canvas.at(place.right)
        canvas.rect(*ground, y, y + CELL, canvas.theme.isr_fill, name=place.name("log"))
    if block.mark is not None:
        _draw_mark(place, block.mark, (top, low))
    for side in shown:
        _draw_side(place, side, tops[side.holder])
        if side.end is not None and not panel.is_thin(side.holder):
            _say_end(place, side, tops[side.holder] + CELL + 1)


def _say_end(place: LogPlace, side: LogSide, top: float) -> None:
    """Where the log ends, on a plate, and its high watermark where the leader has another."""
    canvas, size, left = place.canvas, place.size, place.left + GUTTER
    texts = f"LEO {side.end}", end_words(side.end, side.mark)
    said = first_fit(texts[:: -1 if side.mark != place.block.mark else 1], place.right - left, size)
    y = top + size * LINE_HEIGHT / 2
    canvas.plate(canvas.box_of(canvas.at(left), y, said, size), canvas.theme.paper, 2)
    place.text(left, y, said, canvas.theme.muted)


def _draw_mark(place: LogPlace, mark: int, ends: tuple[float, float]) -> None:
    """A line behind all logs at the leader's high watermark, and which that is."""
    canvas, px, color = place.canvas, place.px(mark), place.canvas.theme.text
    x = canvas.at(px)
    canvas.line(x, ends[0], x, ends[1], color, width=1.5, name=place.name("high watermark"))
    place.label(px, ends[0], (f"high watermark {mark}", f"HW {mark}"), color, bold=False)


# --- blocks below the axis ------------------------------------------------------------------------


def draw_logs(
    canvas: Canvas, runs: Sequence[Rows], partition: str, top: float, titles: Sequence[str] = ()
) -> float:
    """The blocks from `top` on, run by run under their `titles`; returns where they end."""
    for n, rows in enumerate(runs):
        blocks = log_blocks(rows, partition)
        if blocks:
            title = f"{TITLE}, {titles[n]}" if titles else TITLE
            place = LogPlace(canvas, rows, blocks[0], scale_of(runs, partition), run=n)
            top = _draw_run(place, blocks, top, title)
    return top


def _draw_run(place: LogPlace, blocks: tuple[LogBlock, ...], top: float, title: str) -> float:
    canvas, small = place.canvas, place.size
    y, size, ends = top + ABOVE, canvas.sizes.text, (canvas.at(14), canvas.at(canvas.width - 14))
    canvas.line(ends[0], top + 3, ends[1], top + 3, canvas.theme.grid)
    canvas.text(ends[0], y + 3, safe(title), size=size, bold=True, since=blocks[0].x)
    y += size * LINE_HEIGHT + 2
    present = {side.holder for block in blocks for side in block.sides}
    holders = [h for h in dict.fromkeys(row.holder for row in place.rows.logs) if h in present]
    for line in _lines(canvas, blocks):
        wide = (canvas.px(canvas.end) - canvas.px(0) - GAP * (len(line) - 1)) / len(line)
        first = y + 2 * small * LINE_HEIGHT + 8
        tops = {holder: first + n * STEP for n, holder in enumerate(holders)}
        for n, block in enumerate(line):
            left = canvas.px(0) + n * (wide + GAP)
            _draw_block(place._replace(block=block, left=left, right=left + wide), y, tops)
        for holder, at in tops.items():
            name = margin_name(canvas, holder, small)
            canvas.margin(at + CELL / 2, name, canvas.theme.muted, size=small, since=line[0].x)
        y = first + len(holders) * STEP + 6
    return y


def _lines(canvas: Canvas, blocks: tuple[LogBlock, ...]) -> Iterator[tuple[LogBlock, ...]]:
    """As many blocks beside each other as there is room for, about as many on every line."""
    room = canvas.px(canvas.end) - canvas.px(0)
    most = max(1, int((room + GAP) // (BLOCK_MIN + GAP)))
    lines = -(-len(blocks) // most)
    each = -(-len(blocks) // lines)
    return (blocks[n : n + each] for n in range(0, len(blocks), each))


def _draw_block(place: LogPlace, top: float, tops: dict[str, float]) -> None:
    block, small = place.block, place.size
    number = place.rows.meta.number(block.x)
    room = place.right - place.left - width_of(number, small, bold=True) - 10
    html = f"<b>{number}</b>  {safe(shortened(block.words, room, small))}"
    place.text(place.left, top + small * LINE_HEIGHT / 2, html)
    for gone in block.lost:
        _bracket(place, gone, top + 2 * small * LINE_HEIGHT)
    for side in block.sides:
        _draw_side(place, side, tops[side.holder])
    # A block is about what happened at its moment.
    here = [e for e in place.rows.events if e.x == block.x]
    ids = [e.id for e in here if e.kind not in ("sent", "delivered")]
    ends = (place.left - 2, top - 2, place.right + 2, max(tops.values()) + STEP)
    place.canvas.marks.append([about(ids, place.run), *map(round, ends)])


# --- one log --------------------------------------------------------------------------------------


def _bracket(place: LogPlace, gone: tuple[int, int], y: float) -> None:
    """⎴ over the offsets that are lost, and which they are."""
    canvas, (x0, x1) = place.canvas, map(place.px, gone)
    color, whole = canvas.theme.lost_text, offsets(gone[0], gone[1] - 1)
    icons.bracket(canvas, canvas.at(x0), canvas.at(x1), y, color, name=place.name("loss"))
    texts = (f"▼ {whole} lost", f"▼ {whole.split(' ')[1]} lost", "▼ lost")
    place.label((x0 + x1) / 2, y, texts, color, bold=True)


def _draw_side(place: LogPlace, side: LogSide, top: float) -> None:
    """The cells of a log, its holder's sign, where it was cut, what its leader lacks; its card."""
    canvas, sign, low = place.canvas, SIGNS.get(side.state, ""), top + CELL
    if sign:
        size = canvas.sizes.text
        place.text(place.left + GUTTER / 2, top + CELL / 2, sign, size=size, anchor="center")
    edge = {"color": canvas.theme.lost_text, "width": 1, "dash": "3px,2px"}
    for first, end in place.block.lost if side.state == "leader" else ():
        x0, x1, name = canvas.at(place.px(first)), canvas.at(place.px(end)), place.name("hole")
        canvas.rect(x0, x1, top, low, canvas.theme.box, line=edge, name=name)
    for cell in side.cells:
        _draw_cell(place, side, cell, top)
    if side.cut is not None:
        x, name = canvas.at(place.px(side.cut)), place.name("cut")
        canvas.line(x, top - 3, x, low + 3, canvas.theme.gone, width=3, name=name)
    heading = f"{side.holder}, at {place.rows.meta.number(place.block.x)}"
    ends = [] if side.end is None else [end_words(side.end, side.mark)]
    card = folded([heading, side_words(side), *ends])
    for share in (0.2, 0.5, 0.8):
        at = canvas.at(place.left + (place.right - place.left) * share)
        canvas.card(at, top + CELL / 2, card)


def _draw_cell(place: LogPlace, side: LogSide, cell: LogCell, top: float) -> None:
    canvas, x0, x1 = place.canvas, place.px(cell.first), place.px(cell.end)
    box, name = Box(x0, top, x1, top + CELL), place.name("log cell")
    number = bisect_left(place.scale.epochs, cell.epoch)
    color = icons.log_cell(canvas, box, cell, number, is_read=side.is_read, name=name)
    numbers, size = offsets(cell.first, cell.end - 1).split(" ")[1], place.size
    text = first_fit((f"e{cell.epoch}: {numbers}", f"e{cell.epoch}"), x1 - x0 - 8, size)
    if text:
        (middle, y), half = box.middle, width_of(text, size) / 2 + 3
        plate = Box(middle - half, top + 2, middle + half, top + CELL - 2)
        canvas.plate(plate, icons.log_colors(canvas.theme, cell)[0], 0, name=name)
        place.text(middle, y, text, color, anchor="center")
