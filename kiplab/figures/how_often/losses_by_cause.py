"""Where losses come from: a staircase of causes, the largest first, beside each other for several
sets of KIPs on one scale.
"""

from collections.abc import Sequence

import msgspec

from ..drawing.canvas import Box, Canvas, as_figure, safe
from ..drawing.svg import Json
from .fleet_words import capital, metric_words, set_words
from .measured_rate import Certainty, MeasuredRate, alarm_words, rate_cells, rate_words
from .number_words import number_words, share_words
from .plot_axis import PlotAxis
from .plot_sheet import (
    EDGE,
    card_at,
    empty_note,
    plot_heading,
    plot_notes,
    plot_sheet,
    safe_lines,
    wrapped_words,
)
from .plot_table import PlotTable, plot_table

TITLE = "What is lost, and by what?"
EMPTY = "Nothing to draw: no loss was seen by any cause."
MOST_PANELS = 3
_ROW, _BAR, _NAMES = 42, 15, 214


class CauseOfLoss(msgspec.Struct, frozen=True, kw_only=True):
    """How often committed records are lost by one cause, per partition and year."""

    features: str
    cause: str
    found: MeasuredRate


def causes_in_order(rows: Sequence[CauseOfLoss]) -> list[str]:
    """The largest first, by the first set of KIPs that saw one."""
    names = list(dict.fromkeys(row.cause for row in rows))
    worst = {n: max(row.found.rate for row in rows if row.cause == n) for n in names}
    return sorted(names, key=lambda name: -worst[name])


def cause_total(rows: Sequence[CauseOfLoss], features: str) -> float:
    """All causes together."""
    return sum(row.found.rate for row in rows if row.features == features and row.found.seen)


def causes_sentence(rows: Sequence[CauseOfLoss]) -> str:
    """What most losses come from, set by set, and what a cause without a rate may add."""
    if not any(row.found.seen for row in rows):
        return EMPTY
    said = [_set_sentence(rows, features) for features in _sets(rows)]
    alarm = alarm_words(tuple(row.found for row in rows))
    return " ".join(filter(None, [*said, alarm]))


def _set_sentence(rows: Sequence[CauseOfLoss], features: str) -> str:
    mine = [row for row in rows if row.features == features]
    total = cause_total(rows, features)
    if total == 0:
        return f"{capital(set_words(features))}: nothing lost was seen."
    first = max(mine, key=lambda row: row.found.rate)
    share = share_words(first.found.rate / total)
    said = f"{capital(set_words(features))}: {number_words(total)} losses per partition and year"
    return f"{said}, {share} of it {_lower(metric_words(first.cause))}."


def _lower(words: str) -> str:
    return words[:1].lower() + words[1:]


def causes_table(rows: Sequence[CauseOfLoss]) -> PlotTable:
    """A line per cause and set."""
    heads = ("cause", "KIPs", "per partition and year", "95 % interval", "share", "remarks")
    lines = []
    for cause in causes_in_order(rows):
        for row in (row for row in rows if row.cause == cause):
            rate, interval, remark = rate_cells(row.found)
            total = cause_total(rows, row.features)
            share = share_words(row.found.rate / total) if row.found.seen else ""
            words = (metric_words(cause), set_words(row.features))
            lines.append((*words, rate, interval, share, remark))
    return plot_table("Losses by cause", heads, lines)


# --- the picture ----------------------------------------------------------------------------------


def causes_drawing(
    rows: Sequence[CauseOfLoss], *, theme: str = "light", width: int | None = None
) -> Json:
    """A staircase for each set of KIPs, three at most, as plotly's data and layout.

    Raises ValueError for a theme that there is none of, a width too small for words, and more sets
    than fit beside each other.
    """
    names = _sets(rows)
    if len(names) > MOST_PANELS:
        raise ValueError(f"{len(names)} sets are too many; {MOST_PANELS} fit beside each other")
    canvas = plot_sheet(theme, width)
    sentence = causes_sentence(rows)
    if not any(row.found.seen for row in rows):
        y = plot_heading(canvas, TITLE, "")
        return canvas.drawing(empty_note(canvas, y, EMPTY) + EDGE, sentence)
    y = plot_heading(canvas, TITLE, sentence) + 26
    causes = causes_in_order(rows)
    each = (canvas.width - EDGE - _NAMES) / len(names)
    bottom = y + _ROW * (len(causes) + 1)
    _names(canvas, causes, y, bottom)
    largest = max(cause_total(rows, name) for name in names)
    for n, name in enumerate(names):
        box = Box(_NAMES + n * each, y, _NAMES + (n + 1) * each, bottom)
        _stairs(canvas, rows, name, causes, box, PlotAxis(0, largest, box.x0, box.x1 - 12))
    return canvas.drawing(plot_notes(canvas, _notes(rows), bottom + 8), sentence)


