"""What the receiver said: a box for a refusal, a line for an acceptance."""

from __future__ import annotations

from collections.abc import Iterable

from .canvas import Box, Canvas, safe
from .columns import MessageRow
from .measure import height_of, width_of

_PAD = 5


def callout_lines(message: MessageRow) -> list[str]:
    """``⊘ INELIGIBLE_REPLICA``; ``broker 2: request 41, registered 57``; ``KIP-903 · ...``."""
    rule = ""
    if message.guard:
        subject = message.clause.split(":")[0]
        rule = f"{subject} · {message.guard.partition('.')[2].replace('-', ' ')}"
    return [line for line in (f"⊘ {message.error}", *message.compared[:1], rule) if line]


def draw_callout(canvas: Canvas, message: MessageRow, x: float, y: float) -> None:
    """The box beside the arrow's head: all lines, or the error alone, or just the sign."""
    lines = callout_lines(message)
    tries = (
        (text, soft) for text in (_markup(lines), _markup(lines[:1])) for soft in (False, True)
    )
    for text, soft in tries:
        for box in _places(canvas, text, x, y):
            within = box.x1 <= canvas.px(canvas.end) + 2
            if within and canvas.is_free(box, ignoring_soft=soft):
                _box(canvas, text, box)
                return
    canvas.text(x, y, "⊘", canvas.theme.refused, anchor="center", bold=True, size=14)


def _markup(lines: list[str]) -> str:
    first, *rest = (safe(line) for line in lines)
    last = [f"<i>{rest.pop()}</i>"] if len(rest) > 1 else []
    return "<br>".join([f"<b>{first}</b>", *rest, *last])


def _places(canvas: Canvas, text: str, x: float, y: float) -> Iterable[Box]:
    size = canvas.sizes.small
    wide = width_of(text, size) + 2 * _PAD
    high = height_of(text, size) + 2 * _PAD
    px = canvas.px(x)
    for top in (y + 6, y - high / 2, y + 14, y - high - 6):
        for left in (px + 10, px - wide - 10, px + 40):
            yield Box(left, top, left + wide, top + high)


def _box(canvas: Canvas, text: str, box: Box) -> None:
    theme = canvas.theme
    canvas.rect(
        canvas.at(box.x0),
        canvas.at(box.x1),
        box.y0,
        box.y1,
        theme.box,
        line={"color": theme.refused, "width": 1.2},
        name="callout",
    )
    size = canvas.sizes.small
    at = canvas.at(box.x0 + _PAD)
    canvas.text(at, (box.y0 + box.y1) / 2, text, theme.refused, size=size)
    canvas.take(box)


def draw_outcome(canvas: Canvas, message: MessageRow, x: float, y: float) -> None:
    """``✓ accepted: ISR {1, 2}, partition epoch 11`` beside the arrow's head."""
    size = canvas.sizes.small
    full = f"✓ {message.outcome}"
    for text in (full, full.split(", partition")[0], "✓ accepted"):
        for shift, anchor in ((9, "left"), (-9, "right")):
            at = canvas.at(canvas.px(x) + shift)
            box = canvas.box_of(at, y + 16, text, size, anchor)
            if canvas.is_free(box) and box.x1 <= canvas.px(canvas.end) + 4:
                canvas.text(at, y + 16, safe(text), canvas.theme.message, size=size, anchor=anchor)
                return
