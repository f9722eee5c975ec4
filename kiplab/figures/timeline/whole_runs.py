"""Picture (a): a run as lanes over its moments, alone, as a twin, or as far as it has got; and its
logs alone.
"""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from ...rows.client_requests import clients_shown
from ...rows.columns import MomentRow, Rows
from ...rows.difference import first_difference
from ...rows.log_blocks import log_sentences, logs_at, side_words
from ...rows.run_titles import own_title, titles
from ...rows.sentences import summary
from ...rows.view import through, until, with_kinds
from ..drawing.canvas import Canvas, as_figure
from ..drawing.svg import Json
from .axis import ROWS_MAX, draw_axis
from .legend_marks import draw_legend, occurring
from .log_strip import draw_logs
from .mask import mask_until
from .metric_lines import DrawnMetrics, draw_metrics, drawn_metrics
from .places import places_of
from .sheet import (
    MARGIN,
    PictureOptions,
    axis_rows,
    check_options,
    draw_heading,
    draw_mask,
    draw_panel,
    followed_partition,
)

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
    name, shown = followed_partition(options.partition, *runs), options.views(runs)
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
    draw_mask(canvas, first - 6, low + 4)
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
    low, ends = draw_heading(canvas, runs[0]) - SEAM, []
    for n, heading in enumerate(headings):
        panel = draw_panel(canvas, runs, n, name, low + SEAM, heading)
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
    check_options("a picture of logs", options, others)
    picture = PictureOptions(**options)
    name, canvas = followed_partition(picture.partition, rows), picture.canvas(rows)
    bottom = draw_logs(canvas, (rows,), name, 0)
    if not bottom:
        at, y = canvas.at(MARGIN), MARGIN + 8
        bottom = canvas.text(at, y, NOT_PARTED, canvas.theme.muted).y1
    if legend and bottom:
        bottom = draw_legend(canvas, occurring((rows,), name), bottom + 4)
    return canvas.drawing(bottom + 6, log_sentences(rows, name).strip() or NOT_PARTED)


logs = as_figure(logs_drawing)


WITHOUT_CLIENTS = 2.0
"""How low a picture without clients' lanes can be; the words of its axis take one row less."""


def drawing_so_far(
    now: Rows, whole: Rows, *, low: float | None = None, **options: Any
) -> dict[str, Any]:
    """`now` drawn where `whole` has its lanes and its axis: from step to step nothing moves.

    Of what comes later only the numbers of the moments are there. Options are as for `timeline`,
    but that a range which a shorter run does not have is cut to what there is, or left away. The
    legend is that of the whole run, so that the height stays. `low` is for a window that is not
    high, and comes from `low_enough`: no heading, and lanes from as ever (0) to the lowest that can
    be read (1); with WITHOUT_CLIENTS those of clients are left away, too, brokers' lanes say what
    was read, and the words of the axis are fewer. Traces are the same for every step, so that one
    figure can be painted again. A dict of plotly's data and layout: to have plotly check it takes
    longer than to draw it. Its layout's ``meta`` says where everything is, in ``places``.
    """
    rows_max = ROWS_MAX if low is None or low <= 1 else ROWS_MAX - 1
    if rows_max < ROWS_MAX:
        now, whole, low = replace(now, clients=()), replace(whole, clients=()), 1
    picture, name, sheet = _picture(whole, options)
    here = through(with_kinds(now, picture.kinds), sheet.meta.columns)
    canvas = picture.canvas(sheet, low=low)
    top = draw_heading(canvas, sheet) if low is None else MARGIN * canvas.sizes.air
    panel = draw_panel(canvas, (here, sheet), 0, name, top, own_title(now))
    metric_names = drawn_metrics((sheet,), picture.metrics)
    lowest = draw_metrics(canvas, (here, sheet), 0, metric_names, panel.lanes.bottom)
    air = canvas.sizes.air
    bottom = draw_axis(canvas, sheet, lowest + 16 + 10 * air, here, rows_max)
    places = places_of(panel, sheet, (lowest + 4 + 10 * air, bottom))
    if picture.legend:
        marks = occurring((sheet,), name, growing=True, beside=picture.logs)
        bottom = draw_legend(canvas, marks, bottom + 4)
    told = summary(now) + metric_names.words(here)
    if picture.logs:
        sides = logs_at(here, name, here.meta.end - 1).sides
        told += f" Logs: {'; '.join(map(side_words, sides))}."
    drawing = canvas.drawing(bottom + 10 * air, told)
    drawing["layout"]["meta"]["places"] = places
    return drawing


def low_enough(whole: Rows, high: float, **options: Any) -> float | None:
    """How low a picture of `whole` has to be drawn to be at most `high` pixels high: as much lower
    as needs be, or as low as can be read if that is not enough. Options as for `drawing_so_far`.
    """
    # From step to step the height stays: a picture of the start is soon drawn.
    start = until(whole, 0)

    def height(low: float | None) -> float:
        return float(drawing_so_far(start, whole, **options | {"low": low})["layout"]["height"])

    if height(None) <= high:
        return None
    highest, lowest = height(0), height(1)
    if lowest > high and clients_shown(whole, followed_partition(options.get("partition"), whole)):
        return WITHOUT_CLIENTS
    return min(max((highest - high + 1) / (highest - lowest), 0), 1)


def stops_in(whole: Rows, **options: Any) -> dict[int, MomentRow]:
    """The moments of `whole` at which a picture of it changes, with what its axis says of each.

    Of a quiet stretch that is the last one, also where the picture has room for all; what clients
    do, and logs that are drawn, are not quiet. A moment whose line was not applicable is none.
    """
    picture, name, _ = _picture(whole, options)
    if picture.fold is None and not picture.logs and not clients_shown(whole, name):
        options = options | {"fold": True}
    _, _, sheet = _picture(whole, options)
    shown = {sheet.meta.own(moment.x)[1]: moment for moment in sheet.moments}
    folded = {x for first, last in sheet.meta.columns for x in range(first, last)}
    passed = folded | {moment.x for moment in whole.moments if moment.was_left_out}
    return {m.x: shown.get(m.x, m) for m in whole.moments if m.x not in passed}


def legend_so_far(whole: Rows, **options: Any) -> dict[str, Any]:
    """The legend that `drawing_so_far` draws below its picture for the same options, by itself."""
    picture, name, sheet = _picture(whole, options)
    canvas = picture.canvas(sheet)
    marks = occurring((sheet,), name, growing=True, beside=picture.logs)
    bottom = draw_legend(canvas, marks, 0)
    return canvas.drawing(bottom + 4, "; ".join(f"{mark.glyph} {mark.words}" for mark in marks))


def _picture(whole: Rows, options: dict[str, Any]) -> tuple[PictureOptions, str, Rows]:
    """The options, a range cut to what there is; the partition; the rows of the sheet."""
    picture = PictureOptions(**options)
    name = followed_partition(picture.partition, whole)
    if picture.between is not None:
        first, last = max(picture.between[0], 0), min(picture.between[1], whole.meta.end - 1)
        picture = replace(picture, between=(first, last) if first < last else None)
    (sheet,) = picture.views((whole,))
    return picture, name, sheet
