"""`settle`: let the cluster run until only a fault could still change it."""

from msgspec.structs import replace

from . import moves, truth
from .canonical import canonical
from .cluster import Cluster, Message
from .enabled import PROGRESS, enabled
from .impossible_moves import why_not
from .step import step

ROUNDS_MAX = 60
"""No cluster of a lab needs this many; a run that does is cycling, which is worth an error."""


def deliver_all(cluster: Cluster) -> Cluster:
    """Deliver what can be delivered, oldest first, until nothing is left."""
    while True:
        arrivals = (moves.Deliver(message.name) for message in cluster.messages)
        ready = next((move for move in arrivals if why_not(cluster, move) is None), None)
        if ready is None:
            return cluster
        cluster = step(cluster, ready, checked=True).cluster


def settle(cluster: Cluster) -> Cluster:
    """All moves that are not faults, again and again, to a fixpoint.

    Links stay cut, and a session ends only when its broker is down. Raises RuntimeError when the
    cluster never comes to rest. A clock is ignored: timers fire as if always due.
    """
    cluster = replace(cluster, timed=False) if cluster.timed else cluster
    for _ in range(ROUNDS_MAX):
        before = canonical(cluster)
        cluster = _round(cluster)
        if canonical(cluster) == before:
            return cluster
    raise RuntimeError(f"the cluster does not come to rest within {ROUNDS_MAX} rounds")


def _round(cluster: Cluster) -> Cluster:
    cluster = deliver_all(cluster)
    for move in enabled(cluster, PROGRESS):
        if isinstance(move, moves.ExpireSession) and not _is_gone(cluster, move):
            continue
        if why_not(cluster, move) is None:
            cluster = _without_repeats(deliver_all(step(cluster, move).cluster))
    return cluster


def _without_repeats(cluster: Cluster) -> Cluster:
    """Drop a message that repeats one which already waits at the same cut link."""
    waiting: dict[tuple[object, ...], Message] = {}
    for message in cluster.messages:
        ends = (message.name.sender, message.name.incarnation, message.receiver)
        waiting.setdefault((*ends, message.body, message.request), message)
    if len(waiting) == len(cluster.messages):
        return cluster
    return replace(cluster, messages=tuple(waiting.values()))


def _is_gone(cluster: Cluster, move: moves.ExpireSession) -> bool:
    node = next(b for b in cluster.brokers if b.id == move.broker)
    registered = truth.registration_of(cluster, move.broker)
    incarnation = None if registered is None else registered.incarnation
    is_gone = node.process is None or node.incarnation != incarnation
    return is_gone and truth.session_lasts(cluster, move.broker)
