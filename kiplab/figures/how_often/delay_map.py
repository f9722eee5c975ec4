"""A map of losses in a fleet: how slow requests are by how often brokers are rebooted.

Cells say how many times as often as something else that is known, or else how often in a year. The
line runs where a fleet loses once a year, between the middles of cells, by powers of ten.
"""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise, product
from math import log10

import msgspec
from msgspec.structs import replace

from ..drawing import Json
from ..drawing.canvas import Box, Canvas, safe
from ..drawing.flat import color_at
from ..drawing.text_width import width_of
from ..drawing.theme import Theme, mixed
from .fleet_words import PlotTable, capital, number_words, value_words
from .measured_rate import Certainty, MeasuredRate, alarm_words, rate_cells, rate_words
from .plot_axis import PlotAxis, PlotTick
from .plot_panel import PlotPanel, card_html
from .plot_sheet import BELOW, EDGE, Chart

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

    def number(self, value: float) -> str:
        """``30 s``."""
        return f"{value_words(value)} {self.unit}".strip()


class MapCell(msgspec.Struct, frozen=True, kw_only=True):
    """How often a fleet loses in a year at so many reboots and with requests so slow; `ratio` is
    how many times as often as what it is held against, `method` how it was sampled. `remark` says
    where incidents are counted apart that may fall together.
    """

    reboots: float
    delay: float
    estimate: MeasuredRate
    ratio: MeasuredRate | None = None
    method: str = ""
    remark: str = ""

    @property
    def shown(self) -> MeasuredRate:
        """What is written into the cell, and gives its colour."""
        return self.estimate if self.ratio is None else self.ratio


def _sentence(cells: Sequence[MapCell], what: str, scale: DelayScale, beside: str = "") -> str:
    """Where more than one loss a year is, the worst corner and the best; `beside` is the rival."""
    if not is_map(cells):
        return EMPTY
    shown = [cell for cell in cells if cell.shown.is_seen]
    blank = len(cells) - len(shown)
    none_seen = f"{blank} of {len(cells)} cells have no number." if blank else ""
    if not shown:
        return f"{what}: nothing was seen anywhere on this map. {none_seen}"
    best, worst = (f(shown, key=lambda cell: cell.shown.rate) for f in (min, max))
    often = sum(cell.estimate.is_seen and cell.estimate.rate >= 1 for cell in cells)
    unit = f"against {_quoted(beside)}" if beside else "in a fleet-year"
    times = " times as often" if beside else ""

    def corner(cell: MapCell) -> str:
        where = f"({value_words(cell.reboots)} reboots, {scale.number(cell.delay)})"
        return f"{number_words(cell.shown.rate)}{times} {where}"

    parts = [
        f"{what}, {unit}: from {corner(best)}",
        f"to {corner(worst)};",
        f"once a fleet-year or more in {often} of {len(cells)} cells.",
        none_seen,
        *dict.fromkeys(f"{capital(cell.remark)}." for cell in cells if cell.remark),
        alarm_words(cell.estimate for cell in cells),
    ]
    return " ".join(filter(None, parts))


def _table(cells: Sequence[MapCell], scale: DelayScale, beside: str = "") -> PlotTable:
    ratios = (f"times as often as: {beside}", "95 % interval") if beside else ()
    heads = (REBOOTS_ACROSS, scale.words, *ratios, "per fleet-year", "95 % interval")
    lines = []
    for cell in cells:
        *rate, remark = rate_cells(cell.estimate)
        ratio = rate_cells(cell.shown)[:2] if beside else ()
        remarks = "; ".join(filter(None, [remark, cell.remark]))
        values = value_words(cell.reboots), scale.number(cell.delay)
        lines.append((*values, *ratio, *rate, remarks, cell.method))
    return PlotTable("Incidents in a fleet-year", (*heads, "remarks", "by"), lines)


