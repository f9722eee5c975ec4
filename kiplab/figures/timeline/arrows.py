"""Messages that took their time, or were refused: slanted arrows with words beside them."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import hypot

from msgspec.structs import replace

from ...rows.columns import ZOOKEEPER_LANE, MessageRow, Rows
from ...rows.message_paths import drawn_messages
from ..drawing.canvas import Box, Canvas, safe
from ..drawing.text_width import LINE_HEIGHT, height_of, width_of
from .callouts import Flight, draw_callouts, draw_outcome, needs
from .client_lanes import heads
from .icons import draw_end, draw_stroke, message_color
from .lanes import Panel
from .mask import from_moment

ENDS_MIN = 34
"""Pixels of an arrow that stay visible on both sides of words that lie on it."""
MARK = 13
"""How many pixels of an arrow stay of a message that is only marked where it arrives."""
_EPOCH = re.compile(r"(as epoch \d+|no epoch sent)")


def loudness(canvas: Canvas, rows: Rows, partition: str) -> str:
    """How much has to be said below the controller's line: silent, messages, refusals; crowded
    where refusals come so close to each other that their boxes don't fit on one row.
    """
    ends = [(m, (m.sender, m.receiver)) for m in drawn_messages(rows, partition)]
    here = [m for m, nodes in ends if any(node.startswith("controller") for node in nodes)]
    # At the controller, or by a broker that a controller on a broker asked.
    asked = (m for m in here if m.receiver.startswith("controller") or m.meant_for >= 0)
    refused = [m for m in asked if m.fate == "refused"]
    if not refused:
        return "messages" if here else "silent"
    places = sorted((canvas.px(m.x_arrived or 0), needs(canvas, m)) for m in refused)
    near = any(b - a < wide for (a, wide), (b, _) in pairwise(places))
    return "crowded" if near else "refusals"


def reserve(panel: Panel) -> None:
    """Keep the words of the lanes away from where the arrows will go, those of clients too."""
    for flight in flights(panel):
        panel.canvas.soft += [*flight.shaft(panel.canvas), *_ends(panel.canvas, flight)]
    for flight in map(end_piece, flights(panel, marked=True)):
        panel.canvas.soft += _ends(panel.canvas, flight)
    panel.canvas.soft += heads(panel)


def flights(panel: Panel, *, marked: bool = False) -> list[Flight]:
    """The arrows of a panel, the most telling first; or messages `marked` where they arrive."""
    drawn = drawn_messages(panel.rows, panel.partition)
    here = (m for m in drawn if (m.name in panel.marked) is marked)
    return [f for m in here if (f := _flight(panel, m)) is not None]


def end_piece(flight: Flight) -> Flight:
    """What is marked of an arrow: a short piece before its head, behind its tail on its way."""
    piece = MARK if flight.y1 > flight.y0 else -MARK
    if flight.message.fate == "in flight":
        return flight._replace(x1=flight.x0, y1=flight.y0 + piece)
    return flight._replace(x0=flight.x1, y0=flight.y1 - piece)


def draw_messages(panel: Panel) -> None:
    """All arrows first, then their callouts, then labels where there is still room."""
    drawn = flights(panel)
    for flight in flights(panel, marked=True):
        draw_end(panel.canvas, end_piece(flight)[1:], flight.message.fate)
    for flight in drawn:
        draw_stroke(panel.canvas, flight.message, flight[1:])
    refused = [flight for flight in drawn if flight.message.fate == "refused"]
    if refused:
        ends = [box for flight in drawn for box in _ends(panel.canvas, flight)]
        ends += heads(panel)
        draw_callouts(panel.canvas, refused, _room(panel), ends)
    for bundle in _bundles(drawn):
        _label(panel, bundle)
    for flight in drawn:
        if flight.message.fate == "delivered" and flight.message.outcome:
            draw_outcome(panel.canvas, flight.message, flight.x1, flight.y1)


def _bundles(flights: list[Flight]) -> Iterator[Flight]:
    """One flight for all that go the same way at the same time: it says how many they are."""
    groups: dict[tuple[object, ...], list[Flight]] = {}
    for flight in flights:
        m = flight.message
        node = m.receiver if m.receiver.startswith("controller") else m.sender
        key = (m.kind, m.label, node, m.x_sent, m.x_arrived, m.fate)
        groups.setdefault(key, []).append(flight)
    for first, *others in groups.values():
        m = first.message
        if others:
            where = "from" if m.receiver.startswith("controller") else "to"
            m = replace(m, label=f"{m.label} {where} {len(others) + 1} brokers")
        yield first._replace(message=m)


def _flight(panel: Panel, message: MessageRow) -> Flight | None:
    arrived = panel.rows.meta.end - 1 if message.x_arrived is None else message.x_arrived
    start = _end_of(panel, message.sender, message.receiver, message.x_sent)
    end = _end_of(panel, message.receiver, message.sender, arrived)
    if end is None or not panel.shows(message):
        return None
    start = panel.lanes.controller - 26 if start is None else start
    x1 = panel.rows.meta.end if message.x_arrived is None else message.x_arrived
    # Arrows leave and reach a broker at the edge of its band, the controller at its line.
    half = panel.canvas.sizes.band / 2
    toward = 1 if end > start else -1
    y0 = start + toward * (half if message.sender in panel.lanes.brokers else 0)
    y1 = end - toward * (half if message.receiver in panel.lanes.brokers else 3)
    flight = Flight(message, message.x_sent, y0, x1, y1)
    # What was sent before the first moment shown comes in over the edge.
    return flight._replace(x0=0, y0=flight.y(0) if x1 else y0) if flight.x0 < 0 else flight


def _end_of(panel: Panel, node: str, other: str, x: int) -> float | None:
    """Where an arrow between `node` and `other` begins or ends at `node`. What a broker says that
    is the controller no more, or not yet, comes from that broker's lane.
    """
    lanes, host = panel.lanes, node.removeprefix("controller on ")
    if host != node:
        if host in lanes.brokers and not panel.is_controller(host, x):
            return lanes.band(host)
        return lanes.controller if other == ZOOKEEPER_LANE else lanes.foot
    return lanes.y(node)


def _ends(canvas: Canvas, flight: Flight) -> Iterator[Box]:
    """The arrow's head with the sign before it, and its tail: what tells it from the others."""
    length = hypot(canvas.px(flight.x1) - canvas.px(flight.x0), flight.y1 - flight.y0) or 1
    for near, far in ((0.0, 6.0), (max(length - 22, 0.0), length)):
        xs, ys = zip(*(flight.on(canvas, along / length) for along in (near, far)), strict=True)
        yield Box(min(xs) - 5, min(ys) - 5, max(xs) + 5, max(ys) + 5)


