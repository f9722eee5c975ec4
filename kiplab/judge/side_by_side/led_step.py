"""`step`, but for what real brokers make of what reaches them.

A request, an answer, metadata, a producer's records or a timer reaches the engine's broker and the
real one, and what the real one holds then is what the broker holds. Registrations, heartbeats,
followers' fetchers, disks, clients and the network are the engine's.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from ...engine import moves
from ...engine.channels import close, find, post, without
from ...engine.cluster import Cluster, Message, broker
from ...engine.events import Event, Happened, Moved
from ...engine.nodes import is_up, state_of, with_due, with_state
from ...engine.routes import PERIOD_MS, ROUTES, TIMERS, NodeEffect
from ...engine.truth import truth
from ...engine.world_moves import delivered, reply_lost
from ...protocol.ids import BrokerId
from ...protocol.log import records_from
from ...protocol.messages import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    FetchRequest,
    FetchResponse,
    MetadataUpdate,
)
from ...protocol.registrations import partition
from ...protocol.replica.broker_parts import process_of
from ...protocol.replica.broker_state import Broker, Volatile, log_of, replica_of
from ...protocol.replica.produce import produce
from ..partition.broker_turns import (
    LagTurn,
    LostTurn,
    ProducedTurn,
    ReplicatedTurn,
    RetryTurn,
    TruncatedTurn,
)
from .decisions import UnaskableError
from .leader_effect import LedTurn, leader_effect
from .leader_questions import DecidingLeaders, LeaderQuestion, MetadataPlayed, ProcessBegun

_ALONE = "; with `--judge controller` brokers are the engine's"


def led(cluster: Cluster, move: moves.Move, leaders: DecidingLeaders) -> Moved | None:
    """What becomes of a move that a real broker has a say in; None for any other.

    Raises UnaskableError for a move that no real broker can be told.
    """
    match move:
        case moves.Deliver() | moves.LoseReply():
            message = find(cluster, move.message)
            if message is None or message.receiver < 0:
                return None
            return _arrived(cluster, message, leaders, lost=isinstance(move, moves.LoseReply))
        case moves.Produce() if move.transaction:
            raise UnaskableError(f"a real broker is told of no transaction{_ALONE}", "leader")
        case moves.Produce():
            return _produced(cluster, move, leaders)
        case moves.Fire() if move.timer in (moves.Timer.LAG_CHECK, moves.Timer.RETRY):
            return _fired(cluster, move, leaders)
        case moves.Upgrade():
            _must_be_down(cluster, move, leaders)
        case moves.Race():
            raise UnaskableError(f"its threads meet where nobody can hold one up{_ALONE}", "leader")
    return None


def begun(cluster: Cluster, leaders: DecidingLeaders) -> Cluster:
    """Every broker that runs when a play begins is a process that has begun."""
    for node in cluster.brokers:
        process = node.process
        if process is None or process.image is None or not leaders.plays(node, cluster):
            continue
        turn = LedTurn(node, ProcessBegun(process.image), (node, (), ()))
        (after, _, _), _ = _taken(turn, cluster, leaders)
        cluster = with_state(cluster, node.id, after)
    return cluster


def noticed(before: Cluster, after: Cluster, leaders: DecidingLeaders) -> Moved:
    """Who waits for an answer to AlterPartition no more, without having got one, has noticed that
    none will come.
    """
    events: list[Event] = []
    for node in after.brokers:
        was = broker(before, node.id)
        if was is None or not leaders.plays(node, after) or not _gave_up(was, node):
            continue
        turn = LedTurn(was, LostTurn(), (node, (), ()))
        (state, _, _), found = _taken(turn, after, leaders)
        after = with_state(after, node.id, state)
        events += found
    return after, events


def must_be_told(before: Cluster, after: Cluster, leaders: DecidingLeaders) -> None:
    """Whatever the engine changes in a running broker's partitions a real one has to hear of.

    Raises UnaskableError where nobody tells it: it is no turn of a real broker.
    """
    for node in after.brokers:
        was = broker(before, node.id)
        if was is None or was.process is None or node.process is None:
            continue
        same = was.incarnation == node.incarnation and leaders.plays(node, after)
        if same and _holds(was) != _holds(node):
            raise UnaskableError(
                f"a real broker takes no such turn here, and broker {node.id} would{_ALONE}",
                "leader",
            )


def _holds(node: Broker) -> Any:
    logs = [(kept.log.start, kept.log.end, kept.log.epochs) for kept in node.durable.replicas]
    return process_of(node).replicas, logs


def _gave_up(was: Broker, node: Broker) -> bool:
    same = was.incarnation == node.incarnation
    if was.process is None or node.process is None or not same:
        return False
    return bool(was.process.in_flight) and not node.process.in_flight


# --- one kind of move after the other -------------------------------------------------------------


def _arrived(
    cluster: Cluster, message: Message, leaders: DecidingLeaders, *, lost: bool
) -> Moved | None:
    node, body = state_of(cluster, message.receiver), message.body
    if not isinstance(node, Broker) or not leaders.plays(node, cluster):
        return None
    mine = ROUTES[Broker, type(body)](node, message, cluster)
    question = _question(node, mine[0], message)
    if question is None:
        return None
    effect, parted = _taken(LedTurn(node, question, mine), cluster, leaders)
    event = delivered(cluster, message)
    state, sends, facts = effect
    cluster = with_state(without(cluster, message), node.id, state)
    cluster, sent = post(cluster, node.id, sends, message)
    cluster, closed = (cluster, []) if is_up(cluster, node.id) else close(cluster, node.id)
    events: list[Event] = [event, *facts, *parted, *sent, *closed]
    return reply_lost(cluster, message, events) if lost else (cluster, events)


def _produced(cluster: Cluster, move: moves.Produce, leaders: DecidingLeaders) -> Moved | None:
    node = state_of(cluster, move.broker)
    if not leaders.plays(node, cluster):
        return None
    mine = produce(
        node,
        move.partition,
        move.count,
        cluster.features,
        cluster.clock,
        acks_all=move.acks_all,
    )
    turn = ProducedTurn(move.partition, move.count, move.acks_all)
    return _done(cluster, LedTurn(node, turn, mine), leaders)


def _fired(cluster: Cluster, move: moves.Fire, leaders: DecidingLeaders) -> Moved | None:
    node = state_of(cluster, move.node)
    if not isinstance(node, Broker) or not leaders.plays(node, cluster):
        return None
    rule = TIMERS[Broker, move.timer]
    if cluster.clock is not None:
        node = with_due(node, move.timer, cluster.now_ms + PERIOD_MS[move.timer])
    played = tuple(replica.partition for replica in process_of(node).replicas)
    turn = RetryTurn() if move.timer is moves.Timer.RETRY else LagTurn(played)
    return _done(cluster, LedTurn(node, turn, rule(node, cluster)), leaders)


def _must_be_down(cluster: Cluster, move: moves.Upgrade, leaders: DecidingLeaders) -> None:
    for node in cluster.brokers:
        if move.node in (None, node.id) and node.up and leaders.plays(node, cluster):
            raise UnaskableError(
                f"a real broker that runs another release begins anew, and broker {node.id} is up:"
                f" let it stop, upgrade it, and start it{_ALONE}",
                "leader",
            )


def _done(cluster: Cluster, turn: LedTurn, leaders: DecidingLeaders) -> Moved:
    (state, sends, facts), parted = _taken(turn, cluster, leaders)
    cluster, sent = post(with_state(cluster, turn.was.id, state), turn.was.id, sends)
    return cluster, [*facts, *parted, *sent]


def _taken(
    turn: LedTurn, cluster: Cluster, leaders: DecidingLeaders
) -> tuple[NodeEffect, list[Event]]:
    # What a process begins with, and the epoch that it has by then, is in the engine's broker.
    begins = isinstance(turn.question, ProcessBegun)
    who = replace(turn.was, process=turn.mine[0].process) if begins else turn.was
    seen = leaders.decide(who, turn.question, cluster)
    if seen is None:
        return turn.mine, []
    names = tuple(state.name for state in truth(cluster).partitions)
    found = leader_effect(turn, seen, names, cluster.features)
    parted: list[Event] = [
        Happened(text=f"broker {turn.was.id}: {parting}") for parting in found.partings
    ]
    return found.effect, parted


# --- what reaches a broker, as a question ---------------------------------------------------------


def _question(was: Broker, after: Any, message: Message) -> LeaderQuestion | None:
    """None for what its Partitions hear nothing of."""
    process, body, now = process_of(was), message.body, after.process
    if now is not None and now.published and not process.published:
        return ProcessBegun(now.image)
    match body:
        case FetchRequest() if replica_of(was, body.partition) is not None:
            return body
        case AlterPartitionResponse():
            # An answer to a request that was given up, or to a copy, is nobody's.
            request = message.request
            waits = (
                isinstance(request, AlterPartitionRequest) and process.in_flight == request.items
            )
            return body if waits else None
        case MetadataUpdate() if process.published:
            return _metadata(was.id, process, body)
        case FetchResponse():
            return _fetched(was, after, body, message)
    return None


def _metadata(who: BrokerId, process: Volatile, update: MetadataUpdate) -> LeaderQuestion | None:
    known = process.image
    if known is not None and known.offset >= update.offset:
        return None
    before = () if known is None else known.partitions
    told = []
    for state in update.partitions:
        found = partition(before, state.name)
        new = found is None or found.partition_epoch != state.partition_epoch
        if who in state.replicas and new:
            told.append(state.name)
    return MetadataPlayed(update, tuple(told))


def _fetched(
    was: Broker, after: Broker, reply: FetchResponse, message: Message
) -> LeaderQuestion | None:
    """What the engine's fetcher makes of an answer: a shorter log, or a longer one."""
    name, request = reply.partition, message.request
    replica, mine, now = replica_of(was, name), log_of(was, name), log_of(after, name)
    asked = isinstance(request, FetchRequest) and request.offset == mine.end
    if replica is None or replica.leading is not None or not asked:
        return None
    if reply.leader_epoch != replica.leader_epoch:
        return None
    if reply.diverging is not None:
        return TruncatedTurn(name, now.end)
    return ReplicatedTurn(name, records_from(now, mine.end), reply.high_watermark)
