"""Which rule answers which message and which timer: the routing tables of `step`.

A rule is found under (kind of the node, type of the message), or (kind, timer); the kind of a node
is the type of its state (`nodes`). The tables of ZooKeeper mode are in `zookeeper_routes`, with
what its nodes handle together with ZooKeeper (JOINT_ROUTES). Rules get the state, the message, and
the cluster for what it says of features and of the time; they return (state, sends, facts).

What starts a broker, lets it go, ends its session, puts another controller in charge, asks one for
an election or raises the metadata version is another matter in every mode: MODE_MOVES has the rule
under (kind of the control plane, type of the move). What a client asks of one broker is the same in
all of them: BROKER_MOVES.

A new timer of a node is a member of `moves.Timer`, an entry (kind, timer) in TIMERS, its period in
PERIOD_MS, and a field with its name in the struct `timers` of the node's state: of a broker that is
in its process, of every other node in the state itself. Firing it sets that field one period ahead
in a run with a clock. IDLE says when nothing would come of it. A control plane's is fired whenever
it is due and not idle; when a broker's is worth firing, `clock` says.

What a kind of node puts off and plans for later, whatever has just happened, stands in PLANS, or in
PLANS_NOTHING (tests/engine/unrouted.py) why there is nothing.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from ..protocol import messages
from ..protocol.ids import CONTROLLER, BrokerId
from ..protocol.kip343 import broker_with_heartbeats
from ..protocol.kraft import broker_lifecycle as lifecycle
from ..protocol.kraft import broker_registration as registration
from ..protocol.kraft import (
    elections,
    fencing,
    heartbeats,
    log_directories,
    replay,
    sessions,
    topic_settings,
)
from ..protocol.kraft.alter_partition import alter_partition
from ..protocol.kraft.controller_state import Controller
from ..protocol.messages import Send
from ..protocol.replica import alter_partition_manager, broker_state, disk, fetching, produce
from ..protocol.replica.broker_parts import process_of
from ..protocol.replica.broker_state import Broker
from ..protocol.replica.fetches_at_once import serve_fetches_at_once
from ..protocol.zookeeper.isr_writes import ANNOUNCE_ISR_MS
from . import moves, route_kinds, zookeeper_routes
from .cluster import Cluster, broker
from .nodes import Clients, control_planes, is_in_control, state_of, with_state
from .route_kinds import NodeKind, Rule, at, at_broker, by_name, never, unmoved

ROUTES: dict[tuple[NodeKind, type], Rule] = {
    (Controller, messages.AlterPartitionRequest): by_name(alter_partition),
    (Controller, messages.BrokerRegistrationRequest): by_name(registration.register_broker),
    (Controller, messages.BrokerHeartbeatRequest): by_name(heartbeats.broker_heartbeat),
    (Controller, messages.ElectLeadersRequest): by_name(elections.elect_leaders),
    (Controller, messages.UnregisterBrokerRequest): by_name(registration.unregister_broker),
    (Controller, messages.AssignReplicasToDirsRequest): by_name(log_directories.assign_replicas),
    (Broker, messages.FetchRequest): by_name(fetching.serve_fetch),
    (Broker, messages.FetchResponse): by_name(fetching.fetched),
    (Broker, messages.AlterPartitionResponse): by_name(alter_partition_manager.answered),
    (Broker, messages.BrokerRegistrationResponse): by_name(lifecycle.registered),
    (Broker, messages.BrokerHeartbeatResponse): by_name(lifecycle.heartbeat_answered),
    # Only a raw request makes a broker ask for an election, or have another one forgotten.
    (Broker, messages.ElectLeadersResponse): unmoved,
    (Broker, messages.UnregisterBrokerResponse): unmoved,
    (Broker, messages.AssignReplicasToDirsResponse): unmoved,
    (Broker, messages.MetadataUpdate): by_name(lifecycle.metadata_arrived),
    **{(Clients, reply): unmoved for reply in messages.RESPONSES},
    **zookeeper_routes.ZOOKEEPER_ROUTES,
}
NOT_ADDRESSED: dict[tuple[NodeKind, type], str] = {
    (Controller, messages.FetchRequest): "replicas are fetched from brokers",
    (Controller, messages.MetadataUpdate): "the controller writes the metadata itself",
    **never(Controller, "the controller sends no requests", messages.RESPONSES),
    (Broker, messages.AlterPartitionRequest): "the controller decides",
    (Broker, messages.BrokerRegistrationRequest): "the controller registers brokers",
    (Broker, messages.BrokerHeartbeatRequest): "the controller keeps the sessions",
    (Broker, messages.ElectLeadersRequest): "the controller elects",
    (Broker, messages.UnregisterBrokerRequest): "the controller keeps the registrations",
    (Broker, messages.AssignReplicasToDirsRequest): "the controller writes the metadata",
    **never(Clients, "clients receive no requests", messages.REQUESTS),
    (Clients, messages.MetadataUpdate): "clients request metadata when they need it",
    **never(Controller, "KRaft's brokers read the metadata log", zookeeper_routes.OF_ZOOKEEPER),
    **zookeeper_routes.ZOOKEEPER_NOT_ADDRESSED,
}
"""Messages that no node of this kind ever gets, and why."""

AtOnce = Callable[[Any, Any, Any, Cluster], tuple[Any, tuple[Send, ...], tuple[Send, ...], Any]]
"""(node, one message, the other, cluster) to (node, sends after one, after the other, facts)."""
AT_ONCE: dict[tuple[NodeKind, type], AtOnce] = {
    (Broker, messages.FetchRequest): lambda b, m, o, w: serve_fetches_at_once(
        b, m.body, o.body, w.features, w.clock
    )
}
"""Messages that two threads may handle at once, by their type."""

UNANSWERED: dict[tuple[NodeKind, type], Callable[[Any], Any]] = {
    (Broker, messages.AlterPartitionRequest): alter_partition_manager.give_up_waiting,
    (Broker, messages.IsrChangeRequest): alter_partition_manager.give_up_waiting,
}
"""A node's reaction when no answer to its request will come."""

