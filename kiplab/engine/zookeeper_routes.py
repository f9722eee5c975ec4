"""The routing tables of ZooKeeper mode; `routes` puts them beside those of KRaft.

The nodes are ZooKeeper itself (Ensemble), a ZooKeeperController in the process of every broker,
and the brokers. Most events of the two are handled together with ZooKeeper, in one step:
JOINT_ROUTES.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from ..protocol.ids import CLIENT, ZOOKEEPER, BrokerId, host_of
from ..protocol.kip343.broker_with_heartbeats import (
    begin_stopping,
    start_with_heartbeats,
    stops_by_heartbeats,
)
from ..protocol.kip343.heartbeat_controller import HeartbeatController
from ..protocol.messages import (
    BODIES,
    AlterPartitionRequest,
    AlterPartitionResponse,
    Body,
    BrokerHeartbeatRequest,
    BrokerRegistrationRequest,
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    ElectLeadersRequest,
    FetchRequest,
    IsrChangeRequest,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    MetadataHeartbeatRequest,
    MetadataUpdate,
    Request,
    Response,
    Send,
    SessionExpired,
    SetPartitionStateRequest,
    SetPartitionStateResponse,
    StopReplicaRequest,
    StopReplicaResponse,
    UnregisterBrokerRequest,
    UpdateMetadataRequest,
    UpdateMetadataResponse,
    WatcherEvent,
    asked_by,
    heartbeat_messages,
    zookeeper_messages,
)
from ..protocol.releases import RELEASES
from ..protocol.replica.broker_parts import process_of
from ..protocol.replica.broker_state import Broker
from ..protocol.zookeeper import broker_in_zookeeper as life
from ..protocol.zookeeper import control_channels, control_requests, isr_writes, operators
from ..protocol.zookeeper.alter_isr import alter_isr
from ..protocol.zookeeper.ensemble import Ensemble
from ..protocol.zookeeper.ensemble_writes import Together
from ..protocol.zookeeper.watch_events import watch_fired
from ..protocol.zookeeper.zookeeper_controller import ZooKeeperController
from ..protocol.zookeeper.zookeeper_elections import elect_leaders
from ..protocol.zookeeper.zookeeper_shutdown import controlled_shutdown
from . import moves
from .cluster import Cluster, broker
from .heartbeat_routes import (
    HEARTBEAT_JOINT,
    HEARTBEAT_NOT_ADDRESSED,
    HEARTBEAT_NOT_MISSED,
    HEARTBEAT_ROUTES,
    heartbeat_timeout,
)
from .nodes import Clients, ensemble_of, has_zookeeper, state_of
from .route_kinds import (
    JointRule,
    JointTimerRule,
    ModeRule,
    NodeEffect,
    NodeEffects,
    NodeKind,
    Rule,
)
from .truth import controller_of


def spread(node: BrokerId, done: Together[Any]) -> NodeEffects:
    """What becomes of the node, then of ZooKeeper."""
    return (node, (done.node, done.sends, done.facts)), (ZOOKEEPER, (done.ensemble, done.fired, ()))


_OWN_ANSWERS = (LeaderAndIsrResponse, UpdateMetadataResponse, StopReplicaResponse)


def _heard(node: Any, _message: Any, _cluster: Cluster) -> NodeEffect:
    return node, (), ()


def _answered(node: Any, message: Any, _cluster: Cluster) -> NodeEffect:
    return control_channels.answered(node, message.name.sender, message.request)


ZOOKEEPER_ROUTES: dict[tuple[NodeKind, type], Rule] = {
    (Ensemble, SetPartitionStateRequest): lambda e, m, _: isr_writes.set_partition_state(e, m.body),
    (Broker, SetPartitionStateResponse): lambda b, m, w: isr_writes.written(
        b, m.body, m.request, w.features, w.clock
    ),
    (Broker, LeaderAndIsrRequest): lambda b, m, w: control_requests.leader_and_isr(
        b, m.body, w.features, w.clock
    ),
    (Broker, UpdateMetadataRequest): lambda b, m, w: control_requests.update_metadata(
        b, m.body, w.features, w.clock
    ),
    (Broker, StopReplicaRequest): lambda b, m, w: control_requests.stop_replica(
        b, m.body, w.features, w.clock
    ),
    (ZooKeeperController, LeaderAndIsrResponse): _answered,
    (ZooKeeperController, UpdateMetadataResponse): _answered,
    (ZooKeeperController, StopReplicaResponse): _answered,
    # Only a raw request makes a broker send these by itself.
    **{(Broker, reply): _heard for reply in _OWN_ANSWERS},
    **HEARTBEAT_ROUTES,
}
JOINT_ROUTES: dict[tuple[NodeKind, type], JointRule] = {
    (ZooKeeperController, WatcherEvent): lambda c, m, w: watch_fired(
        c, ensemble_of(w), m.body, _session(w, m.receiver), w.features
    ),
    (ZooKeeperController, ControlledShutdownRequest): lambda c, m, w: controlled_shutdown(
        c, ensemble_of(w), m.body, w.features
    ),
    (ZooKeeperController, AlterPartitionRequest): lambda c, m, w: alter_isr(
        c, ensemble_of(w), m.body, w.features
    ),
    (ZooKeeperController, ElectLeadersRequest): lambda c, m, w: elect_leaders(
        c, ensemble_of(w), m.body, w.features
    ),
    (Broker, ControlledShutdownResponse): lambda b, m, w: life.shutdown_answered(
        b, ensemble_of(w), m.body, w.features, w.clock
    ),
    **HEARTBEAT_JOINT,
}
"""Messages that a node handles together with ZooKeeper, in one step."""
JOINT_TIMERS: dict[tuple[NodeKind, moves.Timer], JointTimerRule] = {
    (Broker, moves.Timer.ANNOUNCE_ISR): lambda b, w: isr_writes.announce_isr(b, ensemble_of(w)),
}
"""Timers of the same kind."""


def nothing_to_announce(node: Broker, _cluster: Cluster) -> str | None:
    """Why a look at what is to be announced finds nothing; None when something is."""
    if process_of(node).isr_changes:
        return None
    return f"broker {node.id} has written no ISR to ZooKeeper that it has not announced"


def _session(cluster: Cluster, node: BrokerId) -> Any:
    return process_of(state_of(cluster, host_of(node))).session


_CONTROLLER_ASKS = "a controller asks it of the brokers"
_BROKER_ASKS = "a broker asks it of ZooKeeper or of a controller"
_NO_KRAFT = "KRaft's controller is asked that"
_ZOOKEEPER_KEEPS = "ZooKeeper is no part of Kafka, and knows only znodes"
_CONTROL = (LeaderAndIsrRequest, UpdateMetadataRequest, StopReplicaRequest)
_OF_KRAFT = (BrokerRegistrationRequest, BrokerHeartbeatRequest, UnregisterBrokerRequest)
_ONLY_KRAFT = (*_OF_KRAFT, MetadataUpdate)
_CALLED_FOR = {
    AlterPartitionResponse: "only brokers ask that",
    SetPartitionStateResponse: "only leaders write that",
    ControlledShutdownResponse: "only brokers ask that",
}
OF_ZOOKEEPER = tuple(
    body
    for body in get_args(Body)
    if body.__module__ in (zookeeper_messages.__name__, heartbeat_messages.__name__)
)
"""Messages that KRaft has not."""


def kinds_in(cluster: Cluster) -> tuple[str, ...]:
    """The kinds of messages that the nodes of a cluster send each other."""
    absent = _absent_with_zookeeper(cluster) if has_zookeeper(cluster) else OF_ZOOKEEPER
    return tuple(kind for kind in BODIES if BODIES[asked_by(kind)] not in absent)


def _absent_with_zookeeper(cluster: Cluster) -> tuple[type, ...]:
    """Of what KIP-343 adds, all, unless some broker has it."""
    releases = (cluster.features.release_of(node.id) for node in cluster.brokers)
    if any(RELEASES[release].specified is not None for release in releases):
        return _ONLY_KRAFT
    return (*_ONLY_KRAFT, MetadataHeartbeatRequest, IsrChangeRequest)


ZOOKEEPER_NOT_ADDRESSED: dict[tuple[NodeKind, type], str] = {
    **{
        (Ensemble, request): _ZOOKEEPER_KEEPS
        for request in get_args(Request)
        if request is not SetPartitionStateRequest
    },
    **{(Ensemble, reply): "ZooKeeper asks nobody" for reply in get_args(Response)},
    **{(Ensemble, told): "ZooKeeper tells others" for told in (WatcherEvent, SessionExpired)},
    (Ensemble, MetadataUpdate): "KRaft's brokers are told that",
    **{(ZooKeeperController, request): _CONTROLLER_ASKS for request in _CONTROL},
    **{(ZooKeeperController, request): _NO_KRAFT for request in _OF_KRAFT},
    (ZooKeeperController, FetchRequest): "replicas are fetched from brokers",
    (ZooKeeperController, SetPartitionStateRequest): "leaders ask that of ZooKeeper",
    **{
        (ZooKeeperController, reply): _CALLED_FOR.get(reply, "a controller never asks that")
        for reply in get_args(Response)
        if reply not in _OWN_ANSWERS
    },
    (ZooKeeperController, MetadataUpdate): "KRaft's brokers are told that",
    (ZooKeeperController, SessionExpired): "its broker is told, and takes it along",
    (Broker, ControlledShutdownRequest): "a controller lets brokers go",
    (Broker, SetPartitionStateRequest): "leaders ask that of ZooKeeper",
    (Broker, WatcherEvent): "the controller on it is told: whether active or not, it watches",
    (Clients, WatcherEvent): "clients have no session with ZooKeeper",
    (Clients, SessionExpired): "clients have no session with ZooKeeper",
    **HEARTBEAT_NOT_ADDRESSED,
}
_SENT_AGAIN = "it stays at the head of its queue, and is sent again"
ZOOKEEPER_NOT_MISSED: dict[tuple[NodeKind, type], str] = {
    **{(ZooKeeperController, request): _SENT_AGAIN for request in _CONTROL},
    (Broker, ControlledShutdownRequest): "the next try is one more `shut-down`",
    (Broker, SetPartitionStateRequest): "the thread waits for as long as it takes",
    **{(Broker, request): "only a raw request makes a broker ask that" for request in _CONTROL},
    **{
        (Clients, request): "only a raw request makes a client ask that"
        for request in (*_CONTROL, ControlledShutdownRequest, SetPartitionStateRequest)
    },
    **HEARTBEAT_NOT_MISSED,
}


def _as_in_a_release(table: dict[tuple[NodeKind, type], Any]) -> None:
    """A HeartbeatController does what a ZooKeeperController does, but for what is said of it."""
    for kind, body in tuple(table):
        own = (HeartbeatController, body)
        if kind is ZooKeeperController and own not in JOINT_ROUTES:
            table[own] = table[kind, body]


for _table in (
    JOINT_ROUTES,
    ZOOKEEPER_ROUTES,
    ZOOKEEPER_NOT_ADDRESSED,
    ZOOKEEPER_NOT_MISSED,
):
    _as_in_a_release(_table)


def _start(cluster: Cluster, move: moves.Start) -> NodeEffects:
    down = broker(cluster, move.broker)
    assert down is not None
    done = start_with_heartbeats(
        down, ensemble_of(cluster), cluster.features, cluster.clock, move.server
    )
    return spread(move.broker, done)


def _shut_down(cluster: Cluster, move: moves.ShutDown) -> NodeEffects:
    leaving = state_of(cluster, move.broker)
    if stops_by_heartbeats(leaving, cluster.features):
        return spread(move.broker, begin_stopping(leaving, ensemble_of(cluster)))
    done = life.begin_shutdown(leaving, ensemble_of(cluster), cluster.features, cluster.clock)
    return spread(move.broker, done)


def _expire(cluster: Cluster, move: moves.ExpireSession) -> NodeEffects:
    host = broker(cluster, move.broker)
    running = host.process.session if host is not None and host.process is not None else None
    ensemble, fired, facts = operators.expire(ensemble_of(cluster), move.broker, running)
    return ((ZOOKEEPER, (ensemble, fired, facts)),)


def _fail_over(cluster: Cluster, _move: moves.FailOver) -> NodeEffects:
    ensemble, fired, facts = operators.delete_controller(ensemble_of(cluster))
    return ((ZOOKEEPER, (ensemble, fired, facts)),)


def _elect(cluster: Cluster, move: moves.Elect) -> NodeEffects:
    """An admin client's request reaches the broker that /controller names."""
    request = ElectLeadersRequest(unclean=move.unclean, partitions=(move.partition,))
    asked = controller_of(cluster)
    sends = () if asked is None else (Send(asked, request),)
    return ((CLIENT, (state_of(cluster, CLIENT), sends, ())),)


