"""The strongest parameters: how much a rate changes with one parameter, the strongest on top."""

from collections.abc import Sequence
from functools import partial
from math import inf, log
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from ..drawing.canvas import Box, Canvas, safe
from ..drawing.text_width import shortened
from .fleet_words import PlotTable, capital, counted, listed
from .measured_rate import MeasuredRate, alarm_words, rate_words
from .plot_axis import PlotAxis, log_range
from .plot_panel import PlotPanel, error_bars
from .plot_sheet import EDGE, Chart

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
        """The elasticity: 2 where twice the value gives four times the rate; None without both."""
        if not (self.lower.is_seen and self.higher.is_seen):
            return None
        return log(self.higher.rate / self.lower.rate) / log(self.factor)


def by_strength(levers: Sequence[Leverage]) -> list[Leverage]:
    """The strongest first; those without a number last."""
    return sorted(levers, key=lambda lever: -abs(lever.power) if lever.power is not None else 1.0)


def _sentence(levers: Sequence[Leverage], what: str) -> str:
    """Which parameters matter, with their powers, and which do not."""
    powers = [(lever.parameter, lever.power) for lever in by_strength(levers)]
    known = [(parameter, power) for parameter, power in powers if power is not None]
    if not known:
        return EMPTY
    strong = [(parameter, power) for parameter, power in known if abs(power) >= _FIRM]
    weak = len(known) - len(strong)
    names = [f"{parameter} (power {power_sign(power)})" for parameter, power in strong[:3]]
    parts = [f"{what} depends most on {listed(names)}." if names else f"Nothing moves: {what}."]
    parts += [f"{counted(weak, 'parameter')} of {len(levers)} hardly matter{'s' * (weak == 1)}."]
    rates = (rate for lever in levers for rate in (lever.lower, lever.usual, lever.higher))
    return " ".join(filter(None, [*parts, alarm_words(rates)]))


def power_sign(power: float) -> str:
    """``+1.6``, ``−1.1``, ``0``."""
    text = f"{power:+.1f}".replace("-", "−")
    return "0" if text[1:] == "0.0" else text


def _table(levers: Sequence[Leverage]) -> PlotTable:
    heads = ("parameter", "lower", "rate", "usual", "rate", "higher", "rate", "power")
    lines = []
    for lever in by_strength(levers):
        lower, usual, higher = map(rate_words, (lever.lower, lever.usual, lever.higher))
        words = lever.lower_value, lower, lever.usual_value, usual, lever.higher_value, higher
        power = "" if lever.power is None else power_sign(lever.power)
        lines.append((lever.parameter, *words, power))
    return PlotTable("Rates with one parameter changed", heads, lines)


def tornado_chart(levers: Sequence[Leverage], what: str) -> Chart:
    """A bar per parameter around the usual rate; `what` is the rate."""
    sentence, left_out = _sentence(levers, what), len(levers) - MOST_LEVERS
    more = [f"Not drawn: {left_out} that matter less."] if left_out > 0 else []
    return Chart(
        title="What matters most?",
        sentence=sentence,
        words=_table(levers),
        plot=partial(_plot, by_strength(levers)[:MOST_LEVERS]),
        notes=[*_NOTES, *more],
        empty="" if any(lever.usual.is_seen for lever in levers) else sentence,
    )


def _plot(levers: Sequence[Leverage], canvas: Canvas, top: float) -> float:
    left, y, muted = round(canvas.width * _NAMES), top + 24, canvas.theme.muted
    box = Box(left + 46, y, canvas.width - EDGE - 110, y + _ROW * len(levers))
    panel = PlotPanel(canvas, box, _ratio_axis(levers), PlotAxis(-box.y1, -box.y0))
    panel.upright(1, canvas.theme.line, width=1)
    middles = [y + _ROW * (n + 0.5) for n in range(len(levers))]
    for lever, middle in zip(levers, middles, strict=True):
        _say(panel, lever, middle, left)
    for color, of in ((canvas.theme.message, "lower"), (canvas.theme.gone, "higher")):
        _halves(panel, list(zip(levers, middles, strict=True)), of, color)
    small = canvas.sizes.small
    canvas.text(EDGE, y - 12, "parameter, and its usual value", muted, size=small)
    canvas.text(canvas.width - EDGE, y - 12, "power", muted, size=small, anchor="right")
    return box.y1 + 32


