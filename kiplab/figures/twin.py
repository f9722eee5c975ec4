"""Picture (a) twice: the same play under two sets of rules, on one x axis."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..protocol.guards import GUARDS
from .axis import draw_axis
from .canvas import Canvas
from .columns import Rows
from .describe import summary
from .sheet import (
    canvas_of,
    draw_heading,
    draw_panel,
    draw_veil,
    move_cursor,
    own_title,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go

SEAM = 46
"""Pixels between the two panels."""


def twin(
    rows_a: Rows,
    rows_b: Rows,
    *,
    partition: str | None = None,
    until: int | None = None,
    theme: str = "light",
    width: int | None = None,
    height: int | None = None,
) -> go.Figure:
    """Two runs of one play, one above the other; ◆ marks the first moment at which they differ.

    Arguments and errors as for `timeline`.
    """
    canvas = canvas_of(rows_a, max(rows_a.meta.end, rows_b.meta.end), width, theme)
    top = draw_heading(canvas, rows_a)
    behind = len(canvas.shapes)
    title_a, title_b = titles(rows_a, rows_b)
    partition = partition or rows_a.busiest
    upper = draw_panel(canvas, rows_a, partition, top, title_a, (rows_b,)).lanes
    seam = upper.bottom + SEAM
    lower = draw_panel(canvas, rows_b, partition, seam, title_b, (rows_a,)).lanes
    differs = first_difference(rows_a, rows_b)
    if differs is not None:
        _mark(canvas, differs, (upper.top - 4, lower.bottom + 6), upper.bottom + SEAM * 0.38)
        canvas.shapes.insert(behind, canvas.shapes.pop())
    bottom = draw_axis(canvas, _longer(rows_a, rows_b), lower.bottom + 26)
    draw_veil(canvas, upper.top - 6, lower.bottom + 4)
    label = f"{title_a}: {summary(rows_a)} {title_b}: {summary(rows_b)}"
    figure = canvas.figure(max(bottom + 10, height or 0), label)
    move_cursor(figure, until)
    return figure


def first_difference(rows_a: Rows, rows_b: Rows) -> int | None:
    """The first moment at which the two pictures are not the same, or None.

    What requests carry is not compared: it differs long before it makes a difference.
    """
    for x in range(max(rows_a.meta.end, rows_b.meta.end)):
        if _seen(rows_a, x) != _seen(rows_b, x):
            return x
    return None


def titles(rows_a: Rows, rows_b: Rows) -> tuple[str, str]:
    """``KIP-903 off · Kafka 3.4`` and ``KIP-903 on · Kafka 3.5`` where one KIP is all the
    difference between the two sets of rules; else what each is.
    """
    only_a = set(rows_a.meta.guards) - set(rows_b.meta.guards)
    only_b = set(rows_b.meta.guards) - set(rows_a.meta.guards)
    subjects = {GUARDS[guard].subject for guard in only_a | only_b}
    if len(subjects) != 1 or (only_a and only_b):
        return own_title(rows_a), own_title(rows_b)
    subject = subjects.pop()
    return _one_kip(rows_a, subject, bool(only_a)), _one_kip(rows_b, subject, bool(only_b))


def _one_kip(rows: Rows, subject: str, on: bool) -> str:
    release = rows.meta.features.split(" ")[0]
    return f"{subject} {'on' if on else 'off'} · Kafka {release}"


def _seen(rows: Rows, x: int) -> set[Hashable]:
    found: set[Hashable] = {
        (s.lane, s.track, s.partition, s.value, s.flags) for s in rows.spans if s.x0 <= x < s.x1
    }
    found |= {("tick", t.short) for t in rows.ticks if t.x == x}
    found |= {("mark", m.lane, m.kind, m.text) for m in rows.marks if m.x == x}
    return found | {(m.name, m.fate, m.error) for m in rows.messages if m.x_arrived == x}


def _mark(canvas: Canvas, x: int, ends: tuple[float, float], y: float) -> None:
    """A dotted line through both panels, and ◆ where the eye passes from one to the other."""
    box = canvas.box_of(x, y, "◆ first difference", canvas.sizes.text, "center")
    middle = canvas.at(min(canvas.px(x), canvas.width - 6 - (box.x1 - box.x0) / 2))
    half = canvas.at(canvas.px(0) + (box.x1 - box.x0) / 2 + 4)
    canvas.rect(middle - half, middle + half, y - 9, y + 9, canvas.theme.paper)
    canvas.text(middle, y, "◆ first difference", anchor="center")
    canvas.line(x, ends[0], x, ends[1], canvas.theme.dot, width=1.5, dash="dot")


def _longer(rows_a: Rows, rows_b: Rows) -> Rows:
    """The axis' rows: labels of the run that got further, where the two agree on a moment.

    A line that is not applicable in one of the runs keeps the words it has in the other.
    """
    first, second = (rows_a, rows_b) if rows_a.meta.end >= rows_b.meta.end else (rows_b, rows_a)
    others = {m.x: m for m in second.moments}
    moments = tuple(others.get(m.x, m) if "not applicable" in m.label else m for m in first.moments)
    return replace(first, moments=moments)
