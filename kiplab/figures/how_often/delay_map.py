"""A map of losses in a fleet: how slow requests are by how often brokers are rebooted.

Cells say how many times as often as something else that is known, or else how often in a year. The
line runs where a fleet loses once a year, between the middles of cells, by powers of ten.
"""

from collections.abc import Sequence
from math import log10

import msgspec

from ..drawing.canvas import Box, Canvas, as_figure, safe
from ..drawing.svg import Json
from ..drawing.text_width import width_of
from ..drawing.theme import Theme
from ..matrix_chart import mixed
from .fleet_words import capital
from .measured_rate import Certainty, MeasuredRate, alarm_words, rate_cells, rate_words
from .number_words import number_words, value_words
from .plot_marks import polyline
from .plot_sheet import (
    EDGE,
    card_at,
    empty_note,
    plot_heading,
    plot_notes,
    plot_sheet,
)
from .plot_table import PlotTable, plot_table

TITLE = "Slow requests and many reboots together"
REBOOTS_ACROSS = "reboots per broker and year"
EMPTY = "Nothing to draw: a map needs two reboot rates and two delays at least. Sweep both."
_CELL, _GAP = 44, 2
_PALEST, _STRONGEST = 0.08, 0.46
"""How far colours go from the paper's: words on them can be read in both themes."""

Segment = tuple[tuple[float, float], tuple[float, float]]


class DelayScale(msgspec.Struct, frozen=True):
    """What goes up on the map: in words, and the unit of its values."""

    words: str
    unit: str = ""

    def said(self, value: float) -> str:
        """``30 s``."""
        return f"{value_words(value)} {self.unit}".strip()


class MapCell(msgspec.Struct, frozen=True, kw_only=True):
    """How often a fleet loses in a year at so many reboots and with requests so slow; `ratio` is
    how many times as often as what it is held against, `method` how it was sampled. `remark` says
    where incidents are counted apart that may fall together.
    """

    reboots: float
    delay: float
    found: MeasuredRate
    ratio: MeasuredRate | None = None
    method: str = ""
    remark: str = ""

    @property
    def shown(self) -> MeasuredRate:
        """What is written into the cell, and gives its colour."""
        return self.found if self.ratio is None else self.ratio


def map_sentence(cells: Sequence[MapCell], what: str, scale: DelayScale, beside: str = "") -> str:
    """Where the fleet loses more than once a year, the worst corner and the best; `beside` is what
    it is held against.
    """
    if not is_map(cells):
        return EMPTY
    shown = [cell for cell in cells if cell.shown.seen]
    if not shown:
        return f"{what}: nothing was seen anywhere on this map. {_none_seen(cells)}"
    best, worst = (f(shown, key=lambda cell: cell.shown.rate) for f in (min, max))
    often = sum(cell.found.seen and cell.found.rate >= 1 for cell in cells)
    unit = f"against {_quoted(beside)}" if beside else "in a fleet-year"
    times = " times as often" if beside else ""
    parts = [
        f"{what}, {unit}: from {number_words(best.shown.rate)}{times} {_where(best, scale)}",
        f"to {number_words(worst.shown.rate)}{times} {_where(worst, scale)};",
        f"once a fleet-year or more in {often} of {len(cells)} cells.",
        _none_seen(cells),
        *dict.fromkeys(f"{capital(cell.remark)}." for cell in cells if cell.remark),
        alarm_words(tuple(cell.found for cell in cells)),
    ]
    return " ".join(filter(None, parts))


def _where(cell: MapCell, scale: DelayScale) -> str:
    return f"({value_words(cell.reboots)} reboots, {scale.said(cell.delay)})"


def _none_seen(cells: Sequence[MapCell]) -> str:
    blank = sum(not cell.shown.seen for cell in cells)
    return f"{blank} of {len(cells)} cells have no number." if blank else ""


def map_table(cells: Sequence[MapCell], scale: DelayScale, beside: str = "") -> PlotTable:
    """A line per cell: the rate, and the ratio where it is held against something."""
    ratios = (f"times as often as: {beside}", "95 % interval") if beside else ()
    rates = ("per fleet-year", "95 % interval")
    lines = [
        (
            value_words(cell.reboots),
            scale.said(cell.delay),
            *(rate_cells(cell.shown)[:2] if beside else ()),
            *_found_cells(cell),
            cell.method,
        )
        for cell in cells
    ]
    heads = (REBOOTS_ACROSS, scale.words, *ratios, *rates, "remarks", "by")
    return plot_table("Incidents in a fleet-year", heads, lines)


