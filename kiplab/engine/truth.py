"""`truth`: leaders, ISRs and registrations, in every mode.

Every mode keeps the answer somewhere else: KRaft in the metadata log of its controller. Other code
reads it here, and never reaches into a control plane; `tests/engine/test_truth.py` holds that. A
mode adds its state to `Truth` and its reader to READERS.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple, cast

from ..protocol.ids import CONTROLLER, BrokerId, Milliseconds, controller_on
from ..protocol.kraft import sessions as kraft_sessions
from ..protocol.kraft.controller_state import Controller, HeartbeatState
from ..protocol.registrations import PartitionRegistration, Registration
from ..protocol.zookeeper.ensemble import Ensemble, ZooKeeperSession, controller_named
from .cluster import Cluster

Truth = Controller | Ensemble
"""What a control plane holds for true, and what brokers learn of late: `controller_epoch`,
`next_offset` (of the next change; broker epochs are minted from it), `registrations` sorted by
broker, `partitions` sorted by name. The state of a control plane has these fields and is its own
reading: looking costs nothing (a move does it some ten times), and what did not change is the same
object as before.
"""
Session = HeartbeatState | kraft_sessions.NotedSession | ZooKeeperSession
"""A control plane's state of one `broker`'s session: whether it is `over`, when the broker was
heard of last (`last_contact_ms`), and whether it is `fenced` or `leaving` (controlled shutdown).
"""


class TruthReader(NamedTuple):
    """The reading of one mode beside its state's fields (see `Truth`); without a clock no times."""

    sessions: Callable[[Cluster], tuple[Session, ...]]
    controller: Callable[[Cluster], BrokerId | None]
    """The address of the rightful controller."""
    session_timeout_ms: int
    stale_sessions: Callable[[Cluster], frozenset[BrokerId]] = lambda _: frozenset()
    watches_sessions: Callable[[Cluster], bool] = lambda _: False
    next_check_ms: Callable[[Cluster, Milliseconds], Milliseconds] = lambda _, from_ms: from_ms
    """The earliest time, from a moment on, at which the end of a session is noticed."""


def truth(cluster: Cluster) -> Truth:
    """The state that the control plane decided. Raises NoTruthReaderError for an unknown plane."""
    state: Any = cluster.controller
    if type(state) not in READERS:
        raise NoTruthReaderError(type(state))
    held: Truth = state
    return held


def is_same_truth(before: Cluster, after: Cluster) -> bool:
    """Whether two clusters have one truth: what did not change is the same object."""
    return before.controller is after.controller


def partition_of(cluster: Cluster, name: str) -> PartitionRegistration | None:
    """The partition called `name` as it truly is, or None."""
    for registration in truth(cluster).partitions:
        if registration.name == name:
            return registration
    return None


def registration_of(cluster: Cluster, broker: BrokerId) -> Registration | None:
    """The registration of `broker`, or None."""
    for registration in truth(cluster).registrations:
        if registration.broker == broker:
            return registration
    return None


def sessions(cluster: Cluster) -> tuple[Session, ...]:
    """Every session there is or was, sorted by broker."""
    return _reader(cluster).sessions(cluster)


def session_lasts(cluster: Cluster, broker: BrokerId) -> bool:
    """Whether the control plane still counts on `broker`."""
    return any(s.broker == broker and not s.over for s in sessions(cluster))


def stale_sessions(cluster: Cluster) -> frozenset[BrokerId]:
    """The brokers whose expired session may be ended next; none without a clock.

    Which of several is first is for the schedule to say: Kafka looks into a hash table. Up to 3.9
    these are the brokers that were all heard of longest ago, from 4.0 on any.
    """
    return _reader(cluster).stale_sessions(cluster)


def watched_sessions(cluster: Cluster) -> tuple[Session, ...]:
    """`sessions`, where the control plane ends expired ones (`watches_sessions`)."""
    reader = _reader(cluster)
    return reader.sessions(cluster) if reader.watches_sessions(cluster) else ()


