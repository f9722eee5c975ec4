"""`enabled`: what can be done now, within a menu."""

from collections.abc import Iterator
from itertools import combinations, product

import msgspec

from ..protocol.clients.consumer import Reset
from ..protocol.ids import CONTROLLER, ZOOKEEPER, Offset
from ..protocol.registrations import topic_of
from ..protocol.replica.broker_state import Broker, Loss, replica_of
from . import moves, routes
from .cluster import Cluster
from .impossible_moves import why_not
from .nodes import control_planes, kind_of
from .truth import controller_of, truth


class Menu(msgspec.Struct, frozen=True, kw_only=True):
    """Which families of moves are offered, and with which parameters.

    `faults_left` bounds the moves of `moves.FAULTS`: with 0 none is offered. Sizes are small
    tuples; `produce` lists record counts, `delete` offsets below which records are deleted (None:
    all the committed), `poll` names of consumers: each polls every partition, asks for metadata and
    goes to either end; `producers` names of producers: each writes one record to every partition,
    with acks=all and with acks=1, and sends again. `configure` lists what a topic's
    unclean.leader.election.enable becomes. `heartbeat_timeouts` lists where one of KIP-343's may be
    over: at the controller, or at the broker. `timers` are brokers', `controller_timers` those
    of control planes, wherever they live.
    """

    messages: tuple[type, ...] = (moves.Deliver,)
    timers: tuple[moves.Timer, ...] = ()
    controller_timers: tuple[moves.Timer, ...] = ()
    losses: tuple[Loss, ...] = ()
    produce: tuple[int, ...] = ()
    delete: tuple[Offset | None, ...] = ()
    poll: tuple[str, ...] = ()
    producers: tuple[str, ...] = ()
    advance_ms: tuple[int, ...] = ()
    expire: bool = True
    start: bool = True
    finish_recovery: bool = True
    finish_leader_recovery: bool = True
    end_transaction: bool = False
    shut_down: bool = False
    heartbeat_timeouts: tuple[bool, ...] = ()
    fail_over: bool = False
    elect: tuple[bool, ...] = ()
    configure: tuple[bool, ...] = ()
    cut: bool = False
    faults_left: int = 0


EVERYTHING = Menu(
    messages=(moves.Deliver, moves.Drop, moves.TimeOut, moves.Duplicate, moves.LoseReply),
    timers=tuple(moves.Timer),
    controller_timers=tuple(moves.Timer),
    losses=tuple(Loss),
    produce=(1,),
    end_transaction=True,
    delete=(None,),
    poll=("consumer",),
    producers=("producer",),
    shut_down=True,
    heartbeat_timeouts=(True, False),
    fail_over=True,
    elect=(False, True),
    configure=(True, False),
    cut=True,
    faults_left=1,
)
"""Every family; what a panel of buttons offers."""

NO_PROGRESS: dict[moves.Timer, str] = {
    moves.Timer.CHECKPOINT: "what is written to disk makes nothing better for who runs on",
    moves.Timer.FLUSH: "what is written to disk makes nothing better for who runs on",
    moves.Timer.ELECT_UNCLEAN: "an unclean election may lose what was committed",
    moves.Timer.BALANCE_LEADERS: "another leader is no better than the one there is",
}
"""Timers without which a cluster comes to rest as well, and why."""
_HELPFUL = tuple(timer for timer in moves.Timer if timer not in NO_PROGRESS)
PROGRESS = Menu(timers=_HELPFUL, controller_timers=_HELPFUL)
"""Everything that is not a fault: how a cluster gets better when it is left alone."""


def enabled(cluster: Cluster, menu: Menu) -> tuple[moves.Move, ...]:
    """The moves of `menu` that can be done now, always in the same order."""
    return tuple(
        move
        for move in _candidates(cluster, menu)
        if (menu.faults_left > 0 or not isinstance(move, moves.FAULTS))
        and why_not(cluster, move) is None
    )


def _candidates(cluster: Cluster, menu: Menu) -> Iterator[moves.Move]:
    for family in menu.messages:
        yield from (family(m.name) for m in cluster.messages)
    for node in cluster.brokers:
        yield from (moves.Fire(node.id, timer) for timer in menu.timers)
        if menu.finish_recovery:
            yield moves.FinishRecovery(node.id)
        if menu.start:
            yield moves.Start(node.id)
        if menu.expire:
            yield moves.ExpireSession(node.id)
        yield from (moves.Crash(node.id, loss) for loss in menu.losses)
        if menu.shut_down:
            yield moves.ShutDown(node.id)
        yield from (moves.HeartbeatTimeout(node.id, here) for here in menu.heartbeat_timeouts)
    yield from _about_partitions(cluster, menu)
    for name in menu.poll:
        yield from _about_consumer(cluster, name)
    for name in menu.producers:
        yield from _about_producer(cluster, name)
    yield from _about_links(cluster, menu)
    yield from _about_control_planes(cluster, menu)
    if menu.fail_over:
        yield moves.FailOver()
    topics = dict.fromkeys(topic_of(p.name) for p in truth(cluster).partitions)
    yield from (moves.Configure(topic, on) for topic in topics for on in menu.configure)
    yield from (moves.Advance(ms) for ms in menu.advance_ms)


def _about_control_planes(cluster: Cluster, menu: Menu) -> Iterator[moves.Move]:
    for node in control_planes(cluster) if menu.controller_timers else ():
        kind = kind_of(cluster, node)
        for owner, timer in routes.TIMERS:
            if owner is kind and timer in menu.controller_timers:
                yield moves.Fire(node, timer)


def _about_partitions(cluster: Cluster, menu: Menu) -> Iterator[moves.Move]:
    brokers = [b.id for b in cluster.brokers]
    for state in truth(cluster).partitions:
        name = state.name
        led_by = [b.id for b in cluster.brokers if b.id == state.leader or _leads(b, name)]
        yield from (moves.Produce(name, id, count) for count in menu.produce for id in brokers)
        yield from (moves.DeleteRecords(name, id, end) for end in menu.delete for id in led_by)
        yield from (moves.Elect(name, unclean) for unclean in menu.elect)
        if menu.end_transaction:
            ends = product(brokers, (False, True))
            yield from (moves.EndTransaction(name, id, commits) for id, commits in ends)
        if menu.finish_leader_recovery:
            yield from (moves.FinishLeaderRecovery(name, id) for id in brokers)


def _leads(broker: Broker, name: str) -> bool:
    """Whether it believes so."""
    replica = replica_of(broker, name)
    return replica is not None and replica.leading is not None


def _about_consumer(cluster: Cluster, name: str) -> Iterator[moves.Move]:
    for state in truth(cluster).partitions:
        yield moves.Poll(state.name, name)
        yield moves.ResetOffset(state.name, Reset.EARLIEST, name)
        yield moves.ResetOffset(state.name, Reset.LATEST, name)
    yield moves.RefreshMetadata(name)


def _about_producer(cluster: Cluster, name: str) -> Iterator[moves.Move]:
    for state in truth(cluster).partitions:
        yield from (moves.ProduceAs(state.name, name, 1, acks_all) for acks_all in (True, False))
    yield moves.Resend(name)


def _about_links(cluster: Cluster, menu: Menu) -> Iterator[moves.Move]:
    if not menu.cut:
        return
    apart = CONTROLLER if controller_of(cluster) == CONTROLLER else ZOOKEEPER
    for one, other in combinations([apart, *(b.id for b in cluster.brokers)], 2):
        yield moves.Cut(one, other)
        yield moves.Heal(one, other)
