"""Below the axis, after an unclean election: the logs side by side where they part.

A block is a moment, and blocks come as the run gets there. Every log is a row of cells on one scale
of offsets, a cell being the records of one leader epoch; what the leader has not is struck through.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import log2
from typing import Any, NamedTuple

from ...rows.columns import Rows, offsets
from ...rows.log_blocks import LogBlock, LogCell, LogSide, log_blocks, side_words
from ...rows.sentences import about
from ..drawing.canvas import Box, Canvas, safe
from ..drawing.text_width import LINE_HEIGHT, first_fit, shortened, width_of
from ..drawing.theme import Theme
from . import icons
from .client_lanes import margin_name
from .hover_cards import folded
from .mask import from_moment

TITLE = "where the logs part"
BLOCK_MIN, GAP, GUTTER = 190, 24, 18
"""Pixels: the narrowest block, between blocks, and for a sign before the cells."""
CELL, STEP, ABOVE = 16, 21, 14
"""Pixels: how high a cell is, from one log to the next, over the strip."""
SAME_WEIGHT = 1.2
"""How wide records that all logs have are drawn, however many: elsewhere it is 1 for one record,
and half as much more for twice as many.
"""
SIGNS = {"leader": "★", "down": "✕"}


class BlockPlace(NamedTuple):
    """A block on the canvas, from pixel `left` to `right` and from `top` on. `shares` of its width
    are those of each offset, `holders` have a row each: whose logs there are in any block.
    """

    canvas: Canvas
    rows: Rows
    block: LogBlock
    left: float
    right: float
    top: float
    shares: dict[int, float]
    holders: list[str]

    def px(self, offset: int) -> float:
        """Pixels from the left of an offset that is one of the scale's."""
        start = self.left + GUTTER
        return start + (self.right - start) * self.shares[offset]

    def row(self, row: int) -> float:
        """The upper edge of the cells in a row."""
        return self.top + 2 * self.canvas.sizes.small * LINE_HEIGHT + 8 + row * STEP

    def text(self, px: float, y: float, text: str, color: str = "", **font: Any) -> None:
        """Words that are there from the block's moment on."""
        font = {"size": self.canvas.sizes.small, "since": self.block.x, **font}
        self.canvas.text(self.canvas.at(px), y, text, color, **font)

    def name(self, name: str) -> str:
        """The name of a shape that is there from the block's moment on."""
        return from_moment(name, self.block.x)


def draw_logs(
    canvas: Canvas, runs: Sequence[Rows], partition: str, top: float, titles: Sequence[str] = ()
) -> float:
    """The strip from `top` on, run by run under their `titles`; returns where it ends, which is
    `top` where no log of any run is worth it.
    """
    for n, rows in enumerate(runs):
        blocks = log_blocks(rows, partition)
        if blocks:
            title = f"{TITLE}, {titles[n]}" if titles else TITLE
            top = _draw_run(canvas, rows, blocks, top, title, n)
    return top


def _draw_run(
    canvas: Canvas, rows: Rows, blocks: tuple[LogBlock, ...], top: float, title: str, run: int
) -> float:
    y, size, ends = top + ABOVE, canvas.sizes.text, (canvas.at(14), canvas.at(canvas.width - 14))
    canvas.line(ends[0], top + 3, ends[1], top + 3, canvas.theme.grid)
    canvas.text(ends[0], y + 3, safe(title), size=size, bold=True, since=blocks[0].x)
    y += size * LINE_HEIGHT + 2
    present = {side.holder for block in blocks for side in block.sides}
    holders = [name for name in dict.fromkeys(row.holder for row in rows.logs) if name in present]
    shares = _shares(blocks)
    for line in _lines(canvas, blocks):
        wide = (canvas.px(canvas.end) - canvas.px(0) - GAP * (len(line) - 1)) / len(line)
        for n, block in enumerate(line):
            left = canvas.px(0) + n * (wide + GAP)
            place = BlockPlace(canvas, rows, block, left, left + wide, y, shares, holders)
            _draw_block(place, run)
        for row, holder in enumerate(holders):
            name, at = margin_name(canvas, holder, canvas.sizes.small), place.row(row) + CELL / 2
            canvas.margin(at, name, canvas.theme.muted, size=canvas.sizes.small, since=line[0].x)
        y = place.row(len(holders)) + 6
    return y


