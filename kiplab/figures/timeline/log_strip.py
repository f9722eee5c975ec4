"""Below the axis, after an unclean election: the logs side by side where they part.

A block is a moment, and blocks come as the run gets there. Every log is a row of cells on one scale
of offsets, a cell being the records of one leader epoch; what the leader has not is struck through.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import log2
from typing import NamedTuple

from ...rows.client_requests import short_name
from ...rows.columns import Rows, offsets
from ...rows.log_blocks import LogBlock, LogCell, LogSide, log_blocks, side_words
from ...rows.sentences import about
from ..drawing.canvas import Canvas, safe
from ..drawing.text_width import LINE_HEIGHT, first_fit, shortened, width_of
from ..drawing.theme import Theme
from . import icons
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


class OffsetScale(NamedTuple):
    """Offsets and their shares of a block's width, both growing."""

    offsets: tuple[int, ...]
    shares: tuple[float, ...]

    def at(self, offset: int) -> float:
        """The share of the width at an offset that is one of them."""
        return self.shares[self.offsets.index(offset)]


class BlockPlace(NamedTuple):
    """Where a block stands: pixels."""

    left: float
    right: float
    top: float

    def px(self, scale: OffsetScale, offset: int) -> float:
        """Pixels from the left of an offset."""
        start = self.left + GUTTER
        return start + (self.right - start) * scale.at(offset)


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
    y, size = top + ABOVE, canvas.sizes.text
    first = blocks[0].x
    ends = canvas.at(14), canvas.at(canvas.width - 14)
    canvas.line(ends[0], top + 3, ends[1], top + 3, canvas.theme.grid)
    canvas.text(canvas.at(14), y + 3, safe(title), size=size, bold=True, since=first)
    y += size * LINE_HEIGHT + 2
    scale, holders = _scale(blocks), _holders(rows, blocks)
    for line in _lines(canvas, blocks):
        for n, block in enumerate(line):
            place = _place(canvas, n, len(line), y)
            _draw_block(canvas, rows, block, place, scale, holders)
            _mark(canvas, rows, block, place, run, len(holders))
        for row, holder in enumerate(holders):
            _name(canvas, holder, _row(canvas, y, row) + CELL / 2, line[0].x)
        y = _row(canvas, y, len(holders)) + 6
    return y


def _holders(rows: Rows, blocks: tuple[LogBlock, ...]) -> list[str]:
    """Whose logs there are in any block: each has a row of its own in all of them."""
    found = {side.holder for block in blocks for side in block.sides}
    return [holder for holder in dict.fromkeys(row.holder for row in rows.logs) if holder in found]


def _row(canvas: Canvas, top: float, row: int) -> float:
    """The upper edge of the cells in a row of blocks that begin at `top`."""
    return top + 2 * canvas.sizes.small * LINE_HEIGHT + 8 + row * STEP


