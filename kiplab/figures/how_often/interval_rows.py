"""Rows of a chart: a name, a mark with its interval on a common axis, and the same in words."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..drawing.canvas import Box, Canvas, safe
from ..drawing.text_width import shortened
from .plot_axis import PlotAxis
from .plot_panel import PlotPanel, error_bars
from .plot_sheet import EDGE

SIGN = 18
"""Pixels that a sign before a name takes."""


class IntervalRow(NamedTuple):
    """A row: `value` is None where there is no place on the axis for it; `color` is that of the
    mark, the interval and the `sign` before the name.
    """

    name: str
    words: str
    card: Sequence[str]
    value: float | None
    low: float
    high: float
    color: str
    shape: str
    hollow: bool = False
    sign: str = ""


class IntervalSizes(NamedTuple):
    """Pixels: a row, the heading of a group, what names and words take, over the first row, and
    between the ends of the axis and the edges of the panel.
    """

    row: int
    head: int
    names: int
    words: int
    above: int = 0
    inside: int = 0


def interval_rows(
    canvas: Canvas,
    groups: Mapping[str, Sequence[IntervalRow]],
    axis: PlotAxis,
    top: float,
    sizes: IntervalSizes,
) -> PlotPanel:
    """The rows, group by group under its heading, on a panel whose y axis counts pixels down."""
    small, count = canvas.sizes.small, sum(map(len, groups.values()))
    bottom = top + sizes.above + sizes.row * count + sizes.head * len(groups)
    left, right = EDGE + sizes.names, canvas.width - EDGE - sizes.words
    box = Box(left + sizes.inside, top + sizes.above, right - sizes.inside, bottom)
    panel = PlotPanel(canvas, box, axis, PlotAxis(-bottom, -box.y0))
    y, placed = box.y0, []
    for heading, rows in groups.items():
        words = shortened(heading, canvas.width - 2 * EDGE, small)
        canvas.text(EDGE, y + sizes.head - 10, safe(words), canvas.theme.muted, size=small)
        y += sizes.head
        for row in rows:
            placed.append((row, y + sizes.row / 2))
            _say(canvas, row, y + sizes.row / 2, right + 8, sizes)
            y += sizes.row
    _mark(panel, placed)
    return panel


def _say(canvas: Canvas, row: IntervalRow, y: float, right: float, sizes: IntervalSizes) -> None:
    size, small, left = canvas.sizes.text, canvas.sizes.small, EDGE
    if row.sign:
        canvas.text(left, y, row.sign, row.color, bold=True)
        left += SIGN
    canvas.text(left, y, safe(shortened(row.name, EDGE + sizes.names - left - 10, size)))
    words = shortened(row.words, canvas.width - EDGE - right, small)
    canvas.text(right, y, safe(words), size=small)


def _mark(panel: PlotPanel, placed: Sequence[tuple[IntervalRow, float]]) -> None:
    """A trace for all rows of one colour and shape."""
    kinds = dict.fromkeys((row.color, row.shape) for row, _ in placed if row.value is not None)
    for color, shape in kinds:
        mine = [(r, y) for r, y in placed if (r.color, r.shape) == (color, shape)]
        rows = [(row, row.value, -y) for row, y in mine if row.value is not None]
        values = [panel.x.held(value) for _, value, _ in rows]
        bounds = [(row.low, row.high) for row, _, _ in rows]
        panel.marks(
            values,
            [y for _, _, y in rows],
            shape,
            color,
            hollow=[row.hollow for row, _, _ in rows],
            cards=[row.card for row, _, _ in rows],
            error_x=error_bars(panel.x, values, bounds, color, 2.4),
        )
