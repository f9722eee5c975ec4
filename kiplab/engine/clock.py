"""The next due event of a timed cluster: the driver of timed runs.

Periodic work without effect is left out. A fetch matters only while the follower is behind,
unknown, or outside the ISR. A broker in good standing sends only as many heartbeats as keep its
session, the last one as late as it would really be.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from operator import attrgetter, itemgetter

from ..protocol.ids import NO_BROKER_EPOCH, NO_LEADER, BrokerId
from ..protocol.replica import broker_state
from ..protocol.replica.broker_state import Broker, Lifecycle, Replica, log_of, replica_of
from . import moves, nodes, producers, route_kinds, routes
from .cluster import Cluster, broker
from .truth import Session, session_end_ms, watched_sessions

Due = tuple[int, moves.Move]
_WHEN = itemgetter(0)
_SILENT_LONGEST = attrgetter("last_contact_ms", "broker")
_HEARTBEAT_MS = routes.PERIOD_MS[moves.Timer.HEARTBEAT]


def due_moves(cluster: Cluster, end_ms: int, first_fenced: Sequence[BrokerId] = ()) -> Due | None:
    """(when, move) of what falls due first, not later than `end_ms`; None when nothing does.

    Of sessions that end at the same moment those of `first_fenced` do first, in that order.
    Messages still in flight count as held back: whoever waits for one asks nothing more.
    """
    sessions = watched_sessions(cluster)
    expiry, counted_on = _expiry(cluster, sessions, first_fenced), _counted_on(sessions)
    until = end_ms if expiry is None else min(expiry[0], end_ms)
    # First: the controller's event was due before a request of the same millisecond came.
    dues = [expiry]
    for node in cluster.brokers:
        dues.append(_lifecycle(cluster, node, node.id in counted_on, until))
        dues.append(_of_broker(cluster, node))
    dues += _of_control_planes(cluster)
    if cluster.producers:
        dues += producers.next_turns(cluster)
    first = _first([due for due in dues if due is not None])
    return first if first is not None and first[0] <= end_ms else None


def _first(dues: Sequence[Due]) -> Due | None:
    return min(dues, key=_WHEN) if dues else None


def _of_control_planes(cluster: Cluster) -> list[Due]:
    """The timers of each that something would come of."""
    dues: list[Due] = []
    for node in nodes.control_planes(cluster):
        state = nodes.state_of(cluster, node)
        for timer, idle in _timers_of(nodes.kind_of(cluster, node)):
            if idle is None or idle(state, cluster) is None:
                at = max(nodes.due_ms(state, timer), cluster.now_ms)
                dues.append((at, moves.Fire(node, timer)))
    return dues


@cache
def _timers_of(kind: type) -> tuple[tuple[moves.Timer, route_kinds.IdleCheck | None], ...]:
    """What TIMERS and IDLE say of a kind of node, which is asked for all the time."""
    timers = (timer for owner, timer in routes.TIMERS if owner is kind)
    return tuple((timer, routes.IDLE.get((kind, timer))) for timer in timers)


def _expiry(cluster: Cluster, sessions: Iterable[Session], first: Sequence[BrokerId]) -> Due | None:
    """When the oldest session ends unless its broker is heard of."""
    on = [session for session in sessions if not session.over]
    if not on:
        return None
    oldest = _first_of(on, first) if first else min(on, key=_SILENT_LONGEST)
    return session_end_ms(cluster, oldest), moves.ExpireSession(oldest.broker)


def _first_of(on: Iterable[Session], first: Sequence[BrokerId]) -> Session:
    turns = {broker: turn for turn, broker in enumerate(first)}
    last = len(turns)
    return min(on, key=lambda s: (s.last_contact_ms, turns.get(s.broker, last), s.broker))


def _awaits(cluster: Cluster, node: Broker, lane: str) -> bool:
    """One request at a time: the next is sent when the answer to the last has come."""
    if not cluster.messages:
        return False
    incarnation = (node.id, node.incarnation)
    for m in cluster.messages:
        if m.lane != lane:
            continue
        if m.receiver == node.id if m.request is not None else m.name[:2] == incarnation:
            return True
    return False


def _of_broker(cluster: Cluster, node: Broker) -> Due | None:
    process = node.process
    if process is None:
        return None
    dues: list[Due] = []
    now, timers = cluster.now_ms, process.timers
    if process.items and not process.in_flight:
        dues.append((max(now, timers.retry), moves.Fire(node.id, moves.Timer.RETRY)))
    if process.isr_changes:
        dues.append((max(now, timers.announce_isr), moves.Fire(node.id, moves.Timer.ANNOUNCE_ISR)))
    for replica in process.replicas:
        if replica.leading is None and wants_fetch(cluster, node, replica):
            dues.append((max(now, timers.fetch), moves.Fire(node.id, moves.Timer.FETCH)))
        elif replica.leading is not None and _may_shrink(replica.leading, node, replica):
            at = _next_tick(timers.lag_check, broker_state.LAG_CHECK_MS, now)
            dues.append((at, moves.Fire(node.id, moves.Timer.LAG_CHECK)))
    _add_on_disk(dues, node, process, now)
    return _first(dues)


def _add_on_disk(dues: list[Due], node: Broker, process: broker_state.Volatile, now: int) -> None:
    for kept in node.durable.replicas:
        played = replica_of(node, kept.partition)
        if played is not None and played.high_watermark != kept.checkpoint:
            due = process.timers.checkpoint
            dues.append(_first_turn(node, due, moves.Timer.CHECKPOINT, now))
        if kept.log.flushed != kept.log.end:
            dues.append(_first_turn(node, process.timers.flush, moves.Timer.FLUSH, now))


def _first_turn(node: Broker, due: int, timer: moves.Timer, now: int) -> Due:
    """A process older than the clock has its timers at 0: its first turn is one period away."""
    period = routes.PERIOD_MS[timer]
    return _next_tick(max(due, period), period, now), moves.Fire(node.id, timer)


def _lifecycle(cluster: Cluster, node: Broker, is_counted_on: bool, until_ms: int) -> Due | None:
    process = node.process
    if process is None:
        return None
    if process.lifecycle is Lifecycle.RECOVERY and not process.ready_to_unfence:
        return cluster.now_ms, moves.FinishRecovery(node.id)
    if _awaits(cluster, node, "lifecycle"):
        return None
    due = process.timers.heartbeat
    has_started = process.lifecycle is Lifecycle.RUNNING and process.epoch != NO_BROKER_EPOCH
    if due <= until_ms and is_counted_on and has_started:
        # The last tick until then.
        due += (until_ms - due) // _HEARTBEAT_MS * _HEARTBEAT_MS
    return max(cluster.now_ms, due), moves.Fire(node.id, moves.Timer.HEARTBEAT)


def _counted_on(sessions: Sequence[Session]) -> Sequence[BrokerId]:
    """Whose heartbeats merely keep a session, once it has started; of others the very next one may
    change more.

    A broker in controlled shutdown waits for what the heartbeats of all the others say, and a
    controller that is new, and knows no session to watch, for the first word of anybody.
    """
    counted_on = []
    for session in sessions:
        if session.leaving:
            return ()
        if not session.fenced:
            counted_on.append(session.broker)
    return counted_on


def wants_fetch(cluster: Cluster, node: Broker, replica: Replica) -> bool:
    if replica.leader == NO_LEADER:
        return False
    leader = broker(cluster, replica.leader)
    there = replica_of(leader, replica.partition) if leader is not None else None
    if leader is None or there is None or there.leading is None or _awaits(cluster, node, "fetch"):
        return False
    mine, theirs = log_of(node, replica.partition), log_of(leader, replica.partition)
    state = there.leading.isr_state
    if mine.end != theirs.end or (node.id not in state.isr and state.sent is None):
        return True
    remote = next((r for r in there.leading.remotes if r.broker == node.id), None)
    behind = remote is None or remote.end != mine.end
    return behind or replica.high_watermark < there.high_watermark


def _may_shrink(leading: broker_state.Leading, node: Broker, replica: Replica) -> bool:
    if leading.isr_state.sent is not None:
        return False
    isr, end = leading.isr_state.isr, log_of(node, replica.partition).end
    return any(r.end != end and r.broker in isr for r in leading.remotes)


def _next_tick(due: int, period: int, now: int) -> int:
    return due if due >= now else due + -(-(now - due) // period) * period
