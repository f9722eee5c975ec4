"""Which rule answers which message and which timer: the routing tables of `step`.

A rule is found under (kind of the node, type of the message), or (kind, timer); the kind of a node
is the type of its state (`nodes`). The tables of ZooKeeper mode are in `zookeeper_routes`, with
what its nodes handle together with ZooKeeper (JOINT_ROUTES). Rules get the state, the message, and
the cluster for what it says of features and of the time; they return (state, sends, facts).

What starts a broker, lets it go, ends its session, puts another controller in charge, asks one for
an election or raises the metadata version is another matter in every mode: MODE_MOVES has the rule
under (kind of the control plane, type of the move).

A node of a new kind says for every message which rule answers it (ROUTES) or why none is addressed
to it (NOT_ADDRESSED). A new request says what its sender does that notices that no answer will come
(UNANSWERED), or why that changes nothing (NOT_MISSED).

A new timer of a node is a member of `moves.Timer`, an entry (kind, timer) in TIMERS, its period in
PERIOD_MS, and a field with its name in the struct `timers` of the node's state: of a broker that is
in its process, of every other node in the state itself. Firing it sets that field one period ahead
in a run with a clock. IDLE says when nothing would come of it. A control plane's is fired whenever
it is due and not idle; when a broker's is worth firing, `clock` says.

What a kind of node puts off and plans for later, whatever has just happened, stands in PLANS, or in
PLANS_NOTHING why there is nothing.
"""

from collections.abc import Callable
from typing import Any

from ..protocol import messages
from ..protocol.ids import CLIENT, CONTROLLER, BrokerId
from ..protocol.kip343.broker_with_heartbeats import why_no_heartbeat
from ..protocol.kraft import broker_lifecycle as lifecycle
from ..protocol.kraft import broker_registration, elections
from ..protocol.kraft.alter_partition import alter_partition
from ..protocol.kraft.controller_state import Controller
from ..protocol.kraft.fencing import expire_session, fail_over
from ..protocol.kraft.heartbeats import broker_heartbeat
from ..protocol.kraft.replay import finalize, image
from ..protocol.kraft.sessions import carried_over
from ..protocol.messages import ElectLeadersRequest, FetchRequest, Send
from ..protocol.replica import alter_partition_manager, broker_state, disk, fetching
from ..protocol.replica.broker_parts import process_of
from ..protocol.replica.broker_state import Broker
from ..protocol.replica.fetches_at_once import serve_fetches_at_once
from ..protocol.zookeeper.isr_writes import ANNOUNCE_ISR_MS
from . import moves, route_kinds
from .cluster import Cluster, broker
from .heartbeat_routes import HEARTBEAT_UNANSWERED, send_heartbeat
from .nodes import Clients, control_planes, is_in_control, state_of, with_state
from .route_kinds import (
    NodeEffect,
    NodeEffects,
    NodeKind,
    Rule,
    of_features,
    of_request,
    of_time,
    unmoved,
)
from .zookeeper_routes import (
    JOINT_ROUTES,
    JOINT_TIMERS,
    OF_ZOOKEEPER,
    START_REFUSED,
    ZOOKEEPER_MOVES,
    ZOOKEEPER_NOT_ADDRESSED,
    ZOOKEEPER_NOT_MISSED,
    ZOOKEEPER_PLANS_NOTHING,
    ZOOKEEPER_ROUTES,
    nothing_to_announce,
)

__all__ = [
    "AT_ONCE",
    "IDLE",
    "JOINT_ROUTES",
    "JOINT_TIMERS",
    "MODE_MOVES",
    "NOT_ADDRESSED",
    "NOT_MISSED",
    "PERIOD_MS",
    "PLANS",
    "PLANS_NOTHING",
    "ROUTES",
    "START_REFUSED",
    "TIMERS",
    "UNANSWERED",
    "NodeEffect",
    "Rule",
    "has_timer",
    "node_kinds",
]


