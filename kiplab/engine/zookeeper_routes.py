"""The routing tables of ZooKeeper mode; `routes` puts them beside those of KRaft.

The nodes are ZooKeeper itself (Ensemble), a ZooKeeperController in the process of every broker,
and the brokers. Most events of the two are handled together with ZooKeeper, in one step:
JOINT_ROUTES.
"""

from collections.abc import Callable
from typing import Any

from ..protocol import messages
from ..protocol.ids import CLIENT, ZOOKEEPER
from ..protocol.kip343.broker_with_heartbeats import (
    begin_stopping,
    start_with_heartbeats,
    stops_by_heartbeats,
)
from ..protocol.kip343.heartbeat_controller import HeartbeatController
from ..protocol.messages import (
    BODIES,
    REQUESTS,
    RESPONSES,
    ControlledShutdownRequest,
    ElectLeadersRequest,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    MetadataUpdate,
    Send,
    SessionExpired,
    SetPartitionStateRequest,
    StopReplicaRequest,
    StopReplicaResponse,
    UpdateMetadataRequest,
    UpdateMetadataResponse,
    WatcherEvent,
)
from ..protocol.releases import RELEASES
from ..protocol.replica.broker_parts import process_of
from ..protocol.replica.broker_state import Broker
from ..protocol.zookeeper import broker_in_zookeeper as life
from ..protocol.zookeeper import control_channels, control_requests, isr_writes, operators
from ..protocol.zookeeper.alter_isr import alter_isr
from ..protocol.zookeeper.ensemble import Ensemble
from ..protocol.zookeeper.watch_events import watch_fired
from ..protocol.zookeeper.zookeeper_controller import ZooKeeperController
from ..protocol.zookeeper.zookeeper_elections import elect_leaders
from ..protocol.zookeeper.zookeeper_shutdown import controlled_shutdown
from . import heartbeat_routes, moves
from .cluster import Cluster, broker
from .nodes import Clients, ensemble_of, has_zookeeper, session_at, state_of
from .route_kinds import (
    JointRule,
    JointTimerRule,
    ModeRule,
    NodeEffect,
    NodeEffects,
    NodeKind,
    Rule,
    apart,
    of_request,
    of_time,
    unmoved,
    with_zookeeper,
    with_zookeeper_in_time,
)
from .truth import controller_of

_OWN_ANSWERS = (LeaderAndIsrResponse, UpdateMetadataResponse, StopReplicaResponse)


def _answered(node: Any, message: Any, _cluster: Cluster) -> NodeEffect:
    return control_channels.answered(node, message.name.sender, message.request)


