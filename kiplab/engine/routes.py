"""Which rule answers which message and which timer: the routing tables of `step`.

A rule is found under (kind of the node, type of the message), or (kind, timer); the kind of a node
is the type of its state (`nodes`). Rules get the state, the message, and the cluster for what it
says of features and of the time; they return (state, sends, facts).

A node of a new kind says for every message which rule answers it (ROUTES) or why none is addressed
to it (NOT_ADDRESSED). A new timer of a node is a member of `moves.Timer`, an entry (kind, timer) in
TIMERS, its period in PERIOD_MS, and a field with its name in the struct `timers` of the node's
state: of a broker that is in its process, of every other node in the state itself. Firing it sets
that field one period ahead in a run with a clock, and `clock` says when it would be worth firing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from ..protocol.facts import Fact
from ..protocol.kraft import broker_lifecycle as lifecycle
from ..protocol.kraft import periodic_elections
from ..protocol.kraft.alter_partition import alter_partition
from ..protocol.kraft.controller_state import Controller
from ..protocol.kraft.elections import elect_leaders
from ..protocol.kraft.heartbeats import broker_heartbeat
from ..protocol.kraft.registration import register_broker
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
from .cluster import Cluster
from .nodes import Clients

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
