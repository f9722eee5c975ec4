"""Where a box finds room near a point: row by row, at the least cost."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..drawing.canvas import Box

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
