"""Small rows under a panel: the metrics that an operator would see move, as steps in time.

A gauge is filled down to nothing, a count is a bare stair. Every value stands where it begins, so
that the last visible one is the current one. Where nobody reports, there is no line.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ...protocol.releases import RELEASES, Mode
from ...rows.columns import Rows
from ...rows.metric_readings import MetricChoice, chosen, metrics_sentence, moves, reports, totals
from ...rows.metrics import METRICS, Metric
from ..drawing.canvas import Canvas
from ..drawing.text_width import height_of, width_of, wrapped
from .hover_cards import folded
from .mask import from_moment
from .strips import stretches

ABOVE, BETWEEN = 18, 4
"""Pixels over the rows, and between two of them."""
LINE_HIGH, NUMBER_GAP = 15, 7
"""Pixels from nothing to the highest value, and from the line to a number's middle."""
ROW_HIGH = LINE_HIGH + 2 * NUMBER_GAP
RATES = "In Kafka …PerSec is a rate. Steps have no seconds, so here it is the count so far."
_WORD = re.compile("PerSec|[A-Z][a-z]*")


class DrawnMetrics(NamedTuple):
    """The metrics to draw; where nobody named them, each appears when it first moves (`since`)."""

    names: tuple[str, ...]
    since: dict[str, int]

    def is_drawn(self, rows: Rows, name: str) -> bool:
        """Whether the row is there at the end of `rows`."""
        return self.since.get(name, 0) < rows.meta.end

    def words(self, rows: Rows) -> str:
        """What the rows of a picture say, in a sentence."""
        return metrics_sentence(rows, [name for name in self.names if self.is_drawn(rows, name)])


class MetricPlace(NamedTuple):
    """One row: the middle, where its name stands, and the value that is highest in it."""

    middle: float
    peak: int

    @property
    def ground(self) -> float:
        """Where the line runs at 0."""
        return self.middle + ROW_HIGH / 2

    def y(self, value: int) -> float:
        """Where the line runs at `value`."""
        return self.ground - LINE_HIGH * value / max(self.peak, 1)


def drawn_metrics(runs: Sequence[Rows], metrics: MetricChoice) -> DrawnMetrics:
    """What to draw under pictures of these runs; raises ValueError as `metric_readings.chosen`."""
    return DrawnMetrics(chosen(runs, metrics), moves(runs) if metrics is True else {})


def draw_metrics(
    canvas: Canvas, runs: Sequence[Rows], run: int, metrics: DrawnMetrics, bottom: float
) -> float:
    """The metrics of one of the runs below `bottom`, scaled as in all; returns where they end."""
    if not metrics.names:
        return bottom
    rows, y, begun = runs[run], bottom + ABOVE, len(canvas.shapes)
    for name in metrics.names:
        values = [value for run in runs for value in totals(run, name) if value is not None]
        # On as many lines as the margin asks for, broken where a word of it begins.
        spaced = " ".join(_WORD.findall(name))
        lines = wrapped(spaced, canvas.sizes.left - 16, canvas.sizes.small) or spaced
        words = lines.replace(" ", "")
        high = max(height_of(words, canvas.sizes.small), ROW_HIGH)
        if metrics.is_drawn(rows, name):
            place = MetricPlace((y + (y + high)) / 2, max(values, default=0))
            _row(canvas, rows, METRICS[name], words, place, metrics.since.get(name))
        y += high + BETWEEN
    canvas.grid(bottom + ABOVE - 4, y - BETWEEN + 2)
    canvas.shapes.insert(begun, canvas.shapes.pop())
    if not any(METRICS[name].kind == "meter" for name in metrics.names):
        return y - BETWEEN
    size = canvas.sizes.small
    text = wrapped(RATES, (canvas.width - canvas.sizes.left - 8) / 1.05, size) or RATES
    return canvas.paragraph(0, y, text, canvas.theme.muted, size)


def _row(
    canvas: Canvas, rows: Rows, metric: Metric, words: str, place: MetricPlace, since: int | None
) -> None:
    values = totals(rows, metric.name)
    size, muted = canvas.sizes.small, canvas.theme.muted
    canvas.margin(place.middle, words, muted, size=size, since=since)
    steady = [stretch for stretch in stretches(values) if stretch[-1] is not None]
    if not steady:
        reason = f"not read of Kafka {rows.meta.release}, which has ZooKeeper"
        if RELEASES[rows.meta.release].mode is not Mode.ZOOKEEPER:
            first = ".".join(map(str, metric.since))
            reason = f"Kafka {rows.meta.release} has no such metric in KRaft: it came with {first}"
        canvas.text(canvas.beside(0, 5), place.middle, reason, muted, size=size, since=since)
        return
    begun = len(canvas.shapes)
    _line(canvas, metric, steady, place)
    if since is not None:
        for shape in canvas.shapes[begun:]:
            shape["name"] = from_moment("metric", since)
    for x0, x1, value in steady:
        # Left out where the next comes too soon.
        room = (x1 - x0) * canvas.unit
        if x1 == steady[-1][1] or room >= width_of(str(value), size) + 6:
            at, y = canvas.beside(x0, 4), place.y(value) - NUMBER_GAP
            canvas.text(at, y, str(value), size=size, since=max(since or 0, x0))
    _cards(canvas, rows, metric, values, place.middle)


def _line(
    canvas: Canvas, metric: Metric, steady: Sequence[tuple[int, int, int]], place: MetricPlace
) -> None:
    """A stair from value to value, broken where nobody reports; a gauge with its ground."""
    theme, points = canvas.theme, ""
    ends = {x1 for _, x1, _ in steady}
    for x0, x1, value in steady:
        y = place.y(value)
        points += f"{'L' if x0 in ends else 'M'}{x0},{y:.1f}L{x1},{y:.1f}"
        if metric.kind == "gauge" and value:
            canvas.rect(x0, x1, y, place.ground, theme.epoch_fill)
    canvas.path(points, theme.tile_edge, width=1.5)


def _cards(
    canvas: Canvas, rows: Rows, metric: Metric, values: Sequence[int | None], y: float
) -> None:
    about = [f"counts {metric.counts}", f"{metric.bean},name={metric.name}"]
    if metric.kind == "meter":
        about.append("a rate in Kafka; here the count so far")
    for x, value in enumerate(values):
        words = "nobody reports it" if value is None else str(value)
        each = [f"{node}: {own}" for node, own in reports(rows, metric.name, x)]
        heading = f"{metric.name} at {rows.meta.number(x)}: {words}"
        by = [", ".join(each)] if len(each) > 1 else each
        canvas.card(x + 0.5, y, folded([heading, *by, *about]))
