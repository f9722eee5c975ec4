"""How often, by how often brokers are rebooted: a line for every set of KIPs, a panel per metric.

What was never seen is an arrow down from its upper bound. What cannot happen has no place on a
logarithmic axis: it stands on a strip of its own.
"""

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from ..drawing.canvas import Box, Canvas, as_figure
from ..drawing.svg import Json
from ..drawing.text_width import height_of, width_of
from .fleet_words import COUNTERFACTUAL, listed, metric_words, set_words, sets_words
from .measured_rate import Certainty, MeasuredRate, alarm_words, rate_cells, rate_words
from .number_words import number_words, value_words
from .plot_axis import PlotAxis, PlotTick, log_range, pushed_apart
from .plot_marks import PlotStyle, band, bound_arrow, plot_mark, polyline, styles_of
from .plot_sheet import (
    EDGE,
    card_at,
    empty_note,
    frame,
    plot_heading,
    plot_notes,
    plot_sheet,
    safe_lines,
    tick_room,
    ticks_below,
    ticks_beside,
    wrapped_words,
)
from .plot_table import PlotTable, plot_table

TITLE = "How often, for how many reboots?"
REBOOTS = "reboots per broker and year"
EMPTY = (
    "Nothing to draw: the study has one reboot rate only. Sweep it, as in"
    " bounces_per_year = [4, 12, 52]."
)
_HEIGHT, _STRIP_ROW, _LABELS, _TICK_ROOM = 290, 19, 104, 34
_OFF_SCALE = (Certainty.NEVER, Certainty.NOT_REACHED)


class RatePoint(msgspec.Struct, frozen=True, kw_only=True):
    """A rate per partition and year at so many reboots per broker and year; `label` is "as Kafka"
    or "counterfactual", `method` how it was sampled: one in all points of a line.
    """

    metric: str
    features: str
    label: str
    reboots: float
    found: MeasuredRate
    method: str = ""


class RateLine(msgspec.Struct, frozen=True):
    """The points of one metric that several sets of KIPs share, fewest reboots first."""

    sets: tuple[str, ...]
    points: tuple[RatePoint, ...]


def rate_lines(points: Sequence[RatePoint], metric: str) -> list[RateLine]:
    """The lines of a metric in the order of the points; sets with equal numbers are one line."""
    found: dict[tuple[tuple[float, MeasuredRate], ...], list[str]] = {}
    shown: dict[str, tuple[RatePoint, ...]] = {}
    of_metric = [point for point in points if point.metric == metric]
    for name in dict.fromkeys(point.features for point in of_metric):
        mine = sorted((p for p in of_metric if p.features == name), key=lambda p: p.reboots)
        found.setdefault(tuple((p.reboots, p.found) for p in mine), []).append(name)
        shown[name] = tuple(mine)
    return [RateLine(tuple(names), shown[names[0]]) for names in found.values()]


def rates_sentence(points: Sequence[RatePoint]) -> str:
    """What the lines say: by how much each rate grows with the reboots, and what never happens."""
    if _sweeps(points) < 2:
        return EMPTY
    low, high = min(p.reboots for p in points), max(p.reboots for p in points)
    said = [_metric_sentence(points, metric) for metric in _metrics(points)]
    alarm = alarm_words(tuple(point.found for point in points))
    span, times = (
        f"From {value_words(low)} to {value_words(high)} {REBOOTS}",
        number_words(high / low),
    )
    return " ".join(filter(None, [f"{span}, {times} times as many. {' '.join(said)}", alarm]))


def _metric_sentence(points: Sequence[RatePoint], metric: str) -> str:
    lines = rate_lines(points, metric)
    said = "; ".join(f"{sets_words(list(line.sets))} {_growth(line)}" for line in lines)
    return f"{metric_words(metric)}: {said}."


def _growth(line: RateLine) -> str:
    first, last = line.points[0].found, line.points[-1].found
    if len({point.found.certainty for point in line.points}) == 1 and not first.seen:
        return rate_words(max((p.found for p in line.points), key=lambda found: found.high))
    if not (first.seen and last.seen):
        return f"{rate_words(first)} at first, {rate_words(last)} at last"
    return f"{number_words(last.rate / first.rate)} times as often"


def rates_table(points: Sequence[RatePoint]) -> PlotTable:
    """A line per point."""
    heads = ("what", "KIPs", REBOOTS, "per partition and year", "95 % interval", "remarks", "by")
    lines = [
        (
            metric_words(point.metric),
            _set_label(point),
            value_words(point.reboots),
            *rate_cells(point.found),
            point.method,
        )
        for point in points
    ]
    return plot_table("Rates by reboots", heads, lines)


def _set_label(point: RatePoint) -> str:
    said = set_words(point.features)
    return f"{said} ({COUNTERFACTUAL})" if point.label == COUNTERFACTUAL else said


# --- the picture ----------------------------------------------------------------------------------


