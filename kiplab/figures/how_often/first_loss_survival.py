"""Years until the first loss, by the size of a fleet: how likely nothing was lost yet."""

from collections.abc import Sequence
from math import exp, expm1

import msgspec

from ..drawing.canvas import Box, Canvas, as_figure
from ..drawing.svg import Json
from .fleet_words import capital
from .measured_rate import Certainty, MeasuredRate, alarm_words, rate_cells
from .number_words import share_range_words, share_words
from .plot_axis import PlotAxis
from .plot_marks import PlotStyle, band, legend_sample, plot_mark, polyline
from .plot_sheet import (
    EDGE,
    card_at,
    empty_note,
    frame,
    plot_heading,
    plot_notes,
    plot_sheet,
    ticks_below,
    told_block,
)
from .plot_table import PlotTable, plot_table

TITLE = "How long until the first loss?"
EMPTY = "Nothing to draw: no fleet was asked about."
YEARS_FROM, YEARS_TO = 0.1, 1_000.0
ASKED_YEARS = (1, 5, 10)
_TEN = 10
_HEIGHT, _LEGEND, _POINTS = 300, 250, 120
_STYLES = (
    PlotStyle("message", "circle", "solid"),
    PlotStyle("gone", "square", "solid"),
    PlotStyle("refused", "diamond", "6px,3px"),
    PlotStyle("safe_text", "triangle", "2px,2px"),
    PlotStyle("text", "cross", "8px,3px,2px,3px"),
)
MOST_FLEETS = len(_STYLES)


class FleetOfSize(msgspec.Struct, frozen=True, kw_only=True):
    """A fleet by name, and how many incidents of a loss all of it has in a year: what falls
    together is one of them. `remark` says where some are counted apart that may fall together.
    """

    name: str
    yearly: MeasuredRate
    remark: str = ""


def loss_share(rate: float, years: float) -> float:
    """The probability of at least one in so many years."""
    return -expm1(-rate * years)


def loss_words(found: MeasuredRate, years: float) -> str:
    """``23 % (18 to 29 %)``; of what was never seen what it is at most."""
    low, likely, high = (loss_share(r, years) for r in (found.low, found.rate, found.high))
    match found.certainty:
        case Certainty.SEEN:
            between = share_range_words(low, high)
            return share_words(likely) + (f" ({between})" if between else "")
        case Certainty.UNSEEN:
            return f"none seen, at most {share_words(high)}"
        case Certainty.NEVER:
            return "cannot happen"
        case Certainty.NOT_REACHED:
            return "not known: no sample hit it"


def survival_sentence(fleets: Sequence[FleetOfSize], what: str) -> str:
    """The probability of a loss within ten years, fleet by fleet."""
    if not fleets:
        return EMPTY
    said = "; ".join(f"{fleet.name} {loss_words(fleet.yearly, _TEN)}" for fleet in fleets)
    alarm = alarm_words(tuple(fleet.yearly for fleet in fleets))
    remarks = dict.fromkeys(f"{capital(fleet.remark)}." for fleet in fleets if fleet.remark)
    return " ".join(filter(None, [f"{what} within ten years: {said}.", *remarks, alarm]))


def survival_table(fleets: Sequence[FleetOfSize]) -> PlotTable:
    """A line per fleet, with what a year comes to and the three spans that people ask about."""
    spans = [f"in {years} year{'s' * (years > 1)}" for years in ASKED_YEARS]
    heads = ("fleet", "incidents per year", "95 % interval", *spans, "remarks")
    lines = []
    for fleet in fleets:
        rate, interval, remark = rate_cells(fleet.yearly)
        asked = [loss_words(fleet.yearly, years) for years in ASKED_YEARS]
        remarks = "; ".join(filter(None, [remark, fleet.remark]))
        lines.append((fleet.name, rate, interval, *asked, remarks))
    return plot_table("Probability of at least one loss", heads, lines)


# --- the picture ----------------------------------------------------------------------------------


