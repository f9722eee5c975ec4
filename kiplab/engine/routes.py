"""Which rule answers which message and which timer: the routing tables of `step`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..protocol.facts import Fact
from ..protocol.kraft import broker_lifecycle as lifecycle
from ..protocol.kraft.alter_partition import alter_partition
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
    Send,
)
from ..protocol.replica import alter_partition_manager, broker_parts, disk, fetching, periods
from ..protocol.replica.broker_state import Broker
from ..protocol.replica.lag_check import check_lag
from . import moves
from .cluster import Cluster

Rule = Callable[[Any, Any, Cluster], tuple[Any, tuple[Send, ...], tuple[Fact, ...]]]

CONTROLLER_RULES: dict[type, Rule] = {
    AlterPartitionRequest: lambda c, m, w: alter_partition(c, m.body, w.features, w.clock),
    BrokerRegistrationRequest: lambda c, m, w: register_broker(c, m.body, w.features, w.clock),
    BrokerHeartbeatRequest: lambda c, m, w: broker_heartbeat(c, m.body, w.features, w.clock),
    ElectLeadersRequest: lambda c, m, w: elect_leaders(c, m.body, w.features, w.clock),
}
BROKER_RULES: dict[type, Rule] = {
    FetchRequest: lambda b, m, w: fetching.serve_fetch(b, m.body, w.features, w.clock),
    FetchResponse: lambda b, m, w: fetching.fetched(b, m.body, m.request, w.clock),
    AlterPartitionResponse: lambda b, m, w: alter_partition_manager.answered(
        b,
        m.body,
        m.request,
        w.features,
        w.clock,
    ),
    BrokerRegistrationResponse: lambda b, m, w: lifecycle.registered(
        b,
        m.body,
        w.features,
        w.clock,
    ),
    BrokerHeartbeatResponse: lambda b, m, w: lifecycle.heartbeat_answered(b, m.body),
    # Only a raw request makes a broker ask for an election; no rule waits for the answer.
    ElectLeadersResponse: lambda b, m, w: (b, (), ()),
    MetadataUpdate: lambda b, m, w: lifecycle.metadata_arrived(b, m.body, w.features, w.clock),
}
TIMERS: dict[moves.Timer, Callable[[Broker, Cluster], broker_parts.BrokerEffect]] = {
    moves.Timer.HEARTBEAT: lambda b, w: lifecycle.heartbeat(b, w.clock),
    moves.Timer.FETCH: lambda b, w: fetching.fetch(b, w.features),
    moves.Timer.LAG_CHECK: lambda b, w: check_lag(b, w.features, w.clock),
    moves.Timer.RETRY: lambda b, w: alter_partition_manager.retry(b, w.features),
    moves.Timer.CHECKPOINT: lambda b, w: disk.checkpoint(b),
    moves.Timer.FLUSH: lambda b, w: disk.flush(b),
}
PERIOD_MS = {
    moves.Timer.HEARTBEAT: lifecycle.HEARTBEAT_MS,
    moves.Timer.FETCH: fetching.FETCH_WAIT_MS,
    moves.Timer.LAG_CHECK: periods.LAG_CHECK_MS,
    moves.Timer.RETRY: alter_partition_manager.RETRY_MS,
    moves.Timer.CHECKPOINT: periods.CHECKPOINT_MS,
    moves.Timer.FLUSH: periods.FLUSH_MS,
}