def rates_drawing(
    points: Sequence[RatePoint], *, theme: str = "light", width: int | None = None
) -> Json:
    """A panel for each metric, as plotly's data and layout.

    Raises ValueError for a theme that there is none of, and for a width too small for words.
    """
    canvas = plot_sheet(theme, width)
    sentence = rates_sentence(points)
    if _sweeps(points) < 2:
        y = plot_heading(canvas, TITLE, "")
        return canvas.drawing(empty_note(canvas, y, EMPTY) + EDGE, sentence)
    y = plot_heading(canvas, TITLE, sentence)
    metrics = _metrics(points)
    styles = styles_of(list(dict.fromkeys(point.features for point in points)))
    each = (canvas.width - 2 * EDGE) / len(metrics)
    rooms = [Box(EDGE + n * each, y, EDGE + (n + 1) * each, 0) for n in range(len(metrics))]
    ends = [
        _panel(canvas, rate_lines(points, metric), styles, room)
        for metric, room in zip(metrics, rooms, strict=True)
    ]
    return canvas.drawing(plot_notes(canvas, _notes(points), max(ends) + 6), sentence)


rates_figure = as_figure(rates_drawing)


def _metrics(points: Sequence[RatePoint]) -> list[str]:
    return list(dict.fromkeys(point.metric for point in points))


def _sweeps(points: Sequence[RatePoint]) -> int:
    return len({point.reboots for point in points})


def _panel(
    canvas: Canvas, lines: list[RateLine], styles: dict[str, PlotStyle], around: Box
) -> float:
    """One metric; returns where it ends."""
    top = told_heading(canvas, metric_words(lines[0].points[0].metric), around)
    rates = PlotAxis(*_rate_range(lines), top + _HEIGHT, top, log=True)
    left = around.x0 + tick_room(canvas, rates, _HEIGHT)
    box = Box(left, top, around.x1 - _LABELS, top + _HEIGHT)
    reboots = PlotAxis(*_reboot_range(lines), box.x0 + 10, box.x1 - 10, log=True)
    strip = [line for line in lines if any(p.found.certainty in _OFF_SCALE for p in line.points)]
    low = box.y1 + (24 + sum(_strip_height(canvas, line) for line in strip) if strip else 0)
    ticks_beside(canvas, rates, box)
    end = ticks_below(canvas, reboots, box, REBOOTS, at=low, ticks=_own_ticks(lines, reboots))
    frame(canvas, box)
    for line in lines:
        _line(canvas, line, styles[line.sets[0]], reboots, rates)
    _end_labels(canvas, lines, styles, box, rates)
    _strip(canvas, strip, styles, box, reboots)
    return end


def told_heading(canvas: Canvas, words: str, around: Box) -> float:
    """What a panel is about, above it; returns where the panel begins."""
    size, room = canvas.sizes.text, (around.x1 - around.x0 - 10) / 1.1
    said = wrapped_words(f"{words}, per partition and year", room, size)
    high = height_of(said, size)
    canvas.text(around.x0, around.y0 + high / 2, f"<b>{said.replace('<br>', '</b><br><b>')}</b>")
    return around.y0 + high + 12


def _rate_range(lines: list[RateLine]) -> tuple[float, float]:
    values = [
        value
        for line in lines
        for point in line.points
        for value in (point.found.rate, point.found.low, point.found.high, _below(point.found))
    ]
    return log_range(values, decades=2)


def _below(found: MeasuredRate) -> float:
    """Where the arrow ends that an upper bound has."""
    return found.high / 3 if found.certainty is Certainty.UNSEEN else 0.0


def _reboot_range(lines: list[RateLine]) -> tuple[float, float]:
    values = [point.reboots for line in lines for point in line.points]
    return min(values), max(values)


def _own_ticks(lines: list[RateLine], axis: PlotAxis) -> list[PlotTick] | None:
    """The rates that were asked for, where they have room beside each other."""
    values = sorted({point.reboots for line in lines for point in line.points})
    places = [axis.at(value) for value in values]
    if any(after - before < _TICK_ROOM for before, after in pairwise(places)):
        return None
    return [PlotTick(value, value_words(value)) for value in values]


def _line(
    canvas: Canvas, line: RateLine, style: PlotStyle, reboots: PlotAxis, rates: PlotAxis
) -> None:
    color = style.paint(canvas.theme)
    for stretch in seen_stretches(line.points):
        xs = [reboots.at(p.reboots) for p in stretch]
        upper = [(x, rates.at(p.found.high)) for x, p in zip(xs, stretch, strict=True)]
        lower = [(x, rates.at(p.found.low)) for x, p in zip(xs, stretch, strict=True)]
        band(canvas, upper, lower, color)
        middle = [(x, rates.at(p.found.rate)) for x, p in zip(xs, stretch, strict=True)]
        polyline(canvas, middle, color, dash=style.dash)
    for point in line.points:
        if point.found.certainty not in _OFF_SCALE:
            _point(canvas, line, point, style, reboots.at(point.reboots), rates)


def seen_stretches(points: Sequence[RatePoint]) -> list[list[RatePoint]]:
    """Neighbours that were all seen: a line does not lead through what was not."""
    found: list[list[RatePoint]] = [[]]
    for point in points:
        if point.found.seen:
            found[-1].append(point)
        else:
            found.append([])
    return [stretch for stretch in found if stretch]


