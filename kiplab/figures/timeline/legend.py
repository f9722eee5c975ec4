"""The legend: the marks that occur, in groups below a picture."""

from collections.abc import Sequence

from ...rows.columns import Rows
from ..drawing.canvas import Canvas
from ..drawing.text_width import LINE_HEIGHT, width_of
from .legend_marks import GROUPS, LOG_LINE, Mark, occurring
from .legend_samples import SWATCH, Swatch
from .log_ends import is_dense

ROW_GAP, COLUMN_GAP, GROUP_GAP, LINE_GAP, INDENT = 1, 11, 22, 4, 14
"""Pixels: between rows, columns, groups and lines of groups, and from the sheet's edge."""


def draw_legend(
    canvas: Canvas,
    rows_list: Sequence[Rows],
    top: float,
    partition: str = "",
    *,
    growing: bool = False,
    dense: bool | None = None,
) -> float:
    """The marks of these runs in groups from `top` on; returns where they end.

    `dense` says whether moments are too narrow for words; None asks the canvas.
    """
    marks = occurring(rows_list, partition, growing=growing)
    if is_dense(canvas) if dense is None else dense:
        marks = [LOG_LINE if mark.id == LOG_LINE.id else mark for mark in marks]
    if not marks:
        return top
    size, room = canvas.sizes.text, canvas.width - 2 * INDENT
    row, y = size * LINE_HEIGHT + ROW_GAP, top + 7
    ends = canvas.at(INDENT), canvas.at(canvas.width - INDENT)
    canvas.line(ends[0], top + 1, ends[1], top + 1, canvas.theme.grid)
    for line in _lines(marks, size, room):
        left = float(INDENT)
        for block in line:
            _draw_block(canvas, block, left, y)
            left += _wide(block, size) + GROUP_GAP
        y += row * (1 + max(len(column) for block in line for column in block)) + LINE_GAP
    return y - LINE_GAP


Block = list[list[Mark]]
"""The columns of a group."""


def _draw_block(canvas: Canvas, block: Block, left: float, top: float) -> None:
    """A heading, and the columns below it."""
    size, theme = canvas.sizes.text, canvas.theme
    row = size * LINE_HEIGHT + ROW_GAP
    heading, y = block[0][0].group, top + row / 2
    canvas.text(canvas.at(left), y, heading, size=size, bold=True, layer="headings")
    for column in block:
        for place, mark in enumerate(column, 1):
            y = top + row * (place + 0.5)
            mark.draw(Swatch(canvas, left, y))
            x = canvas.at(left + _indent(mark))
            canvas.text(x, y, mark.words, theme.muted, size=size, layer="legend")
        left += _column_wide(column, size) + COLUMN_GAP


def _lines(marks: list[Mark], size: float, room: float) -> list[list[Block]]:
    """The groups side by side on as many lines as it takes, so that all are as low as possible."""
    tried = (_with_columns_of(marks, rows, size, room) for rows in range(1, len(marks) + 1))
    fitting = [lines for lines in tried if _fits(lines, size, room)]
    return min(fitting, key=_height) if fitting else _with_columns_of(marks, len(marks), size, room)


def _with_columns_of(marks: list[Mark], rows: int, size: float, room: float) -> list[list[Block]]:
    lines: list[list[Block]] = [[]]
    for group in GROUPS:
        mine = [mark for mark in marks if mark.group == group]
        # All columns of a group are about equally long.
        high = -(-len(mine) // -(-len(mine) // rows)) if mine else 1
        block = [mine[n : n + high] for n in range(0, len(mine), high)]
        if block and lines[-1] and not _fits([[*lines[-1], block]], size, room):
            lines.append([])
        lines[-1] += [block] if block else []
    return lines


def _height(lines: list[list[Block]]) -> tuple[int, int]:
    """How many rows it takes, headings included, and how many lines of groups."""
    rows = sum(1 + max(len(column) for block in line for column in block) for line in lines)
    return rows, len(lines)


def _fits(lines: list[list[Block]], size: float, room: float) -> bool:
    wide = (sum(_wide(b, size) + GROUP_GAP for b in line) - GROUP_GAP for line in lines)
    return max(wide) <= room


def _wide(block: Block, size: float) -> float:
    columns = sum(_column_wide(column, size) + COLUMN_GAP for column in block) - COLUMN_GAP
    return max(columns, width_of(block[0][0].group, size, bold=True))


def _column_wide(column: list[Mark], size: float) -> float:
    return max(_indent(mark) + width_of(mark.words, size) for mark in column)


def _indent(mark: Mark) -> float:
    return SWATCH + (14 if mark.id.startswith("message") else 6)
