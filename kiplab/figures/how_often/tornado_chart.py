"""What matters most: by how much a rate changes when one parameter does, the strongest on top."""

from collections.abc import Sequence
from math import inf, log
from typing import NamedTuple

import msgspec

from ..drawing.canvas import Box, Canvas, as_figure, safe
from ..drawing.svg import Json
from ..drawing.text_width import shortened
from .fleet_words import capital, counted, listed
from .measured_rate import MeasuredRate, alarm_words, rate_words
from .plot_axis import PlotAxis, log_range
from .plot_sheet import (
    EDGE,
    card_at,
    empty_note,
    plot_heading,
    plot_notes,
    plot_sheet,
)
from .plot_table import PlotTable, plot_table

_ROW, _BAR = 34, 16
_NAMES = 0.27
MOST_LEVERS = 12
"""In the picture; the table has all."""
_FIRM = 0.05
"""What a power has to differ from 0 by to be said to matter."""
_NOTES = [
    "Blue: the parameter is lower than usual, orange: higher; its value stands at the bar's end."
    " Thin lines: 95 % intervals of the rate there.",
    "Power +2: twice the value brings four times the rate; −1: half of it.",
]
EMPTY = "Nothing to compare: no rate was seen at the values in the middle, so there are no ratios."


class Leverage(msgspec.Struct, frozen=True, kw_only=True):
    """A rate with one parameter lower and higher than usual, all else equal. Values are words with
    their unit; `factor` is the higher value over the lower one.
    """

    parameter: str
    lower_value: str
    usual_value: str
    higher_value: str
    factor: float
    lower: MeasuredRate
    usual: MeasuredRate
    higher: MeasuredRate

    @property
    def power(self) -> float | None:
        """The elasticity: 2 where twice the value brings four times the rate; None where one of the
        two rates was not seen.
        """
        if not (self.lower.seen and self.higher.seen):
            return None
        return log(self.higher.rate / self.lower.rate) / log(self.factor)


def by_strength(levers: Sequence[Leverage]) -> list[Leverage]:
    """The strongest first; those without a number last."""
    return sorted(levers, key=lambda lever: -abs(lever.power) if lever.power is not None else 1.0)


def tornado_sentence(levers: Sequence[Leverage], what: str) -> str:
    """Which parameters matter, with their powers, and which do not."""
    known = [lever for lever in by_strength(levers) if lever.power is not None]
    if not known:
        return EMPTY
    strong = [lever for lever in known if abs(_power(lever)) >= _FIRM]
    weak = sum(abs(_power(lever)) < _FIRM for lever in known)
    said = [f"{lever.parameter} (power {power_sign(_power(lever))})" for lever in strong[:3]]
    parts = [f"{what} depends most on {listed(said)}." if said else f"Nothing moves: {what}."]
    parts += [f"{counted(weak, 'parameter')} of {len(levers)} hardly matter{'s' * (weak == 1)}."]
    rates = (rate for lever in levers for rate in (lever.lower, lever.usual, lever.higher))
    return " ".join(filter(None, [*parts, alarm_words(tuple(rates))]))


def _power(lever: Leverage) -> float:
    return lever.power or 0.0


def power_sign(power: float) -> str:
    """``+1.6``, ``−1.1``, ``0``."""
    said = f"{power:+.1f}".replace("-", "−")
    return "0" if said[1:] == "0.0" else said


def tornado_table(levers: Sequence[Leverage]) -> PlotTable:
    """A line per parameter."""
    heads = ("parameter", "lower", "rate", "usual", "rate", "higher", "rate", "power")
    lines = [
        (
            lever.parameter,
            lever.lower_value,
            rate_words(lever.lower),
            lever.usual_value,
            rate_words(lever.usual),
            lever.higher_value,
            rate_words(lever.higher),
            "" if lever.power is None else power_sign(lever.power),
        )
        for lever in by_strength(levers)
    ]
    return plot_table("Rates with one parameter changed", heads, lines)


# --- the picture ----------------------------------------------------------------------------------


def tornado_drawing(
    levers: Sequence[Leverage], what: str, *, theme: str = "light", width: int | None = None
) -> Json:
    """A bar per parameter around the usual rate, as plotly's data and layout; `what` is the rate.

    Raises ValueError for a theme that there is none of, and for a width too small for words.
    """
    canvas = plot_sheet(theme, width)
    sentence = tornado_sentence(levers, what)
    title = "What matters most?"
    if not any(lever.usual.seen for lever in levers):
        y = plot_heading(canvas, title, "")
        return canvas.drawing(empty_note(canvas, y, sentence) + EDGE, sentence)
    y = plot_heading(canvas, title, sentence) + 24
    drawn = by_strength(levers)[:MOST_LEVERS]
    box = Box(round(canvas.width * _NAMES), y, canvas.width - EDGE - 64, y + _ROW * len(drawn))
    ratios = PlotAxis(*_range(drawn), box.x0 + 46, box.x1 - 46, log=True)
    low = _ratio_ticks(canvas, ratios, box)
    for n, lever in enumerate(drawn):
        _lever(canvas, lever, ratios, box, box.y0 + _ROW * (n + 0.5))
    _column_heads(canvas, box)
    return canvas.drawing(plot_notes(canvas, _notes(levers), low + 4), sentence)


