"""The controller's lane: a line, a tick per moment with metadata records, words above."""

from __future__ import annotations

from collections.abc import Iterator

from .canvas import Box, Canvas, safe
from .columns import Rows
from .measure import width_of
from .panel import Panel, TickWord

ROWS_MAX = 3


def tick_words(canvas: Canvas, rows: Rows, partition: str) -> tuple[tuple[TickWord, ...], int]:
    """The words above the line, placed so that none overlap, and how many rows they take.

    Shorter words are taken if they save a row. Words that find no room are left out: the hover
    card has them.
    """
    full = list(_by_moment(rows, partition))
    short = [(x, text.replace("→ epoch", "→")) for x, text in full]
    return min((_placed(canvas, full), _placed(canvas, short)), key=lambda found: found[1])


def _placed(canvas: Canvas, words: list[tuple[int, str]]) -> tuple[tuple[TickWord, ...], int]:
    ends = [0.0] * ROWS_MAX
    placed: list[TickWord] = []
    for x, text in words:
        wide = width_of(text, canvas.sizes.small)
        left = min(canvas.px(x) - wide / 2, canvas.width - 4 - wide)
        row = next((row for row, end in enumerate(ends) if left >= end), None)
        if row is not None:
            ends[row] = left + wide + 9
            placed.append(TickWord(x, text, row, left + wide / 2))
    return tuple(placed), 1 + max((word.row for word in placed), default=0)


def _by_moment(rows: Rows, partition: str) -> Iterator[tuple[int, str]]:
    moments: dict[int, list[str]] = {}
    for tick in rows.ticks:
        if tick.short and tick.partition in ("", partition):
            moments.setdefault(tick.x, []).append(tick.short)
    for x, words in moments.items():
        yield x, ", ".join(dict.fromkeys(words))


def draw_controller(panel: Panel) -> None:
    """The lane of a planned panel."""
    canvas, y = panel.canvas, panel.lanes.controller
    theme, sizes = canvas.theme, canvas.sizes
    canvas.text(canvas.at(sizes.left - 12), y, "controller", anchor="right", bold=True)
    end = panel.rows.meta.end
    canvas.line(0, y, end, y, theme.line, width=1.5)
    canvas.take(Box(canvas.px(0), y - 1, canvas.px(end), y + 1))
    here = (tick.x for tick in panel.rows.ticks if panel.is_shown(tick.partition))
    for x in dict.fromkeys(here):
        canvas.line(x, y - 6, x, y + 6, theme.text, width=2)
        canvas.take(Box(canvas.px(x) - 2, y - 6, canvas.px(x) + 2, y + 6))
    for word in panel.ticks:
        row = panel.lanes.tick_rows[-1 - word.row]
        canvas.text(canvas.at(word.px), row, safe(word.text), size=sizes.small, anchor="center")