def session_end_ms(cluster: Cluster, session: Session) -> Milliseconds:
    """The time at which expiry is noticed: strictly after the timeout, up to 3.9 at once."""
    reader = _reader(cluster)
    over = session.last_contact_ms + reader.session_timeout_ms + 1
    return reader.next_check_ms(cluster, over if over > cluster.now_ms else cluster.now_ms)


def watches_sessions(cluster: Cluster) -> bool:
    """Whether expired sessions are ended: a new controller does not before its first heartbeat."""
    return _reader(cluster).watches_sessions(cluster)


def session_timeout_ms(cluster: Cluster) -> int:
    """The time for which a broker may be silent."""
    return _reader(cluster).session_timeout_ms


def controller_of(cluster: Cluster) -> BrokerId | None:
    """The address of the rightful controller; None while there is none."""
    return _reader(cluster).controller(cluster)


class NoTruthReaderError(TypeError):
    """A mode was added without saying how it is read."""

    def __init__(self, state: type) -> None:
        super().__init__(
            f"nobody says how the control plane {state.__name__} is read: add a TruthReader for"
            " it to READERS in kiplab/engine/truth.py"
        )


def _reader(cluster: Cluster) -> TruthReader:
    state = type(cluster.controller)
    try:
        return READERS[state]
    except KeyError:
        raise NoTruthReaderError(state) from None


def _kraft(cluster: Cluster) -> Controller:
    return cast("Controller", cluster.controller)


def _notes(cluster: Cluster) -> bool:
    return kraft_sessions.has_contacts(cluster.features.code_of(CONTROLLER))


def _kraft_sessions(cluster: Cluster) -> tuple[Session, ...]:
    controller = _kraft(cluster)
    return kraft_sessions.noted_sessions(controller) if _notes(cluster) else controller.heartbeats


def _kraft_stale_sessions(cluster: Cluster) -> frozenset[BrokerId]:
    controller = _kraft(cluster)
    if _notes(cluster):
        return frozenset(kraft_sessions.out_of_contact(controller, cluster.clock))
    oldest = kraft_sessions.stale_broker(controller, cluster.clock)
    on = [heartbeat for heartbeat in controller.heartbeats if not heartbeat.over]
    last = [heartbeat.last_contact_ms for heartbeat in on if heartbeat.broker == oldest]
    return frozenset(heartbeat.broker for heartbeat in on if heartbeat.last_contact_ms in last)


def _zookeeper_sessions(cluster: Cluster) -> tuple[Session, ...]:
    ensemble = cast("Ensemble", cluster.controller)
    return tuple(sorted(ensemble.sessions, key=attrgetter("broker")))


def _controller_in_zookeeper(cluster: Cluster) -> BrokerId | None:
    named = controller_named(cast("Ensemble", cluster.controller))
    return None if named is None else controller_on(named)


ZOOKEEPER_SESSION_TIMEOUT_MS = 18_000
"""zookeeper.session.timeout.ms from 2.5 on; runs with ZooKeeper have no clock."""
READERS: dict[type, TruthReader] = {
    Controller: TruthReader(
        sessions=_kraft_sessions,
        controller=lambda _: CONTROLLER,
        session_timeout_ms=kraft_sessions.SESSION_TIMEOUT_MS,
        stale_sessions=_kraft_stale_sessions,
        watches_sessions=lambda cluster: _kraft(cluster).watches_sessions,
        next_check_ms=lambda cluster, not_before_ms: (
            kraft_sessions.next_check_ms(_kraft(cluster), not_before_ms)
            if _notes(cluster)
            else not_before_ms
        ),
    ),
    Ensemble: TruthReader(
        _zookeeper_sessions, _controller_in_zookeeper, ZOOKEEPER_SESSION_TIMEOUT_MS
    ),
}
"""The type of a control plane's state, and how it is read."""
