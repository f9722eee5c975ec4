"""Small multiples: one play under two to four sets of rules, every panel on the same axis."""

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

from msgspec.structs import replace

from ...plays.verdict import VERDICT_SIGNS
from ...rows.columns import MessageRow, Rows, strips_of, tells_epochs
from ...rows.difference import first_difference
from ...rows.message_paths import drawn_messages
from ...rows.run_titles import titles
from ...rows.sentences import summary
from ..drawing.canvas import Canvas, as_figure, safe
from ..drawing.svg import Json
from ..drawing.text_width import LINE_HEIGHT, first_fit, shortened, width_of, wrapped
from ..drawing.theme import NARROW, theme_of
from . import broker_lanes, controller_lane, hover_cards, icons, lane_marks, strips
from . import sheet as sheets
from .axis import draw_axis, draw_numbers
from .lanes import Panel, lanes
from .legend_marks import draw_legend, occurring
from .log_ends import is_dense
from .mask import from_moment, mask_until
from .places import event_marks
from .sheet import MARGIN, PictureOptions

RUNS_MIN, RUNS_MAX = 2, 4
SIDE_BY_SIDE_FROM = 760
"""Pixels of width from which there are two columns."""
UNIT_MIN = 14
"""Pixels of a moment below which two columns would be too narrow for a long run."""
SEAM = 26
KEY_MAX = 60
"""Moments of a longer run are not listed: hover cards and tables have them."""
SIZES = replace(NARROW, title=12.5, strip=17, tile=48, band=17, right=12)


class Column(NamedTuple):
    """A canvas that covers the sheet from `left` on, and the places of its panels, from the top."""

    canvas: Canvas
    left: int
    places: Sequence[int]


def ladder_drawing(runs_rows: Sequence[Rows], **options: Any) -> Json:
    """Two to four runs of one play as small panels, two beside each other where the width allows.

    A panel has the partition's strips, what the controller answered, the brokers' bands, the
    records and the verdict; ◆ marks where it first differs from the first panel. Options and their
    errors are as for `timeline`, but that there is no room for metrics and logs; folded is what is
    quiet in all. ValueError too for another number of runs, or for runs of different plays;
    TypeError for metrics or logs.
    """
    sheets.check_options("a ladder", options, ["logs", "metrics"])
    picture, runs = PictureOptions(**options), comparable(runs_rows)
    description = " ".join(
        f"{n}: {summary(run)}" for n, run in zip(titles(runs), runs, strict=True)
    )
    name = sheets.followed_partition(picture.partition, *runs)
    differ = [first_difference(runs[0], run) for run in runs]
    rowses = picture.views(runs)
    axis = sheets.axis_rows(rowses)
    pixels = max(picture.width or sheets.WIDTH, sheets.WIDTH_MIN)
    sheet = Canvas(pixels, axis.meta.end, theme_of(picture.theme), SIZES, axis.meta.columns)
    top = sheets.draw_heading(sheet, axis)
    columns = _columns(sheet, len(runs))
    ends = _draw_panels(columns, rowses, name, differ, top)
    if len(columns) == 1:
        bottom = draw_axis(columns[0].canvas, axis, ends[0] + 20)
    else:  # what the numbers stand for is said once for all columns
        for column, end in zip(columns, ends, strict=True):
            draw_numbers(column.canvas, axis.meta, end + 18, axis.meta)
        bottom = draw_key(sheet, axis, max(ends) + 18 + 2 * SIZES.text)
    if picture.legend:
        # The marks of the panels, which have neither arrows nor ticks.
        drawn = [replace(run, messages=(), ticks=(), clients=(), logs=()) for run in rowses]
        dense = is_dense(columns[0].canvas)
        bottom = draw_legend(sheet, occurring(drawn, name), bottom + 4, dense)
    drawing = joined(sheet, columns, max(bottom + 10, picture.height or 0), description)
    return mask_until(drawing, picture.until)


ladder = as_figure(ladder_drawing)