causes_figure = as_figure(causes_drawing)


def _sets(rows: Sequence[CauseOfLoss]) -> list[str]:
    return list(dict.fromkeys(row.features for row in rows))


def _names(canvas: Canvas, causes: list[str], top: float, bottom: float) -> None:
    """The causes on the left, a line between one and the next."""
    palette, sizes = canvas.theme, canvas.sizes
    for n, cause in enumerate([*causes, ""]):
        y = top + _ROW * (n + 0.5)
        words = wrapped_words(metric_words(cause), _NAMES - EDGE - 14, sizes.text) if cause else ""
        canvas.text(EDGE, y, safe_lines(words) or "All of them", bold=not cause)
        color = palette.line if not cause else palette.grid
        canvas.line(EDGE, y - _ROW / 2, canvas.width - EDGE, y - _ROW / 2, color)
    canvas.line(EDGE, bottom, canvas.width - EDGE, bottom, palette.grid)


def _stairs(
    canvas: Canvas,
    rows: Sequence[CauseOfLoss],
    features: str,
    causes: list[str],
    box: Box,
    rates: PlotAxis,
) -> None:
    palette, before = canvas.theme, 0.0
    canvas.text(box.x0, box.y0 - 13, safe(capital(set_words(features))), bold=True)
    canvas.line(box.x0, box.y0, box.x0, box.y1, palette.line)
    found = {row.cause: row.found for row in rows if row.features == features}
    for n, cause in enumerate(causes):
        top = box.y0 + _ROW * n
        if cause in found:
            _stair(canvas, cause, found[cause], before, top, rates)
            before += found[cause].rate
            x = rates.at(before)
            under = top + 5 + (_BAR if found[cause].seen else 0)
            canvas.line(x, under, x, top + _ROW + 5, palette.line, dash="2px,2px")
    top = box.y0 + _ROW * len(causes)
    end = max(rates.at(before), box.x0 + 1)
    canvas.rect(box.x0, end, top + 5, top + 5 + _BAR, palette.tile_edge)
    canvas.text(box.x0 + 4, top + 31, number_words(before) if before else "none seen", bold=True)


def _stair(
    canvas: Canvas, cause: str, found: MeasuredRate, before: float, top: float, rates: PlotAxis
) -> None:
    """From what came before to it and this together; its number below."""
    palette, small = canvas.theme, canvas.sizes.small
    x0, x1 = rates.at(before), rates.at(before + found.rate)
    y = top + 5
    if found.seen:
        canvas.rect(min(x0, rates.end - 2), max(x1, x0 + 2), y, y + _BAR, palette.gone)
    said = rate_words(found) + (" !" if found.alarms else "")
    color = palette.text if found.seen else palette.muted
    canvas.text(rates.start + 4, top + 31, safe(said), color, size=small)
    card_at(canvas, (x0 + x1) / 2, y + _BAR / 2, [metric_words(cause), said, *found.alarms])


def _notes(rows: Sequence[CauseOfLoss]) -> list[str]:
    total = max(cause_total(rows, name) for name in _sets(rows))
    small = [row for row in rows if row.found.seen and row.found.rate < total / 500]
    notes = ["Losses per partition and year (with 95 % intervals); all panels have one scale."]
    if small:
        notes[0] += " A bar as thin as a line: too small to be seen on it."
    if any(row.found.certainty in (Certainty.UNSEEN, Certainty.NOT_REACHED) for row in rows):
        notes.append("What was not seen adds nothing to the sum here; its upper bound is not 0.")
    return notes
