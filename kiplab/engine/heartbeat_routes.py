"""The routing tables of KIP-343, over those of ZooKeeper mode; `zookeeper_routes` has the rest.

The one node that is new is a HeartbeatController, which does what a ZooKeeperController does but
for what KIP-343 changes. Brokers are the same: whether a process sends heartbeats is in its state.
"""

from collections.abc import Callable
from typing import Any

from ..protocol.ids import ZOOKEEPER, host_of
from ..protocol.kip343 import broker_with_heartbeats as life
from ..protocol.kip343.heartbeat_controller import HeartbeatController
from ..protocol.kip343.heartbeat_watches import heartbeat_watch_fired
from ..protocol.kip343.isr_changes import isr_change, isr_change_answered
from ..protocol.kip343.metadata_heartbeats import (
    heartbeats_missed,
    metadata_heartbeat,
    why_not_missed,
)
from ..protocol.messages import (
    IsrChangeRequest,
    IsrChangeResponse,
    MetadataHeartbeatRequest,
    MetadataHeartbeatResponse,
    SessionExpired,
    WatcherEvent,
)
from ..protocol.replica.alter_partition_manager import give_up_waiting
from ..protocol.replica.broker_parts import process_of
from ..protocol.replica.broker_state import Broker, Lifecycle
from ..protocol.zookeeper.zookeeper_controller import ZooKeeperController
from . import moves
from .cluster import Cluster, Message
from .nodes import Clients, ensemble_of, is_cut, session_at, state_of
from .route_kinds import (
    JointRule,
    NodeEffect,
    NodeEffects,
    NodeKind,
    Rule,
    apart,
    of_request,
    unmoved,
    with_zookeeper,
    with_zookeeper_in_time,
)
from .truth import controller_of

HEARTBEAT_ROUTES: dict[tuple[NodeKind, type], Rule] = {
    # The code of a release does not know these: it closes the connection, unanswered.
    (ZooKeeperController, MetadataHeartbeatRequest): unmoved,
    (ZooKeeperController, IsrChangeRequest): unmoved,
    (Broker, IsrChangeResponse): of_request(isr_change_answered),
}
HEARTBEAT_JOINT: dict[tuple[NodeKind, type], JointRule] = {
    (HeartbeatController, MetadataHeartbeatRequest): with_zookeeper(metadata_heartbeat),
    (HeartbeatController, IsrChangeRequest): with_zookeeper(isr_change),
    (HeartbeatController, WatcherEvent): lambda c, m, w: heartbeat_watch_fired(
        c, ensemble_of(w), m.body, session_at(w, m.receiver), w.features
    ),
    (Broker, MetadataHeartbeatResponse): lambda b, m, w: life.heartbeat_answered(
        b, ensemble_of(w), m.body, m.request
    ),
    (Broker, SessionExpired): with_zookeeper_in_time(life.session_expired_with_heartbeats),
}
_ASKED = "the controller is asked that"
HEARTBEAT_NOT_ADDRESSED: dict[tuple[NodeKind, type], str] = {
    (Broker, MetadataHeartbeatRequest): _ASKED,
    (Broker, IsrChangeRequest): _ASKED,
}
HEARTBEAT_UNANSWERED: dict[tuple[NodeKind, type], Callable[[Any], Any]] = {
    (Broker, IsrChangeRequest): give_up_waiting
}
HEARTBEAT_NOT_MISSED: dict[tuple[NodeKind, type], str] = {
    (Broker, MetadataHeartbeatRequest): "the next one is sent as if there had been none",
    (Clients, MetadataHeartbeatRequest): "only a raw request makes a client ask that",
}


def needs_no_zookeeper(cluster: Cluster, message: Message) -> bool:
    """Whether a rule that may ask ZooKeeper does not, of this message: only a stop closes a
    session.
    """
    if not isinstance(message.body, MetadataHeartbeatResponse):
        return False
    process = process_of(state_of(cluster, message.receiver))
    return process.lifecycle is not Lifecycle.PENDING_CONTROLLED_SHUTDOWN


def send_heartbeat(node: Broker, cluster: Cluster) -> NodeEffect:
    """Whom to send it to may have to be looked up, if ZooKeeper can be reached."""
    cut_off = is_cut(cluster, node.id, ZOOKEEPER)
    return life.send_heartbeat(node, None if cut_off else ensemble_of(cluster))


def heartbeat_timeout(cluster: Cluster, move: moves.HeartbeatTimeout) -> NodeEffects:
    """One of the two timeouts is over: the broker's own, or the controller's for that broker."""
    if not move.at_controller:
        return ((move.broker, life.fence_itself(state_of(cluster, move.broker))),)
    address = controller_of(cluster)
    assert address is not None, "see why_no_timeout"
    held = state_of(cluster, address)
    done = heartbeats_missed(held, ensemble_of(cluster), move.broker, cluster.features)
    return apart(address, done)


def why_no_timeout(cluster: Cluster, move: moves.HeartbeatTimeout) -> str | None:
    """Why such a timeout is not over; None if it may be."""
    if not move.at_controller:
        state = state_of(cluster, move.broker)
        if state is None:
            return f"broker {move.broker} is down"
        return life.why_not_fence_itself(state, cluster.features)
    address = controller_of(cluster)
    held = None if address is None else state_of(cluster, address)
    if isinstance(held, HeartbeatController) and held.active:
        if is_cut(cluster, host_of(held.node), ZOOKEEPER):
            return "the controller writes what follows to ZooKeeper, and the link is cut"
        return why_not_missed(held, move.broker, cluster.features)
    return "there is no controller that waits for heartbeats; `kafka kip-343` has one"


def declared_state(cluster: Cluster, broker: int) -> str:
    """What the rightful controller has declared a broker to be, ``"none"`` if nothing."""
    address = controller_of(cluster)
    held = None if address is None else state_of(cluster, address)
    known = held.known if isinstance(held, HeartbeatController) else ()
    return next((k.state.name.lower() for k in known if k.broker == broker), "none")
