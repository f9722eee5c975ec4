"""ZooKeeper's lane: its transactions as ticks, watches that go off at once as short arrows, and
what the controller makes of them above its own line.
"""

from collections.abc import Iterator

from ...rows.columns import ZOOKEEPER_LANE, MarkKind, MarkRow, MessageRow, SpanRow
from ..drawing.canvas import Box, safe
from ..drawing.text_width import width_of
from . import icons
from .controller_lane import draw_ticks
from .hover_cards import card_of, folded
from .lanes import Panel

WORDS_ABOVE = 17
"""Pixels from the controller's line up to the middle of the words above it."""
COMPARED: tuple[MarkKind, ...] = ("bounced", "unchanged", "compared")
"""In order of importance: the first finds room first."""
_BRACKET_ABOVE, _GAP = 12, 8


def draw_zookeeper(panel: Panel) -> None:
    """The line and its ticks."""
    y = panel.lanes.zookeeper
    if y is None:
        return
    canvas, theme = panel.canvas, panel.canvas.theme
    canvas.margin(y, ZOOKEEPER_LANE, bold=True)
    end = panel.rows.meta.end
    canvas.line(0, y, end, y, theme.line, width=1.5)
    canvas.take(Box(canvas.px(0), y - 1, canvas.px(end), y + 1))
    draw_ticks(panel, y)
    _cards(panel, y)


def draw_watches(panel: Panel) -> None:
    """Those that the controller was told of at once; late ones are messages like any other."""
    canvas, theme, y = panel.canvas, panel.canvas.theme, panel.lanes.zookeeper
    if y is None:
        return
    for message in _watches(panel):
        x, low = message.x_sent, panel.lanes.controller - 3
        canvas.line(x, y + 7, x, low, theme.message, width=1.2)
        canvas.head(x, y, x, low, theme.message, size=8)
        canvas.take(Box(canvas.px(x) - 5, y, canvas.px(x) + 5, low))
        canvas.card(x, (y + low) / 2, folded(card_of(message, panel.rows.meta.number)))


def say_compared(panel: Panel) -> None:
    """What a controller found when it compared the brokers; a bracket over a bounce."""
    if panel.lanes.zookeeper is None:
        return
    for kind in COMPARED:
        for mark in panel.marks(kind):
            _say(panel, mark)


def _watches(panel: Panel) -> Iterator[MessageRow]:
    """One per moment, of those that the controller was told of at once."""
    seen: set[int] = set()
    for m in panel.rows.messages:
        at_once = m.sender == ZOOKEEPER_LANE and m.x_sent == m.x_arrived and m.fate == "delivered"
        host = m.receiver.removeprefix("controller on ")
        if at_once and m.x_sent not in seen and panel.is_controller(host, m.x_sent):
            seen.add(m.x_sent)
            yield m


def _say(panel: Panel, mark: MarkRow) -> None:
    canvas, size = panel.canvas, panel.canvas.sizes.small
    y, px = panel.lanes.controller - WORDS_ABOVE, canvas.px(mark.x)
    bounced = mark.kind == "bounced"
    color = canvas.theme.muted if mark.kind == "compared" else canvas.theme.text
    for text in _texts(mark):
        wide = width_of(text, size, bold=bounced)
        for left in (px + _GAP, px - _GAP - wide):
            box = Box(left, y - size * 0.7, left + wide, y + size * 0.7)
            if left >= canvas.px(0) and canvas.is_free(box):
                at = canvas.at(left)
                canvas.text(at, y, safe(text), color, size=size, bold=bounced, since=mark.x)
                if bounced:
                    ends = canvas.at(left - 3), canvas.at(left + wide + 3)
                    icons.bracket(canvas, *ends, y - _BRACKET_ABOVE, canvas.theme.text)
                canvas.card(canvas.at(left + wide / 2), y, folded(["the controller", mark.text]))
                return


def _texts(mark: MarkRow) -> tuple[str, ...]:
    """From long to short."""
    if mark.kind == "bounced":
        short = mark.text.partition(":")[0]
        return f"{mark.text}: failure, then start-up", mark.text, short, "bounced"
    if mark.kind == "unchanged":
        return "○ nothing changed", "○ no change", "○"
    return (mark.text,)


def _cards(panel: Panel, y: float) -> None:
    by_moment: dict[int, list[str]] = {}
    for tick in panel.rows.ticks:
        by_moment.setdefault(tick.x, []).append(f"zxid {tick.offset}: {tick.text}")
    for x, written in by_moment.items():
        panel.canvas.card(x, y, folded(["transactions of ZooKeeper", *written]))
    for lane in panel.lanes.brokers:
        for span in panel.spans(ZOOKEEPER_LANE, lane):
            _session(panel, span)


def _session(panel: Panel, span: SpanRow) -> None:
    if panel.lanes.zookeeper is not None and span.x0 > 0:
        panel.canvas.card(span.x0 + 0.5, panel.lanes.zookeeper, folded([span.text]))