def _found_cells(cell: MapCell) -> tuple[str, str, str]:
    rate, interval, said = rate_cells(cell.found)
    return rate, interval, "; ".join(filter(None, [said, cell.remark]))


def is_map(cells: Sequence[MapCell]) -> bool:
    """Whether both go up and down, and every pair of values is there once."""
    across, down = _values(cells)
    whole = {(cell.reboots, cell.delay) for cell in cells}
    return min(len(across), len(down)) >= 2 and len(whole) == len(cells) == len(across) * len(down)


def _values(cells: Sequence[MapCell]) -> tuple[list[float], list[float]]:
    return sorted({cell.reboots for cell in cells}), sorted({cell.delay for cell in cells})


# --- the line at once a year ----------------------------------------------------------------------


def once_a_year(cells: Sequence[MapCell]) -> list[Segment]:
    """Where the rate is 1, in columns and rows from the cell of the smallest values: pieces between
    the middles of neighbouring cells that were seen, straight on a logarithmic scale.
    """
    across, down = _values(cells)
    height = {
        (across.index(c.reboots), down.index(c.delay)): log10(c.found.rate)
        for c in cells
        if c.found.seen
    }
    squares = ((i, j) for i in range(len(across) - 1) for j in range(len(down) - 1))
    pieces = [piece for i, j in squares for piece in _crossings(height, i, j)]
    ends = dict.fromkeys(end for piece in pieces for end in piece)
    return pieces + [on for end in ends for on in _to_edge(end, len(across) - 1, len(down) - 1)]


def _to_edge(end: tuple[float, float], last: int, highest: int) -> list[Segment]:
    """From the middle of an outermost cell straight on to the edge of the map."""
    i, j = end
    beyond = [(i + (0.5 if i == last else -0.5), j)] if i in (0, last) else []
    beyond += [(i, j + (0.5 if j == highest else -0.5))] if j in (0, highest) else []
    return [(end, out) for out in beyond]


def _crossings(height: dict[tuple[int, int], float], i: int, j: int) -> list[Segment]:
    corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
    if any(corner not in height for corner in corners):
        return []
    edges = [(corners[n], corners[(n + 1) % 4]) for n in range(4)]
    found = [_zero(height, a, b) for a, b in edges if (height[a] < 0) != (height[b] < 0)]
    return [(found[n], found[n + 1]) for n in range(0, len(found), 2)]


def _zero(
    height: dict[tuple[int, int], float], a: tuple[int, int], b: tuple[int, int]
) -> tuple[float, float]:
    share = height[a] / (height[a] - height[b])
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])


# --- the picture ----------------------------------------------------------------------------------


def map_drawing(
    cells: Sequence[MapCell],
    what: str,
    scale: DelayScale,
    beside: str = "",
    *,
    theme: str = "light",
    width: int | None = None,
) -> Json:
    """The map as plotly's data and layout; `what` is what is lost, `scale` what goes up, `beside`
    what it is held against.

    Raises ValueError for a theme that there is none of, and for a width too small for words.
    """
    canvas = plot_sheet(theme, width)
    sentence = map_sentence(cells, what, scale, beside)
    if not is_map(cells):
        y = plot_heading(canvas, TITLE, "")
        return canvas.drawing(empty_note(canvas, y, EMPTY) + EDGE, sentence)
    y = plot_heading(canvas, TITLE, sentence) + 22
    across, down = _values(cells)
    box = Box(EDGE + 84, y, canvas.width - EDGE, y + _CELL * len(down))
    places = {
        cell: _cell_box(box, across.index(cell.reboots), down.index(cell.delay), len(across))
        for cell in cells
    }
    farthest = max((abs(log10(cell.shown.rate)) for cell in cells if cell.shown.seen), default=1.0)
    fills = {cell: cell_color(cell.shown, canvas.theme, max(farthest, 1.0)) for cell in cells}
    for cell, place in places.items():
        _ground(canvas, cell, place, fills[cell])
    _contour(canvas, cells, box, len(across))
    for cell, place in places.items():
        _number(canvas, cell, place, fills[cell])
    end = _sides(canvas, box, across, down, scale)
    return canvas.drawing(plot_notes(canvas, _notes(cells, beside), end + 4), sentence)


map_figure = as_figure(map_drawing)


