"""Marks: the events of one moment on one lane. And ticks: the controller's metadata records, each
with the few words a picture has room for.
"""

import tomllib
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from itertools import takewhile
from typing import Any

from ..engine import cluster, events
from ..engine.history import Recorded
from ..engine.truth import partition_of, truth
from ..protocol import facts, guards, ids, zookeeper_facts
from ..protocol.kraft.records import ClearElrRecord
from ..protocol.replica.client_reads import CONSUMER_FETCH, END_OF_EPOCH, LIST_OFFSETS
from ..protocol.replica.produce import DELETE_RECORDS, PRODUCE
from ..protocol.zookeeper.znodes import BROKER_IDS_PATH, CONTROLLER_PATH, partition_state_path
from ..protocol.zookeeper_facts import ControllerElected, SessionEnded, SessionOpened, ZnodeChanged
from .columns import MarkKind, MarkRow, TickRow, broker_lane, offsets, plural
from .snapshots import Snapshot
from .zookeeper_spans import session_words

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


# --- ticks ----------------------------------------------------------------------------------------

Named = tuple[str, events.Event]
_CHANGES = {
    facts.BrokerChange.REGISTERED: "register {broker} → epoch {epoch}",
    facts.BrokerChange.UNREGISTERED: "unregistered {broker}",
    facts.BrokerChange.FENCED: "fence {broker}",
    facts.BrokerChange.UNFENCED: "unfence {broker}",
    facts.BrokerChange.SHUTTING_DOWN: "{broker} shutting down",
}


def ticks(shots: Sequence[Snapshot]) -> Iterator[TickRow]:
    """One per record, in the order of the metadata log."""
    for shot in shots:
        named = [pair for move in shot.moves for pair in move.named]
        for place, (id, event) in enumerate(named):
            if isinstance(event, facts.RecordWritten):
                # The facts that a record's replay reports come right after it.
                following = _those(facts.Replayed, named[place + 1 :])
                replayed = [fact for _, fact in following]
                short = [_SHORT[type(fact)](fact) for fact in replayed if type(fact) in _SHORT]
                if replayed and event.record == ClearElrRecord.__name__:
                    short = ["clear ELR"]
                about = dict.fromkeys(str(getattr(e, "partition", "")) for e in replayed)
                yield TickRow(
                    x=shot.x,
                    offset=event.offset,
                    record=event.record,
                    version=event.version,
                    text=event.text,
                    short=", ".join(dict.fromkeys(filter(None, short))),
                    partition=next(iter(about), "") if len(about) == 1 else "",
                    events=(id, *(other for other, _ in following)),
                )


def _those(kinds: Any, named: Sequence[Named]) -> list[Named]:
    return list(takewhile(lambda pair: isinstance(pair[1], kinds), named))


def _leader(event: facts.LeaderElected) -> str:
    if event.leader == ids.NO_LEADER:
        return "no leader"
    if event.leader == event.before:
        return ""
    how = " from ELR" if event.from_elr else " uncleanly" if event.unclean else ""
    return f"elect {event.leader}{how}"


_SHORT: dict[type, Callable[[Any], str]] = {
    facts.BrokerChanged: lambda e: _CHANGES[e.change].format(broker=e.broker, epoch=e.epoch),
    facts.LeaderElected: _leader,
}


NO_VERSION = -1
_FOLLOWS = (facts.LeaderElected, facts.IsrChanged, ControllerElected)
"""The changes of a transaction follow right after it."""


def zookeeper_ticks(shots: Sequence[Snapshot]) -> Iterator[TickRow]:
    """One per transaction that is told of, in order; none in KRaft."""
    names = {partition_state_path(p.name): p.name for p in truth(shots[0].cluster).partitions}
    for shot in shots:
        for move in shot.moves:
            for place, (id, event) in enumerate(move.named):
                following = move.named[place + 1 :]
                follows = _those(_FOLLOWS, following)
                if isinstance(event, ZnodeChanged):
                    yield _written(shot.x, id, event, follows, names.get(event.path, ""))
                elif isinstance(event, SessionOpened | SessionEnded):
                    yield _session(shot.x, id, event, _zxid(move.step, following))


def _written(
    x: int, id: str, event: ZnodeChanged, follows: Sequence[Named], partition: str
) -> TickRow:
    changes = [change for _, change in follows]
    return TickRow(
        x=x,
        offset=event.zxid,
        record=event.path,
        version=NO_VERSION,
        text=f"{event.path}: {event.text}",
        short=_short_change(event, changes),
        partition=partition,
        events=(id, *(other for other, _ in follows)),
    )


def _short_change(event: ZnodeChanged, changes: Sequence[events.Event]) -> str:
    if event.path.startswith(f"{BROKER_IDS_PATH}/"):
        return f"register {event.path.rpartition('/')[2]} → czxid {event.zxid}"
    elected = next((c for c in changes if isinstance(c, ControllerElected)), None)
    if elected is not None:
        return f"broker {elected.broker} becomes controller"
    if event.path == CONTROLLER_PATH:
        return "/controller changes"
    led = next((c for c in changes if isinstance(c, facts.LeaderElected)), None)
    if led is None or led.leader == led.before:
        return ""
    return "no leader" if led.leader == ids.NO_LEADER else f"elect {led.leader}"


def _session(x: int, id: str, event: SessionOpened | SessionEnded, zxid: int) -> TickRow:
    did, short = "opens", ""
    if isinstance(event, SessionEnded):
        did = "expires" if event.expired else "closes"
        short = f"session of {event.broker} {did}"
    text = f"{session_words(event.session)} of broker {event.broker} {did}"
    return TickRow(x, zxid, "session", NO_VERSION, text, short, events=(id,))


def _zxid(step: Recorded, after: Sequence[Named]) -> int:
    """A session's beginning and its end are transactions without a znode to name."""
    written = {event.zxid for _, event in after if isinstance(event, ZnodeChanged)}
    sessions = sum(isinstance(event, SessionOpened | SessionEnded) for _, event in after)
    return truth(step.cluster).next_offset - 1 - len(written) - sessions
