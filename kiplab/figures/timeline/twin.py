"""Picture (a) twice: the same play under two sets of rules, on one x axis."""

from collections.abc import Iterable

from msgspec.structs import replace

from ...rows.columns import Rows
from ...rows.difference import first_difference
from ...rows.log_blocks import told_logs
from ...rows.metric_readings import MetricChoice
from ...rows.run_titles import titles
from ...rows.sentences import summary
from ...rows.view import views
from ..drawing.canvas import Canvas, as_figure
from ..drawing.svg import Json
from .axis import draw_axis
from .legend_marks import draw_legend
from .log_strip import draw_logs
from .mask import mask_until
from .metric_lines import draw_metrics, metrics_asked, told_of
from .sheet import canvas_of, draw_heading, draw_mask, draw_panel, followed_partition, room_for

SEAM = 46
"""Pixels between the two panels."""


def twin_drawing(
    rows_a: Rows,
    rows_b: Rows,
    *,
    partition: str | None = None,
    until: int | None = None,
    fold: bool | None = None,
    kinds: Iterable[str] | None = None,
    between: tuple[int, int] | None = None,
    metrics: MetricChoice = False,
    theme: str = "light",
    width: int | None = None,
    height: int | None = None,
    legend: bool = True,
    names: tuple[str, ...] = (),
    called: tuple[str, ...] = (),
) -> Json:
    """Two runs of one play, one above the other; ◆ marks the first moment at which they differ.

    Arguments and errors as for `timeline`; folded is what is quiet in both, and metrics are those
    that move in either. `names` go in front of
    the panels' titles, and what they are `called` in place of them.
    """
    title_a, title_b = called or titles((rows_a, rows_b), names)
    said_a, said_b = f"{title_a}: {summary(rows_a)}", f"{title_b}: {summary(rows_b)}"
    differs = first_difference(rows_a, rows_b)
    partition = followed_partition(partition, rows_a, rows_b)
    room = room_for((rows_a, rows_b), width)
    rows_a, rows_b = views((rows_a, rows_b), fold=fold, kinds=kinds, between=between, room=room)
    axis = _longer(rows_a, rows_b)
    canvas = canvas_of(axis, axis.meta.end, width, theme)
    top = draw_heading(canvas, rows_a)
    behind = len(canvas.shapes)
    upper = draw_panel(canvas, rows_a, partition, top, title_a, (rows_b,)).lanes
    asked = metrics_asked((rows_a, rows_b), metrics)
    upper_low = draw_metrics(canvas, rows_a, asked, upper.bottom, (rows_b,))
    seam = upper_low + SEAM
    lower = draw_panel(canvas, rows_b, partition, seam, title_b, (rows_a,), run=1).lanes
    low = draw_metrics(canvas, rows_b, asked, lower.bottom, (rows_a,))
    x = -1 if differs is None else axis.meta.place(differs)
    if 0 <= x < axis.meta.end:
        _mark(canvas, x, (upper.top - 4, low + 6), upper_low + SEAM * 0.38)
        canvas.shapes.insert(behind, canvas.shapes.pop())
    bottom = draw_axis(canvas, axis, low + 26)
    bottom = draw_logs(canvas, (rows_a, rows_b), partition, bottom, (title_a, title_b))
    bottom = draw_legend(canvas, (rows_a, rows_b), bottom + 4, partition) if legend else bottom
    draw_mask(canvas, upper.top - 6, low + 4)
    said_a += told_of(rows_a, asked) + told_logs(rows_a, partition)
    said_b += told_of(rows_b, asked) + told_logs(rows_b, partition)
    said = f"{said_a} {said_b}"
    return mask_until(canvas.drawing(max(bottom + 10, height or 0), said), until)


twin = as_figure(twin_drawing)


def _mark(canvas: Canvas, x: int, ends: tuple[float, float], y: float) -> None:
    """A dotted line through both panels, and ◆ where the eye passes from one to the other."""
    box = canvas.box_of(x, y, "◆ first difference", canvas.sizes.text, "center")
    middle = canvas.at(min(canvas.px(x), canvas.width - 6 - (box.x1 - box.x0) / 2))
    half = canvas.at(canvas.px(0) + (box.x1 - box.x0) / 2 + 4)
    canvas.rect(middle - half, middle + half, y - 9, y + 9, canvas.theme.paper)
    canvas.text(middle, y, "◆ first difference", anchor="center", since=x)
    canvas.line(x, ends[0], x, ends[1], canvas.theme.dot, width=1.5, dash="dot")


def _longer(rows_a: Rows, rows_b: Rows) -> Rows:
    """The axis' rows: labels of the run that got further, where the two agree on a moment.

    A line that is not applicable in one of the runs keeps the words it has in the other.
    """
    first, second = (rows_a, rows_b) if rows_a.meta.end >= rows_b.meta.end else (rows_b, rows_a)
    others = {m.x: m for m in second.moments}
    moments = tuple(others.get(m.x, m) if "not applicable" in m.label else m for m in first.moments)
    return replace(first, moments=moments)