def _cell_box(box: Box, i: int, j: int, columns: int) -> Box:
    """The smallest delay is at the bottom."""
    wide = (box.x1 - box.x0) / columns
    x, y = box.x0 + i * wide, box.y1 - (j + 1) * _CELL
    return Box(x, y, x + wide, y + _CELL)


def _ground(canvas: Canvas, cell: MapCell, box: Box, fill: str) -> None:
    inner = (box.x0 + _GAP / 2, box.x1 - _GAP / 2, box.y0 + _GAP / 2, box.y1 - _GAP / 2)
    canvas.rect(*inner, fill)
    if not cell.shown.seen:
        canvas.hatch(*inner, canvas.theme.line)


def _number(canvas: Canvas, cell: MapCell, box: Box, fill: str) -> None:
    """On a ground of its own, so that no line runs through it."""
    sizes, found = canvas.sizes, cell.shown
    x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
    said = f"{_in_cell(found)}{' !' if cell.found.alarms else ''}"
    size = sizes.text if width_of(said, sizes.text) < box.x1 - box.x0 - 6 else sizes.small - 1
    half = width_of(said, size) / 2 + 4
    canvas.rect(x - half, x + half, y - 9, y + 9, fill)
    canvas.text(x, y, safe(said), size=size, anchor="center")
    card_at(canvas, x, y, _card(cell))


def _card(cell: MapCell) -> list[str]:
    said = [f"{rate_words(cell.found)} in a fleet-year"]
    if cell.ratio is not None:
        said.insert(0, f"ratio: {rate_words(cell.ratio)}")
    return [*said, *filter(None, [cell.found.because]), *cell.found.alarms]


def _in_cell(found: MeasuredRate) -> str:
    match found.certainty:
        case Certainty.SEEN:
            return number_words(found.rate, 1 if found.rate < 1 else 2)
        case Certainty.UNSEEN:
            return f"< {number_words(found.high, 1)}"
        case Certainty.NEVER:
            return "cannot"
        case Certainty.NOT_REACHED:
            return "no hit"


def cell_color(found: MeasuredRate, palette: Theme, farthest: float) -> str:
    """From the paper's to blue below 1, to orange above; `farthest` in decades."""
    if not found.seen:
        return palette.isr_fill
    distance = log10(found.rate)
    share = _PALEST + (_STRONGEST - _PALEST) * abs(distance) / farthest
    return mixed(palette.paper, palette.message if distance < 0 else palette.gone, share)


def _contour(canvas: Canvas, cells: Sequence[MapCell], box: Box, columns: int) -> None:
    wide = (box.x1 - box.x0) / columns
    for piece in once_a_year(cells):
        ends = [(box.x0 + (i + 0.5) * wide, box.y1 - (j + 0.5) * _CELL) for i, j in piece]
        polyline(canvas, ends, canvas.theme.text, width=2.6)


def _sides(
    canvas: Canvas, box: Box, across: list[float], down: list[float], scale: DelayScale
) -> float:
    muted, small = canvas.theme.muted, canvas.sizes.small
    wide = (box.x1 - box.x0) / len(across)
    for i, reboots in enumerate(across):
        x, said = box.x0 + (i + 0.5) * wide, value_words(reboots)
        canvas.text(x, box.y1 + 12, said, muted, size=small, anchor="center")
    for j, delay in enumerate(down):
        y, said = box.y1 - (j + 0.5) * _CELL, safe(scale.said(delay))
        canvas.text(box.x0 - 8, y, said, muted, size=small, anchor="right")
    canvas.text(EDGE, box.y0 - 13, safe(scale.words), muted, size=small)
    middle = (box.x0 + box.x1) / 2
    canvas.text(middle, box.y1 + 29, REBOOTS_ACROSS, muted, size=small, anchor="center")
    return box.y1 + 40


def _notes(cells: Sequence[MapCell], beside: str) -> list[str]:
    line = "The line is at once a year" if once_a_year(cells) else "No line: once a year is nowhere"
    told = f"Times as often as this: {_quoted(beside)}" if beside else "Incidents in a fleet-year"
    notes = [
        f"{told}; blue is less than 1, orange more, the stronger the farther away."
        f" {line} in this fleet."
    ]
    if any(not cell.shown.seen for cell in cells):
        notes.append("Hatched: no number. < is an upper bound, for none was seen.")
    return notes


def _quoted(words: str) -> str:
    return f"\u201c{words.lower()}\u201d" if words else ""
