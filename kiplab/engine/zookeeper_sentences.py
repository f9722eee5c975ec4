"""What happens with ZooKeeper, and with a controller that lives on a broker, in words."""

from collections.abc import Callable
from typing import Any

from ..protocol import zookeeper_facts as facts
from ..protocol.ids import SessionId, broker_list, node_name


def session_name(session: SessionId) -> str:
    """``"0x100000000000001"``: as Kafka and ZooKeeper write it."""
    return f"0x{session:x}"


def _ended(e: facts.SessionEnded) -> str:
    gone = "what was ephemeral in it is gone"
    if e.expired:
        return f"ZooKeeper ends session {session_name(e.session)} of broker {e.broker}: {gone}"
    return f"broker {e.broker} closes its session {session_name(e.session)}: {gone}"


def _compared(e: facts.BrokersCompared) -> str:
    """``... with those it knows: bounced 1 (broker epoch 7 -> 12); gone {2}``."""
    bounced = ", ".join(f"{b} (broker epoch {old} -> {new})" for b, old, new in e.bounced)
    found = [f"new {broker_list(e.new)}"] if e.new else []
    found += [f"bounced {bounced}"] if bounced else []
    found += [f"gone {broker_list(e.dead)}"] if e.dead else []
    said = "; ".join(found) or "it finds no change"
    return f"{node_name(e.node)} compares the registered brokers with those it knows: {said}"


def _dropped(e: facts.QueueDropped) -> str:
    whose = f"{node_name(e.node)} closes its connection to broker {e.broker}"
    return f"{whose}, and what waited in its queue is gone: {'; '.join(e.requests)}"


def _tried(e: facts.ShutdownTried) -> str:
    left = f"{e.left} more to come" if e.left else "it was the last: the broker stops all the same"
    return f"broker {e.node} has tried a controlled shutdown in vain ({e.reason}); {left}"


ZOOKEEPER_SENTENCES: dict[type, Callable[[Any], str]] = {
    facts.ZnodeChanged: lambda e: f"ZooKeeper, transaction {e.zxid}: {e.path}: {e.text}",
    facts.SessionOpened: lambda e: (
        f"broker {e.broker} opens session {session_name(e.session)} with ZooKeeper"
    ),
    facts.SessionEnded: _ended,
    facts.ControllerElected: lambda e: (
        f"broker {e.broker} is the controller from now on (controller epoch {e.controller_epoch})"
    ),
    facts.ControllerStoodDown: lambda e: (
        f"broker {e.broker} stands down as the controller: {e.reason}"
    ),
    facts.BrokersCompared: _compared,
    facts.RequestsQueued: lambda e: (
        f"{node_name(e.node)} queues for broker {e.broker}: {'; '.join(e.requests)}"
    ),
    facts.QueueDropped: _dropped,
    facts.ReplicaStopped: lambda e: (
        f"broker {e.node} does not fetch {e.partition} any more: {e.reason}"
    ),
    facts.CheckpointLost: lambda e: (
        f"broker {e.node} writes its checkpoint of high watermarks without {e.partition}: what it"
        f" had there, {e.high_watermark}, is gone from the disk"
    ),
    facts.ShutdownTried: _tried,
    facts.BrokerDeclared: lambda e: (
        f"{node_name(e.node)} declares broker {e.broker} {e.after}: {e.reason}"
    ),
    facts.BrokerStateChanged: lambda e: (
        f"broker {e.node} counts itself as {e.after} from now on: {e.reason}"
    ),
}
"""A sentence for each of ZooKeeper's facts; `explain` has those of all the others."""
