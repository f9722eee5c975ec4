"""The logs side by side where they part, as a picture of its own."""

from ...rows.columns import Rows
from ...rows.log_blocks import told_logs
from ..drawing.canvas import as_figure
from ..drawing.svg import Json
from .legend import draw_legend
from .log_strip import draw_logs
from .sheet import MARGIN, canvas_of, followed_partition

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
