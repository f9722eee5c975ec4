"""The receiver's answer: a box for a refusal, a line for an acceptance."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from ...rows.columns import MessageRow
from ..drawing.canvas import Box, Canvas, safe
from ..drawing.text_width import height_of, width_of
from .icons import SHIELD_ROOM, shield_in
from .mask import from_moment

_PAD = 5
NEAR = 16
"""Pixels from the arrow's head from which a line leads to the box."""
OUTCOME_SHARE = 1.2
"""How many moments the words of an acceptance may be wide."""
_BANDS, _SHAFTS = 45.0, 90.0
"""What it costs to stand on bands and tiles, and on the shafts of arrows."""
_BROKEN = 25.0
"""What it costs to say less, in more lines."""
_PARTS = re.compile(r"[^ _]+[ _]?")
_WHOLE, _COMPARED, _ANY = 110.0, 320.0, 9999.0
"""What all lines may cost, and the first two; the error's name is said at any cost."""
STEP = 5
"""Pixels from one row that is tried to the next."""
GAP, BELOW = 10, 6
"""How far a box likes to stand beside its point, and how far below it its upper edge."""
LEFT, ACROSS = 14.0, 22.0
"""What it costs to stand left of the point, or above or below it, in pixels of distance."""
SIDEWAYS = 1.6
"""How much worse a pixel to the side is than one up or down: there are the other moments."""


class Flight(NamedTuple):
    """An arrow on the canvas: moments and pixels."""

    message: MessageRow
    x0: float
    y0: float
    x1: float
    y1: float

    def y(self, x: float) -> float:
        """Height of the arrow at `x`."""
        if self.x1 == self.x0:
            return self.y1
        return self.y0 + (self.y1 - self.y0) * (x - self.x0) / (self.x1 - self.x0)

    def ends(self, canvas: Canvas) -> tuple[float, float, float, float]:
        """The tail and the head in pixels."""
        return canvas.px(self.x0), self.y0, canvas.px(self.x1), self.y1

    def on(self, canvas: Canvas, share: float) -> tuple[float, float]:
        """Pixels of the point so far along the arrow."""
        left, right = canvas.px(self.x0), canvas.px(self.x1)
        return left + (right - left) * share, self.y0 + (self.y1 - self.y0) * share

    def shaft(self, canvas: Canvas) -> Iterator[Box]:
        """Small boxes on the arrow, so that words keep away from it."""
        left, y0, right, y1 = self.ends(canvas)
        steps = int(max(right - left, abs(y1 - y0)) / 10) + 1
        for n in range(steps + 1):
            px, y = self.on(canvas, n / steps)
            yield Box(px - 2, y - 2, px + 2, y + 2)


class Callout(NamedTuple):
    """A box with its words, and how far it is from the best place that it could have."""

    cost: float
    box: Box
    text: str


class Outline(NamedTuple):
    """A box `wide` and `high` in pixels for a text that belongs to the point (px, y)."""

    text: str
    px: float
    y: float
    wide: float
    high: float

    def aside(self, left: float, top: float) -> float:
        """The cost of not standing just right of the point."""
        right = left + self.wide
        if left >= self.px + GAP:
            return SIDEWAYS * (left - self.px - GAP)
        if right <= self.px - GAP:
            return LEFT + SIDEWAYS * (self.px - GAP - right)
        return 4 * ACROSS if top <= self.y <= top + self.high else ACROSS


