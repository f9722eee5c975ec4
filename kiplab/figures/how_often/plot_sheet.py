"""What all charts share: the sheet, a question and its answer above, notes below, a legend.

A sheet counts x in pixels from its left edge, like y from the top.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec.structs import replace

from ...rows.plain_table import table_of
from ..drawing.canvas import Box, Canvas, as_figure, wrapped_safe
from ..drawing.still_picture import mimebundle
from ..drawing.svg import Json
from ..drawing.text_width import width_of
from ..drawing.theme import sizes_of, theme_of
from .fleet_words import PlotTable
from .plot_axis import PlotAxis
from .plot_panel import PlotPanel, PlotStyle

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

PLOT_WIDTH, PLOT_WIDTH_MIN = 980, 640
EDGE = 16
"""Pixels that the edges of a sheet keep free."""
SAMPLE = 40
"""Pixels that a sample of the legend takes, with what keeps it apart."""
BELOW = 42
"""Pixels below a panel for the numbers and the title of its axis."""


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """A question, the answer in a `sentence` and every number in `words`; `plot` draws on the
    sheet from a height on, and returns where it ends, `notes` say how to read that. `empty` says
    instead why there is nothing to plot. `described` stands for the sentence where the chart has no
    room for it. `least` is how many pixels of width `what` needs. `where` is the point of the
    parameter space, where a study has several.
    """

    title: str
    plot: Callable[[Canvas, float], float]
    sentence: str = ""
    words: PlotTable = PlotTable("", (), ())
    notes: Sequence[str] = ()
    empty: str = ""
    described: str = ""
    least: int = PLOT_WIDTH_MIN
    what: str = "these pictures"
    where: str = ""

    def drawing(self, *, theme: str = "light", width: int | None = None) -> Json:
        """The whole chart as plotly's data and layout, `width` pixels wide, 980 by default.

        Raises ValueError for a theme that there is none of, and for a width too small for words.
        """
        wide = PLOT_WIDTH if width is None else width
        if wide < self.least:
            raise ValueError(f"width is {wide}; {self.what} need {self.least} pixels or more")
        sizes = replace(sizes_of(wide), left=0, right=0)
        canvas = Canvas(wide, wide, theme_of(theme), sizes)
        y = text_block(canvas, self.title, EDGE, size=sizes.heading) + 5
        if self.empty:
            y = text_block(canvas, "", y, size=sizes.text + 0.5) + 14
            return canvas.drawing(_empty_note(canvas, y, self.empty) + EDGE, self.sentence)
        if self.sentence:
            y = text_block(canvas, self.sentence, y, canvas.theme.muted, sizes.text + 0.5)
        y = self.plot(canvas, y + 14)
        for line in self.notes:
            y = text_block(canvas, line, y, canvas.theme.muted, sizes.small + 0.5) + 2
        return canvas.drawing(y + EDGE - 2, self.described or self.sentence)

    def figure(self, **options: Any) -> go.Figure:
        """As a plotly figure; options as for `drawing`. Raises MissingExtraError without plotly."""
        return as_figure(self.drawing)(**options)

    def table(self) -> pd.DataFrame:
        """Every number of it, in words."""
        return table_of(self.words.heads, self.words.lines)

    def _repr_mimebundle_(self, **_: Any) -> Any:
        return mimebundle(self.figure())

    def __repr__(self) -> str:
        return f"<Chart: {self.described or self.sentence}>"


def text_block(
    canvas: Canvas, text: str, top: float, color: str = "", size: float = 0, left: float = EDGE
) -> float:
    """Wrapped words to the right edge; returns where they end. `size` 0 is the usual one."""
    lines = wrapped_safe(text, canvas.width - EDGE - left, size or canvas.sizes.text)
    return canvas.paragraph(left, top, lines, color, size)


def _empty_note(canvas: Canvas, top: float, why: str) -> float:
    """In place of a plot: why there is nothing to show; returns where it ends."""
    palette, high = canvas.theme, 96
    edge = {"color": palette.line, "width": 1, "dash": "4px,3px"}
    canvas.rect(EDGE, canvas.width - EDGE, top, top + high, palette.isr_fill, line=edge)
    lines = wrapped_safe(why, canvas.width - 4 * EDGE, canvas.sizes.text)
    canvas.text(canvas.width / 2, top + high / 2, lines, anchor="center")
    return top + high + 12


def tick_room(canvas: Canvas, axis: PlotAxis) -> float:
    """Pixels that the numbers beside a panel take."""
    return max((width_of(tick.text, canvas.sizes.small) for tick in axis.marks), default=0) + 10


class LegendEntry(NamedTuple):
    """A line's name and what is said below it; without a `style` there is no such line."""

    name: str
    words: str
    style: PlotStyle | None
    hollow: bool = False


def legend(canvas: Canvas, entries: Sequence[LegendEntry], left: float, top: float) -> float:
    """A sample and its words for each, from pixel `left` on; returns where it ends."""
    x, y, samples = left + SAMPLE, top, []
    for entry in entries:
        samples.append((entry, y + 8))
        y = text_block(canvas, entry.name, y, left=x)
        y = text_block(canvas, entry.words, y, canvas.theme.muted, canvas.sizes.small, left=x) + 9
    box = Box(left, top, left + SAMPLE, y)
    panel = PlotPanel(canvas, box, PlotAxis(0, SAMPLE), PlotAxis(-y, -top))
    for entry, middle in samples:
        if entry.style is not None:
            color = entry.style.paint(canvas.theme)
            panel.line([12, 34], [-middle, -middle], color, dash=entry.style.dash)
            panel.marks([23], [-middle], entry.style.shape, color, hollow=[entry.hollow])
    return y
