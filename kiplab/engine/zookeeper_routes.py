"""The routing tables of ZooKeeper mode and of KIP-343; `routes` puts them beside those of KRaft.

The nodes are ZooKeeper itself (Ensemble), a ZooKeeperController in the process of every broker,
and the brokers. Most events of the two are handled together with ZooKeeper, in one step:
JOINT_ROUTES. With KIP-343 a HeartbeatController does what a ZooKeeperController does but for what
that KIP changes. Brokers are the same: whether a process sends heartbeats is in its state.
"""

from typing import Any

from ..protocol import messages
from ..protocol.ids import ZOOKEEPER, BrokerId, host_of
from ..protocol.kip343 import broker_with_heartbeats as heartbeat_life
from ..protocol.kip343 import isr_changes, metadata_heartbeats
from ..protocol.kip343.heartbeat_controller import HeartbeatController, heartbeat_watch_fired
from ..protocol.registrations import ONE_DIRECTORY
from ..protocol.releases import RELEASES
from ..protocol.replica.broker_parts import process_of
from ..protocol.replica.broker_state import Broker, Lifecycle
from ..protocol.zookeeper import broker_in_zookeeper as life
from ..protocol.zookeeper import control_channels, control_requests, ensemble_sessions, isr_writes
from ..protocol.zookeeper import zookeeper_elections as elections
from ..protocol.zookeeper.alter_isr import alter_isr
from ..protocol.zookeeper.ensemble import Ensemble
from ..protocol.zookeeper.watch_events import watch_fired
from ..protocol.zookeeper.zookeeper_controller import ZooKeeperController
from ..protocol.zookeeper.zookeeper_shutdown import controlled_shutdown
from . import moves, route_kinds
from .cluster import Cluster, Message, broker
from .nodes import Clients, ensemble_of, has_zookeeper, is_cut, state_of
from .route_kinds import JointRule, NodeEffect, NodeKind, Rule, apart, at, by_name, never, unmoved
from .truth import controller_of

_CONTROL = tuple(r for r in messages.REQUESTS if issubclass(r, messages.ControlRequest))
_OWN_ANSWERS = tuple(a for a in messages.RESPONSES if a.api in [asked.api for asked in _CONTROL])


def _answered(node: Any, message: Any, _cluster: Cluster) -> NodeEffect:
    return control_channels.answered(node, message.name.sender, message.request)


ZOOKEEPER_ROUTES: dict[tuple[NodeKind, type], Rule] = {
    (Ensemble, messages.SetPartitionStateRequest): by_name(isr_writes.set_partition_state),
    (Broker, messages.SetPartitionStateResponse): by_name(isr_writes.written),
    (Broker, messages.LeaderAndIsrRequest): by_name(control_requests.leader_and_isr),
    (Broker, messages.UpdateMetadataRequest): by_name(control_requests.update_metadata),
    (Broker, messages.StopReplicaRequest): by_name(control_requests.stop_replica),
    **{(ZooKeeperController, reply): _answered for reply in _OWN_ANSWERS},
    # Only a raw request makes a broker send these by itself.
    **{(Broker, reply): unmoved for reply in _OWN_ANSWERS},
    # The code of a release does not know these: it closes the connection, unanswered.
    (ZooKeeperController, messages.MetadataHeartbeatRequest): unmoved,
    (ZooKeeperController, messages.IsrChangeRequest): unmoved,
    (Broker, messages.IsrChangeResponse): by_name(isr_changes.isr_change_answered),
}
JOINT_ROUTES: dict[tuple[NodeKind, type], JointRule] = {
    (ZooKeeperController, messages.WatcherEvent): by_name(watch_fired),
    (ZooKeeperController, messages.ControlledShutdownRequest): by_name(controlled_shutdown),
    (ZooKeeperController, messages.AlterPartitionRequest): by_name(alter_isr),
    (ZooKeeperController, messages.ElectLeadersRequest): by_name(elections.elect_leaders),
    (HeartbeatController, messages.MetadataHeartbeatRequest): by_name(
        metadata_heartbeats.metadata_heartbeat
    ),
    (HeartbeatController, messages.IsrChangeRequest): by_name(isr_changes.isr_change),
    (HeartbeatController, messages.WatcherEvent): by_name(heartbeat_watch_fired),
    (Broker, messages.ControlledShutdownResponse): by_name(life.shutdown_answered),
    (Broker, messages.MetadataHeartbeatResponse): by_name(heartbeat_life.heartbeat_answered),
    (Broker, messages.SessionExpired): by_name(heartbeat_life.session_expired_with_heartbeats),
}
"""Messages that a node handles together with ZooKeeper, in one step."""
JOINT_TIMERS: dict[tuple[NodeKind, moves.Timer], JointRule] = {
    (Broker, moves.Timer.ANNOUNCE_ISR): by_name(isr_writes.announce_isr)
}
"""Timers of the same kind."""
_ONLY_KIP_343 = (messages.MetadataHeartbeatRequest, messages.IsrChangeRequest)
_OF_KRAFT = (
    messages.BrokerRegistrationRequest,
    messages.BrokerHeartbeatRequest,
    messages.UnregisterBrokerRequest,
    messages.AssignReplicasToDirsRequest,
)
_ONLY_KRAFT = (*_OF_KRAFT, messages.MetadataUpdate)
OF_ZOOKEEPER = tuple(
    body
    for body in messages.BODIES.values()
    if body.__module__
    in (messages.zookeeper_messages.__name__, messages.heartbeat_messages.__name__)
)
"""Messages that KRaft has not."""


