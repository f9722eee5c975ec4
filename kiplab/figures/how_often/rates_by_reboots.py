"""How often, by how often brokers are rebooted: a line for every set of KIPs, a panel per metric.

What was never seen is an arrow down from its upper bound. What cannot happen has no place on a
logarithmic axis: it stands on a strip of its own.
"""

from collections.abc import Sequence
from functools import partial
from itertools import groupby, pairwise
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from ..drawing.canvas import Box, Canvas, safe, wrapped_safe
from ..drawing.text_width import height_of, width_of
from .fleet_words import PlotTable, metric_words, number_words, set_words, sets_words, value_words
from .measured_rate import Certainty, MeasuredRate, alarm_words, rate_cells, rate_words
from .plot_axis import PlotAxis, PlotTick, log_range, pushed_apart
from .plot_panel import PlotPanel, PlotStyle, error_bars, styles_of
from .plot_sheet import BELOW, EDGE, Chart, tick_room

REBOOTS = "reboots per broker and year"
EMPTY = (
    "Nothing to draw: the study has one reboot rate only. Sweep it, as in"
    " bounces_per_year = [4, 12, 52]."
)
_HEIGHT, _STRIP_ROW, _LABELS, _TICK_ROOM, _ARROW = 290, 19, 104, 34, 20
_OFF_SCALE = {Certainty.NEVER: "cannot happen", Certainty.NOT_REACHED: "hollow: no sample hit it"}


class RatePoint(msgspec.Struct, frozen=True, kw_only=True):
    """A rate per partition and year at so many reboots per broker and year; `label` is its
    standing in Kafka, `method` how it was sampled: one in all points of a line.
    """

    metric: str
    features: str
    label: str
    reboots: float
    estimate: MeasuredRate
    method: str = ""


class RateLine(msgspec.Struct, frozen=True):
    """The points of one metric that several sets of KIPs share, fewest reboots first."""

    sets: tuple[str, ...]
    points: tuple[RatePoint, ...]


def rate_lines(points: Sequence[RatePoint], metric: str) -> list[RateLine]:
    """The lines of a metric in the order of the points; sets with equal numbers are one line."""
    sets_by_line: dict[tuple[tuple[float, MeasuredRate], ...], list[str]] = {}
    shown: dict[str, tuple[RatePoint, ...]] = {}
    of_metric = [point for point in points if point.metric == metric]
    for name in dict.fromkeys(point.features for point in of_metric):
        mine = sorted((p for p in of_metric if p.features == name), key=lambda p: p.reboots)
        sets_by_line.setdefault(tuple((p.reboots, p.estimate) for p in mine), []).append(name)
        shown[name] = tuple(mine)
    return [RateLine(tuple(names), shown[names[0]]) for names in sets_by_line.values()]


def _sentence(points: Sequence[RatePoint]) -> str:
    """What the lines say: by how much each rate grows with the reboots, and what never happens."""
    if _sweeps(points) < 2:
        return EMPTY
    low, high = min(p.reboots for p in points), max(p.reboots for p in points)
    sentences = [
        f"From {value_words(low)} to {value_words(high)} {REBOOTS},"
        f" {number_words(high / low)} times as many."
    ]
    for metric in _metrics(points):
        lines = rate_lines(points, metric)
        words = "; ".join(f"{sets_words(list(line.sets))} {_growth(line)}" for line in lines)
        sentences.append(f"{metric_words(metric)}: {words}.")
    return " ".join(filter(None, [*sentences, alarm_words(point.estimate for point in points)]))


def _growth(line: RateLine) -> str:
    first, last = line.points[0].estimate, line.points[-1].estimate
    if len({point.estimate.certainty for point in line.points}) == 1 and not first.is_seen:
        return rate_words(max((p.estimate for p in line.points), key=lambda rate: rate.high))
    if not (first.is_seen and last.is_seen):
        return f"{rate_words(first)} at first, {rate_words(last)} at last"
    return f"{number_words(last.rate / first.rate)} times as often"


def _table(points: Sequence[RatePoint]) -> PlotTable:
    heads = ("what", "KIPs", REBOOTS, "per partition and year", "95 % interval", "remarks", "by")
    lines = []
    for point in points:
        names = metric_words(point.metric), set_words(point.features)
        cells = rate_cells(point.estimate)
        lines.append((*names, value_words(point.reboots), *cells, point.method))
    return PlotTable("Rates by reboots", heads, lines)


