"""The common x axis: a number per moment, and what happened there in a few words."""

from __future__ import annotations

from typing import NamedTuple

from .canvas import Canvas, safe
from .cards import folded
from .columns import MomentRow, Rows
from .measure import LINE_HEIGHT, wrapped

LINES_MAX, ROWS_MAX, SENTENCES_MAX = 3, 3, 7


class Labels(NamedTuple):
    """`texts` by x, wrapped; neighbours stand on `rows` alternating rows of `lines` lines."""

    texts: dict[int, str]
    rows: int
    lines: int


def labels(canvas: Canvas, moments: tuple[MomentRow, ...]) -> Labels:
    """As few rows as let every label stand free of its neighbours.

    With the most rows, labels that still don't fit are left out; the hover card has them.
    """
    wanted = {m.x: m.label for m in moments if m.x and m.label}
    for rows in range(1, ROWS_MAX + 1):
        room = canvas.unit * rows - 8
        found = {x: _wrapped(label, room, canvas.sizes.small) for x, label in wanted.items()}
        fitting = {x: text for x, text in found.items() if text}
        if len(fitting) == len(wanted) or rows == ROWS_MAX:
            break
    lines = max((text.count("<br>") + 1 for text in fitting.values()), default=0)
    return Labels({x: safe_lines(t) for x, t in fitting.items()}, rows, lines)


def _wrapped(label: str, room: float, size: float) -> str | None:
    """All of a label on two lines, or its first half, or all of it on as many as are allowed."""
    tries = [wrapped(text, room, size) for text in (label, label.split(", ")[0])]
    short = (t for t in tries if t is not None and t.count("<br>") < 2)
    long = (t for t in tries if t is not None and t.count("<br>") < LINES_MAX)
    return next(short, None) or next(long, None)


def safe_lines(text: str) -> str:
    """Every line safe, the breaks kept."""
    return "<br>".join(safe(line) for line in text.split("<br>"))


def draw_axis(canvas: Canvas, rows: Rows, top: float) -> float:
    """Numbers and labels from `top` on; returns where they end."""
    size, theme = canvas.sizes.small, canvas.theme
    for x in range(canvas.end + 1):
        canvas.text(x, top, str(x), anchor="center", bold=True, layer="axis")
    found = labels(canvas, rows.moments)
    first = top + canvas.sizes.text * 0.75
    height = found.lines * size * LINE_HEIGHT + 5
    for place, (x, text) in enumerate(sorted(found.texts.items())):
        row = place % found.rows
        y = first + row * height
        if row:
            canvas.line(x, first + 2, x, y, theme.grid)
        middle = y + (text.count("<br>") + 1) * size * LINE_HEIGHT / 2
        canvas.text(x, middle, text, theme.muted, size=size, anchor="center", layer="axis")
    _cards(canvas, rows, top)
    return first + found.rows * height


def _cards(canvas: Canvas, rows: Rows, y: float) -> None:
    for moment in rows.moments:
        sentences = [e.text for e in rows.events if e.x == moment.x and e.kind not in _SMALL_TALK]
        left = len(sentences) - SENTENCES_MAX
        more = [f"... and {left} more"] if left > 0 else []
        heading = f"{moment.x} · {moment.text or moment.label}"
        canvas.card(moment.x, y, folded([heading, *sentences[:SENTENCES_MAX], *more]))


_SMALL_TALK = ("sent", "delivered", "lifecycle")
