"""Causes of losses: a staircase, the largest first, for several sets of KIPs on one scale."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from ..drawing.canvas import Box, Canvas, safe, wrapped_safe
from .fleet_words import PlotTable, capital, metric_words, number_words, set_words, share_words
from .measured_rate import Certainty, MeasuredRate, alarm_words, rate_cells, rate_words
from .plot_axis import PlotAxis
from .plot_panel import PlotPanel, Span
from .plot_sheet import EDGE, Chart

EMPTY = "Nothing to draw: no loss was seen by any cause."
MOST_PANELS = 3
_ROW, _NAMES = 42, 214
_HIGH = 15 / _ROW
"""How much of its row a bar is high, and how far down its middle is."""
_BAR = 12.5 / _ROW


class CauseOfLoss(msgspec.Struct, frozen=True, kw_only=True):
    """How often committed records are lost by one cause, per partition and year."""

    features: str
    cause: str
    estimate: MeasuredRate


def causes_in_order(rows: Sequence[CauseOfLoss]) -> list[str]:
    """The largest first, by the first set of KIPs that saw one."""
    names = list(dict.fromkeys(row.cause for row in rows))
    worst = {n: max(row.estimate.rate for row in rows if row.cause == n) for n in names}
    return sorted(names, key=lambda name: -worst[name])


def cause_total(rows: Sequence[CauseOfLoss], features: str) -> float:
    """All causes together."""
    estimates = (row.estimate for row in rows if row.features == features)
    return sum(estimate.rate for estimate in estimates if estimate.is_seen)


def _sentence(rows: Sequence[CauseOfLoss]) -> str:
    """What most losses come from, set by set, and what a cause without a rate may add."""
    if not any(row.estimate.is_seen for row in rows):
        return EMPTY
    sentences = []
    for features in _sets(rows):
        total, words = cause_total(rows, features), "nothing lost was seen"
        if total:
            mine = [row for row in rows if row.features == features]
            first = max(mine, key=lambda row: row.estimate.rate)
            cause, share = metric_words(first.cause), share_words(first.estimate.rate / total)
            words = f"{number_words(total)} losses per partition and year, {share} of it "
            words += cause[:1].lower() + cause[1:]
        sentences.append(f"{capital(set_words(features))}: {words}.")
    return " ".join(filter(None, [*sentences, alarm_words(row.estimate for row in rows)]))


def _table(rows: Sequence[CauseOfLoss]) -> PlotTable:
    heads = ("cause", "KIPs", "per partition and year", "95 % interval", "share", "remarks")
    lines = []
    for cause in causes_in_order(rows):
        for row in (row for row in rows if row.cause == cause):
            rate, interval, remark = rate_cells(row.estimate)
            total = cause_total(rows, row.features)
            share = share_words(row.estimate.rate / total) if row.estimate.is_seen else ""
            words = (metric_words(cause), set_words(row.features))
            lines.append((*words, rate, interval, share, remark))
    return PlotTable("Losses by cause", heads, lines)


def causes_chart(rows: Sequence[CauseOfLoss]) -> Chart:
    """A staircase for each set of KIPs. Raises ValueError for more than three sets."""
    names = _sets(rows)
    if len(names) > MOST_PANELS:
        raise ValueError(f"{len(names)} sets are too many; {MOST_PANELS} fit beside each other")
    return Chart(
        title="What is lost, and by what?",
        sentence=_sentence(rows),
        words=_table(rows),
        plot=partial(_plot, rows),
        notes=_notes(rows),
        empty="" if any(row.estimate.is_seen for row in rows) else EMPTY,
    )


def _sets(rows: Sequence[CauseOfLoss]) -> list[str]:
    return list(dict.fromkeys(row.features for row in rows))


def _plot(rows: Sequence[CauseOfLoss], canvas: Canvas, top: float) -> float:
    y, names, causes = top + 26, _sets(rows), causes_in_order(rows)
    each = (canvas.width - EDGE - _NAMES) / len(names)
    bottom = y + _ROW * (len(causes) + 1)
    _names(canvas, causes, y, bottom)
    rates = PlotAxis(0, max(cause_total(rows, name) for name in names))
    for n, name in enumerate(names):
        box = Box(_NAMES + n * each, y, _NAMES + (n + 1) * each - 12, bottom)
        down = PlotAxis(-(len(causes) + 1), 0, line=True)
        panel = PlotPanel(canvas, box, rates, down)
        words = capital(set_words(name))
        canvas.text(box.x0, box.y0 - 13, safe(words), bold=True)
        _stairs(panel, {row.cause: row.estimate for row in rows if row.features == name}, causes)
    return bottom + 8


def _names(canvas: Canvas, causes: list[str], top: float, bottom: float) -> None:
    palette, sizes = canvas.theme, canvas.sizes
    for n, cause in enumerate([*causes, ""]):
        y = top + _ROW * (n + 0.5)
        words = wrapped_safe(metric_words(cause), _NAMES - EDGE, sizes.text) if cause else ""
        canvas.text(EDGE, y, words or "All of them", bold=not cause)
        color = palette.line if not cause else palette.grid
        canvas.line(EDGE, y - _ROW / 2, canvas.width - EDGE, y - _ROW / 2, color)
    canvas.line(EDGE, bottom, canvas.width - EDGE, bottom, palette.grid)


def _stairs(panel: PlotPanel, rates: Mapping[str, MeasuredRate], causes: list[str]) -> None:
    """Each cause from what came before to it and this together, and all of them below."""
    canvas, thin = panel.canvas, 2 * panel.x.high / (panel.box.x1 - panel.box.x0)
    before = 0.0
    bars: list[tuple[Span, float, list[str]]] = []
    steps: list[Span] = []
    for cause in (cause for cause in causes if cause in rates):
        rate, row = rates[cause], causes.index(cause)
        words = rate_words(rate) + (" !" if rate.alarms else "")
        color = canvas.theme.text if rate.is_seen else canvas.theme.muted
        _number(panel, row, safe(words), color, size=canvas.sizes.small)
        if rate.is_seen:
            ends = min(before, panel.x.high - thin), max(before + rate.rate, before + thin)
            bars.append((ends, -row - _BAR, [metric_words(cause), words, *rate.alarms]))
        before += rate.rate
        steps += [(before, -row - (2 * _BAR if rate.is_seen else 0.12)), (before, -row - 1.12)]
    spans, rows, cards = map(list, zip(*bars, strict=True)) if bars else ([], [], [])
    panel.bars(spans, rows, canvas.theme.gone, _HIGH, cards=cards)
    for n in range(0, len(steps), 2):
        xs, ys = zip(*steps[n : n + 2], strict=True)
        panel.line(xs, ys, canvas.theme.line, dash="2px,2px", width=1)
    total = 0, max(before, thin / 2)
    panel.bars([total], [-len(causes) - _BAR], canvas.theme.tile_edge, _HIGH)
    _number(panel, len(causes), number_words(before) if before else "none seen", bold=True)


def _number(panel: PlotPanel, row: int, words: str, color: str = "", **font: Any) -> None:
    panel.canvas.text(panel.box.x0 + 4, panel.box.y0 + _ROW * row + 31, words, color, **font)


def _notes(rows: Sequence[CauseOfLoss]) -> list[str]:
    total = max((cause_total(rows, name) for name in _sets(rows)), default=0.0)
    small = [row for row in rows if row.estimate.is_seen and row.estimate.rate < total / 500]
    notes = ["Losses per partition and year (with 95 % intervals); all panels have one scale."]
    if small:
        notes[0] += " A bar as thin as a line: too small to be seen on it."
    if any(row.estimate.certainty in (Certainty.UNSEEN, Certainty.NOT_REACHED) for row in rows):
        notes.append("What was not seen adds nothing to the sum here; its upper bound is not 0.")
    return notes
