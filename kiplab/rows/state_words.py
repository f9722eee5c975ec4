"""Kafka's words for the fields of the state, and the fields that a reader is spared, and why.

A field is named ``"Struct.field"``. One that no table here names is shown under its own name.
ZooKeeper's state, and that of a controller on a broker, is told in few words for the inspector.
"""

import tomllib
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from ..engine.explain import session_name
from ..protocol.ids import NO_BROKER_EPOCH, NO_LEADER, NO_SESSION, broker_list
from ..protocol.kip343.heartbeat_controller import HeartbeatController, KnownBroker
from ..protocol.zookeeper import ensemble, znodes, zookeeper_controller
from .columns import plural

_WORDS = tomllib.loads((files(__package__) / "state_words.toml").read_text("utf-8"))
LABELS, NOTES, LEFT_OUT, NOTHING = (
    dict[str, str](_WORDS[table]) for table in ("labels", "notes", "left_out", "nothing")
)
"""What fields are called, notes on them, those that are not shown and why, the meaning of None."""
OF_OTHER_MODES, CLOCKED, INLINE, _IDENTITY = (
    frozenset[str](_WORDS[places].split())
    for places in ("of_other_modes", "clocked", "inline", "identity")
)
IDENTITY = dict(place.split(".") for place in _IDENTITY)
"""By a struct of which there are many, the field that names one."""


def _znode(znode: znodes.Znode) -> str:
    """What it holds, and the number of its Stat that Kafka goes by."""
    short = _CONTENTS.get(type(znode.data))
    if short is None:
        return ""
    stat = znode.stat
    if stat.ephemeral_owner != NO_SESSION:
        return f"{short(znode.data)}, czxid {stat.czxid}"
    return f"{short(znode.data)}, version {stat.version}"


def _partition_state(state: znodes.PartitionStateZnode) -> str:
    leader = "no leader" if state.leader == NO_LEADER else f"leader {state.leader}"
    return f"{leader}, ISR {broker_list(state.isr)}, leader epoch {state.leader_epoch}"


def _controller(controller: zookeeper_controller.ZooKeeperController) -> str:
    if not controller.active:
        return "not the controller"
    return f"active, controller epoch {controller.epoch}"


_CONTENTS: dict[type, Callable[[Any], str]] = {
    znodes.BrokerZnode: lambda data: f"broker {data.broker} is registered",
    znodes.ControllerZnode: lambda data: f"broker {data.broker}",
    znodes.ControllerEpochZnode: lambda data: f"controller epoch {data.epoch}",
    znodes.PartitionStateZnode: _partition_state,
    znodes.TopicZnode: lambda data: (
        f"replicas of {', '.join(a.partition for a in data.assignments)}"
    ),
    znodes.TopicConfigZnode: lambda data: f"settings of {data.topic}",
    znodes.IsrChangeZnode: lambda data: f"ISR of {', '.join(data.partitions)} written",
    znodes.TextZnode: lambda data: data.text,
}
"""By the type of a znode's contents; null data needs no words."""
ZOOKEEPER_SHORT: dict[type, Callable[[Any], str]] = {
    znodes.Znode: _znode,
    **_CONTENTS,
    znodes.ReplicaAssignment: lambda assigned: f"replicas {broker_list(assigned.replicas)}",
    ensemble.ZooKeeperSession: lambda session: f"of broker {session.owner}",
    ensemble.Watch: lambda watch: f"{watch.kind} watch of session {session_name(watch.session)}",
    zookeeper_controller.ZooKeeperController: _controller,
    zookeeper_controller.LiveBroker: lambda broker: (
        "live" if broker.epoch == NO_BROKER_EPOCH else f"broker epoch {broker.epoch}"
    ),
    zookeeper_controller.BrokerChannel: lambda channel: (
        f"{plural(len(channel.queue), 'request') if channel.queue else 'nothing'} queued"
    ),
    HeartbeatController: _controller,
    KnownBroker: lambda known: f"{known.state.name.lower()}, incarnation {known.incarnation_id}",
}
"""Structs of ZooKeeper mode in few words; `state_tree` has those of all modes."""
