"""What the receiver said: a box for a refusal, a line for an acceptance."""

from collections.abc import Iterable, Iterator, Sequence
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
_BANDS, _SHAFTS = 35.0, 18.0
"""What it costs to stand on bands and tiles, and on the shafts of arrows."""
_WHOLE, _COMPARED, _ANY = 110.0, 260.0, 9999.0
"""What all lines may cost, and the first two; the error's name is said at any cost."""


STEP = 5
"""Pixels from one row that is tried to the next."""
GAP, BELOW = 10, 6
"""How far a box likes to stand beside its point, and how far below it its upper edge."""
LEFT, ACROSS = 14.0, 22.0
"""What it costs to stand left of the point, or above or below it, in pixels of distance."""
SIDEWAYS = 1.6
"""How much worse a pixel to the side is than one up or down: there are the other moments."""


class Place(NamedTuple):
    """A box, and how far from the best place that it could have."""

    cost: float
    box: Box


class Wanted(NamedTuple):
    """A box `wide` and `high` in pixels that belongs to the point (px, y) and stays in `room`."""

    px: float
    y: float
    wide: float
    high: float
    room: Box


def nearest(wanted: Wanted, obstacles: Sequence[Box], limit: float) -> Place | None:
    """The cheapest place that covers no obstacle and costs less than `limit`; None if there is
    none. Rows further away than the best place found are not looked at.
    """
    best: Place | None = None
    for top in _rows(wanted):
        away = abs(top - wanted.y - BELOW)
        if away >= limit:
            break
        bottom = top + wanted.high
        here = [o for o in obstacles if o.y0 < bottom and top < o.y1]
        for left in _lefts(wanted, here):
            cost = away + _aside(wanted, left, top)
            if cost < limit:
                best, limit = Place(cost, Box(left, top, left + wanted.wide, bottom)), cost
    return best


def _rows(wanted: Wanted) -> Iterator[float]:
    """Upper edges, the preferred one first, then in turn below and above it."""
    first, last = wanted.room.y0, wanted.room.y1 - wanted.high
    start = wanted.y + BELOW
    tops = [start, first, last, *(start + n * STEP for n in range(-120, 121))]
    yield from sorted((t for t in tops if first <= t <= last), key=lambda t: abs(t - start))


def _lefts(wanted: Wanted, here: Iterable[Box]) -> Iterator[float]:
    """In every free stretch of a row, its places nearest to the right and to the left."""
    start, stop = wanted.room.x0, wanted.room.x1 - wanted.wide
    beside = (wanted.px + GAP, wanted.px - GAP - wanted.wide)
    for a, b in sorted((o.x0 - wanted.wide, o.x1) for o in here):
        if a >= start:
            yield from (min(max(left, start), min(a, stop)) for left in beside if start <= stop)
        start = max(start, b)
    if start <= stop:
        yield from (min(max(left, start), stop) for left in beside)


def _aside(wanted: Wanted, left: float, top: float) -> float:
    """The cost of not standing just right of the point."""
    right = left + wanted.wide
    if left >= wanted.px + GAP:
        return SIDEWAYS * (left - wanted.px - GAP)
    if right <= wanted.px - GAP:
        return LEFT + SIDEWAYS * (wanted.px - GAP - right)
    touches = top <= wanted.y <= top + wanted.high
    return 4 * ACROSS if touches else ACROSS


class Refusal(NamedTuple):
    """A refused message, where its arrow's head is (a moment, a pixel), and what there is to say
    of it: all `callout_lines`.
    """

    message: MessageRow
    x: float
    y: float
    lines: Sequence[str]


class Callout(NamedTuple):
    """Words that found a place."""

    text: str
    place: Place


class Ground(NamedTuple):
    """What boxes are set on: `layers` are what must be left free, and what it costs to leave no
    more than that free.
    """

    canvas: Canvas
    room: Box
    layers: tuple[tuple[float, list[Box]], ...]


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
    canvas: Canvas, refusals: Sequence[Refusal], room: Box, kept: Sequence[Box]
) -> None:
    """A box in `room` for every refusal: with its error's name always, with what was compared and
    the rule if they find room near the arrow's head. Words and what is `kept` are never covered.
    """
    ground = _ground(canvas, room, kept)
    placed = _all_whole(ground, refusals)
    if placed is None:
        placed = _names(ground, refusals)
        for n, refusal in enumerate(refusals):
            others = [c.place.box for m, c in enumerate(placed) if m != n]
            placed[n] = _longest(ground, refusal, others) or placed[n]
    for refusal, callout in zip(refusals, placed, strict=True):
        _lead(canvas, refusal, callout.place.box)
    for refusal, callout in zip(refusals, placed, strict=True):
        _box(canvas, refusal, callout)


def _ground(canvas: Canvas, room: Box, kept: Sequence[Box]) -> Ground:
    words, taken, arrows = (
        [box for box in boxes if box.overlaps(room)]
        for boxes in ([*canvas.said, *kept], [*canvas.taken, *kept], canvas.soft)
    )
    layers = (
        (0.0, taken + arrows),
        (_BANDS, words + arrows),
        (_SHAFTS, taken),
        (_BANDS + _SHAFTS, words),
    )
    return Ground(canvas, room, layers)


def _all_whole(ground: Ground, refusals: Sequence[Refusal]) -> list[Callout] | None:
    """All lines of all, if there is room for that."""
    placed: list[Callout] = []
    for refusal in refusals:
        found = _whole(ground, refusal, [c.place.box for c in placed])
        if found is None:
            return None
        placed.append(found)
    return placed


