"""`step`: the one place where a cluster changes. It routes; the rules live in `protocol`.

A move is checked (`why_not`), carried out, and looked at by the observer. `carried_out` is `step`
without the observer. A real node may decide in place of one of the engine's: see `Decide`.
"""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from ..protocol import features as feature_rules
from ..protocol.features import Features
from ..protocol.ids import CONTROLLER, ZOOKEEPER, BrokerId, broker_list, node_name
from ..protocol.messages import Send
from ..protocol.zookeeper.ensemble_writes import Together
from . import channels, moves, nodes, observer, producers, routes, zookeeper_routes
from .cluster import Cluster, Message
from .events import Event, Happened, Moved
from .impossible_moves import check_possible
from .properties import NO_COMMITTED_RECORD_LOST, is_promised
from .route_kinds import NodeEffect
from .truth import stale_sessions, truth
from .world_moves import OF_THE_WORLD, delivered, reply_lost

DecidedEffect = tuple[Any, tuple[Send, ...], tuple[Event, ...]]
Decide = Callable[[Cluster, BrokerId, Message | moves.Move, NodeEffect], DecidedEffect]
"""Decides in place of a node: (cluster, address, the message or move, the effect by the engine's
rule) to the effect on the node: its state, messages and events. It is not called for effects on a
node and ZooKeeper together, nor for a race.
"""


class Step(msgspec.Struct, frozen=True):
    """The cluster after a move, and what followed from it."""

    cluster: Cluster
    events: tuple[Event, ...]


def step(cluster: Cluster, move: moves.Move, *, checked: bool = False) -> Step:
    """Do one move. Equal clusters and equal moves give equal results in every process.

    `checked` skips `why_not`, for moves that are known to be possible: a timer that falls due, the
    delivery of the first message of a connection.

    Raises ImpossibleMoveError, with the reason `why_not` gives, for a move that cannot be done.
    """
    return observed(cluster, carried_out(cluster, move, checked=checked))


def observed(before: Cluster, done: Moved) -> Step:
    """What was carried out, with that which an observer notices of it."""
    after, events = done
    after, noticed = observer.observe(before, after, events)
    return Step(after, (*events, *noticed))


def carried_out(
    cluster: Cluster, move: moves.Move, decide: Decide | None = None, *, checked: bool = False
) -> Moved:
    """`step` without the observer: what some node does or sees. Raises ImpossibleMoveError."""
    if not checked:
        check_possible(cluster, move)
    rule = _OF_NODES.get(type(move))
    done = rule(cluster, move, decide) if rule else OF_THE_WORLD[type(move)](cluster, move)
    if nodes.has_zookeeper(cluster):
        done = channels.threads_go_on(*done, _arrive)
    return producers.answers(*done) if done[0].producers else done


# --- nodes ----------------------------------------------------------------------------------------


def _put(
    cluster: Cluster,
    at: BrokerId,
    effect: NodeEffect,
    cause: Message | moves.Move,
    decide: Decide | None,
    *first: Event,
) -> Moved:
    """Apply the effect on a node: its state, and its messages. `first` comes before its events."""
    state, sends, facts = effect if decide is None else decide(cluster, at, cause, effect)
    cluster, events = routes.put_back(cluster, at, state), [*first, *facts]
    if sends:
        answered = cause if type(cause) is Message else None
        cluster, sent = channels.post(cluster, at, sends, answered)
        events += sent
    return (cluster, events) if nodes.is_up(cluster, at) else _closed(cluster, at, events)


def _together(
    cluster: Cluster, at: BrokerId, done: Together[Any], answered: Message | None = None
) -> Moved:
    """The same for a node and ZooKeeper, which then sends its watch events."""
    cluster = routes.put_back(nodes.with_state(cluster, ZOOKEEPER, done.ensemble), at, done.node)
    cluster, sent = channels.post(cluster, at, done.sends, answered)
    cluster, fired = channels.post(cluster, ZOOKEEPER, done.fired)
    events = [*done.facts, *sent, *fired]
    return (cluster, events) if nodes.is_up(cluster, at) else _closed(cluster, at, events)


def _closed(cluster: Cluster, node: BrokerId, events: list[Event]) -> Moved:
    cluster, closed = channels.close(cluster, node)
    return cluster, [*events, *closed]


def _as_the_mode_does(cluster: Cluster, move: moves.Move, decide: Decide | None) -> Moved:
    rule = routes.BROKER_MOVES.get(type(move))
    if rule is None:
        rule = routes.MODE_MOVES[nodes.kind_of(cluster, CONTROLLER), type(move)]
    events: list[Event] = []
    for node, effect in rule(cluster, move):
        cluster, more = _put(cluster, node, effect, move, decide)
        events += more
    return cluster, events


# --- messages -------------------------------------------------------------------------------------


