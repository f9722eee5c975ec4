"""Picture (a): one run as lanes over its moments."""

from collections.abc import Iterable

from ...rows.columns import Rows
from ...rows.log_blocks import told_logs
from ...rows.metric_readings import MetricChoice
from ...rows.run_titles import own_title
from ...rows.sentences import summary
from ...rows.view import view
from ..drawing.canvas import as_figure
from ..drawing.svg import Json
from .axis import draw_axis
from .legend_marks import draw_legend
from .log_strip import draw_logs
from .mask import mask_until
from .metric_lines import draw_metrics, metrics_asked, told_of
from .sheet import (
    MARGIN,
    canvas_of,
    draw_heading,
    draw_mask,
    draw_panel,
    followed_partition,
    room_for,
)


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
    name = followed_partition(partition, rows)
    seen = view(rows, fold=fold, kinds=kinds, between=between, room=room_for((rows,), width))
    canvas = canvas_of(seen, seen.meta.end, width, theme)
    top = draw_heading(canvas, seen)
    panel = draw_panel(canvas, seen, name, top, own_title(seen))
    asked = metrics_asked((seen,), metrics)
    low = draw_metrics(canvas, seen, asked, panel.lanes.bottom)
    bottom = draw_axis(canvas, seen, low + 26)
    bottom = draw_logs(canvas, (seen,), name, bottom)
    bottom = draw_legend(canvas, (seen,), bottom + 4, name) if legend else bottom
    draw_mask(canvas, panel.lanes.top - 6, low + 4)
    said = summary(rows) + told_of(seen, asked) + told_logs(seen, name)
    return mask_until(canvas.drawing(max(bottom + 10, height or 0), said), until)


timeline = as_figure(timeline_drawing)


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
    name = followed_partition(partition, rows)
    canvas = canvas_of(rows, rows.meta.end, width, theme)
    bottom = draw_logs(canvas, (rows,), name, 0)
    if not bottom:
        box = canvas.text(canvas.at(MARGIN), MARGIN + 8, NOT_PARTED, canvas.theme.muted)
        bottom = box.y1
    if legend and bottom:
        bottom = draw_legend(canvas, (rows,), bottom + 4, name)
    return canvas.drawing(bottom + 6, told_logs(rows, name).strip() or NOT_PARTED)


logs = as_figure(logs_drawing)
