"""Picture (a) while the run is under way: the events so far, on the sheet of the whole run."""

from typing import Any

from msgspec.structs import replace

from ...rows.client_requests import clients_shown
from ...rows.columns import MomentRow, Rows
from ...rows.log_blocks import logs_at, side_words
from ...rows.run_titles import own_title
from ...rows.sentences import summary
from ...rows.view import through, until, with_kinds
from .axis import ROWS_MAX, draw_axis
from .legend_marks import draw_legend, occurring
from .metric_lines import draw_metrics, drawn_metrics
from .places import places_of
from .sheet import MARGIN, PictureOptions, draw_heading, draw_panel, followed_partition

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