TIMERS: dict[tuple[NodeKind, moves.Timer], Rule] = {
    (Broker, moves.Timer.HEARTBEAT): lambda b, _, w: (
        lifecycle.heartbeat(b, w.clock)
        if process_of(b).session is None
        else zookeeper_routes.send_heartbeat(b, w)
    ),
    (Broker, moves.Timer.FETCH): by_name(fetching.fetch),
    (Broker, moves.Timer.LAG_CHECK): by_name(alter_partition_manager.check_lag),
    (Broker, moves.Timer.RETRY): by_name(alter_partition_manager.retry),
    (Broker, moves.Timer.CHECKPOINT): by_name(disk.checkpoint),
    (Broker, moves.Timer.FLUSH): by_name(disk.flush),
    (Controller, moves.Timer.ELECT_UNCLEAN): by_name(elections.elect_unclean_leaders),
    (Controller, moves.Timer.BALANCE_LEADERS): by_name(elections.balance_leaders),
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


def _unless(waits: Callable[[broker_state.Volatile], object], reason: str) -> route_kinds.IdleCheck:
    """Nothing comes of it where nothing waits for it in the broker's process."""
    return lambda node, _: None if waits(process_of(node)) else reason.format(node.id)


def _no_unclean_elections(controller: Controller, cluster: Cluster) -> str | None:
    if not elections.has_unclean_elections(cluster.features):
        return "this controller does not check leaderless partitions by itself (KAFKA-12670)"
    return _nothing_planned(controller.timers.elect_unclean, cluster)


def _no_rebalance(controller: Controller, cluster: Cluster) -> str | None:
    if not controller.auto_leader_rebalance:
        return "auto.leader.rebalance.enable is off; `controller auto-leader-rebalance=yes`"
    return _nothing_planned(controller.timers.balance_leaders, cluster)


def _nothing_planned(due_ms: int, cluster: Cluster) -> str | None:
    if cluster.timed and not due_ms:
        return "the controller has no reason yet, and has scheduled no check"
    return None


IDLE: dict[tuple[NodeKind, moves.Timer], route_kinds.IdleCheck] = {
    (Broker, moves.Timer.HEARTBEAT): lambda b, _: (
        None if process_of(b).session is None else broker_with_heartbeats.why_no_heartbeat(b)
    ),
    (Broker, moves.Timer.FETCH): _unless(
        lambda process: any(r.leading is None for r in process.replicas),
        "broker {} follows nobody",
    ),
    (Broker, moves.Timer.RETRY): _unless(
        attrgetter("items"), "broker {} has no AlterPartition to retry"
    ),
    (Broker, moves.Timer.ANNOUNCE_ISR): _unless(
        attrgetter("isr_changes"),
        "broker {} has written no ISR to ZooKeeper that it has not announced",
    ),
    (Controller, moves.Timer.ELECT_UNCLEAN): _no_unclean_elections,
    (Controller, moves.Timer.BALANCE_LEADERS): _no_rebalance,
}
"""Timers of which, as things are, nothing may come, and the reason for people."""

PLANS: dict[NodeKind, route_kinds.Plan] = {
    Controller: lambda c, w: elections.plan(c, w.features, w.now_ms)
}
"""The plans of a control plane in a run with a clock.

It is called whenever a control plane, the truth or the features have changed. That time
has passed is no reason by itself.
"""


def node_kinds() -> frozenset[NodeKind]:
    """Every kind of node that has routes."""
    return frozenset(k for k, _ in (*ROUTES, *zookeeper_routes.JOINT_ROUTES, *NOT_ADDRESSED))


# --- moves that reach a node ----------------------------------------------------------------------


def _start(cluster: Cluster, move: moves.Start) -> route_kinds.NodeEffects:
    """A process begins, and the controller lets it have the metadata."""
    down = broker(cluster, move.broker)
    assert down is not None
    controller = state_of(cluster, CONTROLLER)
    sent = (controller, (Send(move.broker, replay.image(controller)),), ())
    return (move.broker, lifecycle.start(down, cluster.clock)), (CONTROLLER, sent)


MODE_MOVES: dict[tuple[NodeKind, type], route_kinds.ModeRule] = {
    (Controller, moves.Start): _start,
    (Controller, moves.FinishRecovery): at_broker(by_name(lifecycle.finish_recovery)),
    (Controller, moves.ShutDown): at_broker(by_name(lifecycle.begin_shutdown)),
    (Controller, moves.ExpireSession): at(CONTROLLER, by_name(fencing.expire_session)),
    # Impossible: there are no MetadataHeartbeats.
    (Controller, moves.HeartbeatTimeout): at(CONTROLLER, unmoved),
    (Controller, moves.FailOver): at(CONTROLLER, by_name(fencing.fail_over)),
    (Controller, moves.UpgradeMetadata): at(CONTROLLER, by_name(replay.finalize)),
    (Controller, moves.Elect): route_kinds.ask_for_election,
    (Controller, moves.Configure): at(CONTROLLER, by_name(topic_settings.configure)),
    (Controller, moves.ConfigureBrokers): at(CONTROLLER, by_name(topic_settings.configure_brokers)),
    (Controller, moves.DeleteTopic): at(CONTROLLER, by_name(replay.delete_topic)),
    (Controller, moves.UpgradeElr): at(CONTROLLER, by_name(topic_settings.finalize_elr)),
    (Controller, moves.Upgrade): at(
        CONTROLLER, lambda c, _, w: (sessions.carried_over(c, w.features), (), ())
    ),
    **zookeeper_routes.ZOOKEEPER_MOVES,
}
"""The moves that differ by mode, by the kind of the control plane."""

BROKER_MOVES: dict[type, route_kinds.ModeRule] = {
    moves.Produce: at_broker(
        lambda b, m, w: produce.produce(
            *(b, m.partition, m.count, w.features, w.clock),
            acks_all=m.acks_all,
            transaction=m.transaction,
        )
    ),
    moves.EndTransaction: at_broker(
        lambda b, m, w: produce.end_transaction(
            b, m.partition, w.features, w.clock, commits=m.commits
        )
    ),
    moves.DeleteRecords: at_broker(by_name(produce.delete_records)),
    moves.FinishLeaderRecovery: at_broker(by_name(alter_partition_manager.finish_leader_recovery)),
}
"""The effect on the broker that a move names."""


def put_back(cluster: Cluster, node: BrokerId, state: Any) -> Cluster:
    """`cluster` with another state at `node`, which may be a reason to plan something."""
    cluster = with_state(cluster, node, state)
    return planned(cluster) if cluster.timed and is_in_control(node, state) else cluster


def planned(cluster: Cluster) -> Cluster:
    """Control planes plan their delayed tasks after any move that gives a reason."""
    for node in control_planes(cluster):
        state = state_of(cluster, node)
        plan = PLANS.get(type(state))
        if plan is not None:
            cluster = with_state(cluster, node, plan(state, cluster))
    return cluster
