"""Where the things of a picture are, in pixels: for whoever points at one, or lights it up.

A thing is named by its kind and its name: ``"broker 2"``, ``"controller"``, ``"partition
orders-0"`` (several names, where one row stands for several), ``"records orders-0"``, ``"message
alter-partition #1 from broker 1"``, ``"step 3"``. No two are called the same.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from ...rows.columns import FINDINGS, ZOOKEEPER_LANE, Rows
from ...rows.sentences import about
from .arrows import end_piece, flights
from .client_lanes import arrows_of
from .lanes import Panel
from .strips import places_of_others

HALF_A_LINE = 13
"""Pixels above the controller's line, and below it, that are its lane."""


def places_of(panel: Panel, sheet: Rows, axis: tuple[float, float]) -> dict[str, Any]:
    """What the panel was drawn from, as plain lists.

    ``lanes`` are (thing, top, bottom), over the whole width; ``arrows`` (thing, tail, head) as
    pixels from the left and the top; ``steps`` (the number of ``"step N"``, pixels from the left)
    of the axis, which lies between top and bottom of ``axis``; ``here`` is the place among them of
    the last that has happened.
    """
    canvas = panel.canvas
    return {
        "lanes": [[thing, round(top), round(bottom)] for thing, top, bottom in _lanes(panel)],
        "arrows": [
            [f"message {flight.message.name}", *map(round, flight.ends(canvas))]
            for flight in (*flights(panel), *map(end_piece, flights(panel, marked=True)))
        ],
        "steps": [[sheet.meta.own(x)[0], round(canvas.px(x))] for x in range(sheet.meta.end)],
        "here": panel.rows.meta.end - 1,
        "axis": [round(axis[0]), round(axis[1])],
    }


def _lanes(panel: Panel) -> Iterator[tuple[str, float, float]]:
    lanes = panel.lanes
    yield f"partition {panel.partition}", lanes.top, max(low for _, low in lanes.strips.values())
    if lanes.zookeeper is not None:
        yield ZOOKEEPER_LANE, lanes.zookeeper - HALF_A_LINE, lanes.zookeeper + HALF_A_LINE
    low = max(lanes.controller + HALF_A_LINE, lanes.foot)
    yield "controller", lanes.controller - HALF_A_LINE, low
    for broker, (top, bottom) in lanes.brokers.items():
        yield broker, top, bottom
    yield f"records {panel.partition}", *lanes.records
    for other, top, bottom in places_of_others(panel):
        yield f"partition {' '.join(other.partitions)}", top, bottom


HALF = 9
"""Pixels from a tick to the edges of what is lit around it."""
IdsByPlace = dict[tuple[str, int], dict[str, None]]
"""The ids of what happened on a lane, by the lane and x."""


def event_marks(panel: Panel) -> Iterator[list[Any]]:
    """(ids, left, top, right, bottom) in pixels of every mark that is about something that
    happened. An arrow goes from (left, top) to (right, bottom), and says so: True stands behind;
    "harm" does where the first property broke, "hidden" behind an arrow that is only drawn while
    its message is lit.
    """
    for marked in (False, True):
        for flight in flights(panel, marked=marked):
            ids = [*filter(None, (flight.message.began, *flight.message.ended))]
            yield [*_mark(panel, ids, *flight.ends(panel.canvas)), "hidden" if marked else True]
            if marked:
                px, low, _, high = end_piece(flight).ends(panel.canvas)
                yield _mark(panel, ids, px - HALF, min(low, high), px + HALF, max(low, high))
    for message, _, y0, y1 in arrows_of(panel):
        px = panel.canvas.px(message.x_sent)
        yield [*_mark(panel, message.ended, px, y0, px, y0 if y1 is None else y1), True]
    happened = _happened(panel)
    for track, (y0, y1) in panel.lanes.strips.items():
        for span in panel.spans("partition", track):
            causes = happened.get(("partition", span.x0))
            if causes:
                x0, x1 = panel.canvas.px(span.x0), panel.canvas.px(span.x1)
                yield _mark(panel, causes, x0, y0, x1, y1)
    yield from _lane_marks(panel, happened)
    yield from _others(panel)


def _mark(
    panel: Panel, ids: Iterable[str], x0: float, y0: float, x1: float, y1: float
) -> list[Any]:
    return [about(ids, panel.run), round(x0), round(y0), round(x1), round(y1)]


def _happened(panel: Panel) -> IdsByPlace:
    ids: IdsByPlace = {}
    for event in panel.rows.events:
        if panel.is_shown(event.partition) and event.kind != "sent":
            ids.setdefault((event.node, event.x), {})[event.id] = None
    for mark in panel.rows.marks:
        if panel.is_shown(mark.partition):
            ids.setdefault((mark.lane, mark.x), {})[mark.event] = None
    for tick in panel.rows.ticks:
        if tick.partition == panel.partition:
            ids.setdefault(("partition", tick.x), {}).update(dict.fromkeys(tick.events))
    return ids


def _lane_marks(panel: Panel, place: IdsByPlace) -> Iterator[list[Any]]:
    """The columns of brokers and records in which something happened; ticks."""
    canvas, lanes = panel.canvas, panel.lanes
    heights = {**lanes.brokers, "records": lanes.records}
    heights |= {name: ends for name, ends in lanes.strips.items() if name == FINDINGS}
    first = min((x for lane, x in place if lane == "records"), default=-1)
    for (lane, x), ids in place.items():
        px = canvas.px(x)
        if lane == ZOOKEEPER_LANE or lane.startswith("controller"):
            y = lanes.y(lane)
            if y is not None:
                yield _mark(panel, ids, px - HALF, y - HALF, px + HALF, y + HALF)
        elif lane in heights:
            mark = _mark(panel, ids, px, heights[lane][0], canvas.px(x + 1), heights[lane][1])
            yield [*mark, "harm"] if (lane, x) == ("records", first) else mark


def _others(panel: Panel) -> Iterator[list[Any]]:
    """Rows of other partitions: the columns in which something happened to one of theirs."""
    # (x, id, partition) of what happened, and of what was sent and took its time.
    rows, px = panel.rows, panel.canvas.px
    about = [(event.x, event.id, event.partition) for event in rows.events]
    sent = (m for m in rows.messages if m.is_telling and m.began)
    about += [(m.x_sent, m.began, m.partition) for m in sent]
    for other, y0, y1 in places_of_others(panel):
        columns: dict[int, dict[str, None]] = {}
        for x, id, partition in about:
            if partition in other.partitions:
                columns.setdefault(x, {})[id] = None
        for x, ids in columns.items():
            yield _mark(panel, ids, px(x), y0, px(x + 1), y1)
