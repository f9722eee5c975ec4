"""Ticks on ZooKeeper's lane: its transactions, each with the few words a picture has room for."""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from ..engine.events import Event
from ..engine.history import Recorded
from ..engine.truth import truth
from ..protocol.facts import IsrChanged, LeaderElected
from ..protocol.ids import NO_LEADER
from ..protocol.zookeeper.znodes import BROKER_IDS_PATH, CONTROLLER_PATH, partition_state_path
from ..protocol.zookeeper_facts import (
    ControllerElected,
    SessionEnded,
    SessionOpened,
    ZnodeChanged,
)
from .columns import TickRow
from .snapshots import Snapshot
from .zookeeper_spans import session_words

NO_VERSION = -1
_FOLLOWS = (LeaderElected, IsrChanged, ControllerElected)
"""What a transaction changed is told right after it."""
Named = tuple[str, Event]


def zookeeper_ticks(shots: Sequence[Snapshot]) -> Iterator[TickRow]:
    """One per transaction that is told of, in order; none in KRaft."""
    names = {partition_state_path(p.name): p.name for p in truth(shots[0].cluster).partitions}
    for shot in shots:
        for step, events in shot.named_steps():
            for place, (id, event) in enumerate(events):
                follows = list(takewhile(_is_change, events[place + 1 :]))
                if isinstance(event, ZnodeChanged):
                    yield _written(shot.x, id, event, follows, names.get(event.path, ""))
                elif isinstance(event, SessionOpened | SessionEnded):
                    yield _session(shot.x, id, event, _zxid(step, events[place + 1 :]))


def _is_change(named: Named) -> bool:
    return isinstance(named[1], _FOLLOWS)


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
        short=_short(event, changes),
        partition=partition,
        events=(id, *(other for other, _ in follows)),
    )


def _short(event: ZnodeChanged, changes: Sequence[Event]) -> str:
    if event.path.startswith(f"{BROKER_IDS_PATH}/"):
        return f"register {event.path.rpartition('/')[2]} → czxid {event.zxid}"
    elected = next((c for c in changes if isinstance(c, ControllerElected)), None)
    if elected is not None:
        return f"broker {elected.broker} becomes controller"
    if event.path == CONTROLLER_PATH:
        return "/controller changes"
    led = next((c for c in changes if isinstance(c, LeaderElected)), None)
    if led is None or led.leader == led.before:
        return ""
    return "no leader" if led.leader == NO_LEADER else f"elect {led.leader}"


def _session(x: int, id: str, event: SessionOpened | SessionEnded, zxid: int) -> TickRow:
    short = ""
    if isinstance(event, SessionEnded):
        ends = "expires" if event.expired else "closes"
        short = f"session of {event.broker} {ends}"
    did = short.rpartition(" ")[2] or "opens"
    text = f"{session_words(event.session)} of broker {event.broker} {did}"
    return TickRow(x, zxid, "session", NO_VERSION, text, short, events=(id,))


def _zxid(step: Recorded, after: Sequence[Named]) -> int:
    """A session's beginning and its end are transactions, and nobody says which."""
    written = {event.zxid for _, event in after if isinstance(event, ZnodeChanged)}
    sessions = sum(isinstance(event, SessionOpened | SessionEnded) for _, event in after)
    return truth(step.cluster).next_offset - 1 - len(written) - sessions
