"""Tracks: what is read off every moment, as spans in which it stays the same."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from .columns import SpanRow
from .snapshots import Snapshot


class Reading(NamedTuple):
    """What a track shows at one moment. Equal neighbours become one span."""

    value: str
    text: str
    flags: tuple[str, ...] = ()


Read = Callable[[Snapshot], Reading | None]


def track(
    shots: Sequence[Snapshot], lane: str, name: str, read: Read, partition: str = ""
) -> Iterator[SpanRow]:
    """The spans of the track called `name` on a lane; none where nothing is read."""
    end = shots[-1].x + 1
    open_: tuple[int, Reading | None] = (0, None)
    for shot in shots:
        found = read(shot)
        if found != open_[1]:
            yield from _closed(open_, shot.x, lane, name, partition)
            open_ = (shot.x, found)
    yield from _closed(open_, end, lane, name, partition)


def _closed(
    open_: tuple[int, Reading | None], x: int, lane: str, track: str, partition: str
) -> Iterator[SpanRow]:
    x0, reading = open_
    if reading is not None and x > x0:
        yield SpanRow(lane, track, x0, x, reading.value, reading.text, partition, reading.flags)