def _arrive(cluster: Cluster, message: Message, decide: Decide | None = None) -> Moved:
    cluster = channels.without(cluster, message)
    event, receiver = delivered(cluster, message), message.receiver
    node = nodes.state_of(cluster, receiver)
    kinds = type(node), type(message.body)
    rule = routes.ROUTES.get(kinds)
    if rule is not None:
        effect = rule(node, message, cluster)
        return _put(cluster, receiver, effect, message, decide, event)
    done = zookeeper_routes.JOINT_ROUTES[kinds](node, message, cluster)
    cluster, events = _together(cluster, receiver, done, message)
    return cluster, [event, *events]


def _lose_reply(cluster: Cluster, move: moves.LoseReply, decide: Decide | None) -> Moved:
    request = channels.in_flight(cluster, move.message)
    cluster, events = _arrive(cluster, request, decide)
    return reply_lost(cluster, request, events)


def _fire(cluster: Cluster, move: moves.Fire, decide: Decide | None) -> Moved:
    node = nodes.state_of(cluster, move.node)
    key = type(node), move.timer
    rule = routes.TIMERS.get(key)
    if rule is None:
        done = zookeeper_routes.JOINT_TIMERS[key](node, move, cluster)
        return _together(cluster, move.node, done)
    if cluster.clock is not None:
        node = nodes.with_due(node, move.timer, cluster.now_ms + routes.PERIOD_MS[move.timer])
    return _put(cluster, move.node, rule(node, move, cluster), move, decide)


# --- the control plane ----------------------------------------------------------------------------


def _expire(cluster: Cluster, move: moves.ExpireSession, decide: Decide | None) -> Moved:
    """Where several sessions are over at once, no rule says which one is ended first."""
    tied = sorted(stale_sessions(cluster)) if cluster.timed else []
    cluster, events = _as_the_mode_does(cluster, move, decide)
    if len(tied) < 2:
        return cluster, events
    choice = f"the schedule has broker {move.broker} fenced first"
    text = f"the sessions of brokers {broker_list(tied)} are over: {choice}"
    return cluster, [Happened(text=text), *events]


def _fail_over(cluster: Cluster, move: moves.FailOver, decide: Decide | None) -> Moved:
    before = truth(cluster).controller_epoch
    cluster, events = _as_the_mode_does(cluster, move, decide)
    now = truth(cluster).controller_epoch
    if now == before:
        return cluster, events
    text = f"controller epoch {now} takes over"
    return cluster, [Happened(text=text), *events]


def _upgrade(
    cluster: Cluster,
    move: moves.Upgrade | moves.UpgradeMetadata | moves.UpgradeElr,
    decide: Decide | None,
) -> Moved:
    features = cluster.features
    if isinstance(move, moves.UpgradeElr):
        text = f"eligible.leader.replicas.version is {move.level}"
        features = feature_rules.with_elr(features, move.level)
    elif isinstance(move, moves.UpgradeMetadata):
        text = f"the metadata version is {move.metadata_version}"
        features = feature_rules.at_metadata_version(features, move.metadata_version)
    elif move.node is None:
        text = f"every node runs Kafka {move.release}"
        features = replace(features, release=move.release, nodes=())
    else:
        text = f"{node_name(move.node)} runs Kafka {move.release}"
        others = [(n, r) for n, r in features.nodes if n != move.node]
        features = replace(features, nodes=tuple(sorted([*others, (move.node, move.release)])))
    cluster, events = _as_the_mode_does(_now_with(cluster, features), move, decide)
    return cluster, [Happened(text=text), *events]


def _now_with(cluster: Cluster, features: Features) -> Cluster:
    promised = is_promised(
        NO_COMMITTED_RECORD_LOST, cluster.features, excused=False, forged=cluster.inherited
    )
    # What is left in an ELR is elected still, and an unclean shutdown strikes nobody off any more.
    switched_off = cluster.features.has_elr and not features.has_elr
    leftover = switched_off and any(p.elr for p in truth(cluster).partitions)
    cluster = replace(cluster, features=features, inherited=leftover or not promised)
    return routes.planned(cluster) if cluster.timed else cluster


# --- table ---------------------------------------------------------------------------------------

_OF_NODES: dict[type, Callable[[Cluster, Any, Decide | None], Moved]] = {
    **dict.fromkeys((*routes.BROKER_MOVES, *(m for _, m in routes.MODE_MOVES)), _as_the_mode_does),
    moves.Deliver: lambda c, m, decide: _arrive(c, channels.in_flight(c, m.message), decide),
    moves.LoseReply: _lose_reply,
    moves.Fire: _fire,
    moves.ExpireSession: _expire,
    moves.FailOver: _fail_over,
    moves.Upgrade: _upgrade,
    moves.UpgradeMetadata: _upgrade,
    moves.UpgradeElr: _upgrade,
}
"""Moves that reach a node, which decides what becomes of it."""
