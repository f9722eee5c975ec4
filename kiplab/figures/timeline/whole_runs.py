"""Picture (a): a run as lanes over its moments, alone or as a twin; and its logs alone."""

from collections.abc import Sequence
from typing import Any

from ...rows.columns import Rows
from ...rows.difference import first_difference
from ...rows.log_blocks import log_sentences
from ...rows.run_titles import titles
from ...rows.sentences import summary
from ..drawing.canvas import Canvas, as_figure
from ..drawing.svg import Json
from . import sheet
from .axis import draw_axis
from .legend_marks import draw_legend, occurring
from .log_strip import draw_logs
from .mask import mask_until
from .metric_lines import DrawnMetrics, draw_metrics, drawn_metrics
from .sheet import PictureOptions, axis_rows

SEAM = 46
"""Pixels between the two panels of a twin."""


def timeline_drawing(rows: Rows, **options: Any) -> Json:
    """One run as plotly's data and layout. Options and errors as of `sheet.PictureOptions`."""
    return _drawing((rows,), PictureOptions(**options), titles((rows,)))


timeline = as_figure(timeline_drawing)


def twin_drawing(
    rows_a: Rows,
    rows_b: Rows,
    *,
    names: tuple[str, ...] = (),
    called: tuple[str, ...] = (),
    **options: Any,
) -> Json:
    """Two runs of one play, one above the other; ◆ marks the first moment at which they differ.

    Options, and errors, as for `timeline`; folded is what is quiet in both, and metrics are those
    that move in either. `names` go in front of the panels' titles, and what they are `called` in
    place of them.
    """
    runs = rows_a, rows_b
    return _drawing(runs, PictureOptions(**options), called or titles(runs, names))


twin = as_figure(twin_drawing)


def _drawing(runs: tuple[Rows, ...], options: PictureOptions, headings: tuple[str, ...]) -> Json:
    name, shown = sheet.followed_partition(options.partition, *runs), options.views(runs)
    axis = axis_rows(shown)
    canvas, metrics = options.canvas(axis), drawn_metrics(shown, options.metrics)
    ends = _draw_panels(canvas, shown, name, metrics, headings)
    (first, seam), low = ends[0], ends[-1][1]
    differs = first_difference(*runs) if len(runs) > 1 else None
    x = -1 if differs is None else axis.meta.place(differs)
    if 0 <= x < axis.meta.end:
        _mark(canvas, x, (first - 4, low + 6), seam + SEAM * 0.38)
    bottom = draw_axis(canvas, axis, low + 26)
    bottom = draw_logs(canvas, shown, name, bottom, headings if len(runs) > 1 else ())
    if options.legend:
        bottom = draw_legend(canvas, occurring(shown, name, beside=options.logs), bottom + 4)
    sheet.draw_mask(canvas, first - 6, low + 4)
    said = [
        f"{f'{title}: ' if len(runs) > 1 else ''}{summary(run)}{metrics.words(seen)}"
        f"{log_sentences(seen, name)}"
        for title, run, seen in zip(headings, runs, shown, strict=True)
    ]
    drawing = canvas.drawing(max(bottom + 10, options.height or 0), " ".join(said))
    return mask_until(drawing, options.until)


def _draw_panels(
    canvas: Canvas, runs: Sequence[Rows], name: str, metrics: DrawnMetrics, headings: Sequence[str]
) -> list[tuple[float, float]]:
    """The panels under one heading; returns where each begins and ends."""
    low, ends = sheet.draw_heading(canvas, runs[0]) - SEAM, []
    for n, heading in enumerate(headings):
        panel = sheet.draw_panel(canvas, runs, n, name, low + SEAM, heading)
        low = draw_metrics(canvas, runs, n, metrics, panel.lanes.bottom)
        ends.append((panel.lanes.top, low))
    return ends


def _mark(canvas: Canvas, x: int, ends: tuple[float, float], y: float) -> None:
    """A dotted line through both panels, and ◆ where the eye passes from one to the other."""
    box = canvas.box_of(x, y, "◆ first difference", canvas.sizes.text, "center")
    middle = canvas.at(min(canvas.px(x), canvas.width - 6 - (box.x1 - box.x0) / 2))
    half = canvas.beside(0, (box.x1 - box.x0) / 2 + 4)
    canvas.rect(middle - half, middle + half, y - 9, y + 9, canvas.theme.paper)
    canvas.text(middle, y, "◆ first difference", anchor="center", since=x)
    canvas.line(x, ends[0], x, ends[1], canvas.theme.dot, width=1.5, dash="dot")
    canvas.shapes.insert(0, canvas.shapes.pop())  # behind everything


NOT_PARTED = "Nobody was elected uncleanly, and no logs are laid side by side."


def logs_drawing(rows: Rows, *, legend: bool = False, **options: Any) -> Json:
    """The logs of a run at the moments at which they part, or a sentence if they never do.

    Of a run that is under way the last block is how the logs are now. Options, and errors, as for
    `timeline`: `partition`, `theme`, `width`; TypeError for others.
    """
    others = {*PictureOptions.__struct_fields__} - {"partition", "theme", "width"}
    sheet.check_options("a picture of logs", options, others)
    picture = PictureOptions(**options)
    name, canvas = sheet.followed_partition(picture.partition, rows), picture.canvas(rows)
    bottom = draw_logs(canvas, (rows,), name, 0)
    if not bottom:
        at, y = canvas.at(sheet.MARGIN), sheet.MARGIN + 8
        bottom = canvas.text(at, y, NOT_PARTED, canvas.theme.muted).y1
    if legend and bottom:
        bottom = draw_legend(canvas, occurring((rows,), name), bottom + 4)
    return canvas.drawing(bottom + 6, log_sentences(rows, name).strip() or NOT_PARTED)


logs = as_figure(logs_drawing)
