"""`enabled`: the moves that are possible now, within a menu.

`settle` does all of them that are no fault, until only a fault could still change the cluster.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations, product, starmap
from typing import get_args

import msgspec
from msgspec.structs import replace

from ..protocol.clients.consumer import Reset
from ..protocol.ids import CONTROLLER, ZOOKEEPER, BrokerId
from ..protocol.registrations import PartitionRegistration, topic_of
from ..protocol.replica.broker_state import Loss
from . import moves, routes
from .canonical import canonical
from .cluster import Cluster, Message
from .impossible_moves import why_not
from .nodes import control_planes, kind_of, leads
from .step import step
from .truth import controller_of, registration_of, session_lasts, truth


class Menu(msgspec.Struct, frozen=True, kw_only=True):
    """Which kinds of moves are offered, and with which parameters where there are many.

    `produce` lists record counts, `poll` names of consumers: each polls every partition, asks for
    metadata and goes to either end; `producers` names of producers: each writes one record to every
    partition, with acks=all and with acks=1, and sends again. `timers` are those of every node.
    """

    kinds: frozenset[type]
    timers: tuple[moves.Timer, ...] = tuple(moves.Timer)
    losses: tuple[Loss, ...] = tuple(Loss)
    produce: tuple[int, ...] = (1,)
    poll: tuple[str, ...] = ("consumer",)
    producers: tuple[str, ...] = ("producer",)
    advance_ms: tuple[int, ...] = ()

    def of(self, kind: type[moves.Move], *values: Iterable[object]) -> Iterator[moves.Move]:
        """The moves of a kind with these values of its fields, all with all; none if not on it."""
        return starmap(kind, product(*values)) if kind in self.kinds else iter(())


EVERYTHING = Menu(kinds=frozenset(get_args(moves.Move)))
"""Every kind; what a panel of buttons offers."""
_NO_PROGRESS = (
    *(moves.Timer.CHECKPOINT, moves.Timer.FLUSH),
    *(moves.Timer.ELECT_UNCLEAN, moves.Timer.BALANCE_LEADERS),
)
"""Timers without which a cluster comes to rest as well. What is written to disk makes nothing
better for who runs on, an unclean election may lose what was committed, and another leader is no
better than the one there is.
"""
_OF_BROKERS = {moves.FinishRecovery, moves.FinishLeaderRecovery, moves.Start, moves.ExpireSession}
PROGRESS = Menu(
    kinds=frozenset({moves.Deliver, moves.Fire, *_OF_BROKERS}),
    timers=tuple(timer for timer in moves.Timer if timer not in _NO_PROGRESS),
)
"""Everything that is not a fault: how a cluster gets better when it is left alone."""


def enabled(cluster: Cluster, menu: Menu) -> tuple[moves.Move, ...]:
    """The moves of `menu` that can be done now, always in the same order."""
    return tuple(move for move in _candidates(cluster, menu) if why_not(cluster, move) is None)


def _candidates(cluster: Cluster, menu: Menu) -> Iterator[moves.Move]:
    partitions = truth(cluster).partitions
    names = [p.name for p in partitions]
    for kind in get_args(moves.AboutMessage):
        yield from menu.of(kind, [m.name for m in cluster.messages])
    for node in cluster.brokers:
        yield from _about_broker(node.id, menu)
    for partition in partitions:
        yield from _about_partition(cluster, menu, partition)
    for who in ([name] for name in menu.poll):
        for name in names:
            yield from menu.of(moves.Poll, [name], who)
            yield from menu.of(moves.ResetOffset, [name], (Reset.EARLIEST, Reset.LATEST), who)
        yield from menu.of(moves.RefreshMetadata, who)
    for who in ([name] for name in menu.producers):
        yield from menu.of(moves.ProduceAs, names, who, [1], (True, False))
        yield from menu.of(moves.Resend, who)
    apart = CONTROLLER if controller_of(cluster) == CONTROLLER else ZOOKEEPER
    for one, other in combinations([apart, *(b.id for b in cluster.brokers)], 2):
        yield from menu.of(moves.Cut, [one], [other])
        yield from menu.of(moves.Heal, [one], [other])
    for address in control_planes(cluster):
        timers = [t for kind, t in routes.TIMERS if kind is kind_of(cluster, address)]
        yield from menu.of(moves.Fire, [address], [t for t in timers if t in menu.timers])
    yield from menu.of(moves.FailOver)
    yield from menu.of(moves.Configure, dict.fromkeys(map(topic_of, names)), (True, False))
    yield from menu.of(moves.Advance, menu.advance_ms)


def _about_broker(id: BrokerId, menu: Menu) -> Iterator[moves.Move]:
    yield from menu.of(moves.Fire, [id], menu.timers)
    for kind in (moves.FinishRecovery, moves.Start, moves.ExpireSession):
        yield from menu.of(kind, [id])
    yield from menu.of(moves.Crash, [id], menu.losses)
    yield from menu.of(moves.ShutDown, [id])
    yield from menu.of(moves.HeartbeatTimeout, [id], (True, False))


def _about_partition(
    cluster: Cluster, menu: Menu, partition: PartitionRegistration
) -> Iterator[moves.Move]:
    name, ids = [partition.name], [b.id for b in cluster.brokers]
    for count in menu.produce:
        yield from menu.of(moves.Produce, name, ids, [count])
    leaders = [b.id for b in cluster.brokers if b.id == partition.leader or leads(b, *name)]
    yield from menu.of(moves.DeleteRecords, name, leaders)
    yield from menu.of(moves.Elect, name, (False, True))
    yield from menu.of(moves.EndTransaction, name, ids, (False, True))
    yield from menu.of(moves.FinishLeaderRecovery, name, ids)


# --- to a fixpoint --------------------------------------------------------------------------------

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
    registered = registration_of(cluster, move.broker)
    incarnation = None if registered is None else registered.incarnation
    is_gone = node.process is None or node.incarnation != incarnation
    return is_gone and session_lasts(cluster, move.broker)