def _point(
    canvas: Canvas, line: RateLine, point: RatePoint, style: PlotStyle, x: float, rates: PlotAxis
) -> None:
    color, found = style.paint(canvas.theme), point.found
    y = rates.at(found.rate if found.seen else found.high)
    if not found.seen:
        bound_arrow(canvas, x, y, color)
    else:
        canvas.line(x, rates.at(found.low), x, rates.at(found.high), color, width=1.2)
    plot_mark(canvas, x, y, style.shape, color, hollow=not found.seen)
    if found.alarms:
        canvas.text(x + 7, y - 8, "!", canvas.theme.lost_text, bold=True)
    card_at(canvas, x, y, _card(line, point))


def _card(line: RateLine, point: RatePoint) -> list[str]:
    head = sets_words(list(line.sets))
    said = f"{value_words(point.reboots)} {REBOOTS}: {rate_words(point.found)}"
    return [f"{head} ({point.label})", said, *point.found.alarms]


def _end_labels(
    canvas: Canvas,
    lines: list[RateLine],
    styles: dict[str, PlotStyle],
    box: Box,
    rates: PlotAxis,
) -> None:
    """The name of each line beside its last point; those with none there are named on the strip."""
    size = canvas.sizes.small
    ends = [(line, p.found) for line in lines if (p := _last_on_scale(line)) is not None]
    said = [_line_name(canvas, line) for line, _ in ends]
    wanted = [rates.at(found.rate if found.seen else found.high) for _, found in ends]
    apart = max((height_of(text, size) for text in said), default=0) + 2
    places = pushed_apart(wanted, apart, box.y0 + apart / 2, box.y1 - apart / 2)
    for (line, _), text, y, was in zip(ends, said, places, wanted, strict=True):
        color = styles[line.sets[0]].paint(canvas.theme)
        canvas.line(box.x1 - 4, was, box.x1 + 5, y, color, width=1)
        canvas.text(box.x1 + 8, y, text, color, size=size)


def _last_on_scale(line: RateLine) -> RatePoint | None:
    found = [point for point in line.points if point.found.certainty not in _OFF_SCALE]
    return found[-1] if found else None


def _strip(
    canvas: Canvas,
    lines: list[RateLine],
    styles: dict[str, PlotStyle],
    box: Box,
    reboots: PlotAxis,
) -> None:
    """What has no place on the scale, a row for each line, below the plot."""
    size, palette = canvas.sizes.small, canvas.theme
    if not lines:
        return
    canvas.text(box.x0, box.y1 + 13, _strip_words(lines), palette.muted, size=size)
    top = box.y1 + 24
    for line in lines:
        y, color = top + _strip_height(canvas, line) / 2, styles[line.sets[0]].paint(palette)
        top += _strip_height(canvas, line)
        canvas.rect(box.x0, box.x1, y - 8, y + 8, palette.isr_fill)
        for point in line.points:
            if point.found.certainty in _OFF_SCALE:
                shape = styles[line.sets[0]].shape
                hollow = point.found.certainty is Certainty.NOT_REACHED
                plot_mark(canvas, reboots.at(point.reboots), y, shape, color, hollow=hollow)
                card = [*_card(line, point), point.found.because]
                card_at(canvas, reboots.at(point.reboots), y, card)
        canvas.text(box.x1 + 8, y, _line_name(canvas, line), color, size=size)


def _strip_height(canvas: Canvas, line: RateLine) -> float:
    return max(height_of(_line_name(canvas, line), canvas.sizes.small) + 4, _STRIP_ROW)


def _line_name(canvas: Canvas, line: RateLine) -> str:
    """Which sets these are, wrapped to the room beside a panel."""
    room, size = (_LABELS - 12) / 1.05, canvas.sizes.small
    parts = sets_words(list(line.sets)).replace(" (", "\n(").split("\n")
    if width_of(" ".join(parts), size) <= room:
        return safe_lines(" ".join(parts))
    return "<br>".join(safe_lines(wrapped_words(part, room, size)) for part in parts)


def _strip_words(lines: list[RateLine]) -> str:
    kinds = {p.found.certainty for line in lines for p in line.points} & {*_OFF_SCALE}
    words = {Certainty.NEVER: "cannot happen", Certainty.NOT_REACHED: "hollow: no sample hit it"}
    return "; ".join(said for kind, said in words.items() if kind in kinds)


def _notes(points: Sequence[RatePoint]) -> list[str]:
    notes = ["Both axes by powers of ten. Bands and bars: 95 % intervals."]
    if any(point.found.certainty is Certainty.UNSEEN for point in points):
        notes[0] += " Hollow with an arrow: none seen; the rate may be anything below."
    if any(point.label == COUNTERFACTUAL for point in points):
        named = dict.fromkeys(p.features for p in points if p.label == COUNTERFACTUAL)
        sets = listed([set_words(name) for name in named])
        notes.append(f"Counterfactual, what no Kafka of this mode has: {sets}.")
    return notes