def _names(ground: Ground, refusals: Sequence[Refusal]) -> list[Callout]:
    """The error's names alone. In a panel without any room one covers what is there."""
    placed: list[Callout] = []
    for refusal in refusals:
        text = _markup(refusal.lines[:1])
        found = _place(ground, refusal, text, [c.place.box for c in placed], _ANY)
        placed.append(Callout(text, found or _at_the_head(ground, refusal, text)))
    return placed


def _longest(ground: Ground, refusal: Refusal, others: list[Box]) -> Callout | None:
    """More than the name, where there is room for it beside the other callouts."""
    lines = refusal.lines[:2]
    return _whole(ground, refusal, others) or _cheapest(
        ground, refusal, (lines, _narrow(lines)), others, _COMPARED
    )


def _whole(ground: Ground, refusal: Refusal, others: list[Box]) -> Callout | None:
    lines = refusal.lines
    return _cheapest(ground, refusal, (lines, _narrow(lines)), others, _WHOLE)


def _narrow(lines: Sequence[str]) -> list[str]:
    """What was compared on two lines: ``broker 2: request 41,``; ``registered 57``."""
    return [part for line in lines for part in line.replace(", ", ",\n").split("\n")]


def _cheapest(
    ground: Ground,
    refusal: Refusal,
    versions: Sequence[Sequence[str]],
    others: list[Box],
    limit: float,
) -> Callout | None:
    """The version that stands best; a later one only if that is cheaper."""
    best: Callout | None = None
    for text in dict.fromkeys(map(_markup, versions)):
        found = _place(ground, refusal, text, others, best.place.cost if best else limit)
        best = Callout(text, found) if found else best
    return best


def _place(
    ground: Ground, refusal: Refusal, text: str, others: list[Box], limit: float
) -> Place | None:
    """The best place below `limit`, of those that cover nothing or as little as possible."""
    wanted, best = _wanted(ground, refusal, text), None
    apart = [Box(b.x0 - _PAD, b.y0 - _PAD, b.x1 + _PAD, b.y1 + _PAD) for b in others]
    for extra, obstacles in ground.layers:
        found = nearest(wanted, obstacles + apart, limit - extra)
        if found is not None:
            limit = found.cost + extra
            best = Place(limit, found.box)
    return best


def _wanted(ground: Ground, refusal: Refusal, text: str) -> Wanted:
    size = ground.canvas.sizes.small
    wide, high = width_of(text, size) + 2 * _PAD, height_of(text, size) + 2 * _PAD
    return Wanted(ground.canvas.px(refusal.x), refusal.y, wide, high, ground.room)


def _at_the_head(ground: Ground, refusal: Refusal, text: str) -> Place:
    wanted, room = _wanted(ground, refusal, text), ground.room
    left = max(min(wanted.px, room.x1 - wanted.wide), room.x0)
    top = max(min(wanted.y, room.y1 - wanted.high), room.y0)
    return Place(0.0, Box(left, top, left + wanted.wide, top + wanted.high))


def _markup(lines: Sequence[str]) -> str:
    """The error bold, the rule slanted."""
    first, *rest = (safe(line) for line in lines)
    rest = [f"<i>{line}</i>" if " · " in line else line for line in rest]
    return "<br>".join([f"<b>{first}</b>", *rest])


# --- drawing ------------------------------------------------------------------------------------


def _lead(canvas: Canvas, refusal: Refusal, box: Box) -> None:
    """A line from the arrow's head to its box, if that stands further away."""
    px, y = canvas.px(refusal.x), refusal.y
    to = min(max(px, box.x0), box.x1), min(max(y, box.y0), box.y1)
    if abs(to[0] - px) + abs(to[1] - y) > NEAR:
        canvas.line(refusal.x, y, canvas.at(to[0]), to[1], canvas.theme.refused, width=1)
        canvas.shapes[-1]["name"] = from_moment("lead", refusal.x)


def _box(canvas: Canvas, refusal: Refusal, callout: Callout) -> None:
    theme, text, box, x = canvas.theme, callout.text, callout.place.box, refusal.x
    canvas.rect(
        canvas.at(box.x0),
        canvas.at(box.x1),
        box.y0,
        box.y1,
        theme.box,
        line={"color": theme.refused, "width": 1.2},
        name=from_moment("callout", x),
    )
    size = canvas.sizes.small
    at = canvas.at(box.x0 + _PAD)
    y = (box.y0 + box.y1) / 2
    written = canvas.text(at, y, text, theme.refused, size=size, since=x)
    if refusal.message.guard:
        shield_in(canvas, written, theme.refused, size, from_moment("shield", x))
    canvas.take(box)


def draw_outcome(canvas: Canvas, message: MessageRow, x: float, y: float) -> None:
    """``✓ accepted`` beside the arrow's head, with the ISR below it or behind it.

    It was accepted in one moment: words that would reach far over the next ones are not said, for
    the strips say them. ``✓`` alone is said where there is room for no more.
    """
    size, color = canvas.sizes.small, canvas.theme.message
    most = max(canvas.unit * OUTCOME_SHARE, width_of("✓ accepted", size))
    for text in _outcomes(message):
        high = height_of(text, size)
        for shift, anchor in ((9, "left"), (-9, "right")):
            at, middle = canvas.at(canvas.px(x) + shift), y + 9 + high / 2
            box = canvas.box_of(at, middle, text, size, anchor)
            short = box.x1 - box.x0 <= most and box.x1 <= canvas.px(canvas.end) + 4
            if short and canvas.is_free(box):
                canvas.text(at, middle, text, color, size=size, anchor=anchor, since=x)
                return


def _outcomes(message: MessageRow) -> tuple[str, ...]:
    """Safe words, from long to short."""
    whole = safe(f"✓ {message.outcome}".split(", partition")[0])
    return whole, whole.replace(": ", "<br>"), "✓ accepted", "✓"
