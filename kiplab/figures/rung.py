"""One panel of a ladder: strips, the controller's answers, bands, records, the verdict in words."""

from __future__ import annotations

from msgspec.structs import replace

from . import bands, cards, remarks, strips
from .arrows import shown
from .canvas import Box, Canvas, safe
from .columns import MessageRow, Rows
from .lanes import lanes
from .measure import LINE_HEIGHT, first_fit, width_of
from .panel import Panel
from .sheet import MARGIN, draw_folds

HEAD = 36
"""Pixels from a panel's top to its strips: title, then verdict."""
TALK = 14


def draw_rung(
    canvas: Canvas,
    rows: Rows,
    partition: str,
    top: float,
    title: str,
    note: str = "",
    differs: int | None = None,
) -> Panel:
    """The panel whose title begins at `top`; `note` stands beside its verdict.

    `differs` is the x to mark as the first at which it is not like the first panel.
    """
    size = canvas.sizes.title
    planned = lanes(top + HEAD - 2 * size, rows.meta.brokers, canvas.sizes, tick_rows=0, talk=TALK)
    panel = Panel(canvas, rows, partition, planned, ())
    _draw_head(panel, top, title, note)
    strips.draw_grid(panel)
    draw_folds(panel)
    if differs is not None:
        _mark(panel, differs)
    strips.draw_strips(panel)
    bands.draw_brokers(panel)
    remarks.draw_glyphs(panel)
    strips.draw_records(panel)
    _draw_answers(panel)
    remarks.draw_remarks(panel)
    # Without messages: the cards of arrows would float where no arrow is.
    cards.draw_cards(panel._replace(rows=replace(rows, messages=())))
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


def _draw_head(panel: Panel, top: float, title: str, note: str) -> None:
    """Title; verdict below it; at its right the note, or as much of it as there is room for."""
    canvas, meta = panel.canvas, panel.rows.meta
    theme, size = canvas.theme, canvas.sizes.title
    colors = {"loss": theme.lost_text, "harm": theme.risk_text, "safe": theme.safe_text}
    left, line = canvas.at(MARGIN), size * LINE_HEIGHT
    canvas.text(left, top + line / 2, safe(title), size=size, bold=True)
    said = f"{strips.VERDICT_GLYPHS[meta.verdict]} {safe(meta.sentence)}"
    color, y = colors[meta.verdict], top + line * 1.45
    small = canvas.sizes.text + 1
    canvas.text(left, y, said, color, size=small, bold=True, layer="verdict")
    room = canvas.width - 2 * MARGIN - width_of(said, small, bold=True) - 20
    short = first_fit((note, "no difference"), room, canvas.sizes.small)
    if short and note:
        right = canvas.at(canvas.width - MARGIN)
        canvas.text(right, y, safe(short), theme.muted, size=canvas.sizes.small, anchor="right")


# --- the controller's answers -------------------------------------------------------------------


def _draw_answers(panel: Panel) -> None:
    """The controller's line, with ✓ or ⊘ where a message that took its time was answered."""
    canvas, y = panel.canvas, panel.lanes.controller
    theme, sizes = canvas.theme, canvas.sizes
    at = canvas.at(sizes.left - 12)
    canvas.text(at, y, "controller", anchor="right", size=sizes.text, bold=True)
    canvas.line(0, y, panel.rows.meta.end, y, theme.line, width=1)
    for message in shown(panel.rows):
        if message.receiver == "controller" and panel.is_shown(message.partition):
            _answer(panel, message, y)


def _answer(panel: Panel, message: MessageRow, y: float) -> None:
    """On a plate over the line, right of the moment or left of it; the error, or at least ⊘."""
    canvas, size = panel.canvas, panel.canvas.sizes.text
    if message.x_arrived is None or message.fate not in ("refused", "delivered"):
        return
    refused = message.fate == "refused"
    color = canvas.theme.refused if refused else canvas.theme.message
    texts = (f"⊘ {message.error}", "⊘") if refused else ("✓ accepted", "✓")
    for text in texts:
        for anchor, shift in (("left", 4), ("right", -4)):
            x = canvas.at(canvas.px(message.x_arrived) + shift)
            box = canvas.box_of(x, y, text, size, anchor, bold=True)
            if canvas.is_free(box) and box.x0 >= canvas.px(0):
                _say(canvas, box, x, text, color, anchor)
                canvas.card(message.x_arrived, y, cards.folded(cards.card_of(message)))
                return


def _say(canvas: Canvas, box: Box, x: float, text: str, color: str, anchor: str) -> None:
    left, right = canvas.at(box.x0 - 2), canvas.at(box.x1 + 2)
    y = (box.y0 + box.y1) / 2
    canvas.rect(left, right, y - 7, y + 7, canvas.theme.paper)
    canvas.text(x, y, safe(text), color, size=canvas.sizes.text, anchor=anchor, bold=True)
