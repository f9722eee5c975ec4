"""What the level "zookeeper" offers, what it does not, and why.

What nobody speaks of here is held (a message), or missed by tests/explore/test_zookeeper_scope.py
(a guard), which looks at what searches of the level do, and lists the moves that it leaves out.
"""

from collections.abc import Mapping
from typing import get_args

from ...protocol import messages
from ...protocol.guards import GUARDS
from ...protocol.zookeeper.zookeeper_controller import QueuedRequest

QUEUED = tuple(messages.KINDS[body] for body in get_args(QueuedRequest))
"""Kinds of requests that a controller queues."""

# --- messages -------------------------------------------------------------------------------------

_GOES_ON = "All that it does is to let the next request go, and that waits as well as it would."
AT_ONCE: Mapping[type, str] = {
    messages.LeaderAndIsrResponse: _GOES_ON,
    messages.UpdateMetadataResponse: _GOES_ON,
    messages.StopReplicaResponse: _GOES_ON,
    messages.ElectLeadersRequest: "That it comes late is that it is asked for late.",
    messages.ElectLeadersResponse: "Nobody waits for it.",
}
"""Messages that arrive within the action that sends them."""

NO_DATA = "Nobody writes, fetches or reads."
"""Why much of what a broker does is no part of this level."""
_ISR_SHRINKS = "Nobody fetches or looks at the clock: no leader has a reason to change an ISR."
_KRAFT = "Only KRaft's brokers send it, or its controller."
NEVER_SENT: Mapping[type, str] = {
    messages.FetchRequest: NO_DATA,
    messages.FetchResponse: NO_DATA,
    messages.AlterPartitionRequest: _ISR_SHRINKS,
    messages.AlterPartitionResponse: _ISR_SHRINKS,
    messages.SetPartitionStateRequest: _ISR_SHRINKS,
    messages.SetPartitionStateResponse: _ISR_SHRINKS,
    messages.MetadataUpdate: _KRAFT,
    **{
        body: _KRAFT
        for body in messages.KINDS
        if body.__module__ == messages.broker_messages.__name__ and body not in AT_ONCE
    },
    **{
        body: "Plays with KIP-343's heartbeats are refused."
        for body in messages.KINDS
        if body.__module__ == messages.heartbeat_messages.__name__
    },
}
"""Messages that there are none of."""
HELD = tuple(kind for body, kind in messages.KINDS.items() if body not in {**AT_ONCE, **NEVER_SENT})
"""Kinds of all other messages: that one of them arrives is an action."""

# --- guards ---------------------------------------------------------------------------------------

NOT_ASKED: Mapping[str, str] = {
    "320.fenced-fetch": NO_DATA,
    "320.unknown-fetch": NO_DATA,
    "320.validated-position": NO_DATA,
    "kafka-7128.epoch-start": NO_DATA,
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
    "704.leader-refuses": NO_DATA,
    "704.follower-refuses": NO_DATA,
    "704.aborts-transactions": NO_DATA,
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