# --- labels -------------------------------------------------------------------------------------


def _label(panel: Panel, flight: Flight) -> None:
    """On the arrow, where it is long enough and crosses no lane there; else the longest words that
    find room beside it, near its tail if possible.
    """
    canvas, size = panel.canvas, panel.canvas.sizes.text
    color = message_color(canvas.theme, flight.message)
    for text in _texts(flight.message):
        box = next(_on_arrow(panel, flight, text, size), None)
        if box is not None:
            # On a plate that interrupts the arrow.
            canvas.plate(box, canvas.theme.paper, name=from_moment("plate", flight.x0))
            middle, y = box.middle
            at = canvas.at(middle)
            canvas.text(at, y, text, color, size=size, anchor="center", since=flight.x0)
            return
        for left, top in _places(panel, flight, text, size):
            box = Box(left, top, left + width_of(text, size), top + height_of(text, size))
            if canvas.is_free(box) and box.within(_room(panel, flight.message)):
                y = (box.y0 + box.y1) / 2
                canvas.text(canvas.at(left), y, text, color, size=size, since=flight.x0)
                return


def _on_arrow(panel: Panel, flight: Flight, text: str, size: float) -> Iterator[Box]:
    """Where words may lie on the arrow: below the controller's line, most of the arrow free."""
    canvas = panel.canvas
    wide, high = width_of(text, size), size * LINE_HEIGHT
    across = abs(canvas.px(flight.x1) - canvas.px(flight.x0))
    if flight.y0 == flight.y1 or (wide + 2 * ENDS_MIN) > across:
        return
    own = {*flight.shaft(canvas), *_ends(canvas, flight)}
    others = [box for box in canvas.soft if box not in own]
    lowest = min(top for top, _ in panel.lanes.brokers.values())
    for share in (0.5, 0.45, 0.55, 0.4, 0.6, 0.35, 0.65):
        px, y = flight.on(canvas, share)
        box = Box(px - wide / 2, y - high / 2, px + wide / 2, y + high / 2)
        ends = sorted((canvas.px(flight.x0), canvas.px(flight.x1)))
        roomy = ends[0] + ENDS_MIN <= box.x0 and box.x1 <= ends[1] - ENDS_MIN
        apart = panel.lanes.foot + 3 <= box.y0 and box.y1 <= lowest
        if roomy and apart and not any(box.overlaps(b) for b in (*canvas.taken, *others)):
            yield box


