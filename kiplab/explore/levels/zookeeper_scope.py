"""What the level "zookeeper" offers, what it does not, and why.

What nobody speaks of here is held (a message), or missed by tests/explore/test_zookeeper_scope.py
(a move, a setting of a move, a guard), which looks at what searches of the level do. A sentence
that begins with "Left out" is of what happens in Kafka and in no search of this level.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from ...engine import moves
from ...protocol.guards import GUARDS
from ...protocol.messages import (
    KINDS,
    AlterPartitionRequest,
    AlterPartitionResponse,
    ElectLeadersRequest,
    ElectLeadersResponse,
    FetchRequest,
    FetchResponse,
    LeaderAndIsrResponse,
    MetadataUpdate,
    SetPartitionStateRequest,
    SetPartitionStateResponse,
    StopReplicaResponse,
    UpdateMetadataResponse,
    broker_messages,
    heartbeat_messages,
)
from ...protocol.zookeeper.zookeeper_controller import QueuedRequest

QUEUED = tuple(KINDS[body] for body in get_args(QueuedRequest))
"""Kinds of requests that a controller queues."""

# --- messages -------------------------------------------------------------------------------------

_GOES_ON = "All that it does is to let the next request go, and that waits as well as it would."
AT_ONCE: Mapping[type, str] = {
    LeaderAndIsrResponse: _GOES_ON,
    UpdateMetadataResponse: _GOES_ON,
    StopReplicaResponse: _GOES_ON,
    ElectLeadersRequest: "That it comes late is that it is asked for late.",
    ElectLeadersResponse: "Nobody waits for it.",
}
"""Messages that arrive within the action that sends them."""

_NO_DATA = "Nobody writes, fetches or reads."
_ISR_SHRINKS = "Nobody fetches or looks at the clock: no leader has a reason to change an ISR."
_KRAFT = "Only KRaft's brokers send it, or its controller."
NEVER_SENT: Mapping[type, str] = {
    FetchRequest: _NO_DATA,
    FetchResponse: _NO_DATA,
    AlterPartitionRequest: _ISR_SHRINKS,
    AlterPartitionResponse: _ISR_SHRINKS,
    SetPartitionStateRequest: _ISR_SHRINKS,
    SetPartitionStateResponse: _ISR_SHRINKS,
    MetadataUpdate: _KRAFT,
    **{body: _KRAFT for body in KINDS if body.__module__ == broker_messages.__name__},
    **{
        body: "Plays with KIP-343's heartbeats are refused."
        for body in KINDS
        if body.__module__ == heartbeat_messages.__name__
    },
}
"""Messages that there are none of."""
HELD = tuple(kind for body, kind in KINDS.items() if body not in {**AT_ONCE, **NEVER_SENT})
"""Kinds of all other messages: that one of them arrives is an action."""

# --- moves ----------------------------------------------------------------------------------------

_CONNECTIONS = "Left out: a connection breaks only when a process ends."
_STAYS = "Left out: the controller of the beginning stays in office."
_SETTINGS = "Left out: settings and releases stay as they are."
NOT_OFFERED: Mapping[type, str] = {
    moves.Drop: _CONNECTIONS,
    moves.TimeOut: _CONNECTIONS,
    moves.LoseReply: _CONNECTIONS,
    moves.Cut: _CONNECTIONS,
    moves.Heal: _CONNECTIONS,
    moves.Duplicate: "A broker that gives up waiting asks anew (`shutdown`), a controller never.",
    moves.Race: "Two fetches race, and nobody fetches.",
    moves.Advance: "With ZooKeeper there is no clock.",
    moves.Fire: (
        "Left out: fetches, leaders that look for members that lag, and every round but the first"
        " in which high watermarks are written."
    ),
    moves.HeartbeatTimeout: "Plays with KIP-343's heartbeats are refused.",
    moves.Produce: _NO_DATA,
    moves.EndTransaction: _NO_DATA,
    moves.ProduceAs: _NO_DATA,
    moves.Resend: _NO_DATA,
    moves.DeleteRecords: _NO_DATA,
    moves.Poll: _NO_DATA,
    moves.RefreshMetadata: _NO_DATA,
    moves.ResetOffset: _NO_DATA,
    moves.FinishRecovery: "Who has recovered its logs registers: with ZooKeeper that is `start`.",
    moves.FinishLeaderRecovery: "No election is unclean.",
    moves.FailOver: _STAYS,
    moves.Configure: _SETTINGS,
    moves.Upgrade: _SETTINGS,
    moves.UpgradeMetadata: _SETTINGS,
    moves.RawRequest: "What no rule sends shows nothing about the rules.",
}
"""Moves that no action makes."""

ALWAYS: Mapping[tuple[type, str], str] = {
    (moves.Crash, "loss"): "Left out: no disk is lost, and there is nothing unflushed.",
    (moves.Start, "server"): "Which server of ZooKeeper it is decides on session ids alone.",
    (moves.Elect, "unclean"): "Left out: an operator asks for the preferred leader.",
}
"""What an action could say of a move and always says in the same way, by (move, setting)."""

# --- guards ---------------------------------------------------------------------------------------

NOT_ASKED: Mapping[str, str] = {
    "320.fenced-fetch": _NO_DATA,
    "320.unknown-fetch": _NO_DATA,
    "320.validated-position": _NO_DATA,
    "kafka-7128.epoch-start": _NO_DATA,
    "497.request-broker-epoch": _ISR_SHRINKS,
    "497.leader-epoch": _ISR_SHRINKS,
    "497.partition-epoch": _ISR_SHRINKS,
    "kafka-14154.newer-epoch": _ISR_SHRINKS,
    "704.recovering-alone": _ISR_SHRINKS,
    "704.no-way-back": _ISR_SHRINKS,
    "841.registered": _ISR_SHRINKS,
    "841.shutting-down": _ISR_SHRINKS,
    "zookeeper.isr-version": _ISR_SHRINKS,
    "zookeeper.leader-skips-absent": _ISR_SHRINKS,
    "704.leader-refuses": _NO_DATA,
    "704.follower-refuses": _NO_DATA,
    "704.aborts-transactions": _NO_DATA,
    "zookeeper.controller-epoch": "There is one controller, and no request of an earlier one.",
    "kafka-9839.newer-epoch": (
        "A process that registers anew knows its epoch in the same action: no request names a later"
        " one."
    ),
    **{
        guard.id: "Plays with KIP-343's heartbeats are refused."
        for guard in GUARDS.values()
        if guard.kip == 343 and guard.id != "343.heartbeats"
    },
}
"""Guards of ZooKeeper mode that no rule asks for here; for heartbeats every start asks."""