ROUTES: dict[tuple[NodeKind, type], Rule] = {
    (Controller, messages.AlterPartitionRequest): of_time(alter_partition),
    (Controller, messages.BrokerRegistrationRequest): of_time(broker_registration.register_broker),
    (Controller, messages.BrokerHeartbeatRequest): of_time(broker_heartbeat),
    (Controller, ElectLeadersRequest): of_features(elections.elect_leaders),
    (Controller, messages.UnregisterBrokerRequest): of_features(
        broker_registration.unregister_broker
    ),
    (Broker, FetchRequest): of_time(fetching.serve_fetch),
    (Broker, messages.FetchResponse): lambda b, m, w: fetching.fetched(
        b, m.body, m.request, w.clock
    ),
    (Broker, messages.AlterPartitionResponse): of_request(alter_partition_manager.answered),
    (Broker, messages.BrokerRegistrationResponse): of_time(lifecycle.registered),
    (Broker, messages.BrokerHeartbeatResponse): lambda b, m, _: lifecycle.heartbeat_answered(
        b, m.body
    ),
    # Only a raw request makes a broker ask for an election, or have another one forgotten.
    (Broker, messages.ElectLeadersResponse): unmoved,
    (Broker, messages.UnregisterBrokerResponse): unmoved,
    (Broker, messages.MetadataUpdate): of_time(lifecycle.metadata_arrived),
    **{(Clients, reply): unmoved for reply in messages.RESPONSES},
    **ZOOKEEPER_ROUTES,
}
NOT_ADDRESSED: dict[tuple[NodeKind, type], str] = {
    (Controller, FetchRequest): "replicas are fetched from brokers",
    (Controller, messages.MetadataUpdate): "the controller writes the metadata itself",
    **{(Controller, reply): "the controller asks nobody" for reply in messages.RESPONSES},
    (Broker, messages.AlterPartitionRequest): "the controller decides",
    (Broker, messages.BrokerRegistrationRequest): "the controller registers brokers",
    (Broker, messages.BrokerHeartbeatRequest): "the controller keeps the sessions",
    (Broker, ElectLeadersRequest): "the controller elects",
    (Broker, messages.UnregisterBrokerRequest): "the controller keeps the registrations",
    **{(Clients, request): "clients answer nothing" for request in messages.REQUESTS},
    (Clients, messages.MetadataUpdate): "clients ask for metadata when they want some",
    **{(Controller, body): "KRaft's brokers read the metadata log" for body in OF_ZOOKEEPER},
    **ZOOKEEPER_NOT_ADDRESSED,
}
"""Messages that no node of this kind ever gets, and why."""

AtOnce = Callable[[Any, Any, Any, Cluster], tuple[Any, tuple[Send, ...], tuple[Send, ...], Any]]
"""(node, one message, the other, cluster) to (node, sends after one, after the other, facts)."""
AT_ONCE: dict[tuple[NodeKind, type], AtOnce] = {
    (Broker, FetchRequest): lambda b, m, o, w: serve_fetches_at_once(
        b, m.body, o.body, w.features, w.clock
    ),
}
"""Where a step can be told finer: two messages of this type, each with a thread of its own."""

UNANSWERED: dict[tuple[NodeKind, type], Callable[[Any], Any]] = {
    (Broker, messages.AlterPartitionRequest): alter_partition_manager.give_up_waiting,
    **HEARTBEAT_UNANSWERED,
}
"""What a node makes of it that no answer to its request will come."""
_NEXT = "nothing is kept of the one under way: the next one is sent as if there had been none"
NOT_MISSED: dict[tuple[NodeKind, type], str] = {
    (Broker, FetchRequest): _NEXT,
    (Broker, messages.BrokerRegistrationRequest): _NEXT,
    (Broker, messages.BrokerHeartbeatRequest): _NEXT,
    (Broker, ElectLeadersRequest): "only a raw request makes a broker ask for an election",
    (Broker, messages.UnregisterBrokerRequest): "only a raw request makes a broker ask for that",
    (Clients, ElectLeadersRequest): "whoever asked for the election asks again, or does not",
    (Clients, messages.UnregisterBrokerRequest): "the operator asks again, or does not",
    **ZOOKEEPER_NOT_MISSED,
}
"""Requests whose sender changes nothing when no answer will come, and why."""

