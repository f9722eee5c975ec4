"""The places of a panel's lanes, from the top: strips, controller, brokers, clients, records.

In ZooKeeper mode its line is above the controller's, and rows for queues are below that.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from ...rows import columns
from ..drawing.canvas import Canvas
from ..drawing.theme import Sizes

MANY_BROKERS = 5
ABOVE_TICKS, BETWEEN, BETWEEN_MANY = 10, 13, 8
"""Pixels over the controller's words, and between brokers, as far as there is air."""
WATCHES, QUEUES_BELOW, QUEUE, QUEUE_GAP = 58, 24, 17, 3
"""Pixels from ZooKeeper's line to the controller's, and from there to the first row of a queue; the
height of such a row, and what is between two.
"""
THIN = 21
"""The height of a broker's lane that holds nothing but who it is."""
LESS_WATCHES, LESS_TALK = 52, 120
"""How many of the pixels for watches, and for what messages say, go with the air."""


class Lanes(NamedTuple):
    """Pixels from the top. Strips, brokers and clients are (top, bottom) by name."""

    title: float
    strips: dict[str, tuple[float, float]]
    tick_rows: tuple[float, ...]
    controller: float
    brokers: dict[str, tuple[float, float]]
    clients: dict[str, tuple[float, float]]
    records: tuple[float, float]
    bottom: float
    zookeeper: float | None = None
    queues: Mapping[str, tuple[float, float]] = {}
    """By the lane of the broker that the requests wait for."""

    def band(self, lane: str) -> float:
        """The middle of a broker's role band."""
        top, bottom = self.brokers[lane]
        return top + (bottom - top) * 0.5

    def y(self, node: str) -> float | None:
        """Where messages of `node` begin and end; None for one without a lane."""
        if node == columns.ZOOKEEPER_LANE:
            return self.zookeeper
        if node.startswith("controller"):
            return self.controller
        return self.band(node) if node in self.brokers else None

    @property
    def foot(self) -> float:
        """The lower end of the controller's lane: where what it sends to brokers begins."""
        return max((bottom for _, bottom in self.queues.values()), default=self.controller)

    @property
    def top(self) -> float:
        """The upper edge of the first strip."""
        return self.strips[columns.STRIPS[0]][0]


def lanes(
    top: float,
    brokers: tuple[int, ...],
    sizes: Sizes,
    *,
    tick_rows: int,
    talk: float,
    clients: Mapping[str, float] | None = None,
    zookeeper: bool = False,
    queues: Sequence[str] = (),
    thin: Collection[str] = (),
    tracks: Sequence[str] = columns.STRIPS,
    records: bool = True,
) -> Lanes:
    """A panel whose title begins at `top`.

    `tick_rows` of words stand above the controller's line, and below it there are `talk` pixels
    for what messages have to say. `clients` are the heights of their lanes, by name. With
    `zookeeper` the words stand above its line; `queues` are the brokers that have a row, `thin` are
    those of which there is nothing to say here. `tracks` are the names of the strips. Without
    `records` there is no room for these.
    """
    y = top + sizes.title * (1.5 + 0.5 * sizes.air)
    strips = {}
    for name in tracks:
        strips[name] = (y, y + sizes.strip)
        y += sizes.strip + sizes.gap
    row = sizes.small * 1.35
    y += ABOVE_TICKS * sizes.air
    rows = tuple(y + row * (n + 0.5) for n in range(tick_rows))
    controller = y + row * tick_rows + 11
    line = controller if zookeeper else None
    if zookeeper:
        controller += WATCHES - LESS_WATCHES * (1 - sizes.air)
        talk -= min(LESS_TALK * (1 - sizes.air), talk / 2)
    first, step = controller + QUEUES_BELOW, QUEUE + QUEUE_GAP
    rows_of_queues = {
        lane: (first + n * step, first + n * step + QUEUE) for n, lane in enumerate(queues)
    }
    y = max((low for _, low in rows_of_queues.values()), default=controller) + talk
    tiles = {}
    for id in brokers:
        tall = THIN if columns.broker_lane(id) in thin else sizes.tile
        tiles[columns.broker_lane(id)] = (y, y + tall)
        y += tall + (BETWEEN if len(brokers) < MANY_BROKERS else BETWEEN_MANY) * sizes.air
    asking = {}
    for name, high in (clients or {}).items():
        asking[name] = (y, y + high)
        y += high
    y += 5 + (ABOVE_TICKS * sizes.air if asking else 0)
    title = top + sizes.title * 0.6
    low = y + 18 * records
    return Lanes(
        title, strips, rows, controller, tiles, asking, (y, low), low, line, rows_of_queues
    )


class TickWord(NamedTuple):
    """What stands above the controller's line at `x`: `row` counts upwards from the line."""

    x: int
    text: str
    row: int
    px: float


class Panel(NamedTuple):
    """One run on a canvas, for one of its partitions."""

    canvas: Canvas
    rows: columns.Rows
    partition: str
    lanes: Lanes
    ticks: tuple[TickWord, ...]
    run: int = 0
    """Which of the runs of its picture it shows."""
    marked: frozenset[str] = frozenset()
    """The names of messages that are marked where they arrive and have no arrow."""

    def spans(self, lane: str, track: str) -> Iterator[columns.SpanRow]:
        """The spans of a track, those of other partitions left out."""
        for span in self.rows.tracks.get((lane, track), ()):
            if self.is_shown(span.partition):
                yield span

    def marks(self, *kinds: str) -> Iterator[columns.MarkRow]:
        """The marks of these kinds, those of other partitions left out."""
        return (m for m in self.rows.marks if m.kind in kinds and self.is_shown(m.partition))

    def shows(self, message: columns.MessageRow) -> bool:
        """Whether a message belongs here; for an earlier incarnation, whatever it is about."""
        return message.earlier_life or self.is_shown(message.partition)

    def is_controller(self, broker: str, x: int) -> bool:
        """Whether the controller lives on the broker of this lane at `x`."""
        spans = self.spans(*columns.CONTROLLER_EPOCH)
        return any(span.x0 <= x < span.x1 and broker in span.flags for span in spans)

    def is_shown(self, partition: str) -> bool:
        """Whether something about `partition` belongs here; empty is about all of them."""
        return partition in ("", self.partition)

    def lasting(self, span: columns.SpanRow) -> str:
        """``from 4 to 5``."""
        return f"from {self.rows.meta.number(span.x0)} to {self.rows.meta.number(span.x1)}"

    def is_thin(self, lane: str) -> bool:
        """Whether a lane has one line for words."""
        top, bottom = self.lanes.brokers[lane]
        return bottom - top <= THIN

    def lines(self, lane: str) -> tuple[float, float]:
        """The middles of the words at a tile's upper edge, which are about the broker epoch and
        what happens, and at its lower edge, which are about the log; of all words on a thin one.
        """
        if self.is_thin(lane):
            return self.lanes.band(lane), self.lanes.band(lane)
        (top, bottom), small = self.lanes.brokers[lane], self.canvas.sizes.small
        return top + small * 0.75, bottom - small * 0.58
