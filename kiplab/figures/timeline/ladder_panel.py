"""One panel of a ladder: strips, the controller's answers, bands, records, the verdict in words."""

from typing import NamedTuple

from msgspec.structs import replace

from ...rows.columns import MessageRow, Meta, Rows, tells_epochs
from ...rows.message_paths import told_messages
from ..drawing.canvas import Box, Canvas, safe
from ..drawing.text_width import LINE_HEIGHT, first_fit, shortened, width_of
from . import broker_lanes, controller_lane, hover_cards, icons, lane_marks, strips
from .lanes import Panel, lanes
from .mask import from_moment
from .places import told_marks
from .sheet import MARGIN, draw_folds

HEAD = 36
"""Pixels from a panel's top to its strips: title, then verdict."""
TALK, TILED = 14, 6


class Said(NamedTuple):
    """What a panel says of itself: `note` stands beside its verdict, `differs` is the x to mark as
    the first at which it is not like the first panel, and `answered` is how many rows there are
    above the controller's line for answers that find no room on it.
    """

    title: str
    note: str = ""
    differs: int | None = None
    answered: int = 0


def draw_rung(
    canvas: Canvas, rows: Rows, partition: str, top: float, said: Said, run: int = 0
) -> Panel:
    """The panel whose title begins at `top`; `run` counts the runs of the picture."""
    begin = top + HEAD - 2 * canvas.sizes.title
    talk, brokers = TALK + TILED * tells_epochs(rows), rows.meta.brokers
    planned = lanes(begin, brokers, canvas.sizes, tick_rows=said.answered, talk=talk)
    panel = Panel(canvas, rows, partition, planned, (), run)
    draw_head(panel, top, said.title, said.note)
    strips.draw_grid(panel)
    draw_folds(panel)
    if said.differs is not None:
        _mark(panel, said.differs)
    strips.draw_strips(panel)
    broker_lanes.draw_brokers(panel)
    lane_marks.draw_glyphs(panel)
    strips.draw_records(panel)
    _draw_answers(panel)
    lane_marks.draw_remarks(panel)
    # Without messages: cards and marks of arrows would float where no arrow is.
    unsent = panel._replace(rows=replace(rows, messages=(), clients=()))
    hover_cards.draw_cards(unsent)
    canvas.marks += told_marks(unsent)
    return panel


def note(differs: int | None) -> str:
    """What a panel says of itself beside the first one."""
    if differs is None:
        return "no difference from the first panel"
    return f"◆ first differs at {differs}"


def _mark(panel: Panel, x: int) -> None:
    """A dotted line behind everything, and ◆ at its head."""
    canvas, lanes = panel.canvas, panel.lanes
    top = lanes.top - 9
    canvas.line(x, top + 6, x, lanes.bottom + 4, canvas.theme.dot, width=1.5, dash="dot")
    canvas.text(x, top, "◆", anchor="center", size=canvas.sizes.text)


def draw_head(panel: Panel, top: float, title: str, note: str) -> None:
    """Title; verdict below it; at its right the note, or as much of it as there is room for."""
    canvas, meta = panel.canvas, panel.rows.meta
    theme, size = canvas.theme, canvas.sizes.title
    left, line = canvas.at(MARGIN), size * LINE_HEIGHT
    canvas.text(left, top + line / 2, safe(title), size=size, bold=True)
    color, y = strips.verdict_color(canvas, meta.verdict), top + line * 1.45
    small = canvas.sizes.text + 1
    said = _verdict(canvas, meta, small)
    canvas.text(left, y, said, color, size=small, bold=True, layer="verdict")
    room = canvas.width - 2 * MARGIN - width_of(said, small, bold=True) - 20
    short = first_fit((note, "no difference"), room, canvas.sizes.small)
    if short and note:
        right = canvas.at(canvas.width - MARGIN)
        canvas.text(right, y, safe(short), theme.muted, size=canvas.sizes.small, anchor="right")


def _verdict(canvas: Canvas, meta: Meta, size: float) -> str:
    """All of it, or what there is room for: that nothing is lost yet is said last."""
    glyph, room = strips.VERDICT_GLYPHS[meta.verdict], canvas.width - 2 * MARGIN
    texts = (meta.sentence, *strips.harms(meta.sentence))
    tried = [f"{glyph} {safe(text)}" for text in texts]
    fits = (text for text in tried if width_of(text, size, bold=True) <= room)
    return next(fits, None) or shortened(tried[-1], room / 1.06, size)


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
    """What the controller answered, in order of arrival."""
    found = (
        m
        for m in told_messages(rows, partition)
        if m.receiver.startswith("controller") and m.fate in ("refused", "delivered")
    )
    return sorted(found, key=lambda m: m.x_arrived or 0)


def _texts(message: MessageRow) -> tuple[str, ...]:
    if message.fate != "refused":
        return ("✓ accepted", "✓")
    return (f"{icons.SHIELD_ROOM if message.guard else '⊘'} {message.error}",)


def _answer(panel: Panel, message: MessageRow) -> None:
    """On a plate over the line, right of the moment or left of it, else above the line; a refusal
    never without its error.
    """
    canvas, size, x = panel.canvas, panel.canvas.sizes.text, message.x_arrived or 0
    refused = message.fate == "refused"
    color = canvas.theme.refused if refused else canvas.theme.message
    heights = (panel.lanes.controller, *reversed(panel.lanes.tick_rows))
    places = [
        (text, y, anchor, shift)
        for text in _texts(message)
        for y in heights
        for anchor, shift in (("left", 4), ("right", -4))
    ]
    for place in places:
        text, y, anchor, shift = place
        at = canvas.at(canvas.px(x) + shift)
        box = canvas.box_of(at, y, text, size, anchor, bold=True)
        fits = canvas.is_free(box) and box.x0 >= canvas.px(0)
        if fits or (refused and place == places[-1]):
            _say(canvas, box, at, text, color, anchor, x)
            if message.guard:
                icons.shield_in(canvas, box, color, size, from_moment("shield", x))
            canvas.card(x, y, hover_cards.folded(hover_cards.card_of(message)))
            return


def _say(
    canvas: Canvas, box: Box, x: float, text: str, color: str, anchor: str, since: float
) -> None:
    left, right = canvas.at(box.x0 - 2), canvas.at(box.x1 + 2)
    y = (box.y0 + box.y1) / 2
    canvas.rect(left, right, y - 7, y + 7, canvas.theme.paper)
    size = canvas.sizes.text
    canvas.text(x, y, safe(text), color, size=size, anchor=anchor, bold=True, since=since)