def comparable(runs_rows: Sequence[Rows]) -> tuple[Rows, ...]:
    """The runs, if a ladder can show them. Raises ValueError if not, in one sentence."""
    runs = tuple(runs_rows)
    if not RUNS_MIN <= len(runs) <= RUNS_MAX:
        raise ValueError(
            f"a ladder shows {RUNS_MIN} to {RUNS_MAX} runs of one play, not {len(runs)}"
        )
    # What a play and no set of rules decides.
    metas = [run.meta for run in runs]
    plays = dict.fromkeys((m.title or m.name, m.name, m.brokers, m.partitions) for m in metas)
    if len(plays) > 1:
        named = " and ".join(repr(title) for title, *_ in plays)
        raise ValueError(f"a ladder shows runs of one play, and these are of several: {named}")
    return runs


def _columns(sheet: Canvas, runs: int) -> tuple[Column, ...]:
    half = sheet.width // 2
    pair = half - SIZES.left - SIZES.right >= UNIT_MIN * sheet.end
    parts = [(0, sheet.width, range(runs))]
    if sheet.width >= SIDE_BY_SIDE_FROM and pair:
        parts = [(0, half, range(0, runs, 2)), (half, sheet.width - half, range(1, runs, 2))]
    return tuple(
        Column(Canvas(wide, sheet.end, sheet.theme, SIZES, sheet.columns), left, places)
        for left, wide, places in parts
    )


def _draw_panels(
    columns: Sequence[Column], runs: Sequence[Rows], name: str, differ: list[int | None], top: float
) -> list[float]:
    """All panels, and a mask for each column; returns where each column's last panel ends.

    `differ` has the play's own number of each run's first difference from the first.
    """
    headings, ends = titles(runs), []
    answered = max(answer_rows(columns[0].canvas, run, name) for run in runs)
    for column in columns:
        y = top
        for place in column.places:
            run, first = runs[place], differ[place]
            begin = y + HEAD - 2 * SIZES.title
            talk = TALK + TILED * tells_epochs(run)
            planned = lanes(
                *(begin, run.meta.brokers, SIZES),
                tick_rows=answered,
                talk=talk,
                tracks=strips_of(runs, name),
            )
            panel = Panel(column.canvas, run, name, planned, (), place)
            note = "no difference from the first panel" if place else ""
            note = note if first is None else f"◆ first differs at {first}"
            draw_head(panel, y, headings[place], note)
            draw_rung(panel, -1 if first is None else run.meta.place(first))
            y = panel.lanes.bottom + SEAM
        ends.append(y - SEAM)
        sheets.draw_mask(column.canvas, top + HEAD, ends[-1] + 4)
    return ends


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


# --- one panel ------------------------------------------------------------------------------------

HEAD = 36
"""Pixels from a panel's top to its strips: title, then verdict."""
TALK, TILED = 14, 6


def draw_rung(panel: Panel, differs: int) -> None:
    """All below the head; `differs` is the x where the run leaves the first panel's, if shown."""
    canvas, rows, lanes = panel.canvas, panel.rows, panel.lanes
    strips.draw_grid(panel)
    sheets.draw_folds(panel)
    if 0 <= differs < rows.meta.end:  # behind everything, with ◆ at its foot: words are above it
        ends, foot = (lanes.top - 3, lanes.bottom + 1), lanes.bottom + 6
        canvas.line(differs, ends[0], differs, ends[1], canvas.theme.dot, width=1.5, dash="dot")
        canvas.text(differs, foot, "◆", anchor="center", size=canvas.sizes.text)
    strips.draw_strips(panel)
    broker_lanes.draw_brokers(panel)
    lane_marks.draw_glyphs(panel)
    strips.draw_records(panel)
    _draw_answers(panel)
    lane_marks.draw_remarks(panel)
    # Without messages: cards and marks of arrows would float where no arrow is.
    unsent = panel._replace(rows=replace(rows, messages=(), clients=()))
    hover_cards.draw_cards(unsent)
    canvas.marks += event_marks(unsent)


