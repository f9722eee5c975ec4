"""Ticks: the controller's metadata records, each with the few words a picture has room for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..engine.events import Event
from ..protocol.facts import BrokerChanged, IsrChanged, LeaderElected, RecordWritten
from ..protocol.ids import NO_LEADER
from .columns import TickRow
from .snapshots import Snapshot

_CHANGES = {"fenced": "fence", "unfenced": "unfence", "shutting-down": "shutting down"}


def ticks(shots: Sequence[Snapshot]) -> Iterator[TickRow]:
    """One per record, in the order of the metadata log."""
    for shot in shots:
        events = shot.events
        for place, event in enumerate(events):
            if isinstance(event, RecordWritten):
                yield TickRow(
                    x=shot.x,
                    offset=event.offset,
                    record=event.record,
                    version=event.version,
                    text=event.text,
                    short=_short(events[place + 1 :]),
                )


def _short(following: Sequence[Event]) -> str:
    """From the facts that a record's replay reported right after it."""
    words: list[str] = []
    for event in following:
        if isinstance(event, BrokerChanged):
            words.append(_changed(event))
        elif isinstance(event, LeaderElected):
            words.append(_elected(event))
        elif not isinstance(event, IsrChanged):
            break
    return ", ".join(dict.fromkeys(words))


def _changed(event: BrokerChanged) -> str:
    if event.change == "registered":
        return f"register {event.broker} → epoch {event.epoch}"
    return f"{_CHANGES.get(event.change, event.change)} {event.broker}"


def _elected(event: LeaderElected) -> str:
    if event.leader == NO_LEADER:
        return "no leader"
    if event.leader == event.before:
        return ""
    return f"elect {event.leader}{' uncleanly' if event.unclean else ''}"