def survival_drawing(
    fleets: Sequence[FleetOfSize], what: str, *, theme: str = "light", width: int | None = None
) -> Json:
    """A curve per fleet, five at most, as plotly's data and layout; `what` is what is lost.

    Raises ValueError for a theme that there is none of, a width too small for words, and more
    fleets than can be told apart.
    """
    if len(fleets) > MOST_FLEETS:
        raise ValueError(f"{len(fleets)} fleets are too many; {MOST_FLEETS} can be told apart")
    canvas = plot_sheet(theme, width)
    sentence = survival_sentence(fleets, what)
    if not fleets:
        y = plot_heading(canvas, TITLE, "")
        return canvas.drawing(empty_note(canvas, y, EMPTY) + EDGE, sentence)
    y = plot_heading(canvas, TITLE, sentence) + 20
    box = Box(EDGE + 48, y, canvas.width - EDGE - _LEGEND, y + _HEIGHT)
    years = PlotAxis(YEARS_FROM, YEARS_TO, box.x0, box.x1, log=True)
    shares = PlotAxis(0, 1, box.y1, box.y0)
    end = _grid(canvas, years, shares, box)
    for fleet, style in zip(fleets, _STYLES, strict=False):
        _curve(canvas, fleet, style, years, shares)
    end = max(_legend(canvas, fleets, box), end)
    return canvas.drawing(plot_notes(canvas, _notes(fleets), end + 4), sentence)


survival_figure = as_figure(survival_drawing)


def _grid(canvas: Canvas, years: PlotAxis, shares: PlotAxis, box: Box) -> float:
    palette, small = canvas.theme, canvas.sizes.small
    for percent in (0, 25, 50, 75, 100):
        y = shares.at(percent / 100)
        canvas.line(box.x0, y, box.x1, y, palette.grid)
        canvas.text(box.x0 - 7, y, f"{percent} %", palette.muted, size=small, anchor="right")
    canvas.text(EDGE, box.y0 - 16, "nothing lost yet", palette.muted, size=small)
    end = ticks_below(canvas, years, box, "years")
    frame(canvas, box)
    x = years.at(_TEN)
    canvas.line(x, box.y0, x, box.y1, palette.muted, dash="4px,3px")
    return end


def _curve(
    canvas: Canvas, fleet: FleetOfSize, style: PlotStyle, years: PlotAxis, shares: PlotAxis
) -> None:
    """How likely it is that nothing was lost yet; only a lower bound where nothing was seen."""
    color, found = style.paint(canvas.theme), fleet.yearly
    if found.certainty is Certainty.NOT_REACHED:
        return
    over = [years.value_at(n / _POINTS) for n in range(_POINTS + 1)]
    upper, lower = (
        [(years.at(t), shares.at(exp(-rate * t))) for t in over] for rate in (found.low, found.high)
    )
    band(canvas, upper, lower, color)
    unseen = found.certainty is Certainty.UNSEEN
    rate = found.high if unseen else found.rate
    line = [(years.at(t), shares.at(exp(-rate * t))) for t in over]
    polyline(canvas, line, color, dash="2px,3px" if unseen else style.dash)
    x, y = years.at(_TEN), shares.at(exp(-rate * _TEN))
    plot_mark(canvas, x, y, style.shape, color, hollow=unseen)
    card_at(canvas, x, y, [fleet.name, f"lost within ten years: {loss_words(found, _TEN)}"])


def _legend(canvas: Canvas, fleets: Sequence[FleetOfSize], box: Box) -> float:
    """Each curve's name and what it says of ten years, to the right; returns where it ends."""
    palette, sizes = canvas.theme, canvas.sizes
    x, y = box.x1 + 46, box.y0
    canvas.text(x - 26, y + 6, "lost within ten years", palette.muted, size=sizes.small)
    y += 24
    for fleet, style in zip(fleets, _STYLES, strict=False):
        if fleet.yearly.certainty is not Certainty.NOT_REACHED:
            hollow = fleet.yearly.certainty is Certainty.UNSEEN
            legend_sample(canvas, x, y + 8, style, hollow=hollow)
        y = told_block(canvas, fleet.name, y, palette.text, left=x)
        said = loss_words(fleet.yearly, _TEN) + (" !" if fleet.yearly.alarms else "")
        y = told_block(canvas, said, y, palette.muted, sizes.small, left=x) + 10
    return y


def _notes(fleets: Sequence[FleetOfSize]) -> list[str]:
    notes = [
        "How likely nothing was lost yet after so many years. Bands: 95 % intervals. What falls"
        " together, as in a shock, is one incident."
    ]
    if any(fleet.yearly.certainty is Certainty.UNSEEN for fleet in fleets):
        notes[0] += " Dotted and hollow: none seen; the curve is at least so high."
    if any(fleet.yearly.certainty is Certainty.NOT_REACHED for fleet in fleets):
        notes.append("A fleet without a curve: no sample hit a loss, which bounds nothing.")
    return notes
