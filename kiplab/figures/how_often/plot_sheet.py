"""What all pictures of the fleet share: the sheet, a question and its answer above, notes below.

A sheet counts x in pixels from its left edge, like y from the top.
"""

from msgspec.structs import replace

from ..drawing.canvas import Box, Canvas, safe
from ..drawing.text_width import height_of, width_of, wrapped
from ..drawing.theme import sizes_of, theme_of
from .plot_axis import PlotAxis, PlotTick

PLOT_WIDTH, PLOT_WIDTH_MIN = 980, 640
EDGE = 16
"""Pixels that the edges of a sheet keep free."""
_TICK = 5
_LABEL_GAP = 10


def plot_sheet(theme: str, width: int | None) -> Canvas:
    """An empty sheet. Raises ValueError for a theme that there is none of, and for a width too
    small for words.
    """
    wide = PLOT_WIDTH if width is None else width
    if wide < PLOT_WIDTH_MIN:
        raise ValueError(f"width is {wide}; these pictures need {PLOT_WIDTH_MIN} pixels or more")
    sizes = replace(sizes_of(wide), left=0, right=0)
    return Canvas(wide, wide, theme_of(theme), sizes)


def plot_heading(canvas: Canvas, title: str, sentence: str) -> float:
    """The question, and the answer in a sentence; returns where they end."""
    sizes, palette = canvas.sizes, canvas.theme
    y = told_block(canvas, title, EDGE, palette.text, sizes.heading)
    return told_block(canvas, sentence, y + 5, palette.muted, sizes.text + 0.5) + 14


def told_block(
    canvas: Canvas, text: str, top: float, color: str, size: float = 0, *, left: float = EDGE
) -> float:
    """Wrapped words to the right edge; returns where they end. `size` 0 is the usual one."""
    size = size or canvas.sizes.text
    room = (canvas.width - EDGE - left) / 1.05
    lines = safe_lines(wrapped_words(text, room, size))
    high = height_of(lines, size)
    canvas.text(left, top + high / 2, lines, color, size=size)
    return top + high


def wrapped_words(text: str, room: float, size: float) -> str:
    """Wrapped; a word that is too wide by itself stays whole."""
    return wrapped(text, room, size) or text


def safe_lines(text: str) -> str:
    """Wrapped words without meaning to plotly or a browser, but for the ends of lines."""
    return "<br>".join(safe(line) for line in text.split("<br>"))


def plot_notes(canvas: Canvas, lines: list[str], top: float) -> float:
    """How to read it, line by line; returns the sheet's height."""
    y = top
    for line in lines:
        y = told_block(canvas, line, y, canvas.theme.muted, canvas.sizes.small + 0.5) + 2
    return y + EDGE - 2


def empty_note(canvas: Canvas, top: float, why: str) -> float:
    """In place of a plot: why there is nothing to show; returns where it ends."""
    palette, high = canvas.theme, 96
    edge = {"color": palette.line, "width": 1, "dash": "4px,3px"}
    canvas.rect(EDGE, canvas.width - EDGE, top, top + high, palette.isr_fill, line=edge)
    room = canvas.width - 4 * EDGE
    lines = safe_lines(wrapped_words(why, room / 1.05, canvas.sizes.text))
    canvas.text(canvas.width / 2, top + high / 2, lines, anchor="center")
    return top + high + 12


def frame(canvas: Canvas, box: Box) -> None:
    """A plot's left and lower edge."""
    canvas.line(box.x0, box.y0, box.x0, box.y1, canvas.theme.line)
    canvas.line(box.x0, box.y1, box.x1, box.y1, canvas.theme.line)


def ticks_below(
    canvas: Canvas,
    axis: PlotAxis,
    box: Box,
    label: str,
    *,
    at: float = 0,
    ticks: list[PlotTick] | None = None,
) -> float:
    """Grid lines, numbers and a label under a plot, at `at` if not at its lower edge; returns
    where they end. `ticks` are other ones than the axis would choose.
    """
    palette, small = canvas.theme, canvas.sizes.small
    low = at or box.y1
    for tick in ticks or axis.ticks(max(int((box.x1 - box.x0) / 70), 2)):
        x = axis.at(tick.value)
        canvas.line(x, box.y0, x, box.y1, palette.grid)
        canvas.line(x, low, x, low + _TICK, palette.line)
        canvas.text(x, low + 14, tick.text, palette.muted, size=small, anchor="center")
    middle = (box.x0 + box.x1) / 2
    canvas.text(middle, low + 32, safe(label), palette.muted, size=small, anchor="center")
    return low + 42


def ticks_beside(canvas: Canvas, axis: PlotAxis, box: Box) -> None:
    """Grid lines, and numbers to the left of a plot."""
    palette, small = canvas.theme, canvas.sizes.small
    for tick in axis.ticks(max(int((box.y1 - box.y0) / 34), 2)):
        y = axis.at(tick.value)
        canvas.line(box.x0, y, box.x1, y, palette.grid)
        canvas.text(box.x0 - 7, y, tick.text, palette.muted, size=small, anchor="right")


def tick_room(canvas: Canvas, axis: PlotAxis, height: float) -> float:
    """Pixels that the numbers beside a plot take."""
    small = canvas.sizes.small
    texts = [tick.text for tick in axis.ticks(max(int(height / 34), 2))]
    return max((width_of(text, small) for text in texts), default=0) + _LABEL_GAP


def card_at(canvas: Canvas, x: float, y: float, lines: list[str]) -> None:
    """A hover card of several lines."""
    canvas.card(x, y, "<br>".join(safe(line) for line in lines))
