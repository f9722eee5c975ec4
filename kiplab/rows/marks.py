"""Marks: the events of one moment on one lane."""

import tomllib
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from typing import Any

from ..engine import cluster, events
from ..engine.truth import partition_of
from ..protocol import facts, guards, ids, zookeeper_facts
from ..protocol.replica.client_reads import CONSUMER_FETCH, END_OF_EPOCH, LIST_OFFSETS
from ..protocol.replica.produce import DELETE_RECORDS, PRODUCE
from .columns import MarkKind, MarkRow, broker_lane, offsets, plural
from .snapshots import Snapshot

_Made = tuple[str, MarkKind, str] | None
"""Lane, kind and text."""


def marks(shots: Sequence[Snapshot]) -> Iterator[MarkRow]:
    """In the order they happened."""
    for shot in shots:
        for move in shot.moves:
            for id, event in move.named:
                mark = _marked(event, move.before)
                if mark is not None:
                    lane, kind, text = mark
                    partition = str(getattr(event, "partition", "") or "")
                    yield MarkRow(shot.x, lane, kind, text, partition, id)
        if shot.not_applicable is not None:
            text = f"{shot.not_applicable.text}: not applicable ({shot.not_applicable.reason})"
            yield MarkRow(shot.x, "world", "not applicable", text, event=shot.last_id)


def _marked(event: events.Event, before: cluster.Cluster) -> _Made:
    if isinstance(event, facts.Fetched):
        return _fetched(event, before)
    mark, has_happened = _MARKS.get(type(event)), _HAPPENED.get(type(event))
    if mark is None or (has_happened and not has_happened(event)):
        return None
    if callable(mark):
        return mark(event)
    kind, text = mark
    first, last = getattr(event, "first", 0), getattr(event, "last", 0)
    guard = guards.GUARDS.get(getattr(event, "guard", ""))
    words = {
        "offsets": offsets(first, last),
        "records": plural(last - first + 1, "record"),
        "requests": plural(len(getattr(event, "requests", ())), "request"),
    }
    lane = _LANES.get(kind) or broker_lane(ids.host_of(getattr(event, "node", ids.CONTROLLER)))
    return lane, kind, text.format(e=event, subject=guard and guard.subject, **words)


def _fetched(event: facts.Fetched, before: cluster.Cluster) -> _Made:
    """Catching up matters to a follower that runs and is not in the ISR yet."""
    state, follower = partition_of(before, event.partition), cluster.broker(before, event.follower)
    if follower is None or follower.process is None or not event.caught_up:
        return None
    if state is None or event.follower in state.isr:
        return None
    return broker_lane(event.follower), "caught up", "caught up"


def _lifecycle(event: facts.LifecycleChanged) -> _Made:
    kinds: dict[str, MarkKind] = {"CRASHED": "crashed", "STOPPED": "stopped"}
    kind = kinds.get(str(event.state))
    return (broker_lane(event.node), kind, kind) if kind else None


def _client_refused(event: facts.Refused) -> _Made:
    """Clients' requests have no arrow that a refusal could be drawn on."""
    if event.request in (CONSUMER_FETCH, END_OF_EPOCH, LIST_OFFSETS):
        return broker_lane(event.node), "polled", event.error.name
    words = {PRODUCE: "produce to", DELETE_RECORDS: "delete-records of"}.get(event.request)
    text = f"{words} {event.partition} refused: {event.error.name}"
    return ("world", "happened", text) if words else None


def _elected(event: facts.LeaderElected) -> _Made:
    lane = broker_lane(event.leader)
    if event.from_elr:
        return lane, "from ELR", "elected from the ELR"
    return (lane, "unclean", "elected uncleanly") if event.unclean else None


def _compared(event: zookeeper_facts.BrokersCompared) -> _Made:
    bounced = ", ".join(f"{b} bounced: {was} → {now}" for b, was, now in event.bounced)
    came = f"new {ids.broker_list(event.new)}" if event.new else ""
    went = f"dead {ids.broker_list(event.dead)}" if event.dead else ""
    changes = ", ".join(filter(None, (came, bounced, went)))
    if not changes:
        return "controller", "unchanged", "compares brokers: nothing changed"
    return "controller", "bounced" if bounced else "compared", changes


_LANES = {"happened": "world", "lost": "records", "broken": "records"}
_LANES |= dict.fromkeys(("elected", "queue dropped"), "controller")
"""By kind, where it is not the broker's."""
_TEXTS = tomllib.loads((files(__package__) / "marks.toml").read_text("utf-8"))
_MARKS: dict[type, tuple[MarkKind, str] | Callable[[Any], _Made]] = {
    **{events.EVENT_KINDS[name]: mark for name, mark in _TEXTS.items()},
    facts.LifecycleChanged: _lifecycle,
    facts.Refused: _client_refused,
    facts.LeaderElected: _elected,
    zookeeper_facts.BrokersCompared: _compared,
}
"""How an event is marked: a function, or a kind and its text on its broker's lane."""
_HAPPENED: dict[type, Callable[[Any], bool]] = {
    facts.RecordsDeleted: lambda e: e.last >= e.first or e.follows,
    facts.Polled: lambda e: e.last >= e.first,
    zookeeper_facts.QueueDropped: lambda e: bool(e.requests),
}
"""When it is marked, where that is not always."""
