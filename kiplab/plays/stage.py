"""The stage: a run in progress. One line after the other changes it; nothing is ever mutated."""

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from ..engine import moves
from ..engine.channels import blocker
from ..engine.cluster import Cluster, Message, MessageName
from ..engine.events import Event, NotApplicable, Sent
from ..engine.history import History
from ..engine.impossible_moves import why_not
from ..protocol.features import Features
from ..protocol.ids import BrokerId
from .play import Play, Statement
from .play_errors import PlayError

MOVES_MAX = 20_000
"""A play that does more than this is no lesson: its time and memory are bounded."""


class Pattern(msgspec.Struct, frozen=True, cache_hash=True):
    """Which messages a line speaks of; None fits everything. `life` is the sender's incarnation."""

    kind: str
    sender: BrokerId | None = None
    receiver: BrokerId | None = None
    ordinal: int | None = None
    life: int | None = None

    def fits(self, name: MessageName, receiver: BrokerId) -> bool:
        """Whether a message matches."""
        if name.kind != self.kind or self.sender not in (None, name.sender):
            return False
        if self.receiver not in (None, receiver) or self.life not in (None, name.incarnation):
            return False
        return self.ordinal in (None, name.ordinal)


class Expectation(msgspec.Struct, frozen=True):
    """The result of an `expect` line: held, failed or skipped; `actual` is the value found."""

    line: int
    text: str
    status: str
    actual: str = ""


class Performed(msgspec.Struct, frozen=True):
    """One line that was done: its number, which moves it took (first..last of the history).

    `moment` counts the lines that moved the cluster: the x axis of every picture.
    """

    line: int
    statement: Statement
    first: int
    last: int
    moment: int
    not_applicable: NotApplicable | None = None


class Stage(msgspec.Struct, frozen=True):
    """A run so far. `strict` lines that cannot be done are errors; else "not applicable"."""

    play: Play
    features: Features
    history: History
    strict: bool = True
    manual: bool = False
    holds: tuple[tuple[Pattern, bool], ...] = ()
    """What `hold` (True) and `release` (False) said, in order; the last that fits decides."""
    held_messages: frozenset[MessageName] = frozenset()
    performed: tuple[Performed, ...] = ()
    expectations: tuple[Expectation, ...] = ()

    @property
    def cluster(self) -> Cluster:
        """The situation now."""
        return self.history.cluster

    @property
    def moment(self) -> int:
        """The number of lines that have moved the cluster."""
        return self.performed[-1].moment if self.performed else 0

    def events_of(self, performed: Performed) -> tuple[Event, ...]:
        """Everything that followed from one line."""
        steps = self.history.steps[performed.first : performed.last]
        events = tuple(e for step in steps for e in step.events)
        return (*events, performed.not_applicable) if performed.not_applicable else events

    def named_events_of(self, performed: Performed) -> Iterator[tuple[str, Event]]:
        """The same, each with the id under which words and pictures know it."""
        for n, event in enumerate(self.events_of(performed), 1):
            yield event_id(performed.moment, n), event

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that happened, in order."""
        return tuple(e for p in self.performed for e in self.events_of(p))


def event_id(moment: int, n: int) -> str:
    """``"6.2"``: the second event of moment 6."""
    return f"{moment}.{n}"


def act(stage: Stage, move: moves.Move, line: int) -> Stage:
    """One move; messages sent by it that a `hold` fits are kept back from now on.

    Raises PlayError when the play has MOVES_MAX moves already.
    """
    if stage.history.at >= MOVES_MAX:
        expected = f"it has {MOVES_MAX} moves already, and a play ends there"
        raise PlayError("the play is too long", expected=expected, line=line, file=stage.play.name)
    history, held = stage.history.do(move, line), stage.held_messages
    if stage.holds:
        sent = (e for e in history.steps[-1].events if isinstance(e, Sent))
        held |= {e.message for e in sent if _is_kept(stage, e.message, e.receiver)}
    return replace(stage, history=history, held_messages=held)


def _is_kept(stage: Stage, name: MessageName, receiver: BrokerId) -> bool:
    return next((kept for p, kept in reversed(stage.holds) if p.fits(name, receiver)), False)


def flow(stage: Stage, line: int) -> Stage:
    """Deliver what is not held, oldest first, until nothing is left."""
    if stage.manual:
        return stage
    while (ready := next(ready_messages(stage), None)) is not None:
        stage = act(stage, moves.Deliver(ready.name), line)
    return stage


def ready_messages(stage: Stage) -> Iterator[Message]:
    """The messages that can be delivered now, oldest first."""
    cluster = stage.cluster
    for message in cluster.messages:
        if message.name in stage.held_messages or blocker(cluster, message) is not None:
            continue
        # A cut link also stops a receiver that would have to ask over it.
        if not cluster.cut or why_not(cluster, moves.Deliver(message.name)) is None:
            yield message


def matching(stage: Stage, pattern: Pattern, besides: Message | None = None) -> Message | None:
    """The oldest message in flight that `pattern` fits, `besides` one."""
    fits = (m for m in stage.cluster.messages if pattern.fits(m.name, m.receiver))
    return next((m for m in fits if m is not besides), None)