def _lines(canvas: Canvas, blocks: tuple[LogBlock, ...]) -> Iterator[tuple[LogBlock, ...]]:
    """As many blocks beside each other as there is room for, about as many on every line."""
    room = canvas.px(canvas.end) - canvas.px(0)
    most = max(1, int((room + GAP) // (BLOCK_MIN + GAP)))
    lines = -(-len(blocks) // most)
    each = -(-len(blocks) // lines)
    return (blocks[n : n + each] for n in range(0, len(blocks), each))


def _place(canvas: Canvas, n: int, count: int, top: float) -> BlockPlace:
    left, right = canvas.px(0), canvas.px(canvas.end)
    wide = (right - left - GAP * (count - 1)) / count
    return BlockPlace(left + n * (wide + GAP), left + n * (wide + GAP) + wide, top)


def _scale(blocks: Iterable[LogBlock]) -> OffsetScale:
    """One for all blocks: records that are the same everywhere take little room."""
    cells = [cell for block in blocks for side in block.sides for cell in side.cells]
    edges = {o for cell in cells for o in (cell.first, cell.end)}
    edges |= {o for block in blocks for gone in block.lost for o in gone}
    ordered = sorted(edges) or [0, 1]
    widths = [0.0]
    for a, b in pairwise(ordered):
        held = {(cell.epoch, cell.has) for cell in cells if cell.first <= a and b <= cell.end}
        same = len(held) == 1 and b - a > 1
        widths.append(widths[-1] + (SAME_WEIGHT if same else 1 + log2(b - a) / 2))
    whole = widths[-1] or 1
    return OffsetScale(tuple(ordered), tuple(w / whole for w in widths))


# --- drawing ------------------------------------------------------------------------------------


def _draw_block(
    canvas: Canvas,
    rows: Rows,
    block: LogBlock,
    place: BlockPlace,
    scale: OffsetScale,
    holders: list[str],
) -> None:
    small = canvas.sizes.small
    y, room = place.top + small * LINE_HEIGHT / 2, place.right - place.left
    number = rows.meta.number(block.x)
    words = shortened(block.words, room - width_of(number, small, bold=True) - 10, small)
    said = f"<b>{number}</b>  {safe(words)}"
    canvas.text(canvas.at(place.left), y, said, size=small, since=block.x)
    for gone in block.lost:
        _bracket(canvas, block, place, scale, gone)
    for side in block.sides:
        top = _row(canvas, place.top, holders.index(side.holder))
        _draw_side(canvas, rows, block, side, place._replace(top=top), scale)


def _name(canvas: Canvas, holder: str, y: float, since: float) -> None:
    size, room = canvas.sizes.small, canvas.sizes.left - 16
    name = first_fit((holder, short_name(holder)), room, size)
    text = name or shortened(short_name(holder), room, size)
    canvas.margin(y, safe(text), canvas.theme.muted, size=size, since=since)


def _bracket(
    canvas: Canvas, block: LogBlock, place: BlockPlace, scale: OffsetScale, gone: tuple[int, int]
) -> None:
    """⎴ over the offsets that are lost, and which they are."""
    x0, x1 = place.px(scale, gone[0]), place.px(scale, gone[1])
    line, color = canvas.sizes.small * LINE_HEIGHT, canvas.theme.lost_text
    icons.bracket(canvas, canvas.at(x0), canvas.at(x1), place.top + 2 * line, color)
    canvas.shapes[-1]["name"] = from_moment("loss", block.x)
    size, whole = canvas.sizes.small, offsets(gone[0], gone[1] - 1)
    texts = (f"▼ {whole} lost", f"▼ {whole.split(' ')[1]} lost", "▼ lost")
    text = first_fit(texts, place.right - place.left, size)
    wide = width_of(text, size)
    left = min(max((x0 + x1 - wide) / 2, place.left), place.right - wide)
    y = place.top + 1.5 * line
    canvas.text(canvas.at(left), y, text, color, size=size, bold=True, since=block.x)


def _draw_side(
    canvas: Canvas,
    rows: Rows,
    block: LogBlock,
    side: LogSide,
    place: BlockPlace,
    scale: OffsetScale,
) -> None:
    y = place.top + CELL / 2
    sign = SIGNS.get(side.state, "")
    if sign:
        x = canvas.at(place.left + GUTTER / 2)
        canvas.text(x, y, sign, size=canvas.sizes.text, anchor="center", since=block.x)
    for cell in side.cells:
        _draw_cell(canvas, block.x, side, cell, place, scale)
    if side.cut is not None and side.cut in scale.offsets:
        x = canvas.at(place.px(scale, side.cut))
        canvas.line(x, place.top - 3, x, place.top + CELL + 3, canvas.theme.gone, width=3)
        canvas.shapes[-1]["name"] = from_moment("cut", block.x)
    heading = f"{side.holder}, at {rows.meta.number(block.x)}"
    card = folded([heading, side_words(side)])
    for share in (0.2, 0.5, 0.8):
        canvas.card(canvas.at(place.left + (place.right - place.left) * share), y, card)


def _draw_cell(
    canvas: Canvas, moment: int, side: LogSide, cell: LogCell, place: BlockPlace, scale: OffsetScale
) -> None:
    """A box: filled in a log, hollow where it was only read; struck through if the leader lacks
    it.
    """
    x0, x1 = place.px(scale, cell.first), place.px(scale, cell.end)
    top, low, y = place.top, place.top + CELL, place.top + CELL / 2
    fill, edge, color = colors_of(canvas.theme, cell, is_read=side.is_read)
    ends = canvas.at(x0), canvas.at(x1)
    name = from_moment("log cell", moment)
    canvas.rect(*ends, top, low, fill, line={"color": edge, "width": 1.2}, name=name)
    if not cell.has:
        canvas.line(ends[0], y, ends[1], y, edge, width=1.2)
        canvas.shapes[-1]["name"] = name
    size = canvas.sizes.small
    text = first_fit(_cell_texts(cell), x1 - x0 - 8, size)
    if text:
        half = width_of(text, size) / 2 + 3
        middle = (x0 + x1) / 2
        if not cell.has:
            plate = canvas.at(middle - half), canvas.at(middle + half)
            canvas.rect(*plate, top + 2, low - 2, fill, name=name)
        at = canvas.at(middle)
        canvas.text(at, y, text, color, size=size, anchor="center", since=moment)


def _cell_texts(cell: LogCell) -> tuple[str, ...]:
    numbers = offsets(cell.first, cell.end - 1).split(" ")[1]
    return f"e{cell.epoch}: {numbers}", numbers, f"e{cell.epoch}"


def colors_of(theme: Theme, cell: LogCell, *, is_read: bool) -> tuple[str, str, str]:
    """Fill, edge and words of a cell."""
    if cell.has:
        words = theme.text if is_read else theme.member_text
        return theme.box if is_read else theme.member, theme.member_edge, words
    if cell.lost:
        return theme.box if is_read else theme.lost, theme.lost_text, theme.lost_text
    return theme.box if is_read else theme.offline, theme.muted, theme.text


def _mark(
    canvas: Canvas, rows: Rows, block: LogBlock, place: BlockPlace, run: int, rows_high: int
) -> None:
    """A block is about what happened at its moment."""
    ids = [e.id for e in rows.events if e.x == block.x and e.kind not in ("sent", "delivered")]
    low = _row(canvas, place.top, rows_high)
    ends = (place.left - 2, place.top - 2, place.right + 2, low)
    canvas.marks.append([about(ids, run), *map(round, ends)])