def _ratio_axis(levers: Sequence[Leverage]) -> PlotAxis:
    ends = [(lever, end) for lever in levers for end in (lever.lower, lever.higher)]
    ratios = (_ratio(lever, end) for lever, end in ends)
    seen_ratios = [1.0, *(ratio for ratio in ratios if ratio is not None)]
    axis = PlotAxis(*log_range(seen_ratios, decades=0.6), log=True)
    ticks = [
        tick._replace(text="as usual" if tick.value == 1 else f"× {tick.text}")
        for tick in axis.ticks(7)
    ]
    return replace(axis, marks=tuple(ticks))


def _ratio(lever: Leverage, measured_rate: MeasuredRate) -> float | None:
    both = measured_rate.is_seen and lever.usual.is_seen
    return measured_rate.rate / lever.usual.rate if both else None


def _halves(panel: PlotPanel, rows: Sequence[tuple[Leverage, float]], of: str, color: str) -> None:
    """From the usual rate to that with the parameter `lower` or `higher`, with its interval."""
    ends = [(lever, getattr(lever, of), -y) for lever, y in rows]
    ends = [end for end in ends if _ratio(*end[:2]) is not None]
    shown, places = [rate.rate / lever.usual.rate for lever, rate, _ in ends], [y for *_, y in ends]
    bounds = [(r.low / lever.usual.rate, r.high / lever.usual.rate) for lever, r, _ in ends]
    cards = [[lever.parameter, rate_words(rate), *rate.alarms] for lever, rate, _ in ends]
    panel.bars([(1.0, ratio) for ratio in shown], places, color, _BAR, cards=cards)
    bars = error_bars(panel.x, shown, bounds, panel.canvas.theme.text, 1)
    panel.marks(shown, places, "circle", color, sizes=[0] * len(shown), error_x=bars)


def _say(panel: PlotPanel, lever: Leverage, y: float, left: float) -> None:
    """The parameter with its usual value, its power, and a value at the end of each half."""
    canvas, sizes = panel.canvas, panel.canvas.sizes
    name = shortened(capital(lever.parameter), left - EDGE - 10, sizes.text)
    canvas.text(EDGE, y - 7, safe(name))
    canvas.text(EDGE, y + 7, safe(lever.usual_value), canvas.theme.muted, size=sizes.small)
    power = "–" if lever.power is None else power_sign(lever.power)
    canvas.text(canvas.width - EDGE, y, power, anchor="right", bold=True)
    usual = lever.usual.rate
    for end, side, edge in zip(lever_ends(lever), (-1, 1), (min, max), strict=True):
        rate, reach, words = end.rate, [usual], f"{end.value}: {rate_words(end.rate)}"
        if end.ratio is not None:
            reach, words = [usual, rate.rate, rate.low, rate.high], end.value
        words += " !" if rate.alarms else ""
        anchor, x = "right" if side < 0 else "left", edge(reach) / usual
        panel.note(x, -y, words, size=sizes.small, xanchor=anchor, xshift=5 * side)


class LeverEnd(NamedTuple):
    """A value of the parameter, the rate there, and how many times the usual one that is."""

    value: str
    rate: MeasuredRate
    ratio: float | None


def lever_ends(lever: Leverage) -> list[LeverEnd]:
    """What stands left, then right: the smaller rate first; without one, the first with room."""
    pairs = ((lever.lower_value, lever.lower), (lever.higher_value, lever.higher))
    ends = [LeverEnd(value, rate, _ratio(lever, rate)) for value, rate in pairs]
    ratios = [end.ratio for end in ends if end.ratio is not None]
    other = 0.0 if ratios and ratios[0] >= 1 else inf
    return sorted(ends, key=lambda end: other if end.ratio is None else end.ratio)
