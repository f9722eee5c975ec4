"""A script as the engine's ensemble answers it."""

from abc import ABC, abstractmethod
from enum import StrEnum
from typing import Any

import msgspec

from kiplab.protocol import messages
from kiplab.protocol.ids import BrokerId, Incarnation, PartitionEpoch, SessionId
from kiplab.protocol.zookeeper import ensemble_sessions, ensemble_writes, znodes
from kiplab.protocol.zookeeper.ensemble import below, empty_ensemble, find
from kiplab.protocol.zookeeper.ensemble_sessions import end_session, open_session
from kiplab.protocol.zookeeper.ensemble_writes import Operation, transact


class HowEnded(StrEnum):
    """How a session ends: its process closes it, another client takes it over and closes it, or
    nobody is heard of for so long that it expires."""

    CLOSED = "closed"
    TAKEN = "taken"
    LAPSED = "lapsed"


class ReadKind(StrEnum):
    """The three reads that may leave a watch."""

    GET = "get"
    CHILDREN = "children"
    EXISTS = "exists"


class OpenStep(msgspec.Struct, frozen=True):
    """A session opens under this name."""

    who: str


class EndStep(msgspec.Struct, frozen=True):
    """A session ends."""

    who: str
    how: HowEnded


class WriteStep(msgspec.Struct, frozen=True):
    """Operations, as one multi or one alone."""

    who: str
    operations: tuple[Operation, ...]
    multi: bool


class ReadStep(msgspec.Struct, frozen=True):
    """One read."""

    who: str
    kind: ReadKind
    path: str
    watch: bool


class GhostStep(msgspec.Struct, frozen=True):
    """Whoever had a session that has ended comes back with its id."""

    who: str
    path: str


class HeardStep(msgspec.Struct, frozen=True):
    """What the watches of each session that is open have said, as the last step of a script."""

    who: str = "everybody"


ScriptStep = OpenStep | EndStep | WriteStep | ReadStep | GhostStep | HeardStep

ScriptAnswer = tuple[Any, ...]
"""What was said, and last the zxid that the script has come to, counted from its beginning."""


_NOBODY = BrokerId(0)


class Scripted(ABC):
    """Answers the steps of a script, each by the method that is named as its kind."""

    _first: int
    """The zxid before the first step."""

    @abstractmethod
    def zxid(self) -> int:
        """How far it has come."""

    def answer(self, step: ScriptStep, _real: ScriptAnswer = ()) -> ScriptAnswer:
        """What it says. Raises DeadKafkaError if it does not answer."""
        kind = type(step).__name__.removesuffix("Step").lower()
        return (*getattr(self, f"_{kind}")(step), self.zxid() - self._first)


class ScriptedEngine(Scripted):
    """The engine before a script that happens below `root`; `open` are the sessions by name."""

    def __init__(self, root: str) -> None:
        self.root = root
        opened = open_session(empty_ensemble(), _NOBODY, Incarnation(0))
        # As kazoo creates what it is given no contents for.
        operations = (ensemble_writes.Create(root, znodes.TextZnode(""), counts_children=True),)
        made = transact(opened.ensemble, opened.session, operations)
        self.ensemble = made.ensemble
        self._first = self.ensemble.zxid
        self._last_session = opened.session
        self.open: dict[str, SessionId] = {}
        self.ended: dict[str, SessionId] = {}
        self._events: dict[str, list[tuple[str, str]]] = {}
        self._names: dict[SessionId, str] = {}

    def zxid(self) -> int:
        """How far it has come."""
        return int(self.ensemble.zxid)

    def _heard(self, _step: HeardStep) -> ScriptAnswer:
        return ([(name, self._events[name]) for name in sorted(self.open)],)

    def _ghost(self, step: GhostStep) -> ScriptAnswer:
        written = (ensemble_writes.SetData(step.path, znodes.TextZnode("ghost")),)
        came = transact(self.ensemble, self.ended[step.who], written)
        self.ensemble = came.ensemble
        return (came.error.value,)

    def _open(self, step: OpenStep) -> ScriptAnswer:
        opened = open_session(self.ensemble, _NOBODY, Incarnation(0))
        self.ensemble, session = opened
        self.open[step.who], self._names[session] = session, step.who
        self._events[step.who] = []
        rises, self._last_session = session > self._last_session, session
        return ("rises" if rises else "does not rise",)

    def _end(self, step: EndStep) -> ScriptAnswer:
        session = self.open.pop(step.who)
        self.ended[step.who] = session
        ended = end_session(self.ensemble, session)
        self.ensemble = ended.ensemble
        self._tell(ended.fired)
        return ("heard", self._events.pop(step.who))

    def _write(self, step: WriteStep) -> ScriptAnswer:
        came = transact(self.ensemble, self.open[step.who], step.operations)
        self.ensemble = came.ensemble
        self._tell(came.fired)
        if came.error is not ensemble_writes.ZooKeeperError.NONE:
            return (came.error.value, came.failing)
        return tuple(self._stat(r) if isinstance(r, znodes.Stat) else r for r in came.results)

    def _read(self, step: ReadStep) -> ScriptAnswer:
        who, path = self.open[step.who], step.path
        read = _READS[step.kind](self.ensemble, who, path, watch=step.watch)
        self.ensemble = read.ensemble
        if read.znode is None:
            return (read.error.value,)
        if step.kind is ReadKind.CHILDREN:
            return (read.names,)
        text = (_text(read.znode),) if step.kind is ReadKind.GET else ()
        return (*text, *self._stat(read.znode.stat), self._children(path))

    def _tell(self, fired: tuple[messages.Send, ...]) -> None:
        for event in (sent.body for sent in fired):
            assert isinstance(event, messages.WatcherEvent)
            self._events[self._names[event.session]].append((event.change, event.path))

    def _stat(self, stat: znodes.Stat) -> tuple[int, int, PartitionEpoch, str]:
        """The zxids counted from the script's beginning, and whose it is by name."""
        owner = self._names.get(stat.ephemeral_owner, "")
        return stat.czxid - self._first, stat.mzxid - self._first, stat.version, owner

    def _children(self, path: str) -> int:
        return len(below(self.ensemble.znodes, path)) if find(self.ensemble, path) else 0


def _text(found: znodes.Znode) -> str | None:
    return found.data.text if isinstance(found.data, znodes.TextZnode) else None


_READS = {
    ReadKind.GET: ensemble_sessions.get,
    ReadKind.CHILDREN: ensemble_sessions.children,
    ReadKind.EXISTS: ensemble_sessions.exists,
}
