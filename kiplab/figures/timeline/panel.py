"""A panel's contents and measures: what every room that draws a part of it needs."""

from collections.abc import Iterator
from typing import NamedTuple

from ...rows.columns import CONTROLLER_EPOCH, MarkRow, MessageRow, Rows, SpanRow
from ..drawing.canvas import Canvas
from .lanes import Lanes


class TickWord(NamedTuple):
    """What stands above the controller's line at `x`: `row` counts upwards from the line."""

    x: int
    text: str
    row: int
    px: float


class Panel(NamedTuple):
    """One run on a canvas, for one of its partitions."""

    canvas: Canvas
    rows: Rows
    partition: str
    lanes: Lanes
    ticks: tuple[TickWord, ...]
    run: int = 0
    """Which of the runs of its picture it shows."""

    def spans(self, lane: str, track: str) -> Iterator[SpanRow]:
        """The spans of a track, those of other partitions left out."""
        for span in self.rows.tracks.get((lane, track), ()):
            if self.is_shown(span.partition):
                yield span

    def marks(self, *kinds: str) -> Iterator[MarkRow]:
        """The marks of these kinds, those of other partitions left out."""
        return (m for m in self.rows.marks if m.kind in kinds and self.is_shown(m.partition))

    def shows(self, message: MessageRow) -> bool:
        """Whether a message belongs here; mail for an earlier life does whatever it is about."""
        return message.earlier_life or self.is_shown(message.partition)

    def is_controller(self, broker: str, x: int) -> bool:
        """Whether the controller lives on the broker of this lane at `x`."""
        spans = self.spans(*CONTROLLER_EPOCH)
        return any(span.x0 <= x < span.x1 and broker in span.flags for span in spans)

    def is_shown(self, partition: str) -> bool:
        """Whether something about `partition` belongs here; empty is about all of them."""
        return partition in ("", self.partition)
