"""Ticks: the controller's metadata records, each with the few words a picture has room for."""

from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Any

from ..engine.events import Event
from ..protocol.facts import (
    BrokerChange,
    BrokerChanged,
    LeaderElected,
    RecordWritten,
    Replayed,
)
from ..protocol.ids import NO_LEADER
from .columns import TickRow
from .snapshots import Snapshot

_CHANGES = {
    BrokerChange.REGISTERED: "register {broker} → epoch {epoch}",
    BrokerChange.UNREGISTERED: "unregistered {broker}",
    BrokerChange.FENCED: "fence {broker}",
    BrokerChange.UNFENCED: "unfence {broker}",
    BrokerChange.SHUTTING_DOWN: "{broker} shutting down",
}


def ticks(shots: Sequence[Snapshot]) -> Iterator[TickRow]:
    """One per record, in the order of the metadata log."""
    for shot in shots:
        named = [pair for _, events in shot.named_steps() for pair in events]
        for place, (id, event) in enumerate(named):
            if isinstance(event, RecordWritten):
                following = list(takewhile(_is_replay, named[place + 1 :]))
                replayed = [fact for _, fact in following]
                yield TickRow(
                    x=shot.x,
                    offset=event.offset,
                    record=event.record,
                    version=event.version,
                    text=event.text,
                    short=", ".join(dict.fromkeys(filter(None, map(_short, replayed)))),
                    partition=next((str(getattr(e, "partition", "")) for e in replayed), ""),
                    events=(id, *(other for other, _ in following)),
                )


def _is_replay(named: tuple[str, Event]) -> bool:
    """The facts that a record's replay reports come right after it."""
    return isinstance(named[1], Replayed)


def _short(event: Event) -> str:
    short = _SHORT.get(type(event))
    return short(event) if short is not None else ""


def _changed(event: BrokerChanged) -> str:
    return _CHANGES[event.change].format(broker=event.broker, epoch=event.epoch)


def _elected(event: LeaderElected) -> str:
    if event.leader == NO_LEADER:
        return "no leader"
    if event.leader == event.before:
        return ""
    return f"elect {event.leader}{' uncleanly' if event.unclean else ''}"


_SHORT: dict[type, Callable[[Any], str]] = {BrokerChanged: _changed, LeaderElected: _elected}
