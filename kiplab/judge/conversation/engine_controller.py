"""The engine's controller, asked the same: a cluster with a control plane and a clock, and no
brokers, since those who speak are fake.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from ...engine import moves
from ...engine.cluster import Cluster
from ...engine.events import Dropped, Event
from ...engine.nodes import state_of, with_state
from ...engine.step import step
from ...engine.truth import Truth, session_timeout_ms, sessions, stale_sessions, truth
from ...protocol.facts import RecordWritten
from ...protocol.features import Features
from ...protocol.ids import CONTROLLER, BrokerId, MetadataOffset
from ...protocol.kraft.controller_state import Controller
from ...protocol.messages import Request
from ...protocol.messages.api_message import ApiResponse
from ...protocol.registrations import PartitionRegistration
from .deciding_side import Answered
from .real_controller import NOBODY


class EngineController:
    """What `features` make of the requests that a real controller is asked."""

    def __init__(self, features: Features, end: MetadataOffset) -> None:
        self.cluster = Cluster(features, Controller(), (), timed=True)
        self.follow(end)

    @property
    def held(self) -> Truth:
        """What it holds for true."""
        return truth(self.cluster)

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

    def advance(self, ms: int) -> None:
        """Let time pass; whoever is silent for too long is fenced by `lapse`."""
        self._do(moves.Advance(ms))

    def is_stale(self) -> bool:
        """Whether somebody has been silent for too long."""
        return bool(stale_sessions(self.cluster))

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
            if not session.fenced
        )

    def fail_over(self) -> None:
        """Another controller takes over."""
        self._do(moves.FailOver())

    def raise_metadata_version(self, metadata_version: str) -> None:
        """The metadata version is another one."""
        self._do(moves.UpgradeMetadata(metadata_version))

    def add(self, partitions: Sequence[PartitionRegistration]) -> None:
        """Partitions that Kafka has created."""
        both = sorted((*self.held.partitions, *partitions), key=lambda p: p.name)
        self._hold(partitions=tuple(both))

    def follow(self, end: MetadataOffset) -> None:
        """Kafka's log ends there, by records that the engine has nothing to do with."""
        self._hold(next_offset=end)

    def _hold(self, **changed: object) -> None:
        state = replace(state_of(self.cluster, CONTROLLER), **changed)
        self.cluster = with_state(self.cluster, CONTROLLER, state)

    def _do(self, move: moves.Move) -> tuple[Event, ...]:
        done = step(self.cluster, move)
        self.cluster = done.cluster
        return done.events


def _records(events: Iterable[Event]) -> tuple[RecordWritten, ...]:
    return tuple(event for event in events if isinstance(event, RecordWritten))