def rates_chart(points: Sequence[RatePoint]) -> Chart:
    """A panel for each metric."""
    return Chart(
        title="How often, for how many reboots?",
        sentence=_sentence(points),
        words=_table(points),
        plot=partial(_plot, points),
        notes=_notes(points),
        empty=EMPTY if _sweeps(points) < 2 else "",
    )


def _metrics(points: Sequence[RatePoint]) -> list[str]:
    return list(dict.fromkeys(point.metric for point in points))


def _sweeps(points: Sequence[RatePoint]) -> int:
    return len({point.reboots for point in points})


def _plot(points: Sequence[RatePoint], canvas: Canvas, top: float) -> float:
    styles = styles_of(list(dict.fromkeys(point.features for point in points)))
    metrics = _metrics(points)
    each = (canvas.width - 2 * EDGE) / len(metrics)
    ends = []
    for n, metric in enumerate(metrics):
        styled = [(line, styles[line.sets[0]]) for line in rate_lines(points, metric)]
        drawn = [DrawnLine(line, style, style.paint(canvas.theme)) for line, style in styled]
        ends.append(_panel(canvas, drawn, EDGE + n * each, top, each))
    return max(ends) + 6


class DrawnLine(NamedTuple):
    """A line, and how it is drawn."""

    line: RateLine
    style: PlotStyle
    color: str


def _panel(canvas: Canvas, drawn: list[DrawnLine], start: float, top: float, wide: float) -> float:
    """One metric; returns where it ends."""
    lines = [one.line for one in drawn]
    heading = f"{metric_words(lines[0].points[0].metric)}, per partition and year"
    words = wrapped_safe(heading, wide - 20, canvas.sizes.text)
    y = 12 + canvas.paragraph(start, top, f"<b>{words.replace('<br>', '</b><br><b>')}</b>")
    rates = PlotAxis(*_rate_range(lines), log=True, line=True).ticked(_HEIGHT, 34)
    box = Box(start + tick_room(canvas, rates), y, start + wide - _LABELS, y + _HEIGHT)
    kinds = [{p.estimate.certainty for p in one.line.points} for one in drawn]
    strip = [one for one, own in zip(drawn, kinds, strict=True) if own & _OFF_SCALE.keys()]
    reboots = _reboot_axis(lines, box.x1 - box.x0)
    below = replace(reboots, title=REBOOTS, outside=True)
    bare = replace(reboots, marks=tuple(tick._replace(text="") for tick in reboots.marks))
    panel = PlotPanel(canvas, box, bare if strip else below, rates)
    for one in drawn:
        _line(panel, one)
    _end_labels(panel, drawn)
    return (_strip(canvas, strip, box, below) if strip else box.y1) + BELOW


def _rate_range(lines: list[RateLine]) -> tuple[float, float]:
    rates = [point.estimate for line in lines for point in line.points]
    values = [value for rate in rates for value in (rate.rate, rate.low, rate.high)]
    # Below an upper bound there is room for its arrow.
    below = [rate.high / 3 for rate in rates if rate.certainty is Certainty.UNSEEN]
    return log_range([*values, *below], decades=2)


def _reboot_axis(lines: list[RateLine], pixels: float) -> PlotAxis:
    """Ticks are the rates that were asked for, where they have room beside each other."""
    values = sorted({point.reboots for line in lines for point in line.points})
    spare = (values[-1] / values[0]) ** (10 / (pixels - 20))
    axis = PlotAxis(values[0] / spare, values[-1] * spare, log=True, line=True)
    places = [axis.share(value) * pixels for value in values]
    if any(after - before < _TICK_ROOM for before, after in pairwise(places)):
        return axis.ticked(pixels, 70)
    return replace(axis, marks=tuple(PlotTick(value, value_words(value)) for value in values))


def _line(panel: PlotPanel, one: DrawnLine) -> None:
    line, style, color = one
    for stretch in seen_stretches(line.points):
        xs, rates = [p.reboots for p in stretch], [p.estimate.rate for p in stretch]
        bounds = [(p.estimate.low, p.estimate.high) for p in stretch]
        panel.band(xs, [low for low, _ in bounds], [high for _, high in bounds], color)
        panel.line(xs, rates, color, dash=style.dash)
        cards = [_card(line, point) for point in stretch]
        bars = error_bars(panel.y, rates, bounds, color, 1.2)
        panel.marks(xs, rates, style.shape, color, cards=cards, error_y=bars)
    for point in line.points:
        x, high = point.reboots, point.estimate.high
        if point.estimate.certainty is Certainty.UNSEEN:
            # The rate is somewhere below: a hollow mark at its bound, and an arrow down from it.
            end = panel.y.value_at(panel.y.share(high) - _ARROW / _HEIGHT)
            panel.line([x, x], [high, end], color, width=1.6)
            panel.marks([x], [end], "triangle-down", color, sizes=[6])
            card = _card(line, point)
            panel.marks([x], [high], style.shape, color, hollow=[True], cards=[card])
        if point.estimate.alarms:
            px, y = panel.px(x) + 7, panel.py(point.estimate.rate or high) - 8
            panel.canvas.text(px, y, "!", panel.canvas.theme.lost_text, bold=True)