def _configure(cluster: Cluster, move: moves.Configure) -> NodeEffects:
    ensemble, fired, facts = operators.allow_unclean_elections(
        ensemble_of(cluster), move.topic, allowed=move.unclean_leader_election
    )
    return ((ZOOKEEPER, (ensemble, fired, facts)),)


def _as_it_is(cluster: Cluster, _move: Any) -> NodeEffects:
    """Releases and the inter-broker protocol are the brokers' settings: ZooKeeper is not told."""
    return ((ZOOKEEPER, (ensemble_of(cluster), (), ())),)


ZOOKEEPER_PLANS_NOTHING: dict[NodeKind, str] = {
    Ensemble: "it is written to",
    HeartbeatController: "it waits for heartbeats, and there is no clock",
    ZooKeeperController: "its events come from queues and watches, and there is no clock",
}
ZOOKEEPER_MOVES: dict[tuple[NodeKind, type], ModeRule] = {
    (Ensemble, moves.Start): _start,
    (Ensemble, moves.FinishRecovery): _as_it_is,
    (Ensemble, moves.ShutDown): _shut_down,
    (Ensemble, moves.ExpireSession): _expire,
    (Ensemble, moves.HeartbeatTimeout): heartbeat_timeout,
    (Ensemble, moves.FailOver): _fail_over,
    (Ensemble, moves.UpgradeMetadata): _as_it_is,
    (Ensemble, moves.Elect): _elect,
    (Ensemble, moves.Configure): _configure,
    (Ensemble, moves.Upgrade): _as_it_is,
}


def _start_refused(cluster: Cluster, move: moves.Start) -> str | None:
    down = broker(cluster, move.broker)
    assert down is not None
    ensemble = ensemble_of(cluster)
    servers = len(ensemble.last_sessions)
    if move.server >= servers:
        return f"ZooKeeper has {servers} servers, numbered from 0; there is no server {move.server}"
    return life.why_not_start(down, ensemble)


START_REFUSED: dict[NodeKind, Callable[[Cluster, moves.Start], str | None]] = {
    Ensemble: _start_refused,
}
"""Why a broker that is down would not come up, by the kind of what keeps the metadata."""
