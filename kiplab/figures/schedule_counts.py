"""Shares of random schedules with their intervals: a dot per feature set, a panel per metric."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from .drawing.canvas import Box, Canvas, as_figure, safe
from .drawing.svg import Json
from .drawing.text_width import shortened, width_of
from .how_often.plot_axis import PlotAxis, PlotTick
from .how_often.plot_panel import PlotPanel, error_bars
from .how_often.plot_sheet import EDGE, Chart

CountRow = Mapping[str, Any]

WIDTH, ROW, NAMES, GAP = 840, 42, 96, 36
"""Pixels: the figure, one feature set, what names take at most, between two panels."""
PANELS = {
    "stale join": ("A stale replica joined the ISR", "message", "circle"),
    "loss": ("Committed records were lost", "gone", "diamond"),
}
"""Title, the theme's colour and shape of each metric: never a colour alone."""
LABEL_ROOM = 1.55
"""How much longer than its longest interval an axis is: the counts stand to the right of it."""
EXCUSED = (
    "Excused: every member of the ISR had died without the records, which Kafka does not promise"
    " to survive."
)


def schedules_drawing(
    rows: Sequence[CountRow], caveat: str, *, theme: str = "light", width: int | None = WIDTH
) -> Json:
    """A dot and its interval for each row of {features, metric, events, excused, exposure, rate,
    low, high}, as plotly's data and layout; shares from 0 to 1. Feature sets stand in the order of
    the rows, `caveat` below. Nothing observed is an open marker at 0 with its upper bound.

    Raises ValueError for a theme that there is none of, and for a width too small for words.
    """
    exposure = max(row["exposure"] for row in rows)
    notes = [f"Share of schedules ({caveat}); bars: exact 95 % intervals."]
    chart = Chart(
        title=f"The same {exposure:,} random schedules under each set of rules",
        plot=partial(_plot, rows),
        notes=notes + [EXCUSED] * any(row.get("excused") for row in rows),
        described=" ".join(f"{PANELS[row['metric']][0]}: {', '.join(_card(row))}." for row in rows),
    )
    return chart.drawing(theme=theme, width=width)


schedules_figure = as_figure(schedules_drawing)


def _plot(rows: Sequence[CountRow], canvas: Canvas, top: float) -> float:
    names = list(dict.fromkeys(row["features"] for row in rows))
    metrics = [metric for metric in PANELS if any(row["metric"] == metric for row in rows)]
    shown = [shortened(name, NAMES, canvas.sizes.text) for name in names]
    left = EDGE + max(width_of(name, canvas.sizes.text) for name in shown) + 16
    wide = (canvas.width - EDGE - left + GAP) / len(metrics)
    y = top + 24
    for n, name in enumerate(shown):
        canvas.text(left - 10, y + ROW * (n + 0.5), safe(name), anchor="right")
    for n, metric in enumerate(metrics):
        start = left + n * wide
        box = Box(start, y, start + wide - GAP, y + ROW * len(names))
        _panel(canvas, box, metric, [row for row in rows if row["metric"] == metric], names)
    return y + ROW * len(names) + 34


def _panel(
    canvas: Canvas, box: Box, metric: str, rows: Sequence[CountRow], names: Sequence[str]
) -> None:
    title, color_name, shape = PANELS[metric]
    color, end = getattr(canvas.theme, color_name), max(row["high"] for row in rows) * LABEL_ROOM
    canvas.text(box.x0, box.y0 - 14, title, bold=True)
    shares = PlotAxis(-0.03 * end, end)
    values = (tick.value for tick in shares.ticks(5) if tick.value >= 0)
    ticks = tuple(PlotTick(value, f"{100 * value:.3g} %") for value in values)
    lines = tuple(PlotTick(-n - 0.5, "") for n in range(len(names)))
    down = PlotAxis(-len(names), 0, marks=lines)
    panel = PlotPanel(canvas, box, PlotAxis(shares.low, end, marks=ticks), down)
    panel.upright(0, canvas.theme.line, width=1)
    rates, bounds = [row["rate"] for row in rows], [(row["low"], row["high"]) for row in rows]
    ys, bars = [], error_bars(panel.x, rates, bounds, color, 2)
    for row in rows:
        words = _count(row) if row["events"] else f"none seen, at most {row['high']:.2%}"
        ys.append(-names.index(row["features"]) - 0.5)
        panel.note(row["high"], ys[-1], words, xanchor="left", xshift=8)
    hollow, cards = [not row["events"] for row in rows], [_card(row) for row in rows]
    panel.marks(rates, ys, shape, color, hollow=hollow, cards=cards, error_x=bars, name=metric)


def _card(row: CountRow) -> list[str]:
    share = f"{row['rate']:.2%}" if row["events"] else "none seen"
    between = f"between {row['low']:.2%} and {row['high']:.2%}"
    return [f"{row['features']}: {_count(row)} of {row['exposure']:,}", f"{share}, {between}"]


def _count(row: CountRow) -> str:
    excused = row.get("excused", 0)
    if not excused:
        return f"{row['events']:,}"
    return f"{row['events']:,} ({'all' if excused == row['events'] else f'{excused:,}'} excused)"