def kinds_in(cluster: Cluster) -> tuple[str, ...]:
    """The kinds of messages that the nodes of a cluster send each other."""
    absent: tuple[type, ...] = OF_ZOOKEEPER
    if has_zookeeper(cluster):
        releases = (RELEASES[cluster.features.release_of(node.id)] for node in cluster.brokers)
        # Of what KIP-343 adds, all, unless some broker has it.
        built = all(release.specified is None for release in releases)
        absent = (*_ONLY_KRAFT, *_ONLY_KIP_343) if built else _ONLY_KRAFT
    elif all(node.durable.directories == ONE_DIRECTORY for node in cluster.brokers):
        # Nothing is reported of a replica that can be in one place only.
        absent = (*absent, messages.AssignReplicasToDirsRequest)
    bodies = messages.BODIES
    return tuple(kind for kind in bodies if bodies[messages.asked_by(kind)] not in absent)


_NO_SESSION = "clients have no session with ZooKeeper"
_TO_KRAFT, _TO_ZOOKEEPER = "only KRaft's brokers receive it", "leaders send it to ZooKeeper"
_KEEPS_ZNODES = "ZooKeeper is no part of Kafka, and knows only znodes"
_ONLY_BROKERS_ASK = "only brokers receive it"
_NEVER_ASKS = {*messages.RESPONSES} - {*_OWN_ANSWERS}
ZOOKEEPER_NOT_ADDRESSED: dict[tuple[NodeKind, type], str] = {
    **never(Ensemble, _KEEPS_ZNODES, {*messages.REQUESTS} - {messages.SetPartitionStateRequest}),
    **never(Ensemble, "ZooKeeper sends no requests", messages.RESPONSES),
    (Ensemble, messages.WatcherEvent): "ZooKeeper sends it to others",
    (Ensemble, messages.SessionExpired): "ZooKeeper sends it to others",
    (Ensemble, messages.MetadataUpdate): _TO_KRAFT,
    **never(ZooKeeperController, "controllers send it to brokers", _CONTROL),
    **never(ZooKeeperController, "brokers send it to KRaft's controller", _OF_KRAFT),
    (ZooKeeperController, messages.FetchRequest): "replicas are fetched from brokers",
    (ZooKeeperController, messages.SetPartitionStateRequest): _TO_ZOOKEEPER,
    **never(ZooKeeperController, "controllers do not send its request", _NEVER_ASKS),
    (ZooKeeperController, messages.AlterPartitionResponse): _ONLY_BROKERS_ASK,
    (ZooKeeperController, messages.SetPartitionStateResponse): "only leaders receive it",
    (ZooKeeperController, messages.ControlledShutdownResponse): _ONLY_BROKERS_ASK,
    (ZooKeeperController, messages.MetadataUpdate): _TO_KRAFT,
    (ZooKeeperController, messages.SessionExpired): "its broker receives it",
    (Broker, messages.ControlledShutdownRequest): "brokers send it to the controller",
    (Broker, messages.SetPartitionStateRequest): _TO_ZOOKEEPER,
    (Broker, messages.WatcherEvent): ("the controller on that broker receives it, active or not"),
    **never(Broker, "brokers send it to the controller", _ONLY_KIP_343),
    (Clients, messages.WatcherEvent): _NO_SESSION,
    (Clients, messages.SessionExpired): _NO_SESSION,
}


def _as_in_a_release(table: dict[tuple[NodeKind, type], Any]) -> None:
    """A HeartbeatController has the routes of a ZooKeeperController, but for its own."""
    for kind, body in tuple(table):
        own = (HeartbeatController, body)
        if kind is ZooKeeperController and own not in JOINT_ROUTES:
            table[own] = table[kind, body]


for _table in (JOINT_ROUTES, ZOOKEEPER_ROUTES, ZOOKEEPER_NOT_ADDRESSED):
    _as_in_a_release(_table)


def _start(cluster: Cluster, move: moves.Start) -> route_kinds.NodeEffects:
    down = broker(cluster, move.broker)
    assert down is not None
    done = heartbeat_life.start_with_heartbeats(
        down, ensemble_of(cluster), cluster.features, cluster.clock, move.server
    )
    return apart(move.broker, done)


def _shut_down(cluster: Cluster, move: moves.ShutDown) -> route_kinds.NodeEffects:
    leaving = state_of(cluster, move.broker)
    if heartbeat_life.stops_by_heartbeats(leaving, cluster.features):
        return apart(move.broker, heartbeat_life.begin_stopping(leaving, ensemble_of(cluster)))
    done = life.begin_shutdown(leaving, ensemble_of(cluster), cluster.features, cluster.clock)
    return apart(move.broker, done)