def _lines(canvas: Canvas, blocks: tuple[LogBlock, ...]) -> Iterator[tuple[LogBlock, ...]]:
    """As many blocks beside each other as there is room for, about as many on every line."""
    room = canvas.px(canvas.end) - canvas.px(0)
    most = max(1, int((room + GAP) // (BLOCK_MIN + GAP)))
    lines = -(-len(blocks) // most)
    each = -(-len(blocks) // lines)
    return (blocks[n : n + each] for n in range(0, len(blocks), each))


def _shares(blocks: Sequence[LogBlock]) -> dict[int, float]:
    """The share of a block's width at each offset, one scale for all blocks: records that are the
    same everywhere take little room.
    """
    cells = [cell for block in blocks for side in block.sides for cell in side.cells]
    edges = {o for cell in cells for o in (cell.first, cell.end)}
    edges |= {o for block in blocks for gone in block.lost for o in gone}
    ordered = sorted(edges) or [0, 1]
    widths = [0.0]
    for a, b in pairwise(ordered):
        here = {(cell.epoch, cell.has) for cell in cells if cell.first <= a and b <= cell.end}
        same = len(here) == 1 and b - a > 1
        widths.append(widths[-1] + (SAME_WEIGHT if same else 1 + log2(b - a) / 2))
    whole = widths[-1] or 1
    return {offset: wide / whole for offset, wide in zip(ordered, widths, strict=True)}


def _draw_block(place: BlockPlace, run: int) -> None:
    block, small = place.block, place.canvas.sizes.small
    number = place.rows.meta.number(block.x)
    room = place.right - place.left - width_of(number, small, bold=True) - 10
    html = f"<b>{number}</b>  {safe(shortened(block.words, room, small))}"
    place.text(place.left, place.top + small * LINE_HEIGHT / 2, html)
    for gone in block.lost:
        _bracket(place, gone)
    for side in block.sides:
        _draw_side(place, side, place.row(place.holders.index(side.holder)))
    # A block is about what happened at its moment.
    here = [e for e in place.rows.events if e.x == block.x]
    ids = [e.id for e in here if e.kind not in ("sent", "delivered")]
    low = place.row(len(place.holders))
    ends = (place.left - 2, place.top - 2, place.right + 2, low)
    place.canvas.marks.append([about(ids, run), *map(round, ends)])


def _bracket(place: BlockPlace, gone: tuple[int, int]) -> None:
    """⎴ over the offsets that are lost, and which they are."""
    canvas, (x0, x1) = place.canvas, map(place.px, gone)
    size, color = canvas.sizes.small, canvas.theme.lost_text
    line = size * LINE_HEIGHT
    ends = canvas.at(x0), canvas.at(x1)
    icons.bracket(canvas, *ends, place.top + 2 * line, color, name=place.name("loss"))
    whole = offsets(gone[0], gone[1] - 1)
    texts = (f"▼ {whole} lost", f"▼ {whole.split(' ')[1]} lost", "▼ lost")
    text = first_fit(texts, place.right - place.left, size)
    wide = width_of(text, size)
    left = min(max((x0 + x1 - wide) / 2, place.left), place.right - wide)
    place.text(left, place.top + 1.5 * line, text, color, bold=True)


def _draw_side(place: BlockPlace, side: LogSide, top: float) -> None:
    canvas, sign = place.canvas, SIGNS.get(side.state, "")
    if sign:
        size = canvas.sizes.text
        place.text(place.left + GUTTER / 2, top + CELL / 2, sign, size=size, anchor="center")
    for cell in side.cells:
        _draw_cell(place, side, cell, top)
    if side.cut is not None and side.cut in place.shares:
        x = canvas.at(place.px(side.cut))
        low, name = top + CELL + 3, place.name("cut")
        canvas.line(x, top - 3, x, low, canvas.theme.gone, width=3, name=name)
    heading = f"{side.holder}, at {place.rows.meta.number(place.block.x)}"
    card = folded([heading, side_words(side)])
    for share in (0.2, 0.5, 0.8):
        at = canvas.at(place.left + (place.right - place.left) * share)
        canvas.card(at, top + CELL / 2, card)


def _draw_cell(place: BlockPlace, side: LogSide, cell: LogCell, top: float) -> None:
    """A box: filled in a log, hollow where it was only read; struck through if the leader lacks
    it.
    """
    canvas, x0, x1, y = place.canvas, place.px(cell.first), place.px(cell.end), top + CELL / 2
    fill, edge, color = colors_of(canvas.theme, cell, is_read=side.is_read)
    ends, name = (canvas.at(x0), canvas.at(x1)), place.name("log cell")
    canvas.rect(*ends, top, top + CELL, fill, line={"color": edge, "width": 1.2}, name=name)
    if not cell.has:
        canvas.line(ends[0], y, ends[1], y, edge, width=1.2, name=name)
    numbers, size = offsets(cell.first, cell.end - 1).split(" ")[1], canvas.sizes.small
    text = first_fit((f"e{cell.epoch}: {numbers}", numbers, f"e{cell.epoch}"), x1 - x0 - 8, size)
    if text:
        middle, half = (x0 + x1) / 2, width_of(text, size) / 2 + 3
        if not cell.has:
            plate = Box(middle - half, top + 2, middle + half, top + CELL - 2)
            canvas.plate(plate, fill, 0, name=name)
        place.text(middle, y, text, color, anchor="center")


def colors_of(theme: Theme, cell: LogCell, *, is_read: bool) -> tuple[str, str, str]:
    """Fill, edge and words of a cell."""
    if cell.has:
        words = theme.text if is_read else theme.member_text
        return theme.box if is_read else theme.member, theme.member_edge, words
    if cell.lost:
        return theme.box if is_read else theme.lost, theme.lost_text, theme.lost_text
    return theme.box if is_read else theme.offline, theme.muted, theme.text
