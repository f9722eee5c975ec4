"""Picture (a): one run as lanes over its moments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .axis import draw_axis
from .columns import Rows
from .describe import summary
from .sheet import (
    canvas_of,
    draw_heading,
    draw_panel,
    draw_veil,
    move_cursor,
    own_title,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go


def timeline(
    rows: Rows,
    *,
    partition: str | None = None,
    until: int | None = None,
    theme: str = "light",
    width: int | None = None,
    height: int | None = None,
) -> go.Figure:
    """One run as a figure.

    `partition` is the one drawn, by default the one with the most events. `theme` is "light" or
    "dark". `width` is in pixels, at least 480, by default 980; `height` too, and is at least what
    the lanes need. With `until`, what comes after that moment is veiled and the verdict hidden;
    `sheet.move_cursor` moves the veil later. Raises ValueError for a partition or a theme that
    there is none of.
    """
    canvas = canvas_of(rows, rows.meta.end, width, theme)
    top = draw_heading(canvas, rows)
    panel = draw_panel(canvas, rows, partition, top, own_title(rows))
    bottom = draw_axis(canvas, rows, panel.lanes.bottom + 26)
    draw_veil(canvas, panel.lanes.top - 6, panel.lanes.bottom + 4)
    figure = canvas.figure(max(bottom + 10, height or 0), summary(rows))
    move_cursor(figure, until)
    return figure
