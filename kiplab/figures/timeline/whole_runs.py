"""Picture (a): a run as lanes over its moments, or the same play under two sets of rules, one above
the other on one x axis; and its logs alone.
"""

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
from . import sheet
from .axis import draw_axis
from .legend_marks import draw_legend
from .log_strip import draw_logs
from .mask import mask_until
from .metric_lines import MetricsAsked, draw_metrics, metrics_asked, told_of

SEAM = 46
"""Pixels between the two panels of a twin."""


def timeline_drawing(
    rows: Rows,
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
) -> Json:
    """One run as plotly's data and layout; `timeline` makes a figure of them.

    `partition` is the one drawn, by default the one with the most events. `theme` is "light" or
    "dark". `width` is in pixels, at least 480, by default 980; `height` too, and is at least what
    the lanes need. With `until`, what comes after that moment is masked and the verdict hidden.
    `fold`, `kinds` and `between` are as for `view.view`: quiet stretches folded (None: where there
    is no room), messages of some kinds only, a range of moments. `metrics` draws Kafka's metrics
    below the lanes: those that move (True), all that this release has ("all"), or those that are
    named. `legend` explains the marks that occur, below the axis. Raises ValueError for a
    partition, a theme, a kind, a metric or a range that there is none of.
    """
    name, room = sheet.followed_partition(partition, rows), sheet.room_for((rows,), width)
    shown = views((rows,), fold=fold, kinds=kinds, between=between, room=room)
    canvas = sheet.canvas_of(shown[0], shown[0].meta.end, width, theme)
    asked = metrics_asked(shown, metrics)
    said = summary(rows) + _told(shown[0], asked, name)
    bottom = _draw(canvas, shown, name, asked, titles(shown), legend=legend)
    return mask_until(canvas.drawing(max(bottom + 10, height or 0), said), until)


timeline = as_figure(timeline_drawing)


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
    runs = rows_a, rows_b
    name, room = sheet.followed_partition(partition, *runs), sheet.room_for(runs, width)
    headings = called or titles(runs, names)
    shown = views(runs, fold=fold, kinds=kinds, between=between, room=room)
    axis = _axis_rows(shown)
    canvas = sheet.canvas_of(axis, axis.meta.end, width, theme)
    asked, differs = metrics_asked(shown, metrics), first_difference(rows_a, rows_b)
    x = -1 if differs is None else axis.meta.place(differs)
    bottom = _draw(canvas, shown, name, asked, headings, legend=legend, differs=x)
    said = " ".join(
        f"{title}: {summary(run)}{_told(seen, asked, name)}"
        for title, run, seen in zip(headings, runs, shown, strict=True)
    )
    return mask_until(canvas.drawing(max(bottom + 10, height or 0), said), until)


twin = as_figure(twin_drawing)


def _told(rows: Rows, metrics_asked: MetricsAsked, partition: str) -> str:
    return told_of(rows, metrics_asked) + told_logs(rows, partition)


def _draw(
    canvas: Canvas,
    runs: tuple[Rows, ...],
    partition: str,
    metrics_asked: MetricsAsked,
    headings: tuple[str, ...],
    *,
    legend: bool,
    differs: int = -1,
) -> float:
    """The panels under one heading, the axis, the logs and the legend; returns where they end.
    `differs` is the x of the first difference.
    """
    axis, low = _axis_rows(runs), sheet.draw_heading(canvas, runs[0]) - SEAM
    behind, ends = len(canvas.shapes), []
    for n, run in enumerate(runs):
        others, top = (*runs[:n], *runs[n + 1 :]), low + SEAM
        panel = sheet.draw_panel(canvas, run, partition, top, headings[n], others, run=n)
        low = draw_metrics(canvas, run, metrics_asked, panel.lanes.bottom, others)
        ends.append((panel.lanes.top, low))
    first = ends[0][0]
    if 0 <= differs < axis.meta.end:
        _mark(canvas, differs, (first - 4, low + 6), ends[0][1] + SEAM * 0.38)
        canvas.shapes.insert(behind, canvas.shapes.pop())
    bottom = draw_axis(canvas, axis, low + 26)
    bottom = draw_logs(canvas, runs, partition, bottom, headings if len(runs) > 1 else ())
    bottom = draw_legend(canvas, runs, bottom + 4, partition) if legend else bottom
    sheet.draw_mask(canvas, first - 6, low + 4)
    return bottom


def _mark(canvas: Canvas, x: int, ends: tuple[float, float], y: float) -> None:
    """A dotted line through both panels, and ◆ where the eye passes from one to the other."""
    box = canvas.box_of(x, y, "◆ first difference", canvas.sizes.text, "center")
    middle = canvas.at(min(canvas.px(x), canvas.width - 6 - (box.x1 - box.x0) / 2))
    half = canvas.beside(0, (box.x1 - box.x0) / 2 + 4)
    canvas.rect(middle - half, middle + half, y - 9, y + 9, canvas.theme.paper)
    canvas.text(middle, y, "◆ first difference", anchor="center", since=x)
    canvas.line(x, ends[0], x, ends[1], canvas.theme.dot, width=1.5, dash="dot")


def _axis_rows(runs: tuple[Rows, ...]) -> Rows:
    """The axis' rows: labels of the run that got further, where the two agree on a moment.

    A line that is not applicable in one of the runs keeps the words it has in the other.
    """
    first, *rest = sorted(runs, key=lambda run: -run.meta.end)
    others = {m.x: m for run in rest for m in run.moments}
    moments = tuple(others.get(m.x, m) if "not applicable" in m.label else m for m in first.moments)
    return replace(first, moments=moments)


# --- logs alone -----------------------------------------------------------------------------------


NOT_PARTED = "Nobody was elected uncleanly, and no logs are laid side by side."


def logs_drawing(
    rows: Rows,
    *,
    partition: str | None = None,
    theme: str = "light",
    width: int | None = None,
    legend: bool = False,
) -> Json:
    """The logs of a run at the moments at which they part, or a sentence if they never do.

    Of a run that is under way the last block is how the logs are now. Options, and errors, as for
    `timeline`.
    """
    name = sheet.followed_partition(partition, rows)
    canvas = sheet.canvas_of(rows, rows.meta.end, width, theme)
    bottom = draw_logs(canvas, (rows,), name, 0)
    if not bottom:
        at, y = canvas.at(sheet.MARGIN), sheet.MARGIN + 8
        bottom = canvas.text(at, y, NOT_PARTED, canvas.theme.muted).y1
    if legend and bottom:
        bottom = draw_legend(canvas, (rows,), bottom + 4, name)
    return canvas.drawing(bottom + 6, told_logs(rows, name).strip() or NOT_PARTED)


logs = as_figure(logs_drawing)