def is_map(cells: Sequence[MapCell]) -> bool:
    """Whether both go up and down, and every pair of values is there once."""
    across, down = _values(cells)
    whole = {(cell.reboots, cell.delay) for cell in cells}
    return min(len(across), len(down)) >= 2 and len(whole) == len(cells) == len(across) * len(down)


def _values(cells: Sequence[MapCell]) -> tuple[list[float], list[float]]:
    return sorted({cell.reboots for cell in cells}), sorted({cell.delay for cell in cells})


def once_a_year(cells: Sequence[MapCell]) -> list[Segment]:
    """Where the rate is 1, in columns and rows from the cell of the smallest values: pieces between
    the middles of neighbouring cells that were seen, straight on a logarithmic scale; from the
    middle of an outermost cell straight on to the edge of the map.
    """
    across, down = _values(cells)
    places = ((across.index(c.reboots), down.index(c.delay), c.estimate) for c in cells)
    height = {(i, j): log10(rate.rate) for i, j, rate in places if rate.is_seen}
    last, highest = len(across) - 1, len(down) - 1
    pieces = [p for i, j in product(range(last), range(highest)) for p in _crossings(height, i, j)]
    for i, j in dict.fromkeys(end for piece in pieces for end in piece):
        if i in (0, last):
            pieces.append(((i, j), (i + (0.5 if i == last else -0.5), j)))
        if j in (0, highest):
            pieces.append(((i, j), (i, j + (0.5 if j == highest else -0.5))))
    return pieces


def _crossings(height: dict[tuple[int, int], float], i: int, j: int) -> list[Segment]:
    corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
    if any(corner not in height for corner in corners):
        return []
    crossings = []
    for a, b in pairwise([*corners, corners[0]]):
        if (height[a] < 0) != (height[b] < 0):
            share = height[a] / (height[a] - height[b])
            crossings.append((a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])))
    return list(zip(crossings[::2], crossings[1::2], strict=True))


def map_chart(cells: Sequence[MapCell], what: str, scale: DelayScale, beside: str = "") -> Chart:
    """The map; `what` is what is lost, `scale` what goes up, `beside` what it is held against."""
    return Chart(
        title="Slow requests and many reboots together",
        sentence=_sentence(cells, what, scale, beside),
        words=_table(cells, scale, beside),
        plot=partial(_plot, cells, scale),
        notes=_notes(cells, beside),
        empty="" if is_map(cells) else EMPTY,
    )


def _plot(cells: Sequence[MapCell], scale: DelayScale, canvas: Canvas, top: float) -> float:
    y, (across, down) = top + 22, _values(cells)
    box = Box(EDGE + 84, y, canvas.width - EDGE, y + _CELL * len(down))
    columns = _index_axis([value_words(value) for value in across])
    rows = _index_axis([scale.number(value) for value in down])
    panel = PlotPanel(canvas, box, replace(columns, title=REBOOTS_ACROSS), rows)
    small, muted = canvas.sizes.small, canvas.theme.muted
    canvas.text(EDGE, box.y0 - 13, safe(scale.words), muted, size=small)
    placed = {(across.index(c.reboots), down.index(c.delay)): c for c in cells}
    farthest = max([1.0, *(abs(log10(c.shown.rate)) for c in cells if c.shown.is_seen)])
    _heat(panel, placed, farthest)
    for piece in once_a_year(cells):
        xs, ys = zip(*piece, strict=True)
        panel.line(xs, ys, canvas.theme.text, width=2.6)
    for place, cell in placed.items():
        _number(panel, cell, place, farthest)
    return box.y1 + BELOW + 2


def _index_axis(words: Sequence[str]) -> PlotAxis:
    """From the middle of the first cell, which is 0, to that of the last."""
    ticks = tuple(PlotTick(n, safe(word)) for n, word in enumerate(words))
    return PlotAxis(-0.5, len(words) - 0.5, marks=ticks)