def _room(panel: Panel, message: MessageRow | None = None) -> Box:
    """Where labels may stand: from the controller's line to the clients' lanes; watches above."""
    canvas, lanes = panel.canvas, panel.lanes
    low = min((top for top, _ in lanes.clients.values()), default=lanes.bottom)
    top = lanes.foot
    if message is not None and message.sender == ZOOKEEPER_LANE and lanes.zookeeper is not None:
        top = lanes.zookeeper
    return Box(canvas.px(0), top, canvas.px(canvas.end), low)


def _texts(message: MessageRow) -> Iterable[str]:
    label = message.label
    fate = {"in flight": ", still on its way", "dropped": ", lost"}.get(message.fate, "")
    texts = [f"{label}{fate}", label.split(" · ")[-1] + fate, label.split(" · ")[-1]]
    if message.earlier_life:
        listed, _, counted = label.rpartition(" · ")
        texts = [f"{counted}: {listed}" if listed else f"{label} for czxid {message.meant_for}"]
        texts += [f"{listed} for czxid {message.meant_for}", counted, label]
    return [_EPOCH.sub(r"<b>\1</b>", safe(text)) for text in texts]


def _places(panel: Panel, flight: Flight, text: str, size: float) -> Iterator[tuple[float, float]]:
    """(left, top) in pixels: along the arrow where it is flat, else beside it.

    Beside it means in the room below the controller's line first, as near to the tail as the
    slope allows.
    """
    canvas = panel.canvas
    wide, high = width_of(text, size), height_of(text, size)
    left, right = canvas.px(flight.x0), canvas.px(flight.x1)
    for share in (0.04, 0.12, 0.25, 0.4):
        start = left + (right - left) * share
        if start + wide > right:
            break
        heights = [flight.y(canvas.at(px)) for px in (start, start + wide)]
        yield start, min(heights) - high - 3
    # The edge of the sender's tile, where the arrow has hardly left.
    at_tail = flight.y0 - high - 1 if flight.y1 < flight.y0 else flight.y0 + 1
    yield from _beside(canvas, flight, at_tail, wide, high)
    tops = [min(top for top, _ in panel.lanes.brokers.values()) - high - n for n in (3, 9, 16, 24)]
    for top in (*tops, *(flight.y0 + (flight.y1 - flight.y0) * n / 10 for n in (5, 3, 7, 1, 9))):
        yield from _beside(canvas, flight, top, wide, high)


def _beside(
    canvas: Canvas, flight: Flight, top: float, wide: float, high: float
) -> Iterator[tuple[float, float]]:
    """Right and left of the arrow, all of its height between `top` and `top + high` kept free."""
    upper, lower = sorted((flight.y0, flight.y1))
    if upper == lower or not upper - high / 2 <= top <= lower - high / 2:
        return
    slope = (canvas.px(flight.x1) - canvas.px(flight.x0)) / (flight.y1 - flight.y0)
    crossings = [canvas.px(flight.x0) + (y - flight.y0) * slope for y in (top - 3, top + high + 3)]
    low, far = sorted((canvas.px(flight.x0), canvas.px(flight.x1)))
    crossings = [min(max(px, low), far) for px in crossings]
    yield max(crossings) + 6, top
    yield min(crossings) - 6 - wide, top
