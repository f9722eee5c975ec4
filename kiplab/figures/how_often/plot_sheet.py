"""What all charts share: the sheet, a question and its answer above, notes below, a legend.

A sheet counts x in pixels from its left edge, like y from the top.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from ..drawing.canvas import Box, Canvas, safe
from ..drawing.svg import Json
from ..drawing.text_width import height_of, width_of, wrapped
from ..drawing.theme import sizes_of, theme_of
from .plot_axis import PlotAxis
from .plot_panel import PlotPanel, PlotStyle

PLOT_WIDTH, PLOT_WIDTH_MIN = 980, 640
EDGE = 16
"""Pixels that the edges of a sheet keep free."""
SAMPLE = 40
"""Pixels that a sample of the legend takes, with what keeps it apart."""
BELOW = 42
"""Pixels below a panel for the numbers and the title of its axis."""


class ChartText(NamedTuple):
    """What is said around a plot: a question, the answer in a sentence, how to read it; `empty`
    says instead why there is nothing to plot. `described` stands for the sentence where the chart
    has no room for it.
    """

    title: str
    sentence: str
    notes: Sequence[str] = ()
    empty: str = ""
    described: str = ""


def chart(
    text: ChartText,
    plot: Callable[[Canvas, float], float],
    *,
    theme: str,
    width: int | None,
    least: int = PLOT_WIDTH_MIN,
    what: str = "these pictures",
) -> Json:
    """A whole chart as plotly's data and layout; `plot` draws on the sheet from a height on, and
    returns where it ends.

    Raises ValueError for a theme that there is none of, and for a width below `least`.
    """
    wide = PLOT_WIDTH if width is None else width
    if wide < least:
        raise ValueError(f"width is {wide}; {what} need {least} pixels or more")
    sizes = replace(sizes_of(wide), left=0, right=0)
    canvas = Canvas(wide, wide, theme_of(theme), sizes)
    y = text_block(canvas, text.title, EDGE, size=sizes.heading) + 5
    if text.empty:
        y = text_block(canvas, "", y, size=sizes.text + 0.5) + 14
        return canvas.drawing(_empty_note(canvas, y, text.empty) + EDGE, text.sentence)
    if text.sentence:
        y = text_block(canvas, text.sentence, y, canvas.theme.muted, sizes.text + 0.5)
    y = plot(canvas, y + 14)
    for line in text.notes:
        y = text_block(canvas, line, y, canvas.theme.muted, sizes.small + 0.5) + 2
    return canvas.drawing(y + EDGE - 2, text.described or text.sentence)


def text_block(
    canvas: Canvas,
    text: str,
    top: float,
    color: str = "",
    size: float = 0,
    *,
    left: float = EDGE,
    bold: bool = False,
) -> float:
    """Wrapped words to the right edge; returns where they end. `size` 0 is the usual one."""
    size = size or canvas.sizes.text
    lines = wrapped_safe(text, canvas.width - EDGE - left, size)
    high = height_of(lines, size)
    canvas.text(left, top + high / 2, lines, color, size=size, bold=bold)
    return top + high


def wrapped_safe(text: str, room: float, size: float) -> str:
    """Safe and wrapped; a word that is too wide by itself stays whole."""
    lines = (wrapped(text, room / 1.05, size) or text).split("<br>")
    return "<br>".join(safe(line) for line in lines)


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