TIMERS: dict[tuple[NodeKind, moves.Timer], route_kinds.TimerRule] = {
    (Broker, moves.Timer.HEARTBEAT): lambda b, w: (
        lifecycle.heartbeat(b, w.clock) if process_of(b).session is None else send_heartbeat(b, w)
    ),
    (Broker, moves.Timer.FETCH): lambda b, w: fetching.fetch(b, w.features),
    (Broker, moves.Timer.LAG_CHECK): lambda b, w: alter_partition_manager.check_lag(
        b, w.features, w.clock
    ),
    (Broker, moves.Timer.RETRY): lambda b, w: alter_partition_manager.retry(b, w.features),
    (Broker, moves.Timer.CHECKPOINT): lambda b, _w: disk.checkpoint(b),
    (Broker, moves.Timer.FLUSH): lambda b, _w: disk.flush(b),
    (Controller, moves.Timer.ELECT_UNCLEAN): lambda c, w: elections.elect_unclean_leaders(
        c, w.features
    ),
    (Controller, moves.Timer.BALANCE_LEADERS): lambda c, w: elections.balance_leaders(
        c, w.features
    ),
}
PERIOD_MS = {
    moves.Timer.HEARTBEAT: lifecycle.HEARTBEAT_MS,
    moves.Timer.FETCH: fetching.FETCH_WAIT_MS,
    moves.Timer.LAG_CHECK: broker_state.LAG_CHECK_MS,
    moves.Timer.RETRY: alter_partition_manager.RETRY_MS,
    moves.Timer.CHECKPOINT: broker_state.CHECKPOINT_MS,
    moves.Timer.FLUSH: broker_state.FLUSH_MS,
    moves.Timer.ANNOUNCE_ISR: ANNOUNCE_ISR_MS,
    moves.Timer.ELECT_UNCLEAN: elections.INTERVAL_MS,
    moves.Timer.BALANCE_LEADERS: elections.INTERVAL_MS,
}


def _no_heartbeats(node: Broker, _cluster: Cluster) -> str | None:
    return None if process_of(node).session is None else why_no_heartbeat(node)


def _follows_nobody(node: Broker, _cluster: Cluster) -> str | None:
    if any(r.leading is None for r in process_of(node).replicas):
        return None
    return f"broker {node.id} follows nobody"


def _nothing_to_retry(node: Broker, _cluster: Cluster) -> str | None:
    if process_of(node).items:
        return None
    return f"broker {node.id} has no AlterPartition to retry"


def _no_unclean_elections(controller: Controller, cluster: Cluster) -> str | None:
    if not elections.has_unclean_elections(cluster.features):
        return "this controller does not look after leaderless partitions unasked (KAFKA-12670)"
    return _nothing_planned(controller.timers.elect_unclean, cluster)


def _no_rebalance(controller: Controller, cluster: Cluster) -> str | None:
    if not controller.auto_leader_rebalance:
        return "auto.leader.rebalance.enable is off; `controller auto-leader-rebalance=yes`"
    return _nothing_planned(controller.timers.balance_leaders, cluster)


def _nothing_planned(due_ms: int, cluster: Cluster) -> str | None:
    if cluster.timed and not due_ms:
        return "the controller has found no reason yet, and nothing is planned"
    return None


IDLE: dict[tuple[NodeKind, moves.Timer], route_kinds.IdleCheck] = {
    (Broker, moves.Timer.HEARTBEAT): _no_heartbeats,
    (Broker, moves.Timer.FETCH): _follows_nobody,
    (Broker, moves.Timer.RETRY): _nothing_to_retry,
    (Broker, moves.Timer.ANNOUNCE_ISR): nothing_to_announce,
    (Controller, moves.Timer.ELECT_UNCLEAN): _no_unclean_elections,
    (Controller, moves.Timer.BALANCE_LEADERS): _no_rebalance,
}
"""Timers of which, as things are, nothing may come, and the reason for people."""