class Ground(NamedTuple):
    """What boxes are set on, in `room`: `layers` are what to leave free, and the cost of less."""

    canvas: Canvas
    room: Box
    layers: tuple[tuple[float, list[Box]], ...]

    def outline(self, refusal: Flight, lines: Sequence[str]) -> Outline:
        """The box of some of a refusal's lines."""
        text, size = _markup(lines), self.canvas.sizes.small
        wide, high = width_of(text, size) + 2 * _PAD, height_of(text, size) + 2 * _PAD
        return Outline(text, self.canvas.px(refusal.x1), refusal.y1, wide, high)

    def nearest(self, outline: Outline, obstacles: Sequence[Box], limit: float) -> Callout | None:
        """The cheapest place that covers no obstacle and costs less than `limit`; None if there is
        none. Rows further away than the best place found are not tried.
        """
        best: Callout | None = None
        first, last, start = self.room.y0, self.room.y1 - outline.high, outline.y + BELOW
        tops = [start, first, last, *(start + n * STEP for n in range(-120, 121))]
        rows = (top for top in tops if first <= top <= last)
        for top in sorted(rows, key=lambda top: abs(top - start)):
            away = abs(top - outline.y - BELOW)
            if away >= limit:
                break
            bottom = top + outline.high
            here = [o for o in obstacles if o.y0 < bottom and top < o.y1]
            for left in self._lefts(outline, here):
                cost = away + outline.aside(left, top)
                if cost < limit:
                    box = Box(left, top, left + outline.wide, bottom)
                    best, limit = Callout(cost, box, outline.text), cost
        return best

    def _lefts(self, outline: Outline, here: Iterable[Box]) -> Iterator[float]:
        """In every free stretch of a row, its places nearest to the right and to the left."""
        start, stop = self.room.x0, self.room.x1 - outline.wide
        beside = (outline.px + GAP, outline.px - GAP - outline.wide)
        for a, b in sorted((o.x0 - outline.wide, o.x1) for o in here):
            if a >= start:
                yield from (min(max(left, start), min(a, stop)) for left in beside if start <= stop)
            start = max(start, b)
        if start <= stop:
            yield from (min(max(left, start), stop) for left in beside)

    def place(
        self, refusal: Flight, lines: Sequence[str], others: list[Box], limit: float
    ) -> Callout | None:
        """The best place below `limit`, of those that cover nothing or as little as possible; of
        lines, the same with what was compared on two, and what fits between two moments, the
        latter only if that is cheaper.
        """
        best: Callout | None = None
        apart = [Box(b.x0 - _PAD, b.y0 - _PAD, b.x1 + _PAD, b.y1 + _PAD) for b in others]
        own = {*refusal.shaft(self.canvas)}
        between = _between(lines, self.canvas.unit - 2 * (GAP + _PAD), self.canvas.sizes.small)
        versions = ((lines, 0.0), (_narrow(lines), 0.0), (between, _BROKEN))
        outlines = ((self.outline(refusal, each), cost) for each, cost in versions)
        for (outline, less), (layer, obstacles) in product(outlines, self.layers):
            extra = layer + less
            others_here = [box for box in obstacles if box not in own]
            callout = self.nearest(outline, others_here + apart, limit - extra)
            if callout is not None:
                limit = callout.cost + extra
                best = callout._replace(cost=limit)
        return best

    def at_the_head(self, refusal: Flight, lines: Sequence[str]) -> Callout:
        """In a panel without any room: it covers what is there."""
        outline, room = self.outline(refusal, lines), self.room
        left = max(min(outline.px, room.x1 - outline.wide), room.x0)
        top = max(min(outline.y, room.y1 - outline.high), room.y0)
        return Callout(0.0, Box(left, top, left + outline.wide, top + outline.high), outline.text)


def callout_lines(message: MessageRow) -> list[str]:
    """``⊘ NOT_ENOUGH_REPLICAS``, the sign being a shield if a guard refused it, for which there is
    room; ``broker 2: request 41, registered 57``; ``KIP-903 · ...``.
    """
    rule = ""
    if message.guard:
        subject = message.clause.split(":")[0]
        rule = f"{subject} · {message.guard.partition('.')[2].replace('-', ' ')}"
    sign = SHIELD_ROOM if message.guard else "⊘"
    return [line for line in (f"{sign} {message.error}", *message.compared[:1], rule) if line]


def needs(canvas: Canvas, message: MessageRow) -> float:
    """Pixels across that the box of a refusal and its arrow need, all lines being said."""
    text = _markup(_narrow(callout_lines(message)))
    return width_of(text, canvas.sizes.small) + 2 * _PAD + GAP


def draw_callouts(
    canvas: Canvas, refusals: Sequence[Flight], room: Box, kept: Sequence[Box]
) -> None:
    """A box in `room` for every refusal: with its error's name always, with what was compared and
    the rule if they find room near the arrow's head. Words and what is `kept` are never covered.
    """
    words, taken, arrows = (
        [box for box in boxes if box.overlaps(room)]
        for boxes in ([*canvas.words, *kept], [*canvas.taken, *kept], canvas.soft)
    )
    on_shafts = (_SHAFTS, taken), (_BANDS + _SHAFTS, words)
    ground = Ground(canvas, room, ((0.0, taken + arrows), (_BANDS, words + arrows), *on_shafts))
    placed: list[Callout] = []
    for refusal in refusals:
        lines = callout_lines(refusal.message)
        callout = ground.place(refusal, lines, [c.box for c in placed], _WHOLE)
        if callout is None:
            placed = _with_names(ground, refusals)
            break
        placed.append(callout)
    drawn = list(zip(refusals, placed, strict=True))
    for refusal, callout in drawn:
        _lead(canvas, refusal, callout.box)
    for refusal, callout in drawn:
        _box(canvas, refusal, callout)


