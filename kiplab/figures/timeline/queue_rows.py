"""The controller's queues: a row for each broker for which requests wait while time passes.

One sign stands for each request: a hollow diamond if it is for an earlier life of its broker.
"""

from ...rows.columns import QUEUE_FOR, SpanRow
from ..drawing.canvas import Box, safe
from ..drawing.text_width import first_fit, width_of
from .arrow_strokes import draw_tail
from .hover_cards import folded
from .mask import Lasting
from .panel import Panel

SIGNS_MAX, SIGN = 8, 12
"""How many signs stand side by side, and the pixels of each."""


def draw_queues(panel: Panel) -> None:
    """The rows, with the name of their broker."""
    canvas, size = panel.canvas, panel.canvas.sizes.small
    at = canvas.at(canvas.sizes.left - 12)
    for lane, (top, bottom) in panel.lanes.queues.items():
        y, name = (top + bottom) / 2, f"queue for {lane.removeprefix('broker ')}"
        canvas.text(at, y, name, canvas.theme.muted, size=size, anchor="right")
        for span in panel.spans("controller", f"{QUEUE_FOR}{lane}"):
            _draw(panel, span, top, bottom)
    for mark in panel.marks("queue dropped"):
        _say_dropped(panel, mark.x, mark.text)


def _draw(panel: Panel, span: SpanRow, top: float, bottom: float) -> None:
    canvas, theme, y = panel.canvas, panel.canvas.theme, (top + bottom) / 2
    color = theme.message
    canvas.rect(span.x0, span.x1, top, bottom, theme.tile)
    canvas.line(span.x0, top, span.x0, bottom, theme.tile_edge, width=1.5)
    room = (span.x1 - span.x0) * canvas.unit - 6
    count, earlier = int(span.value), "earlier" in span.flags
    size, left = canvas.sizes.small, canvas.px(span.x0) + 8
    signs = min(count, SIGNS_MAX)
    meant = " and ".join(f.removeprefix("for ") for f in span.flags if f.startswith("for "))
    texts = (f"{count} for czxid {meant}", f"{count} for {meant}", f"{count}")
    tried = [(signs, texts[1]), (1, texts[1]), (1, texts[2])]
    wide = ((n, n * SIGN + 6 + width_of(said, size)) for n, said in tried)
    signs = next((n for n, needs in wide if needs <= room), 0)
    for place in range(signs):
        draw_tail(canvas, canvas.at(left + place * SIGN), y, color, earlier)
    start = left + max(signs - 1, 0) * SIGN + (9 if signs else -4)
    text = first_fit(texts, canvas.px(span.x1) - start, size)
    if text:
        known = Lasting(span.x0)
        canvas.text(canvas.at(start), y, safe(text), theme.text, size=size, lasting=known)
    canvas.take(Box(canvas.px(span.x0), top, canvas.px(span.x1), bottom))
    for x in range(span.x0, span.x1):
        since = f"from {panel.rows.meta.number(span.x0)} to {panel.rows.meta.number(span.x1)}"
        canvas.card(x + 0.5, y, folded([f"the controller's {span.track}", span.text, since]))


def _say_dropped(panel: Panel, x: int, said: str) -> None:
    """Where a queue ends because its connection was closed."""
    canvas, size = panel.canvas, panel.canvas.sizes.small
    lane = f"broker {said.partition('for broker ')[2].partition(' ')[0]}"
    if lane not in panel.lanes.queues:
        return
    top, bottom = panel.lanes.queues[lane]
    y, left = (top + bottom) / 2, canvas.px(x) + 5
    for text in (f"✕ {said.partition(' ')[0]} dropped", "✕"):
        box = canvas.box_of(canvas.at(left), y, text, size)
        if canvas.is_free(box):
            canvas.text(canvas.at(left), y, text, canvas.theme.muted, size=size, lasting=Lasting(x))
            return