tornado_figure = as_figure(tornado_drawing)


def _range(levers: Sequence[Leverage]) -> tuple[float, float]:
    ends = [(lever, end) for lever in levers for end in (lever.lower, lever.higher)]
    ratios = (_ratio(lever, end) for lever, end in ends)
    return log_range([1.0, *(ratio for ratio in ratios if ratio is not None)], decades=0.6)


def _ratio(lever: Leverage, found: MeasuredRate) -> float | None:
    return found.rate / lever.usual.rate if found.seen and lever.usual.seen else None


def _ratio_ticks(canvas: Canvas, ratios: PlotAxis, box: Box) -> float:
    palette, small = canvas.theme, canvas.sizes.small
    for tick in ratios.ticks(7):
        x = ratios.at(tick.value)
        usual = tick.value == 1
        canvas.line(x, box.y0, x, box.y1, palette.line if usual else palette.grid)
        said = "as usual" if usual else f"× {tick.text}"
        canvas.text(x, box.y1 + 14, said, palette.muted, size=small, anchor="center")
    return box.y1 + 28


def _column_heads(canvas: Canvas, box: Box) -> None:
    palette, small = canvas.theme, canvas.sizes.small
    y = box.y0 - 12
    canvas.text(EDGE, y, "parameter, and its usual value", palette.muted, size=small)
    canvas.text(canvas.width - EDGE, y, "power", palette.muted, size=small, anchor="right")


def _lever(canvas: Canvas, lever: Leverage, ratios: PlotAxis, box: Box, y: float) -> None:
    palette, sizes = canvas.theme, canvas.sizes
    name = shortened(capital(lever.parameter), box.x0 - EDGE - 10, sizes.text)
    canvas.text(EDGE, y - 7, safe(name))
    canvas.text(EDGE, y + 7, safe(lever.usual_value), palette.muted, size=sizes.small)
    ends = lever_ends(lever)
    for end in (end for end in ends if end.ratio is not None):
        color = palette.message if end.value == lever.lower_value else palette.gone
        _half(canvas, lever, end, ratios, y, color)
    _value_words(canvas, lever, ends, ratios, y)
    said = "–" if lever.power is None else power_sign(lever.power)
    canvas.text(canvas.width - EDGE, y, said, anchor="right", bold=True)


class LeverEnd(NamedTuple):
    """A value of the parameter, the rate there, and how many times the usual one that is."""

    value: str
    found: MeasuredRate
    ratio: float | None


def lever_ends(lever: Leverage) -> list[LeverEnd]:
    """What stands on the left, then on the right: the smaller rate first; without one, the first
    that has room.
    """
    pairs = ((lever.lower_value, lever.lower), (lever.higher_value, lever.higher))
    ends = [LeverEnd(value, found, _ratio(lever, found)) for value, found in pairs]
    known = [end.ratio for end in ends if end.ratio is not None]
    other = 0.0 if known and known[0] >= 1 else inf
    return sorted(ends, key=lambda end: other if end.ratio is None else end.ratio)


def _half(
    canvas: Canvas, lever: Leverage, end: LeverEnd, ratios: PlotAxis, y: float, color: str
) -> None:
    """From the usual rate to the other one, with the interval of the other."""
    found, usual = end.found, lever.usual.rate
    x0, x1 = sorted((ratios.at(1), ratios.at(found.rate / usual)))
    canvas.rect(x0, max(x1, x0 + 1), y - _BAR / 2, y + _BAR / 2, color)
    canvas.line(
        ratios.at(found.low / usual), y, ratios.at(found.high / usual), y, canvas.theme.text
    )
    card_at(canvas, (x0 + x1) / 2, y, [lever.parameter, rate_words(found), *found.alarms])


def _value_words(
    canvas: Canvas, lever: Leverage, ends: list[LeverEnd], ratios: PlotAxis, y: float
) -> None:
    """The value of the parameter at the end of each half; why one is not there in its place."""
    size, usual = canvas.sizes.small - 0.5, lever.usual.rate
    for end, side, edge in zip(ends, (-1, 1), (min, max), strict=True):
        found = end.found
        reach = [usual, found.rate, found.low, found.high] if end.ratio is not None else [usual]
        x = ratios.at(edge(reach) / usual) + 5 * side
        said = end.value if end.ratio is not None else f"{end.value}: {rate_words(found)}"
        alarm = " !" if found.alarms else ""
        canvas.text(x, y, safe(said + alarm), size=size, anchor="right" if side < 0 else "left")


def _notes(levers: Sequence[Leverage]) -> list[str]:
    left_out = len(levers) - MOST_LEVERS
    return _NOTES + ([f"Not drawn: {left_out} that matter less."] if left_out > 0 else [])