def draw_head(panel: Panel, top: float, title: str, note: str) -> None:
    """Title; below it the verdict, or what there is room for: that nothing is lost yet is said
    last; at its right the note, or as much of it as there is room for.
    """
    canvas, meta = panel.canvas, panel.rows.meta
    theme, size = canvas.theme, canvas.sizes.title
    left, line = canvas.at(MARGIN), size * LINE_HEIGHT
    canvas.text(left, top + line / 2, safe(title), size=size, bold=True)
    color, y = strips.verdict_color(canvas, meta.verdict), top + line * 1.45
    small, room = canvas.sizes.text + 1, canvas.width - 2 * MARGIN
    texts = meta.sentence, *strips.harms(meta.sentence)
    tried = [f"{VERDICT_SIGNS[meta.verdict]} {safe(text)}" for text in texts]
    fits = (text for text in tried if width_of(text, small, bold=True) <= room)
    verdict = next(fits, None) or shortened(tried[-1], room / 1.06, small)
    canvas.text(left, y, verdict, color, size=small, bold=True, layer="verdict")
    beside = room - width_of(verdict, small, bold=True) - 20
    short = first_fit((note, "no difference"), beside, canvas.sizes.small)
    if short and note:
        right = canvas.at(canvas.width - MARGIN)
        canvas.text(right, y, safe(short), theme.muted, size=canvas.sizes.small, anchor="right")


# --- the controller's answers -------------------------------------------------------------------


def _draw_answers(panel: Panel) -> None:
    """The controller's line, and what it answered to every message that took its time."""
    canvas, y = panel.canvas, panel.lanes.controller
    theme, sizes = canvas.theme, canvas.sizes
    canvas.margin(y, "controller", size=sizes.text, bold=True)
    tiled = tells_epochs(panel.rows)
    if tiled:
        controller_lane.draw_epochs(panel, y - 6, y + TALK - 2)
    canvas.line(0, y, panel.rows.meta.end, y, theme.line, width=1)
    for message in _answers(panel.rows, panel.partition):
        _answer(panel, message)
    if tiled:
        controller_lane.say_epochs(panel, y + TALK / 2)


def answer_rows(canvas: Canvas, rows: Rows, partition: str) -> int:
    """How many rows above the controller's line the answers of this run need."""
    ends: list[float] = []
    for message in _answers(rows, partition):
        left = canvas.px(message.x_arrived or 0)
        wide = width_of(_texts(message)[0], canvas.sizes.text, bold=True) + 10
        # What does not fit at the right end stands left of its moment.
        left = left if left + wide <= canvas.width else left - wide
        row = next((n for n, end in enumerate(ends) if end <= left), len(ends))
        ends[row : row + 1] = [left + wide]
    return max(len(ends) - 1, 0)


def _answers(rows: Rows, partition: str) -> list[MessageRow]:
    sent = (m for m in drawn_messages(rows, partition) if m.receiver.startswith("controller"))
    answered = (m for m in sent if m.fate in ("refused", "delivered"))
    return sorted(answered, key=lambda m: m.x_arrived or 0)


def _texts(message: MessageRow) -> tuple[str, ...]:
    if message.fate != "refused":
        return ("✓ accepted", "✓")
    return (f"{icons.SHIELD_ROOM if message.guard else '⊘'} {message.error}",)


def _answer(panel: Panel, message: MessageRow) -> None:
    """On a plate beside the moment, else above the line; a refusal never without its error."""
    canvas, size, x = panel.canvas, panel.canvas.sizes.text, message.x_arrived or 0
    refused = message.fate == "refused"
    color = canvas.theme.refused if refused else canvas.theme.message
    heights = (panel.lanes.controller, *reversed(panel.lanes.tick_rows))
    sides = (("left", 4), ("right", -4))
    places = list(product(_texts(message), heights, sides))
    for place in places:
        text, y, (anchor, shift) = place
        at = canvas.beside(x, shift)
        box = canvas.box_of(at, y, text, size, anchor, bold=True)
        fits = canvas.is_free(box) and box.x0 >= canvas.px(0)
        if fits or (refused and place == places[-1]):
            middle = (box.y0 + box.y1) / 2
            plate = box._replace(y0=middle - 7, y1=middle + 7)
            canvas.plate(plate, canvas.theme.paper, 2)
            label = safe(text)
            canvas.text(at, middle, label, color, size=size, anchor=anchor, bold=True, since=x)
            if message.guard:
                icons.shield_in(canvas, box, color, size, from_moment("shield", x))
            canvas.card(x, y, hover_cards.folded(hover_cards.card_of(message)))
            return


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
