"""The engine's controller, asked the same: a cluster with a control plane and a clock, and no
brokers, since those who speak are fake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from ...engine import moves
from ...engine.cluster import Cluster
from ...engine.events import Dropped, Event
from ...engine.impossible_moves import why_not
from ...engine.nodes import state_of, with_state
from ...engine.step import Step, step
from ...engine.truth import (
    Truth,
    session_lasts,
    session_timeout_ms,
    sessions,
    stale_sessions,
    truth,
)
from ...protocol.facts import RecordWritten
from ...protocol.features import Features
from ...protocol.ids import CONTROLLER, BrokerId, MetadataOffset
from ...protocol.kraft.controller_state import Controller
from ...protocol.kraft.sessions import has_contacts
from ...protocol.messages import Request, UnregisterBrokerRequest
from ...protocol.messages.api_message import ApiResponse
from ...protocol.registrations import PartitionRegistration
from .deciding_side import Answered
from .real_controller import NOBODY

Witness = Callable[[Cluster, moves.Move, Step], None]
"""Who sees every move: the cluster before it, and what it came to."""


class EngineController:
    """What `features` make of the requests that a real controller is asked."""

    def __init__(
        self, features: Features, end: MetadataOffset, last_record: MetadataOffset | None = None
    ) -> None:
        """Its log ends at `end`. The quorum alone has written behind `last_record`, if given."""
        self.witness: Witness = _nobody
        begun = Controller(next_offset=end)
        self.cluster = Cluster(features, begun, (), timed=True)
        if last_record is not None and last_record + 1 < end:
            self.follow(MetadataOffset(last_record + 1))
            self.take_over(end)

    @property
    def held(self) -> Truth:
        """What it holds for true."""
        return truth(self.cluster)

    @property
    def end(self) -> MetadataOffset:
        """The offset of its next record."""
        return MetadataOffset(self.held.next_offset)

    @property
    def features(self) -> Features:
        """What it runs with by now."""
        return self.cluster.features

    @property
    def now_ms(self) -> int:
        """Its clock, which began at 0."""
        return self.cluster.now_ms

    def ask(self, request: Request) -> Answered:
        """Its answer, and the records it wrote."""
        self._do(moves.RawRequest(NOBODY, CONTROLLER, request))
        (message,) = self.cluster.messages
        events = self._do(moves.Deliver(message.name))
        # Nobody is there to hear the answer, so that it is lost.
        bodies = [event.body for event in events if isinstance(event, Dropped)]
        (answer,) = (body for body in bodies if isinstance(body, ApiResponse))
        return Answered(answer, _records(events))

    @property
    def looks_later(self) -> bool:
        """Whether it is noticed later that a session is over: from 4.0 on, `notice` says when."""
        return has_contacts(self.features.code_of(CONTROLLER))

    def answer(self, request: Request, fenced: Iterable[BrokerId]) -> Answered:
        """Its answer; whoever was silent for too long is fenced first, these in their order."""
        lapsed = () if self.looks_later else self.lapse(fenced)
        mine = self.ask(request)
        return mine._replace(records=(*lapsed, *mine.records))

    def advance(self, ms: int) -> None:
        """Let time pass; whoever is silent for too long is fenced by `lapse`."""
        if ms:
            self._do(moves.Advance(ms))

    def is_stale(self) -> bool:
        """Whether somebody has been silent for too long."""
        return bool(stale_sessions(self.cluster))

    def notice(self, order: Iterable[BrokerId]) -> tuple[RecordWritten, ...]:
        """Fence those in `order` whose session is over, in that order: the records of it."""
        found: tuple[RecordWritten, ...] = ()
        for broker in order:
            if broker in stale_sessions(self.cluster):
                found += _records(self._do(moves.ExpireSession(broker)))
        return found

    def lapse(self, order: Iterable[BrokerId] = ()) -> tuple[RecordWritten, ...]:
        """Fence everybody whose session is over: the records of it.

        Of sessions that end at the same moment, those in `order` end first, in that order: after a
        failover Kafka goes through a hash table there, and no rule says whose turn it is.
        """
        wanted = tuple(order)
        found: tuple[RecordWritten, ...] = ()
        while tied := stale_sessions(self.cluster):
            first = next((broker for broker in wanted if broker in tied), min(tied))
            found += _records(self._do(moves.ExpireSession(first)))
        return found

    def ends_soon(self, within_ms: int, at_ms: int) -> bool:
        """Whether some session ends within so many milliseconds of `at_ms`."""
        timeout = session_timeout_ms(self.cluster)
        return any(
            abs(session.last_contact_ms + timeout - at_ms) < within_ms
            for session in sessions(self.cluster)
            if not session.over
        )

    def leaves_a_session(self, request: Request) -> bool:
        """Whether a broker would be unregistered by this, and its session would go on."""
        if not isinstance(request, UnregisterBrokerRequest):
            return False
        forgets = self.features.code_of(CONTROLLER) >= (3, 3)
        return session_lasts(self.cluster, request.broker) and not forgets

    def take_over(self, end: MetadataOffset) -> None:
        """Another controller; the quorum has written of its election, up to `end`."""
        self._do(moves.FailOver())
        self.follow(end)

    def raise_metadata_version(self, metadata_version: str) -> str:
        """The metadata version is another one; or why it cannot be."""
        move = moves.UpgradeMetadata(metadata_version)
        refused = why_not(self.cluster, move)
        if refused is None:
            self._do(move)
        return refused or ""

    def add(self, partitions: Sequence[PartitionRegistration], end: MetadataOffset) -> None:
        """Partitions that Kafka has created, and written into its log, which ends there now."""
        both = sorted((*self.held.partitions, *partitions), key=lambda p: p.name)
        self._hold(partitions=tuple(both), write_offset=None)
        self.follow(end)

    def follow(self, end: MetadataOffset) -> None:
        """Kafka's log ends there, by records that the engine has nothing to do with."""
        self._hold(next_offset=end)

    def _hold(self, **changed: object) -> None:
        state = replace(state_of(self.cluster, CONTROLLER), **changed)
        self.cluster = with_state(self.cluster, CONTROLLER, state)

    def _do(self, move: moves.Move) -> tuple[Event, ...]:
        done = step(self.cluster, move)
        self.witness(self.cluster, move, done)
        self.cluster = done.cluster
        return done.events


def _records(events: Iterable[Event]) -> tuple[RecordWritten, ...]:
    return tuple(event for event in events if isinstance(event, RecordWritten))


def _nobody(_before: Cluster, _move: moves.Move, _done: Step) -> None:
    """Sees nothing."""