def _heat(panel: PlotPanel, placed: dict[tuple[int, int], MapCell], farthest: float) -> None:
    """Cells with a number in their colour, others hatched; `farthest` is the strongest power."""
    canvas, box, (last, highest) = panel.canvas, panel.box, max(placed)
    canvas.rect(box.x0, box.x1, box.y0, box.y1, canvas.theme.isr_fill)
    for (i, j), cell in placed.items():
        if not cell.shown.is_seen:
            ends = panel.px(i - 0.5), panel.px(i + 0.5), panel.py(j + 0.5), panel.py(j - 0.5)
            canvas.hatch(*ends, canvas.theme.line)
    across, down = range(last + 1), range(highest + 1)
    rows = [[placed[i, j] for i in across] for j in down]
    powers = [[log10(c.shown.rate) if c.shown.is_seen else None for c in row] for row in rows]
    cells: Json = {"type": "heatmap", "x": list(across), "y": list(down), "z": powers}
    cells |= {"colorscale": color_scale(canvas.theme), "zmin": -farthest, "zmax": farthest}
    cells["hovertext"] = [[_card(cell) for cell in row] for row in rows]
    panel.add(**cells, xgap=_GAP, ygap=_GAP, showscale=False, hoverongaps=True)


def color_scale(palette: Theme) -> list[tuple[float, str]]:
    """From blue, for less than 1, over the paper's colour, which is never reached, to orange."""
    shades = [(palette.message, _STRONGEST), (palette.message, _PALEST)]
    shades += [(palette.gone, _PALEST), (palette.gone, _STRONGEST)]
    places = (0.0, 0.5, 0.5, 1.0)
    return [(at, mixed(palette.paper, *shade)) for at, shade in zip(places, shades, strict=True)]


def _number(panel: PlotPanel, cell: MapCell, place: tuple[int, int], farthest: float) -> None:
    """On a plate of the cell's colour, so that no line runs through it."""
    sizes, theme, rate = panel.canvas.sizes, panel.canvas.theme, cell.shown
    room = (panel.box.x1 - panel.box.x0) / (panel.x.high - panel.x.low) - 6
    words = f"{_in_cell(rate)}{' !' if cell.estimate.alarms else ''}"
    size = sizes.text if width_of(words, sizes.text) < room else sizes.small
    ground = theme.isr_fill
    if rate.is_seen:
        ground = color_at(color_scale(theme), 0.5 + log10(rate.rate) / farthest / 2)
    panel.note(*place, words, size=size, bgcolor=ground)


def _card(cell: MapCell) -> str:
    lines = [f"{rate_words(cell.estimate)} in a fleet-year"]
    if cell.ratio is not None:
        lines.insert(0, f"ratio: {rate_words(cell.ratio)}")
    return card_html([*lines, *filter(None, [cell.estimate.because]), *cell.estimate.alarms])


def _in_cell(measured_rate: MeasuredRate) -> str:
    match measured_rate.certainty:
        case Certainty.SEEN:
            return number_words(measured_rate.rate, 1 if measured_rate.rate < 1 else 2)
        case Certainty.UNSEEN:
            return f"< {number_words(measured_rate.high, 1)}"
        case Certainty.NEVER:
            return "cannot"
        case Certainty.NOT_REACHED:
            return "no hit"


def _notes(cells: Sequence[MapCell], beside: str) -> list[str]:
    line = "The line is at once a year" if once_a_year(cells) else "No line: once a year is nowhere"
    key = f"Times as often as this: {_quoted(beside)}" if beside else "Incidents in a fleet-year"
    notes = [
        f"{key}; blue is less than 1, orange more, the stronger the farther away."
        f" {line} in this fleet."
    ]
    if any(not cell.shown.is_seen for cell in cells):
        notes.append("Hatched: no number. < is an upper bound, for none was seen.")
    return notes


def _quoted(words: str) -> str:
    return f"\u201c{words.lower()}\u201d" if words else ""
