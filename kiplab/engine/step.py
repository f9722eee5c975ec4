"""`step`: the one place where a cluster changes. It routes; the rules live in `protocol`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from ..protocol import features as feature_rules
from ..protocol.facts import Fact
from ..protocol.features import Features
from ..protocol.ids import CONTROLLER, ZOOKEEPER, BrokerId, broker_list, node_name
from ..protocol.messages import Send
from ..protocol.replica import disk
from ..protocol.replica.alter_partition_manager import finish_leader_recovery
from ..protocol.replica.broker_state import Broker
from ..protocol.replica.produce import delete_records, end_transaction, produce
from ..protocol.zookeeper.ensemble_writes import Together
from . import channels, consumers, moves, producers
from .cluster import Cluster, Message, broker, later
from .events import Delivered, Dropped, Event, Happened, Moved
from .impossible_moves import ImpossibleMoveError, why_not
from .nodes import (
    has_zookeeper,
    incarnation_of,
    is_up,
    kind_of,
    running_life,
    state_of,
    with_due,
    with_state,
)
from .observer import observe
from .properties import NO_COMMITTED_RECORD_LOST, is_promised
from .put_back import planned, put_back
from .routes import (
    AT_ONCE,
    JOINT_ROUTES,
    JOINT_TIMERS,
    MODE_MOVES,
    PERIOD_MS,
    ROUTES,
    TIMERS,
    UNANSWERED,
)
from .send_threads import threads_go_on
from .truth import stale_sessions, truth


class Step(msgspec.Struct, frozen=True):
    """The cluster after a move, and what followed from it."""

    cluster: Cluster
    events: tuple[Event, ...]


def step(cluster: Cluster, move: moves.Move) -> Step:
    """Do one move. Equal clusters and equal moves give equal results in every process.

    Raises ImpossibleMoveError, with the reason `why_not` gives, for a move that cannot be done.
    """
    return _observed(cluster, unobserved(cluster, move))


def step_surely(cluster: Cluster, move: moves.Move) -> Step:
    """`step`, for a move of which `why_not` is known to have nothing to say: what falls due in a
    run with a clock, the delivery of a message that no other one is ahead of. Nobody asks again.
    """
    return _observed(cluster, _moved(cluster, move))


def _observed(before: Cluster, done: Moved) -> Step:
    after, events = done
    after, noticed = observe(before, after, events)
    return Step(after, (*events, *noticed))


def unobserved(cluster: Cluster, move: moves.Move) -> Moved:
    """What `step` does before the observer looks at it: only that which some node does or sees.

    Raises ImpossibleMoveError as `step` does.
    """
    reason = why_not(cluster, move)
    if reason is not None:
        raise ImpossibleMoveError(move, reason)
    return _moved(cluster, move)


def _moved(cluster: Cluster, move: moves.Move) -> Moved:
    done: Moved = _MOVES[type(move)](cluster, move)
    if has_zookeeper(cluster):
        done = threads_go_on(*done, _arrive)
    return producers.answers(*done) if done[0].producers else done


# --- messages -----------------------------------------------------------------------------------


def _deliver(cluster: Cluster, move: moves.Deliver) -> Moved:
    return _arrive(cluster, _in_flight(cluster, move.message))


def _arrive(cluster: Cluster, message: Message) -> Moved:
    cluster = channels.without(cluster, message)
    event, receiver = delivered(cluster, message), message.receiver
    node = state_of(cluster, receiver)
    rule = ROUTES.get((type(node), type(message.body)))
    if rule is None:
        return _arrive_together(cluster, message, node, event)
    node, sends, facts = rule(node, message, cluster)
    cluster = put_back(cluster, receiver, node)
    cluster, sent = channels.post(cluster, receiver, sends, message)
    cluster, closed = _after_exit(cluster, receiver)
    return cluster, [event, *facts, *sent, *closed]


def _arrive_together(cluster: Cluster, message: Message, node: Any, event: Event) -> Moved:
    """The receiver handles it together with ZooKeeper, which then tells whoever watches."""
    done = JOINT_ROUTES[type(node), type(message.body)](node, message, cluster)
    cluster, events = _together(cluster, message.receiver, done, message)
    return cluster, [event, *events]


def _together(
    cluster: Cluster, at: BrokerId, done: Together[Any], answered: Message | None = None
) -> Moved:
    cluster = put_back(with_state(cluster, ZOOKEEPER, done.ensemble), at, done.node)
    cluster, sent = channels.post(cluster, at, done.sends, answered)
    cluster, told = channels.post(cluster, ZOOKEEPER, done.fired)
    cluster, closed = _after_exit(cluster, at)
    return cluster, [*done.facts, *sent, *told, *closed]


def delivered(cluster: Cluster, message: Message) -> Delivered:
    """The event of a message that arrives."""
    sender = message.name.sender
    return Delivered(
        message=message.name,
        receiver=message.receiver,
        body=message.body,
        previous_incarnation=running_life(cluster, sender) != message.name.incarnation,
    )


def _drop(cluster: Cluster, move: moves.Drop) -> Moved:
    message = _in_flight(cluster, move.message)
    return channels.without(cluster, message), [_dropped(message, "lost on the way")]


def _time_out(cluster: Cluster, move: moves.TimeOut) -> Moved:
    message = _in_flight(cluster, move.message)
    cluster = _sender_notices(channels.without(cluster, message), message)
    return cluster, [_dropped(message, "timed out; the sender noticed")]


def _duplicate(cluster: Cluster, move: moves.Duplicate) -> Moved:
    cluster, event = channels.resent(cluster, _in_flight(cluster, move.message))
    return cluster, [event]


def _lose_reply(cluster: Cluster, move: moves.LoseReply) -> Moved:
    request = _in_flight(cluster, move.message)
    cluster, events = _deliver(cluster, moves.Deliver(move.message))
    return reply_lost(cluster, request, events)


def _race(cluster: Cluster, move: moves.Race) -> Moved:
    one, other = _in_flight(cluster, move.message), _in_flight(cluster, move.other)
    cluster = channels.without(channels.without(cluster, one), other)
    events: list[Event] = [delivered(cluster, one), delivered(cluster, other)]
    node = state_of(cluster, one.receiver)
    node, sends, later, facts = AT_ONCE[type(node), type(one.body)](node, one, other, cluster)
    cluster = put_back(cluster, one.receiver, node)
    cluster, sent = channels.post(cluster, one.receiver, sends, one)
    cluster, more = channels.post(cluster, one.receiver, later, other)
    text = f"{node_name(one.receiver)} has a thread for each of the two"
    return cluster, [*events, Happened(text=text), *facts, *sent, *more]


def reply_lost(cluster: Cluster, request: Message, events: list[Event]) -> Moved:
    """The answer to `request`, which has just been given, never comes; its sender notices."""
    # A copy of the request may have been answered before: the newest answer is the one.
    reply = next((m for m in reversed(cluster.messages) if m.request is request.body), None)
    if reply is None:
        return cluster, events
    cluster = _sender_notices(channels.without(cluster, reply), request)
    return cluster, [*events, _dropped(reply, "the answer was lost; the sender noticed")]


def _dropped(message: Message, why: str) -> Dropped:
    return Dropped(message=message.name, receiver=message.receiver, body=message.body, why=why)


def _sender_notices(cluster: Cluster, request: Message) -> Cluster:
    sender = request.name.sender
    node = state_of(cluster, sender)
    if node is None or incarnation_of(cluster, sender) != request.name.incarnation:
        return cluster
    given_up = UNANSWERED.get((type(node), type(request.body)))
    return cluster if given_up is None else put_back(cluster, sender, given_up(node))


# --- time and timers ----------------------------------------------------------------------------


def _advance(cluster: Cluster, move: moves.Advance) -> Moved:
    return later(cluster, move.ms), [Happened(text=f"{move.ms} ms pass")]


def _fire(cluster: Cluster, move: moves.Fire) -> Moved:
    node = state_of(cluster, move.node)
    rule = TIMERS.get((type(node), move.timer))
    if rule is None:
        return _together(cluster, move.node, JOINT_TIMERS[type(node), move.timer](node, cluster))
    if cluster.clock is not None:
        node = with_due(node, move.timer, cluster.now_ms + PERIOD_MS[move.timer])
    return _done(cluster, move.node, *rule(node, cluster))


# --- clients ------------------------------------------------------------------------------------


def _produce(cluster: Cluster, move: moves.Produce) -> Moved:
    node = _up(cluster, move.broker)
    features, clock = cluster.features, cluster.clock
    done = produce(
        node,
        move.partition,
        move.count,
        features,
        clock,
        acks_all=move.acks_all,
        transaction=move.transaction,
    )
    return _done(cluster, move.broker, *done)


def _end_transaction(cluster: Cluster, move: moves.EndTransaction) -> Moved:
    node, clock = _up(cluster, move.broker), cluster.clock
    done = end_transaction(node, move.partition, cluster.features, clock, commits=move.commits)
    return _done(cluster, move.broker, *done)


def _delete_records(cluster: Cluster, move: moves.DeleteRecords) -> Moved:
    node = _up(cluster, move.broker)
    done = delete_records(node, move.partition, move.before, cluster.features, cluster.clock)
    return _done(cluster, move.broker, *done)


def _raw(cluster: Cluster, move: moves.RawRequest) -> Moved:
    forged = replace(cluster, forged=True)
    return channels.post(forged, move.sender, (Send(move.receiver, move.body),))


# --- processes ----------------------------------------------------------------------------------


def _crash(cluster: Cluster, move: moves.Crash) -> Moved:
    node, _, facts = disk.crash(_up(cluster, move.broker), move.loss)
    cluster, lost = channels.close(put_back(cluster, move.broker, node), move.broker)
    return cluster, [*facts, *lost]


def _finish_leader_recovery(cluster: Cluster, move: moves.FinishLeaderRecovery) -> Moved:
    node = _up(cluster, move.broker)
    done = finish_leader_recovery(node, move.partition, cluster.features, cluster.clock)
    return _done(cluster, move.broker, *done)


def _as_the_mode_does(cluster: Cluster, move: moves.Move) -> Moved:
    events: list[Event] = []
    for node, effect in MODE_MOVES[kind_of(cluster, CONTROLLER), type(move)](cluster, move):
        cluster, found = _done(cluster, node, *effect)
        cluster, closed = _after_exit(cluster, node)
        events += [*found, *closed]
    return cluster, events


def _expire(cluster: Cluster, move: moves.ExpireSession) -> Moved:
    """Where several sessions are over at once, no rule says whose turn it is."""
    tied = sorted(stale_sessions(cluster)) if cluster.timed else []
    cluster, events = _as_the_mode_does(cluster, move)
    if len(tied) < 2:
        return cluster, events
    choice = f"the schedule has broker {move.broker} fenced first"
    text = f"the sessions of brokers {broker_list(tied)} are over: {choice}"
    return cluster, [Happened(text=text), *events]


def _after_exit(cluster: Cluster, node: BrokerId) -> Moved:
    """A process that has just stopped closes its connections."""
    return (cluster, []) if is_up(cluster, node) else channels.close(cluster, node)


# --- the world ----------------------------------------------------------------------------------


def _cut(cluster: Cluster, move: moves.Cut) -> Moved:
    link = tuple(sorted((move.one, move.other)))
    text = f"the link between {node_name(move.one)} and {node_name(move.other)} is cut"
    return replace(cluster, cut=tuple(sorted({*cluster.cut, link}))), [Happened(text=text)]


def _heal(cluster: Cluster, move: moves.Heal) -> Moved:
    left = tuple(link for link in cluster.cut if set(link) != {move.one, move.other})
    text = f"the link between {node_name(move.one)} and {node_name(move.other)} is back"
    return replace(cluster, cut=left), [Happened(text=text)]


def _fail_over(cluster: Cluster, move: moves.FailOver) -> Moved:
    before = truth(cluster).controller_epoch
    cluster, events = _as_the_mode_does(cluster, move)
    now = truth(cluster).controller_epoch
    if now == before:
        return cluster, events
    text = f"controller epoch {now} takes over"
    return cluster, [Happened(text=text), *events]


def _upgrade(cluster: Cluster, move: moves.Upgrade) -> Moved:
    features = cluster.features
    if move.node is None:
        features = replace(features, release=move.release, nodes=())
    else:
        others = [(n, r) for n, r in features.nodes if n != move.node]
        features = replace(features, nodes=tuple(sorted([*others, (move.node, move.release)])))
    who = "every node" if move.node is None else node_name(move.node)
    text = f"{who} runs Kafka {move.release}"
    cluster, events = _as_the_mode_does(_now_with(cluster, features), move)
    return cluster, [Happened(text=text), *events]


def _upgrade_metadata(cluster: Cluster, move: moves.UpgradeMetadata) -> Moved:
    features = feature_rules.at_metadata_version(cluster.features, move.metadata_version)
    cluster, events = _as_the_mode_does(_now_with(cluster, features), move)
    text = f"the metadata version is {move.metadata_version}"
    return cluster, [Happened(text=text), *events]


def _now_with(cluster: Cluster, features: Features) -> Cluster:
    promised = is_promised(
        NO_COMMITTED_RECORD_LOST, cluster.features, excused=False, forged=cluster.inherited
    )
    cluster = replace(cluster, features=features, inherited=not promised)
    return planned(cluster) if cluster.timed else cluster


# --- plumbing -----------------------------------------------------------------------------------


def _done(
    cluster: Cluster, node: BrokerId, state: Any, sends: tuple[Send, ...], facts: tuple[Fact, ...]
) -> Moved:
    cluster, sent = channels.post(put_back(cluster, node, state), node, sends)
    return cluster, [*facts, *sent]


def _in_flight(cluster: Cluster, name: Any) -> Message:
    message = channels.find(cluster, name)
    assert message is not None
    return message


def _up(cluster: Cluster, id: BrokerId) -> Broker:
    found = broker(cluster, id)
    assert found is not None
    return found


# --- table ---------------------------------------------------------------------------------------

_MOVES: dict[type, Callable[[Cluster, Any], Moved]] = {
    moves.Deliver: _deliver,
    moves.Drop: _drop,
    moves.TimeOut: _time_out,
    moves.Duplicate: _duplicate,
    moves.LoseReply: _lose_reply,
    moves.Race: _race,
    moves.Advance: _advance,
    moves.Fire: _fire,
    moves.ExpireSession: _expire,
    moves.HeartbeatTimeout: _as_the_mode_does,
    moves.Produce: _produce,
    moves.EndTransaction: _end_transaction,
    moves.ProduceAs: producers.write,
    moves.Resend: producers.resend,
    moves.DeleteRecords: _delete_records,
    moves.Poll: consumers.poll,
    moves.RefreshMetadata: consumers.refresh,
    moves.ResetOffset: consumers.reset,
    moves.Crash: _crash,
    moves.Start: _as_the_mode_does,
    moves.ShutDown: _as_the_mode_does,
    moves.FinishRecovery: _as_the_mode_does,
    moves.FinishLeaderRecovery: _finish_leader_recovery,
    moves.Cut: _cut,
    moves.Heal: _heal,
    moves.FailOver: _fail_over,
    moves.Elect: _as_the_mode_does,
    moves.Configure: _as_the_mode_does,
    moves.Upgrade: _upgrade,
    moves.UpgradeMetadata: _upgrade_metadata,
    moves.RawRequest: _raw,
}
