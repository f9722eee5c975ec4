"""Picture (a) while the run is under way: what has happened, on the sheet of the whole run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .axis import draw_axis
from .columns import Rows
from .describe import summary
from .sheet import canvas_of, draw_heading, draw_panel, own_title

if TYPE_CHECKING:
    import plotly.graph_objects as go


def so_far(now: Rows, whole: Rows, *, theme: str = "light", width: int | None = None) -> go.Figure:
    """`now` drawn where `whole` has its lanes and its axis: from step to step nothing moves.

    Of what comes later only the names of the moments are there. `theme` and `width` are as for
    `timeline`; traces are the same for every step, so that one figure can be painted again.
    """
    canvas = canvas_of(whole, whole.meta.end, width, theme)
    top = draw_heading(canvas, whole)
    lanes = draw_panel(canvas, now, whole.busiest, top, own_title(now), (whole,)).lanes
    bottom = draw_axis(canvas, whole, lanes.bottom + 26)
    return canvas.figure(bottom + 10, summary(now))
