"""What falls due next in a timed cluster: the driver of timed runs.

Periodic work that would change nothing is left out: a heartbeat matters only as the last one
before a silence, a fetch only while the follower is behind, unknown, or outside the ISR.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..protocol.ids import CONTROLLER, NO_BROKER_EPOCH, NO_LEADER
from ..protocol.kraft.broker import HEARTBEAT_MS, LAG_CHECK_MS
from ..protocol.kraft.brokers import SESSION_TIMEOUT_MS
from ..protocol.kraft.state import registration
from ..protocol.replica.state import Broker, Lifecycle, Replica, Volatile, log_of, replica_of
from . import moves
from .cluster import Cluster, broker, is_cut

Due = tuple[int, moves.Move]


def due_moves(cluster: Cluster, end_ms: int) -> Due | None:
    """(when, move) of what falls due first, not later than `end_ms`; None when nothing does."""
    expiry = _expiry(cluster)
    until = end_ms if expiry is None else min(end_ms, expiry[0])
    found = [d for node in cluster.brokers for d in _of_broker(cluster, node, until)]
    if expiry is not None:
        found.append(expiry)
    ready = [d for d in found if d[0] <= end_ms]
    return min(ready, key=lambda d: d[0]) if ready else None


def _expiry(cluster: Cluster) -> Due | None:
    """When the session of a broker that can no longer report ends: strictly after the timeout."""
    silent = [
        h
        for h in cluster.controller.heartbeats
        if not h.fenced and not _reports(cluster, broker(cluster, h.broker))
    ]
    if not silent:
        return None
    oldest = min(silent, key=lambda h: (h.last_contact_ms, h.broker))
    at = max(oldest.last_contact_ms + SESSION_TIMEOUT_MS + 1, cluster.now_ms)
    return at, moves.ExpireSession(oldest.broker)


def _reports(cluster: Cluster, node: Broker | None) -> bool:
    """Whether the registered life of a broker runs and reaches the controller."""
    if node is None or node.process is None or is_cut(cluster, node.id, CONTROLLER):
        return False
    known = registration(cluster.controller.registrations, node.id)
    return known is not None and known.epoch == node.process.epoch


def _of_broker(cluster: Cluster, node: Broker, until_ms: int) -> Iterator[Due]:
    process = node.process
    if process is None:
        return
    now, timers = cluster.now_ms, process.timers
    yield from _lifecycle(cluster, node, process, until_ms)
    if process.items and not process.in_flight:
        yield max(now, timers.retry), moves.Fire(node.id, moves.Timer.RETRY)
    if any(_wants_fetch(cluster, node, r) for r in process.replicas):
        yield max(now, timers.fetch), moves.Fire(node.id, moves.Timer.FETCH)
    if any(_may_shrink(node, r) for r in process.replicas):
        at = _next_tick(timers.lag_check, LAG_CHECK_MS, now)
        yield at, moves.Fire(node.id, moves.Timer.LAG_CHECK)


def _lifecycle(cluster: Cluster, node: Broker, process: Volatile, until_ms: int) -> Iterator[Due]:
    heartbeat = moves.Fire(node.id, moves.Timer.HEARTBEAT)
    due = max(cluster.now_ms, process.timers.heartbeat)
    if process.lifecycle is Lifecycle.RECOVERY and not process.ready_to_unfence:
        yield cluster.now_ms, moves.FinishRecovery(node.id)
        return
    settled = process.lifecycle is Lifecycle.RUNNING and process.epoch != NO_BROKER_EPOCH
    if not settled:
        yield due, heartbeat
    elif process.timers.heartbeat <= until_ms:
        yield max(due, _last_tick(process.timers.heartbeat, HEARTBEAT_MS, until_ms)), heartbeat


def _wants_fetch(cluster: Cluster, node: Broker, replica: Replica) -> bool:
    if replica.leading is not None or replica.leader == NO_LEADER:
        return False
    leader = broker(cluster, replica.leader)
    there = replica_of(leader, replica.partition) if leader is not None else None
    if leader is None or there is None or there.leading is None:
        return False
    if _under_way(cluster, node):
        return False
    remote = next((r for r in there.leading.remotes if r.broker == node.id), None)
    mine, theirs = log_of(node, replica.partition), log_of(leader, replica.partition)
    behind = mine.end != theirs.end or remote is None or remote.end != mine.end
    state = there.leading.isr_state
    outside = node.id not in state.isr and state.sent is None
    return behind or outside or replica.high_watermark < there.high_watermark


def _under_way(cluster: Cluster, node: Broker) -> bool:
    """One fetch at a time: the next one is sent when the answer to the last has come."""
    return any(
        m.name.kind == "fetch" and m.name[:2] == (node.id, node.incarnation)
        for m in cluster.messages
    )


def _may_shrink(node: Broker, replica: Replica) -> bool:
    if replica.leading is None or replica.leading.isr_state.sent is not None:
        return False
    isr, end = replica.leading.isr_state.isr, log_of(node, replica.partition).end
    return any(r.broker in isr and r.end != end for r in replica.leading.remotes)


def _next_tick(due: int, period: int, now: int) -> int:
    """The first tick of a timer that is not in the past."""
    return due if due >= now else due + -(-(now - due) // period) * period


def _last_tick(due: int, period: int, until: int) -> int:
    """The last tick of a timer up to `until`."""
    return due + (until - due) // period * period
