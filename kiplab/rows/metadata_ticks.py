"""Ticks: the controller's metadata records, each with the few words a picture has room for."""

from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Any

from ..engine.events import Event
from ..engine.history import Recorded
from ..engine.truth import truth
from ..protocol import facts, ids
from ..protocol.kraft.records import ClearElrRecord
from ..protocol.zookeeper.znodes import BROKER_IDS_PATH, CONTROLLER_PATH, partition_state_path
from ..protocol.zookeeper_facts import ControllerElected, SessionEnded, SessionOpened, ZnodeChanged
from .columns import TickRow
from .snapshots import Snapshot
from .zookeeper_spans import session_words

Named = tuple[str, Event]
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
    """The leading events of these kinds."""
    return list(takewhile(lambda pair: isinstance(pair[1], kinds), named))


def _elected(event: facts.LeaderElected) -> str:
    if event.leader == ids.NO_LEADER:
        return "no leader"
    if event.leader == event.before:
        return ""
    how = " from ELR" if event.from_elr else " uncleanly" if event.unclean else ""
    return f"elect {event.leader}{how}"


_SHORT: dict[type, Callable[[Any], str]] = {
    facts.BrokerChanged: lambda e: _CHANGES[e.change].format(broker=e.broker, epoch=e.epoch),
    facts.LeaderElected: _elected,
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


def _short_change(event: ZnodeChanged, changes: Sequence[Event]) -> str:
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
