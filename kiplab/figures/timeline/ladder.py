"""Small multiples: one play under two to four sets of rules, every panel on the same axis."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from ...rows.columns import Rows
from ...rows.difference import first_difference
from ...rows.run_titles import titles
from ...rows.sentences import summary
from ...rows.view import views
from ..drawing.canvas import Canvas, as_figure, safe
from ..drawing.svg import Json
from ..drawing.text_width import LINE_HEIGHT, width_of, wrapped
from ..drawing.theme import NARROW, theme_of
from . import ladder_panel
from .axis import draw_axis, draw_numbers, mark_steps
from .legend_marks import draw_legend
from .log_ends import is_dense
from .mask import mask_until
from .sheet import MARGIN, WIDTH, WIDTH_MIN, draw_heading, draw_mask, followed_partition, room_for

RUNS_MIN, RUNS_MAX = 2, 4
SIDE_BY_SIDE_FROM = 760
"""Pixels of width from which there are two columns."""
UNIT_MIN = 14
"""Pixels of a moment below which two columns would be too narrow for a long run."""
SEAM = 26
KEY_MAX = 60
"""Moments of a longer run are not listed: hover cards and tables have them."""
SIZES = msgspec.structs.replace(NARROW, text=10, title=12.5, strip=17, tile=48, band=17, right=12)


class Column(NamedTuple):
    """A canvas that covers the sheet from `left` on, and the places of its panels, from the top."""

    canvas: Canvas
    left: int
    places: tuple[int, ...]


def ladder_drawing(
    runs_rows: Sequence[Rows],
    *,
    partition: str | None = None,
    until: int | None = None,
    fold: bool | None = None,
    kinds: Iterable[str] | None = None,
    between: tuple[int, int] | None = None,
    theme: str = "light",
    width: int | None = None,
    height: int | None = None,
    legend: bool = True,
) -> Json:
    """Two to four runs of one play as small panels, two beside each other where the width allows.

    A panel has the partition's strips, what the controller answered, the brokers' bands, the
    records and the verdict; ◆ marks where it first differs from the first panel. Options and their
    errors are as for `timeline`, folded is what is quiet in all; ValueError too for another number
    of runs, or for runs of different plays.
    """
    runs = comparable(runs_rows)
    said = " ".join(f"{n}: {summary(run)}" for n, run in zip(titles(runs), runs, strict=True))
    name = followed_partition(partition, *runs)
    differ = [first_difference(runs[0], run) for run in runs]
    pixels = max(width or WIDTH, WIDTH_MIN)
    seen = views(runs, fold=fold, kinds=kinds, between=between, room=room_for(runs, pixels))
    axis = _longest(seen)
    sheet = Canvas(pixels, axis.meta.end, theme_of(theme), SIZES, axis.meta.columns)
    top = draw_heading(sheet, axis)
    columns = _columns(sheet, len(runs))
    ends = _draw_panels(columns, seen, name, differ, top)
    bottom = _draw_moments(sheet, columns, axis, ends)
    if legend:
        bottom = _draw_legend(sheet, columns[0].canvas, seen, bottom + 4, name)
    return mask_until(joined(sheet, columns, max(bottom + 10, height or 0), said), until)


ladder = as_figure(ladder_drawing)


def comparable(runs_rows: Sequence[Rows]) -> tuple[Rows, ...]:
    """The runs, if a ladder can show them. Raises ValueError if not, in one sentence."""
    runs = tuple(runs_rows)
    if not RUNS_MIN <= len(runs) <= RUNS_MAX:
        raise ValueError(
            f"a ladder shows {RUNS_MIN} to {RUNS_MAX} runs of one play, not {len(runs)}"
        )
    plays = dict.fromkeys(_play(run) for run in runs)
    if len(plays) > 1:
        named = " and ".join(repr(title) for title, *_ in plays)
        raise ValueError(f"a ladder shows runs of one play, and these are of several: {named}")
    return runs


def _play(run: Rows) -> tuple[str, str, tuple[int, ...], tuple[str, ...]]:
    """What a play and no set of rules decides."""
    meta = run.meta
    return meta.title or meta.name, meta.name, meta.brokers, meta.partitions


# --- where things are ---------------------------------------------------------------------------


def _columns(sheet: Canvas, runs: int) -> tuple[Column, ...]:
    half = sheet.width // 2
    pair = half - SIZES.left - SIZES.right >= UNIT_MIN * sheet.end
    if sheet.width < SIDE_BY_SIDE_FROM or not pair:
        return (_column(sheet, 0, sheet.width, range(runs)),)
    halves = ((0, half), (half, sheet.width - half))
    return tuple(
        _column(sheet, left, wide, range(n, runs, 2)) for n, (left, wide) in enumerate(halves)
    )


def _column(sheet: Canvas, left: int, width: int, places: Sequence[int]) -> Column:
    canvas = Canvas(width, sheet.end, sheet.theme, SIZES, sheet.columns)
    return Column(canvas, left, tuple(places))


def _draw_panels(
    columns: tuple[Column, ...],
    runs: tuple[Rows, ...],
    partition: str,
    differ: list[int | None],
    top: float,
) -> list[float]:
    """All panels, and a mask for each column; returns where each column's last panel ends.

    `differ` has the play's own number of each run's first difference from the first.
    """
    names, ends = titles(runs), []
    answered = max(ladder_panel.answer_rows(columns[0].canvas, run, partition) for run in runs)
    for column in columns:
        y = top
        for place in column.places:
            run, first = runs[place], differ[place]
            note = ladder_panel.note(first) if place else ""
            x = None if first is None else run.meta.place(first)
            mark = x if x is not None and 0 <= x < run.meta.end else None
            said = ladder_panel.Said(names[place], note, mark, answered)
            panel = ladder_panel.draw_rung(column.canvas, run, partition, y, said, place)
            y = panel.lanes.bottom + SEAM
        ends.append(y - SEAM)
        draw_mask(column.canvas, top + ladder_panel.HEAD, ends[-1] + 4)
    return ends


def _draw_moments(
    sheet: Canvas, columns: tuple[Column, ...], longest: Rows, ends: list[float]
) -> float:
    """The numbers under each column; what they stand for beside them, or once for all columns."""
    if len(columns) == 1:
        return draw_axis(columns[0].canvas, longest, ends[0] + 20)
    for column, end in zip(columns, ends, strict=True):
        draw_numbers(column.canvas, longest.meta, end + 18)
        mark_steps(column.canvas, longest.meta, end + 18)
    return draw_key(sheet, longest, max(ends) + 18 + 2 * SIZES.text)


def draw_key(sheet: Canvas, rows: Rows, top: float) -> float:
    """``1 request sent   2 crashes``: all moments in as many equal columns as fit the sheet."""
    size, theme = SIZES.small + 1, sheet.theme
    items = [(rows.meta.number(m.x), m.label) for m in rows.moments if m.line]
    if not 0 < len(items) <= KEY_MAX:
        return top
    number = max(width_of(said, size, bold=True) for said, _ in items)
    widest = max(width_of(label, size) for _, label in items) + number + 24
    across = max(1, min(len(items), int((sheet.width - 2 * MARGIN) // min(widest, 300))))
    step = (sheet.width - 2 * MARGIN) / across
    down = -(-len(items) // across)
    line = size * LINE_HEIGHT + 2
    for place, (own, label) in enumerate(items):
        column, row = divmod(place, down)
        x, y = MARGIN + column * step, top + (row + 0.5) * line
        sheet.text(sheet.at(x + number), y, own, anchor="right", bold=True, size=size)
        text = (wrapped(label, step - number - 24, size) or label).split("<br>")
        said = text[0] if len(text) == 1 else f"{text[0]} ..."
        sheet.text(sheet.at(x + number + 6), y, safe(said), theme.muted, size=size)
    return top + down * line


def _draw_legend(
    sheet: Canvas, column: Canvas, runs: tuple[Rows, ...], top: float, partition: str
) -> float:
    """The marks of the panels, which have neither arrows nor ticks; returns where they end."""
    drawn = [
        msgspec.structs.replace(run, messages=(), ticks=(), clients=(), logs=()) for run in runs
    ]
    return draw_legend(sheet, drawn, top, partition, dense=is_dense(column))


def _longest(runs: tuple[Rows, ...]) -> Rows:
    """The axis' rows: of the run that got furthest, a line that does not apply there in the words
    of one in which it does.
    """
    first = max(runs, key=lambda run: run.meta.end)
    spoken = {m.x: m for run in runs for m in run.moments if "not applicable" not in m.label}
    moments = tuple(spoken.get(m.x, m) for m in first.moments)
    return msgspec.structs.replace(first, moments=moments)


# --- one drawing ---------------------------------------------------------------------------------


def joined(sheet: Canvas, columns: tuple[Column, ...], height: float, label: str) -> Json:
    """The sheet with every column on an x axis of its own, all y axes being one."""
    joined = sheet.drawing(height, label)
    layout = joined["layout"]
    # The columns lie over the sheet, and plotly would paint each column's background over it.
    layout["plot_bgcolor"] = "rgba(0,0,0,0)"
    for number, column in enumerate(columns, 2):
        drawn, axis = column.canvas.drawing(height, ""), f"x{number}"
        ends = (column.left / sheet.width, (column.left + column.canvas.width) / sheet.width)
        layout[f"xaxis{number}"] = {**drawn["layout"]["xaxis"], "domain": ends, "anchor": "y"}
        shapes = ({**shape, "xref": axis} for shape in drawn["layout"]["shapes"])
        layout["shapes"] = [*layout["shapes"], *shapes]
        joined["data"] = [*joined["data"], *({**trace, "xaxis": axis} for trace in drawn["data"])]
        layout["meta"].setdefault("marks", []).extend(
            [ids, x0 + column.left, y0, x1 + column.left, y1, *line]
            for ids, x0, y0, x1, y1, *line in column.canvas.marks
        )
    return joined
