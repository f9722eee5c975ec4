"""A process that shuts down or is gone: a sign and words on its broker's lane, a gap.

A tile has two lines for words: the upper one for the broker epoch and for what happens, the lower
one for the log.
"""

from itertools import product

from ...rows.columns import SpanRow
from ..drawing.canvas import Box
from ..drawing.text_width import first_fit, width_of, wrapped
from . import icons
from .lanes import THIN, Panel

GAPS = {"disk replaced": "⌀", "tail lost": "⌀"}
_PAD, _SIGN, _STEP = 8, 14, 12


def draw_shutting_down(panel: Panel, span: SpanRow) -> None:
    """The sign, and words; that the band is lower says the same."""
    canvas, size = panel.canvas, panel.canvas.sizes.small
    room = (span.x1 - span.x0) * canvas.unit - _PAD
    left = canvas.px(span.x0) + _PAD
    for text, y in product(("shutting down", "shuts down", ""), tile_lines(panel, span.lane)):
        wide = _SIGN + (width_of(text, size) if text else 0)
        box = Box(left, y - size * 0.6, left + wide, y + size * 0.6)
        if not text or (wide <= room and canvas.is_free(box)):
            icons.power(canvas, left + icons.SIGN, y, canvas.theme.muted)
            canvas.take(box)
            at = canvas.at(left + _SIGN)
            if text:
                canvas.text(at, y, text, canvas.theme.muted, size=size, since=span.x0)
            return


def draw_passed_over(panel: Panel, span: SpanRow) -> None:
    """A process that runs, and that the controller takes for one that shuts down."""
    canvas, size = panel.canvas, panel.canvas.sizes.small
    first, last = canvas.px(span.x0) + _PAD, canvas.px(span.x1)
    texts = ("never elected: taken for shutting down", "never elected", "")
    for text, y in product(texts, tile_lines(panel, span.lane)):
        wide = _SIGN + (width_of(text, size) if text else 0)
        for left in range(round(first), round(last - wide), _STEP):
            box = Box(left, y - size * 0.6, left + wide, y + size * 0.6)
            if canvas.is_free(Box(left - _PAD, box.y0, box.x1 + _PAD, box.y1)):
                icons.power(canvas, left + icons.SIGN, y, canvas.theme.gone)
                canvas.take(box)
                at = canvas.at(left + _SIGN)
                if text:
                    canvas.text(
                        at, y, text, canvas.theme.gone, size=size, since=int(canvas.at(left))
                    )
                return


def draw_registered(panel: Panel, span: SpanRow) -> None:
    """The edges of the tile go on while ZooKeeper counts a process in that is gone."""
    canvas = panel.canvas
    for y in panel.lanes.brokers[span.lane]:
        canvas.line(span.x0, y, span.x1, y, canvas.theme.tile_edge, dash="2px,3px")


def draw_down(panel: Panel, span: SpanRow) -> None:
    """A gap: the sign of records that are gone, and what is left in words if they fit."""
    canvas, size = panel.canvas, panel.canvas.sizes.small
    theme, y = canvas.theme, panel.lanes.band(span.lane)
    room, left = (span.x1 - span.x0) * canvas.unit - 18 - _PAD, canvas.px(span.x0) + 18
    sign = GAPS.get(span.value, "")
    full = f"{sign} {span.text}".strip()
    text = first_fit([full], room, size) or wrapped(full, room, size) or ""
    if text and text.count("<br>") < 3:
        canvas.text(canvas.at(left), y, text, theme.muted, size=size, since=span.x0)
    elif sign:
        # Beside the cross of the crash, or above it where the gap is narrow.
        roomy = room + 18 + _PAD >= 30
        at, height = (left + 3, y) if roomy else (canvas.px(span.x0) + 8, y - 13)
        color, size = theme.gone, canvas.sizes.text
        canvas.text(canvas.at(at), height, sign, color, size=size, anchor="center", bold=True)


def tile_lines(panel: Panel, lane: str) -> tuple[float, float]:
    """The middles of a tile's two lines of words."""
    return top_line(panel, lane), bottom_line(panel, lane)


def is_thin(panel: Panel, lane: str) -> bool:
    """Whether a lane has one line for words."""
    top, bottom = panel.lanes.brokers[lane]
    return bottom - top <= THIN


def top_line(panel: Panel, lane: str) -> float:
    """The middle of the words at a tile's upper edge; of all words on a thin one."""
    if is_thin(panel, lane):
        return panel.lanes.band(lane)
    return panel.lanes.brokers[lane][0] + panel.canvas.sizes.small * 0.75


def bottom_line(panel: Panel, lane: str) -> float:
    """The middle of the words at a tile's lower edge; of all words on a thin one."""
    if is_thin(panel, lane):
        return panel.lanes.band(lane)
    return panel.lanes.brokers[lane][1] - panel.canvas.sizes.small * 0.72