def _with_names(ground: Ground, refusals: Sequence[Flight]) -> list[Callout]:
    """The names of all errors, and as many lines more as find room."""
    placed: list[Callout] = []
    lines = [callout_lines(refusal.message) for refusal in refusals]
    for refusal, (name, *_) in zip(refusals, lines, strict=True):
        callout = ground.place(refusal, [name], [c.box for c in placed], _ANY)
        placed.append(callout or ground.at_the_head(refusal, [name]))
    for n, refusal in enumerate(refusals):
        others = [c.box for m, c in enumerate(placed) if m != n]
        more = ground.place(refusal, lines[n], others, _WHOLE)
        placed[n] = more or ground.place(refusal, lines[n][:2], others, _COMPARED) or placed[n]
    return placed


def _narrow(lines: Sequence[str]) -> list[str]:
    """What was compared on two lines: ``broker 2: request 41,``; ``registered 57``."""
    return [line.replace(", ", ",\n") for line in lines]


def _between(lines: Sequence[str], room: float, size: float) -> list[str]:
    """The error and what was compared, broken at blanks and in the error's name, to stay narrow."""
    broken = []
    for line in lines[:2]:
        rows = [""]
        for part in _PARTS.findall(line):
            if len(rows[-1]) > len("⊘ ") and width_of(f"{rows[-1]}{part}", size) > room:
                rows.append("")
            rows[-1] += part
        broken.append("\n".join(row.rstrip(" ") for row in rows))
    return broken


def _markup(lines: Sequence[str]) -> str:
    first, *rest = (safe(line) for line in lines)
    rest = [f"<i>{line}</i>" if " · " in line else line for line in rest]
    return "<br>".join([f"<b>{first}</b>", *rest]).replace("\n", "<br>")


def _lead(canvas: Canvas, refusal: Flight, box: Box) -> None:
    """A line from the arrow's head to its box, if that stands further away."""
    px, y = canvas.px(refusal.x1), refusal.y1
    to = min(max(px, box.x0), box.x1), min(max(y, box.y0), box.y1)
    if abs(to[0] - px) + abs(to[1] - y) > NEAR:
        color, name = canvas.theme.refused, from_moment("lead", refusal.x1)
        canvas.line(refusal.x1, y, canvas.at(to[0]), to[1], color, name=name)


def _box(canvas: Canvas, refusal: Flight, callout: Callout) -> None:
    box, x, size, color = callout.box, refusal.x1, canvas.sizes.small, canvas.theme.refused
    edge = {"color": color, "width": 1.2}
    canvas.plate(box, canvas.theme.box, 0, line=edge, name=from_moment("callout", x))
    at, y = canvas.at(box.x0 + _PAD), (box.y0 + box.y1) / 2
    written = canvas.text(at, y, callout.text, color, size=size, since=x)
    if refusal.message.guard:
        shield_in(canvas, written, color, size, from_moment("shield", x))
    canvas.taken.append(box)


def draw_outcome(canvas: Canvas, message: MessageRow, x: float, y: float) -> None:
    """``✓ accepted`` beside the arrow's head, with the ISR below it or behind it.

    It was accepted in one moment: words that would reach far over the next ones are not said, for
    the strips say them. ``✓`` alone is said where there is room for no more.
    """
    size, color = canvas.sizes.small, canvas.theme.message
    most = max(canvas.unit * OUTCOME_SHARE, width_of("✓ accepted", size))
    whole = safe(f"✓ {message.outcome}".split(", partition")[0])
    for text in (whole, whole.replace(": ", "<br>"), "✓ accepted", "✓"):
        middle = y + 9 + height_of(text, size) / 2
        for shift, anchor in ((9, "left"), (-9, "right")):
            at = canvas.beside(x, shift)
            box = canvas.box_of(at, middle, text, size, anchor)
            short = box.x1 - box.x0 <= most and box.x1 <= canvas.px(canvas.end) + 4
            if short and canvas.is_free(box):
                canvas.text(at, middle, text, color, size=size, anchor=anchor, since=x)
                return