def seen_stretches(points: Sequence[RatePoint]) -> list[list[RatePoint]]:
    """Neighbours that were all seen: a line does not lead through what was not."""
    groups = groupby(points, key=lambda point: point.estimate.is_seen)
    return [list(stretch) for is_seen, stretch in groups if is_seen]


def _card(line: RateLine, point: RatePoint) -> list[str]:
    head = sets_words(list(line.sets))
    words = f"{value_words(point.reboots)} {REBOOTS}: {rate_words(point.estimate)}"
    return [f"{head} ({point.label})", words, *point.estimate.alarms]


def _end_labels(panel: PlotPanel, drawn: list[DrawnLine]) -> None:
    """The name of each line beside its last point; those with none there are named on the strip."""
    canvas, size, box = panel.canvas, panel.canvas.sizes.small, panel.box
    on_scale = [
        (one, [p.estimate for p in one.line.points if p.estimate.certainty not in _OFF_SCALE])
        for one in drawn
    ]
    ends = [(one, rates[-1]) for one, rates in on_scale if rates]
    names = [_line_name(canvas, one.line) for one, _ in ends]
    wanted = [panel.py(rates.rate if rates.is_seen else rates.high) for _, rates in ends]
    apart = max((height_of(text, size) for text in names), default=0) + 2
    places = pushed_apart(wanted, apart, box.y0 + apart / 2, box.y1 - apart / 2)
    for (one, _), text, y, was in zip(ends, names, places, wanted, strict=True):
        canvas.line(box.x1 - 4, was, box.x1 + 5, y, one.color, width=1)
        canvas.text(box.x1 + 8, y, text, one.color, size=size)


def _strip(canvas: Canvas, drawn: list[DrawnLine], above: Box, reboots: PlotAxis) -> float:
    """What has no place on the scale, a row for each line, below the plot; returns its end."""
    size, palette, top = canvas.sizes.small, canvas.theme, above.y1 + 24
    kinds = {p.estimate.certainty for one in drawn for p in one.line.points}
    words = "; ".join(text for kind, text in _OFF_SCALE.items() if kind in kinds)
    canvas.text(above.x0, above.y1 + 13, words, palette.muted, size=size)
    names = [_line_name(canvas, one.line) for one in drawn]
    heights = [max(height_of(name, size) + 4, _STRIP_ROW) for name in names]
    bottom = top + sum(heights)
    box = Box(above.x0, top, above.x1, bottom)
    panel = PlotPanel(canvas, box, reboots, PlotAxis(-bottom, -top))
    for one, name, high in zip(drawn, names, heights, strict=True):
        y, top = top + high / 2, top + high
        canvas.rect(box.x0, box.x1, y - 8, y + 8, palette.isr_fill)
        canvas.text(box.x1 + 8, y, name, one.color, size=size)
        points = [p for p in one.line.points if p.estimate.certainty in _OFF_SCALE]
        xs, ys = [point.reboots for point in points], [-y] * len(points)
        hollow = [point.estimate.certainty is Certainty.NOT_REACHED for point in points]
        cards = [[*_card(one.line, point), point.estimate.because] for point in points]
        panel.marks(xs, ys, one.style.shape, one.color, hollow=hollow, cards=cards)
    return bottom


def _line_name(canvas: Canvas, line: RateLine) -> str:
    """Which sets these are, wrapped to the room beside a panel."""
    room, size = _LABELS - 12, canvas.sizes.small
    parts = sets_words(list(line.sets)).replace(" (", "\n(").split("\n")
    if width_of(" ".join(parts), size) <= room / 1.05:
        return safe(" ".join(parts))
    return "<br>".join(wrapped_safe(part, room, size) for part in parts)


def _notes(points: Sequence[RatePoint]) -> list[str]:
    notes = ["Both axes by powers of ten. Bands and bars: 95 % intervals."]
    if any(point.estimate.certainty is Certainty.UNSEEN for point in points):
        notes[0] += " Hollow with an arrow: none seen; the rate may be anything below."
    return notes