PLANS: dict[NodeKind, route_kinds.Plan] = {
    Controller: lambda c, w: elections.plan(c, w.features, w.now_ms),
}
"""What a control plane plans in a run with a clock.

It is asked whenever a control plane, the truth or the features are not what they were. That time
has passed is no reason by itself.
"""
PLANS_NOTHING: dict[NodeKind, str] = {
    Broker: "its rules set its timers",
    Clients: "they have no timers",
    **ZOOKEEPER_PLANS_NOTHING,
}
"""Kinds of nodes that plan nothing, and why."""


def has_timer(kind: NodeKind, timer: moves.Timer) -> bool:
    """Whether nodes of this kind have that timer."""
    return (kind, timer) in TIMERS or (kind, timer) in JOINT_TIMERS


def node_kinds() -> frozenset[NodeKind]:
    """Every kind of node that has routes."""
    return frozenset(kind for kind, _ in (*ROUTES, *JOINT_ROUTES, *NOT_ADDRESSED))


# --- moves that every mode does in its own way --------------------------------------------------


def _start(cluster: Cluster, move: moves.Start) -> NodeEffects:
    """A process begins, and the controller lets it have the metadata."""
    down = broker(cluster, move.broker)
    assert down is not None
    controller = state_of(cluster, CONTROLLER)
    told = (controller, (Send(move.broker, image(controller)),), ())
    return (move.broker, lifecycle.start(down, cluster.clock)), (CONTROLLER, told)


def _elect(cluster: Cluster, move: moves.Elect) -> NodeEffects:
    """An admin client's request reaches the active controller, by way of any broker."""
    request = ElectLeadersRequest(unclean=move.unclean, partitions=(move.partition,))
    return ((CLIENT, (state_of(cluster, CLIENT), (Send(CONTROLLER, request),), ())),)


MODE_MOVES: dict[tuple[NodeKind, type], route_kinds.ModeRule] = {
    (Controller, moves.Start): _start,
    (Controller, moves.FinishRecovery): lambda w, m: (
        (m.broker, lifecycle.finish_recovery(state_of(w, m.broker), w.clock)),
    ),
    (Controller, moves.ShutDown): lambda w, m: (
        (m.broker, lifecycle.begin_shutdown(state_of(w, m.broker), w.clock)),
    ),
    (Controller, moves.ExpireSession): lambda w, m: (
        (CONTROLLER, expire_session(state_of(w, CONTROLLER), m.broker, w.features, w.clock)),
    ),
    # Impossible: there are no MetadataHeartbeats.
    (Controller, moves.HeartbeatTimeout): lambda w, _: ((CONTROLLER, (w.controller, (), ())),),
    (Controller, moves.FailOver): lambda w, _: (
        (CONTROLLER, fail_over(state_of(w, CONTROLLER), w.features, w.clock)),
    ),
    (Controller, moves.UpgradeMetadata): lambda w, _: (
        (CONTROLLER, finalize(state_of(w, CONTROLLER))),
    ),
    (Controller, moves.Elect): _elect,
    (Controller, moves.Configure): lambda w, m: (
        (
            CONTROLLER,
            elections.allow_unclean_elections(
                state_of(w, CONTROLLER), m.topic, w.features, allowed=m.unclean_leader_election
            ),
        ),
    ),
    (Controller, moves.Upgrade): lambda w, _: (
        (CONTROLLER, (carried_over(state_of(w, CONTROLLER), w.features), (), ())),
    ),
    **ZOOKEEPER_MOVES,
}


def put_back(cluster: Cluster, node: BrokerId, state: Any) -> Cluster:
    """`cluster` with another state at `node`, which may be a reason to plan something."""
    cluster = with_state(cluster, node, state)
    return planned(cluster) if cluster.timed and is_in_control(node, state) else cluster


def planned(cluster: Cluster) -> Cluster:
    """Control planes plan what they put off, whatever has just given them a reason."""
    for node in control_planes(cluster):
        state = state_of(cluster, node)
        plan = PLANS.get(type(state))
        if plan is not None:
            cluster = with_state(cluster, node, plan(state, cluster))
    return cluster