def _expire(cluster: Cluster, move: moves.ExpireSession) -> route_kinds.NodeEffects:
    host = broker(cluster, move.broker)
    running = host.process.session if host is not None and host.process is not None else None
    return ((ZOOKEEPER, ensemble_sessions.expire(ensemble_of(cluster), move.broker, running)),)


def heartbeat_timeout(cluster: Cluster, move: moves.HeartbeatTimeout) -> route_kinds.NodeEffects:
    """One of the two timeouts is over: the broker's own, or the controller's for that broker."""
    if not move.at_controller:
        return ((move.broker, heartbeat_life.fence_itself(state_of(cluster, move.broker))),)
    address, held = _rightful(cluster)
    assert address is not None, "see why_no_timeout"
    done = metadata_heartbeats.heartbeats_missed(route_kinds.in_a_turn(held, cluster), move.broker)
    return apart(address, done)


_OF_KRAFT_ALONE = (moves.ConfigureBrokers, moves.DeleteTopic, moves.FinishRecovery)
_NOT_OF_ZOOKEEPER = (*_OF_KRAFT_ALONE, moves.Upgrade, moves.UpgradeMetadata, moves.UpgradeElr)
"""Impossible, or a setting of the brokers: ZooKeeper has no part in it."""
ZOOKEEPER_MOVES: dict[tuple[NodeKind, type], route_kinds.ModeRule] = {
    (Ensemble, moves.Start): _start,
    (Ensemble, moves.ShutDown): _shut_down,
    (Ensemble, moves.ExpireSession): _expire,
    (Ensemble, moves.HeartbeatTimeout): heartbeat_timeout,
    (Ensemble, moves.FailOver): at(ZOOKEEPER, by_name(ensemble_sessions.delete_controller)),
    (Ensemble, moves.Elect): route_kinds.ask_for_election,
    (Ensemble, moves.Configure): at(
        ZOOKEEPER,
        lambda e, m, _: ensemble_sessions.allow_unclean_elections(
            e, m.topic, allowed=m.unclean_leader_election
        ),
    ),
    **{(Ensemble, move): at(ZOOKEEPER, unmoved) for move in _NOT_OF_ZOOKEEPER},
}


# --- why not --------------------------------------------------------------------------------------


def why_not_start(cluster: Cluster, move: moves.Start) -> str | None:
    """Why a broker that is down would not come up."""
    down = broker(cluster, move.broker)
    assert down is not None
    ensemble = ensemble_of(cluster)
    servers = len(ensemble.last_sessions)
    if move.server >= servers:
        return f"ZooKeeper has {servers} servers, numbered from 0; there is no server {move.server}"
    return life.why_not_start(down, ensemble)


def needs_no_zookeeper(cluster: Cluster, message: Message) -> bool:
    """Whether a rule of JOINT_ROUTES does not ask ZooKeeper: only a stop closes a session."""
    if not isinstance(message.body, messages.MetadataHeartbeatResponse):
        return False
    process = process_of(state_of(cluster, message.receiver))
    return process.lifecycle is not Lifecycle.PENDING_CONTROLLED_SHUTDOWN


def send_heartbeat(node: Broker, cluster: Cluster) -> NodeEffect:
    """The receiver may have to be looked up in ZooKeeper, if that can be reached."""
    cut_off = is_cut(cluster, node.id, ZOOKEEPER)
    return heartbeat_life.send_heartbeat(node, None if cut_off else ensemble_of(cluster))


def why_no_timeout(cluster: Cluster, move: moves.HeartbeatTimeout) -> str | None:
    """Why such a timeout is not over; None if it may be over."""
    if not move.at_controller:
        state = state_of(cluster, move.broker)
        if state is None:
            return f"broker {move.broker} is down"
        return heartbeat_life.why_not_fence_itself(state, cluster.features)
    _, held = _rightful(cluster)
    if isinstance(held, HeartbeatController) and held.active:
        if is_cut(cluster, host_of(held.node), ZOOKEEPER):
            return "the controller writes what follows to ZooKeeper, and the link is cut"
        return metadata_heartbeats.why_not_missed(held, move.broker, cluster.features)
    return "there is no controller that waits for heartbeats; `kafka kip-343` has one"


def declared_state(cluster: Cluster, broker: int) -> str:
    """The state that the rightful controller has declared for a broker, ``"none"`` if none."""
    _, held = _rightful(cluster)
    brokers = held.known_brokers if isinstance(held, HeartbeatController) else ()
    return next((k.state.name.lower() for k in brokers if k.broker == broker), "none")


def _rightful(cluster: Cluster) -> tuple[BrokerId | None, Any]:
    """Where the rightful controller lives, and its state; None for both if there is none."""
    address = controller_of(cluster)
    return address, None if address is None else state_of(cluster, address)