ZOOKEEPER_ROUTES: dict[tuple[NodeKind, type], Rule] = {
    (Ensemble, SetPartitionStateRequest): lambda e, m, _: isr_writes.set_partition_state(e, m.body),
    (Broker, messages.SetPartitionStateResponse): of_request(isr_writes.written),
    (Broker, LeaderAndIsrRequest): of_time(control_requests.leader_and_isr),
    (Broker, UpdateMetadataRequest): of_time(control_requests.update_metadata),
    (Broker, StopReplicaRequest): of_time(control_requests.stop_replica),
    **{(ZooKeeperController, reply): _answered for reply in _OWN_ANSWERS},
    # Only a raw request makes a broker send these by itself.
    **{(Broker, reply): unmoved for reply in _OWN_ANSWERS},
    **heartbeat_routes.HEARTBEAT_ROUTES,
}
JOINT_ROUTES: dict[tuple[NodeKind, type], JointRule] = {
    (ZooKeeperController, WatcherEvent): lambda c, m, w: watch_fired(
        c, ensemble_of(w), m.body, session_at(w, m.receiver), w.features
    ),
    (ZooKeeperController, ControlledShutdownRequest): with_zookeeper(controlled_shutdown),
    (ZooKeeperController, messages.AlterPartitionRequest): with_zookeeper(alter_isr),
    (ZooKeeperController, ElectLeadersRequest): with_zookeeper(elect_leaders),
    (Broker, messages.ControlledShutdownResponse): with_zookeeper_in_time(life.shutdown_answered),
    **heartbeat_routes.HEARTBEAT_JOINT,
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


_CONTROLLER_ASKS = "a controller asks it of the brokers"
_NO_KRAFT = "KRaft's controller is asked that"
_ZOOKEEPER_KEEPS = "ZooKeeper is no part of Kafka, and knows only znodes"
_CONTROL = (LeaderAndIsrRequest, UpdateMetadataRequest, StopReplicaRequest)
_OF_KRAFT = (
    messages.BrokerRegistrationRequest,
    messages.BrokerHeartbeatRequest,
    messages.UnregisterBrokerRequest,
)
_ONLY_KRAFT = (*_OF_KRAFT, MetadataUpdate)
_CALLED_FOR = {
    messages.AlterPartitionResponse: "only brokers ask that",
    messages.SetPartitionStateResponse: "only leaders write that",
    messages.ControlledShutdownResponse: "only brokers ask that",
}
OF_ZOOKEEPER = tuple(
    body
    for body in BODIES.values()
    if body.__module__
    in (messages.zookeeper_messages.__name__, messages.heartbeat_messages.__name__)
)
"""Messages that KRaft has not."""


def kinds_in(cluster: Cluster) -> tuple[str, ...]:
    """The kinds of messages that the nodes of a cluster send each other."""
    absent = _absent_with_zookeeper(cluster) if has_zookeeper(cluster) else OF_ZOOKEEPER
    return tuple(kind for kind in BODIES if BODIES[messages.asked_by(kind)] not in absent)


def _absent_with_zookeeper(cluster: Cluster) -> tuple[type, ...]:
    """Of what KIP-343 adds, all, unless some broker has it."""
    releases = (cluster.features.release_of(node.id) for node in cluster.brokers)
    if any(RELEASES[release].specified is not None for release in releases):
        return _ONLY_KRAFT
    return (*_ONLY_KRAFT, messages.MetadataHeartbeatRequest, messages.IsrChangeRequest)


ZOOKEEPER_NOT_ADDRESSED: dict[tuple[NodeKind, type], str] = {
    **{
        (Ensemble, request): _ZOOKEEPER_KEEPS
        for request in REQUESTS
        if request is not SetPartitionStateRequest
    },
    **{(Ensemble, reply): "ZooKeeper asks nobody" for reply in RESPONSES},
    **{(Ensemble, told): "ZooKeeper tells others" for told in (WatcherEvent, SessionExpired)},
    (Ensemble, MetadataUpdate): "KRaft's brokers are told that",
    **{(ZooKeeperController, request): _CONTROLLER_ASKS for request in _CONTROL},
    **{(ZooKeeperController, request): _NO_KRAFT for request in _OF_KRAFT},
    (ZooKeeperController, messages.FetchRequest): "replicas are fetched from brokers",
    (ZooKeeperController, SetPartitionStateRequest): "leaders ask that of ZooKeeper",
    **{
        (ZooKeeperController, reply): _CALLED_FOR.get(reply, "a controller never asks that")
        for reply in RESPONSES
        if reply not in _OWN_ANSWERS
    },
    (ZooKeeperController, MetadataUpdate): "KRaft's brokers are told that",
    (ZooKeeperController, SessionExpired): "its broker is told, and takes it along",
    (Broker, ControlledShutdownRequest): "a controller lets brokers go",
    (Broker, SetPartitionStateRequest): "leaders ask that of ZooKeeper",
    (Broker, WatcherEvent): "the controller on it is told: whether active or not, it watches",
    (Clients, WatcherEvent): "clients have no session with ZooKeeper",
    (Clients, SessionExpired): "clients have no session with ZooKeeper",
    **heartbeat_routes.HEARTBEAT_NOT_ADDRESSED,
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
    **heartbeat_routes.HEARTBEAT_NOT_MISSED,
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
    return apart(move.broker, done)


def _shut_down(cluster: Cluster, move: moves.ShutDown) -> NodeEffects:
    leaving = state_of(cluster, move.broker)
    if stops_by_heartbeats(leaving, cluster.features):
        return apart(move.broker, begin_stopping(leaving, ensemble_of(cluster)))
    done = life.begin_shutdown(leaving, ensemble_of(cluster), cluster.features, cluster.clock)
    return apart(move.broker, done)


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
    (Ensemble, moves.HeartbeatTimeout): heartbeat_routes.heartbeat_timeout,
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
