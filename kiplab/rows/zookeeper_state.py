"""ZooKeeper's state, and that of a controller on a broker, in few words for the inspector."""

from collections.abc import Callable
from typing import Any

from ..engine.zookeeper_sentences import session_name
from ..protocol.ids import NO_BROKER_EPOCH, NO_LEADER, NO_SESSION, broker_list
from ..protocol.kip343.heartbeat_controller import HeartbeatController, KnownBroker
from ..protocol.zookeeper.ensemble import Watch, ZooKeeperSession
from ..protocol.zookeeper.znodes import (
    BrokerZnode,
    ControllerEpochZnode,
    ControllerZnode,
    IsrChangeZnode,
    PartitionStateZnode,
    ReplicaAssignment,
    TextZnode,
    TopicConfigZnode,
    TopicZnode,
    Znode,
)
from ..protocol.zookeeper.zookeeper_controller import (
    BrokerChannel,
    LiveBroker,
    ZooKeeperController,
)


def _znode(znode: Znode) -> str:
    """What it holds, and the number of its Stat that Kafka goes by."""
    short = _CONTENTS.get(type(znode.data))
    if short is None:
        return ""
    stat = znode.stat
    if stat.ephemeral_owner != NO_SESSION:
        return f"{short(znode.data)}, czxid {stat.czxid}"
    return f"{short(znode.data)}, version {stat.version}"


def _partition_state(state: PartitionStateZnode) -> str:
    leader = "no leader" if state.leader == NO_LEADER else f"leader {state.leader}"
    return f"{leader}, ISR {broker_list(state.isr)}, leader epoch {state.leader_epoch}"


def _controller(controller: ZooKeeperController) -> str:
    if not controller.active:
        return "not the controller"
    return f"active, controller epoch {controller.epoch}"


def _live(known: LiveBroker) -> str:
    return "live" if known.epoch == NO_BROKER_EPOCH else f"broker epoch {known.epoch}"


def _channel(channel: BrokerChannel) -> str:
    count = len(channel.queue)
    return f"{count} request{'s' * (count != 1)} queued" if count else "nothing queued"


_CONTENTS: dict[type, Callable[[Any], str]] = {
    BrokerZnode: lambda data: f"broker {data.broker} is registered",
    ControllerZnode: lambda data: f"broker {data.broker}",
    ControllerEpochZnode: lambda data: f"controller epoch {data.epoch}",
    PartitionStateZnode: _partition_state,
    TopicZnode: lambda data: f"replicas of {', '.join(a.partition for a in data.assignments)}",
    TopicConfigZnode: lambda data: f"settings of {data.topic}",
    IsrChangeZnode: lambda data: f"ISR of {', '.join(data.partitions)} written",
    TextZnode: lambda data: data.text,
}
"""By the type of a znode's contents; null data needs no words."""
ZOOKEEPER_SHORT: dict[type, Callable[[Any], str]] = {
    Znode: _znode,
    **_CONTENTS,
    ReplicaAssignment: lambda assigned: f"replicas {broker_list(assigned.replicas)}",
    ZooKeeperSession: lambda session: f"of broker {session.owner}",
    Watch: lambda watch: f"{watch.kind} watch of session {session_name(watch.session)}",
    ZooKeeperController: _controller,
    LiveBroker: _live,
    BrokerChannel: _channel,
    HeartbeatController: _controller,
    KnownBroker: lambda known: f"{known.state.name.lower()}, incarnation {known.incarnation_id}",
}
"""Structs of ZooKeeper mode in few words; `state_tree` has those of all modes."""
