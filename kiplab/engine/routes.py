"""Which rule answers which message and which timer: the routing tables of `step`.

A rule is found under (kind of the node, type of the message), or (kind, timer); the kind of a node
is the type of its state (`nodes`). Rules get the state, the message, and the cluster for what it
says of features and of the time; they return (state, sends, facts).

What starts a broker, lets it go, ends its session or puts another controller in charge is another
matter in every mode: MODE_MOVES has the rule under (kind of the control plane, type of the move).

A node of a new kind says for every message which rule answers it (ROUTES) or why none is addressed
to it (NOT_ADDRESSED). A new request says what its sender does that notices that no answer will come
(UNANSWERED), or why that changes nothing (NOT_MISSED).

A new timer of a node is a member of `moves.Timer`, an entry (kind, timer) in TIMERS, its period in
PERIOD_MS, and a field with its name in the struct `timers` of the node's state: of a broker that is
in its process, of every other node in the state itself. Firing it sets that field one period ahead
in a run with a clock, and `clock` says when it would be worth firing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from ..protocol.facts import Fact
from ..protocol.ids import CONTROLLER, BrokerId
from ..protocol.kraft import broker_lifecycle as lifecycle
from ..protocol.kraft import periodic_elections
from ..protocol.kraft.alter_partition import alter_partition
from ..protocol.kraft.controller_state import Controller
from ..protocol.kraft.elections import elect_leaders
from ..protocol.kraft.fencing import expire_session, fail_over
from ..protocol.kraft.heartbeats import broker_heartbeat
from ..protocol.kraft.registration import register_broker
from ..protocol.kraft.replay import image
from ..protocol.messages import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    ElectLeadersRequest,
    ElectLeadersResponse,
    FetchRequest,
    FetchResponse,
    MetadataUpdate,
    Request,
    Response,
    Send,
)
from ..protocol.replica import alter_partition_manager, disk, fetching, periods
from ..protocol.replica.broker_state import Broker
from ..protocol.replica.lag_check import check_lag
from . import moves
from .cluster import Cluster, broker
from .nodes import Clients, state_of

NodeEffect = tuple[Any, tuple[Send, ...], tuple[Fact, ...]]
NodeKind = type
"""What lives at an address: the type of its state."""
Rule = Callable[[Any, Any, Cluster], NodeEffect]
TimerRule = Callable[[Any, Cluster], NodeEffect]


def _heard(node: Any, _message: Any, _cluster: Cluster) -> NodeEffect:
    """Nobody waits for it."""
    return node, (), ()


ROUTES: dict[tuple[NodeKind, type], Rule] = {
    (Controller, AlterPartitionRequest): lambda c, m, w: alter_partition(
        c, m.body, w.features, w.clock
    ),
    (Controller, BrokerRegistrationRequest): lambda c, m, w: register_broker(
        c, m.body, w.features, w.clock
    ),
    (Controller, BrokerHeartbeatRequest): lambda c, m, w: broker_heartbeat(
        c, m.body, w.features, w.clock
    ),
    (Controller, ElectLeadersRequest): lambda c, m, w: elect_leaders(c, m.body, w.features),
    (Broker, FetchRequest): lambda b, m, w: fetching.serve_fetch(b, m.body, w.features, w.clock),
    (Broker, FetchResponse): lambda b, m, _w: fetching.fetched(b, m.body, m.request),
    (Broker, AlterPartitionResponse): lambda b, m, w: alter_partition_manager.answered(
        b, m.body, m.request, w.features, w.clock
    ),
    (Broker, BrokerRegistrationResponse): lambda b, m, w: lifecycle.registered(
        b, m.body, w.features, w.clock
    ),
    (Broker, BrokerHeartbeatResponse): lambda b, m, _w: lifecycle.heartbeat_answered(b, m.body),
    # Only a raw request makes a broker ask for an election.
    (Broker, ElectLeadersResponse): _heard,
    (Broker, MetadataUpdate): lambda b, m, w: lifecycle.metadata_arrived(
        b, m.body, w.features, w.clock
    ),
    **{(Clients, reply): _heard for reply in get_args(Response)},
}
NOT_ADDRESSED: dict[tuple[NodeKind, type], str] = {
    (Controller, FetchRequest): "replicas are fetched from brokers",
    (Controller, MetadataUpdate): "the controller writes the metadata itself",
    **{(Controller, reply): "the controller asks nobody" for reply in get_args(Response)},
    (Broker, AlterPartitionRequest): "the controller decides",
    (Broker, BrokerRegistrationRequest): "the controller registers brokers",
    (Broker, BrokerHeartbeatRequest): "the controller keeps the sessions",
    (Broker, ElectLeadersRequest): "the controller elects",
    **{(Clients, request): "clients answer nothing" for request in get_args(Request)},
    (Clients, MetadataUpdate): "clients ask for metadata when they want some",
}
"""Messages that no node of this kind ever gets, and why."""

UNANSWERED: dict[tuple[NodeKind, type], Callable[[Any], Any]] = {
    (Broker, AlterPartitionRequest): alter_partition_manager.give_up_waiting,
}
"""What a node makes of it that no answer to its request will come."""
_NEXT = "nothing is kept of the one under way: the next one is sent as if there had been none"
NOT_MISSED: dict[tuple[NodeKind, type], str] = {
    (Broker, FetchRequest): _NEXT,
    (Broker, BrokerRegistrationRequest): _NEXT,
    (Broker, BrokerHeartbeatRequest): _NEXT,
    (Broker, ElectLeadersRequest): "only a raw request makes a broker ask for an election",
    (Clients, ElectLeadersRequest): "whoever asked for the election asks again, or does not",
}
"""Requests whose sender changes nothing when no answer will come, and why."""

TIMERS: dict[tuple[NodeKind, moves.Timer], TimerRule] = {
    (Broker, moves.Timer.HEARTBEAT): lambda b, w: lifecycle.heartbeat(b, w.clock),
    (Broker, moves.Timer.FETCH): lambda b, w: fetching.fetch(b, w.features),
    (Broker, moves.Timer.LAG_CHECK): lambda b, w: check_lag(b, w.features, w.clock),
    (Broker, moves.Timer.RETRY): lambda b, w: alter_partition_manager.retry(b, w.features),
    (Broker, moves.Timer.CHECKPOINT): lambda b, _w: disk.checkpoint(b),
    (Broker, moves.Timer.FLUSH): lambda b, _w: disk.flush(b),
    (Controller, moves.Timer.ELECT_UNCLEAN): lambda c, w: periodic_elections.elect_unclean_leaders(
        c, w.features
    ),
    (Controller, moves.Timer.BALANCE_LEADERS): lambda c, w: periodic_elections.balance_leaders(
        c, w.features
    ),
}
PERIOD_MS = {
    moves.Timer.HEARTBEAT: lifecycle.HEARTBEAT_MS,
    moves.Timer.FETCH: fetching.FETCH_WAIT_MS,
    moves.Timer.LAG_CHECK: periods.LAG_CHECK_MS,
    moves.Timer.RETRY: alter_partition_manager.RETRY_MS,
    moves.Timer.CHECKPOINT: periods.CHECKPOINT_MS,
    moves.Timer.FLUSH: periods.FLUSH_MS,
    moves.Timer.ELECT_UNCLEAN: periodic_elections.INTERVAL_MS,
    moves.Timer.BALANCE_LEADERS: periodic_elections.INTERVAL_MS,
}

# --- moves that every mode does in its own way --------------------------------------------------

ModeRule = Callable[[Cluster, Any], tuple[tuple[BrokerId, NodeEffect], ...]]
"""(cluster, move) to what becomes of which nodes, in order."""


def _start(cluster: Cluster, move: moves.Start) -> tuple[tuple[BrokerId, NodeEffect], ...]:
    """A process begins, and the controller lets it have the metadata."""
    down = broker(cluster, move.broker)
    assert down is not None
    update = Send(move.broker, image(cluster.controller))
    told = (cluster.controller, (update,), ())
    return (move.broker, lifecycle.start(down, cluster.clock)), (CONTROLLER, told)


MODE_MOVES: dict[tuple[NodeKind, type], ModeRule] = {
    (Controller, moves.Start): _start,
    (Controller, moves.FinishRecovery): lambda w, m: (
        (m.broker, lifecycle.finish_recovery(state_of(w, m.broker), w.clock)),
    ),
    (Controller, moves.ShutDown): lambda w, m: (
        (m.broker, lifecycle.begin_shutdown(state_of(w, m.broker), w.clock)),
    ),
    (Controller, moves.ExpireSession): lambda w, m: (
        (CONTROLLER, expire_session(w.controller, m.broker, w.features)),
    ),
    (Controller, moves.FailOver): lambda w, _: ((CONTROLLER, fail_over(w.controller, w.clock)),),
}
