"""Years until the first loss, by the size of a fleet: how likely nothing was lost yet."""

from collections.abc import Sequence
from functools import partial
from math import exp, expm1

import msgspec

from ..drawing.canvas import Box, Canvas
from .fleet_words import PlotTable, capital, share_range_words, share_words
from .measured_rate import Certainty, MeasuredRate, alarm_words, rate_cells
from .plot_axis import PlotAxis, PlotTick
from .plot_panel import PlotPanel, PlotStyle
from .plot_sheet import BELOW, EDGE, Chart, LegendEntry, legend

EMPTY = "Nothing to draw: no fleet was asked about."
YEARS_FROM, YEARS_TO = 0.1, 1_000.0
ASKED_YEARS = (1, 5, 10)
_TEN = 10
_HEIGHT, _LEGEND, _POINTS = 300, 250, 120
_STYLES = (
    PlotStyle("message", "circle", "solid"),
    PlotStyle("gone", "square", "solid"),
    PlotStyle("refused", "diamond", "6px,3px"),
    PlotStyle("safe_text", "triangle-up", "2px,2px"),
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


def loss_words(measured_rate: MeasuredRate, years: float) -> str:
    """``23 % (18 to 29 %)``; of what was never seen what it is at most."""
    rates = measured_rate.low, measured_rate.rate, measured_rate.high
    low, likely, high = (-expm1(-rate * years) for rate in rates)
    match measured_rate.certainty:
        case Certainty.SEEN:
            between = share_range_words(low, high)
            return share_words(likely) + (f" ({between})" if between else "")
        case Certainty.UNSEEN:
            return f"none seen, at most {share_words(high)}"
        case Certainty.NEVER:
            return "cannot happen"
        case Certainty.NOT_REACHED:
            return "not known: no sample hit it"


def _sentence(fleets: Sequence[FleetOfSize], what: str) -> str:
    if not fleets:
        return EMPTY
    chances = "; ".join(f"{fleet.name} {loss_words(fleet.yearly, _TEN)}" for fleet in fleets)
    remarks = dict.fromkeys(f"{capital(fleet.remark)}." for fleet in fleets if fleet.remark)
    alarm = alarm_words([fleet.yearly for fleet in fleets])
    return " ".join(filter(None, [f"{what} within ten years: {chances}.", *remarks, alarm]))


def _table(fleets: Sequence[FleetOfSize]) -> PlotTable:
    spans = [f"in {years} year{'s' * (years > 1)}" for years in ASKED_YEARS]
    heads = ("fleet", "incidents per year", "95 % interval", *spans, "remarks")
    lines = []
    for fleet in fleets:
        rate, interval, remark = rate_cells(fleet.yearly)
        chances = [loss_words(fleet.yearly, years) for years in ASKED_YEARS]
        remarks = "; ".join(filter(None, [remark, fleet.remark]))
        lines.append((fleet.name, rate, interval, *chances, remarks))
    return PlotTable("Probability of at least one loss", heads, lines)


def survival_chart(fleets: Sequence[FleetOfSize], what: str) -> Chart:
    """A curve per fleet; `what` is what is lost. Raises ValueError for more than five fleets."""
    if len(fleets) > MOST_FLEETS:
        raise ValueError(f"{len(fleets)} fleets are too many; {MOST_FLEETS} can be told apart")
    return Chart(
        title="How long until the first loss?",
        sentence=_sentence(fleets, what),
        words=_table(fleets),
        plot=partial(_plot, fleets),
        notes=_notes(fleets),
        empty="" if fleets else EMPTY,
    )


def _plot(fleets: Sequence[FleetOfSize], canvas: Canvas, top: float) -> float:
    y, muted, small = top + 20, canvas.theme.muted, canvas.sizes.small
    box = Box(EDGE + 48, y, canvas.width - EDGE - _LEGEND, y + _HEIGHT)
    years = PlotAxis(YEARS_FROM, YEARS_TO, log=True, title="years", line=True, outside=True)
    quarters = tuple(PlotTick(n / 4, f"{25 * n} %") for n in range(5))
    kept = PlotAxis(0, 1, marks=quarters, line=True)
    panel = PlotPanel(canvas, box, years.ticked(box.x1 - box.x0, 70), kept)
    canvas.text(EDGE, box.y0 - 16, "nothing lost yet", muted, size=small)
    panel.upright(_TEN, muted, dash="4px,3px", width=1)
    entries = []
    for fleet, style in zip(fleets, _STYLES, strict=False):
        words = loss_words(fleet.yearly, _TEN) + (" !" if fleet.yearly.alarms else "")
        reached = fleet.yearly.certainty is not Certainty.NOT_REACHED
        hollow = fleet.yearly.certainty is Certainty.UNSEEN
        entries.append(LegendEntry(fleet.name, words, style if reached else None, hollow))
        if reached:
            _curve(panel, fleet, style)
    left = box.x1 + 6
    canvas.text(left + 14, y + 6, "lost within ten years", muted, size=small)
    return max(legend(canvas, entries, left, y + 24), box.y1 + BELOW) + 4


def _curve(panel: PlotPanel, fleet: FleetOfSize, style: PlotStyle) -> None:
    """How likely it is that nothing was lost yet; only a lower bound where nothing was seen."""
    color, yearly = style.paint(panel.canvas.theme), fleet.yearly
    unseen = yearly.certainty is Certainty.UNSEEN
    years = [panel.x.value_at(n / _POINTS) for n in range(_POINTS + 1)]
    rate = yearly.high if unseen else yearly.rate
    least, likely, most = ([exp(-r * t) for t in years] for r in (yearly.high, rate, yearly.low))
    panel.band(years, least, most, color)
    panel.line(years, likely, color, dash="2px,3px" if unseen else style.dash)
    card = [fleet.name, f"lost within ten years: {loss_words(yearly, _TEN)}"]
    kept = exp(-rate * _TEN)
    panel.marks([_TEN], [kept], style.shape, color, hollow=[unseen], cards=[card])


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
