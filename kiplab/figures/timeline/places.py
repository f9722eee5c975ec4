"""Where the things of a picture are, in pixels: for whoever points at one, or lights it up.

A thing is named by its kind and its name: ``"broker 2"``, ``"controller"``, ``"partition
orders-0"`` (several names, where one row stands for several), ``"records orders-0"``, ``"message
alter-partition #1 from broker 1"``, ``"step 3"``. No two are called the same.
"""

from collections.abc import Iterator
from typing import Any

from ...rows.columns import STRIPS, ZOOKEEPER_LANE, Rows
from .arrows import flights
from .other_partitions import places_of_others
from .panel import Panel

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
            [
                f"message {f.message.name}",
                *map(round, (canvas.px(f.x0), f.y0, canvas.px(f.x1), f.y1)),
            ]
            for f in flights(panel)
        ],
        "steps": [[sheet.meta.own(x)[0], round(canvas.px(x))] for x in range(sheet.meta.end)],
        "here": panel.rows.meta.end - 1,
        "axis": [round(axis[0]), round(axis[1])],
    }


def _lanes(panel: Panel) -> Iterator[tuple[str, float, float]]:
    lanes = panel.lanes
    yield f"partition {panel.partition}", lanes.top, lanes.strips[STRIPS[-1]][1]
    if lanes.zookeeper is not None:
        yield ZOOKEEPER_LANE, lanes.zookeeper - HALF_A_LINE, lanes.zookeeper + HALF_A_LINE
    low = max(lanes.controller + HALF_A_LINE, lanes.foot)
    yield "controller", lanes.controller - HALF_A_LINE, low
    for broker, (top, bottom) in lanes.brokers.items():
        yield broker, top, bottom
    yield f"records {panel.partition}", *lanes.records
    for names, top, bottom in places_of_others(panel):
        yield f"partition {' '.join(names)}", top, bottom
