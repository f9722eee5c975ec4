"""The state of every node, as a tree of labelled rows; and its changes in one step.

The rows are read off the state's structs, field by field: a new field shows up by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from enum import Enum
from functools import cache
from typing import Any, cast, get_type_hints

import msgspec
from msgspec.structs import replace

from ..engine.cluster import Cluster, Message
from ..engine.explain import session_name
from ..engine.truth import truth
from ..protocol.clients.consumer import Consumer
from ..protocol.clients.producer import Batch, Producer
from ..protocol.ids import CONTROLLER, ZOOKEEPER, BrokerId, SessionId, broker_list, node_name
from ..protocol.kraft.controller_state import Contact, ElrList, HeartbeatState
from ..protocol.log import EpochStart, Log
from ..protocol.messages import KINDS, AlterPartitionItem
from ..protocol.registrations import LeaderRecoveryState, PartitionRegistration, Registration
from ..protocol.releases import Mode
from ..protocol.replica import broker_state
from ..protocol.zookeeper.znodes import ROOT, Znode, parent_path
from .columns import plural
from .operator_log import topic_description
from .state_words import (
    CLOCKED,
    IDENTITY,
    INLINE,
    LABELS,
    LEFT_OUT,
    NOTES,
    NOTHING,
    OF_OTHER_MODES,
    ZOOKEEPER_SHORT,
)

UNKNOWN_TO_ALL = "no node knows this"
DESCRIPTION = "description of "
"""What the key of a row begins with that is a broker's answer to an operator."""


class StateNode(msgspec.Struct, frozen=True):
    """A row: what it is called, what it holds (or in short, if there are rows under it).

    `key` is its name among its siblings. `field` is where it was read from, ``"Log.end"``; empty
    for what is worked out from others. `note` says what to know besides.
    """

    key: str
    label: str
    value: str = ""
    note: str = ""
    field: str = ""
    children: tuple[StateNode, ...] = ()


class Change(msgspec.Struct, frozen=True):
    """One row that a step changed: `old` is None for a new one, `new` for one that is gone."""

    path: tuple[str, ...]
    labels: tuple[str, ...]
    old: str | None
    new: str | None


def tree_of(cluster: Cluster) -> StateNode:
    """Everything there is: the controller, each broker, the network, the observer's knowledge."""
    walk = _TreeWalk(cluster.timed)
    brokers = (_broker(cluster, node, walk) for node in cluster.brokers)
    kinds = ("consumers", "producers")
    clients = tuple(walk.field(cluster, kind) for kind in kinds if getattr(cluster, kind))
    clock = (walk.field(cluster, "now_ms"),) if cluster.timed else ()
    rest = (*clients, _network(cluster, walk), _observer(cluster, walk), *clock)
    nodes = (_keeper(cluster, walk), *brokers, *rest)
    return StateNode("cluster", "cluster", field="Cluster.features", children=nodes)


def changed(before: StateNode, after: StateNode) -> tuple[Change, ...]:
    """The rows of `after` that differ from `before`, and those that are gone; outermost only."""
    return tuple(_changes(before, after, (), ()))


# --- the parts that no single struct is -----------------------------------------------------------


def _keeper(cluster: Cluster, walk: _TreeWalk) -> StateNode:
    """The controller; or ZooKeeper, which is no part of Kafka and has no release of it."""
    key, node, place = "controller", CONTROLLER, "Features.metadata_version"
    label, release = "metadata version", [_release(cluster, CONTROLLER)]
    if cluster.features.mode is Mode.ZOOKEEPER:
        key, node, label, release = "zookeeper", ZOOKEEPER, "inter.broker.protocol.version", []
    version = StateNode("metadata_version", label, cluster.features.metadata_version, field=place)
    levels = [version]
    if cluster.features.has_elr:
        name = "eligible.leader.replicas.version"
        levels.append(StateNode("elr", name, "1", field="Features.elr"))
    children = (*release, *levels, *walk.fields(cluster.controller))
    text = f"controller epoch {truth(cluster).controller_epoch}"
    return StateNode(key, node_name(node), text, field="Cluster.controller", children=children)


def _release(cluster: Cluster, node: BrokerId) -> StateNode:
    return StateNode("release", "release", f"Kafka {cluster.features.release_of(node)}")


def _broker(cluster: Cluster, node: broker_state.Broker, walk: _TreeWalk) -> StateNode:
    state = "down" if node.process is None else str(node.process.lifecycle)
    rows = (_release(cluster, node.id), *walk.fields(node), *_descriptions(cluster, node))
    name = node_name(node.id)
    return StateNode(name, name, state, field="Cluster.brokers", children=rows)


def _descriptions(cluster: Cluster, node: broker_state.Broker) -> Iterator[StateNode]:
    """What this broker tells an operator who asks it for a topic."""
    image = None if node.process is None else node.process.image
    for state in () if image is None else image.partitions:
        text = topic_description(state, cluster.features.release_of(node.id))
        label = f"kafka-topics.sh --describe, {state.name}"
        yield StateNode(f"{DESCRIPTION}{state.name}", label, text, field="Volatile.image")


def _network(cluster: Cluster, walk: _TreeWalk) -> StateNode:
    count = len(cluster.messages)
    words = f"{plural(count, 'message') if count else 'nothing'} in flight"
    cut = tuple(f"{node_name(one)} and {node_name(other)}" for one, other in cluster.cut)
    links = StateNode("cut", LABELS["Cluster.cut"], ", ".join(cut) or "none", field="Cluster.cut")
    flying = walk.field(cluster, "messages").children
    rows = (*flying, links)
    return StateNode("network", "network", words, field="Cluster.messages", children=rows)


def _observer(cluster: Cluster, walk: _TreeWalk) -> StateNode:
    broken = ", ".join(f"{name} ({where})" if where else name for name, where in cluster.broken)
    rows = (
        *walk.field(cluster, "observed").children,
        StateNode("broken", LABELS["Cluster.broken"], broken or "none", field="Cluster.broken"),
        walk.field(cluster, "forged"),
        walk.field(cluster, "inherited"),
    )
    place = "Cluster.observed"
    return StateNode("observer", "observer", note=UNKNOWN_TO_ALL, field=place, children=rows)


# --- structs, field by field ----------------------------------------------------------------------


class _TreeWalk(msgspec.Struct, frozen=True):
    """How to read structs: with or without a clock."""

    timed: bool

    def fields(self, struct: Any) -> tuple[StateNode, ...]:
        """The rows of a struct: what is worked out first, then each of its fields."""
        owner, kind = type(struct).__name__, cast(Hashable, type(struct))
        rows = _worked_out(struct)
        for name in struct.__struct_fields__:
            place = f"{owner}.{name}"
            if name == IDENTITY.get(owner) or place in LEFT_OUT:
                continue
            if place in CLOCKED and not self.timed:
                continue
            if place in OF_OTHER_MODES and getattr(struct, name) == _default(kind, name):
                continue
            row = self.field(struct, name)
            inside = (replace(child, key=f"{row.key}.{child.key}") for child in row.children)
            rows += inside if place in INLINE else [row]
        return tuple(rows)

    def field(self, struct: Any, name: str) -> StateNode:
        """One field as a row."""
        place = f"{type(struct).__name__}.{name}"
        label = LABELS.get(place) or LABELS.get(name, name.replace("_", " "))
        note = NOTES.get(place) or NOTES.get(name, "")
        value = getattr(struct, name)
        children: tuple[StateNode, ...] = ()
        if place == "Ensemble.znodes":
            text, children = f"{len(value)} znodes", self._znodes(value, ROOT)
        elif isinstance(value, msgspec.Struct):
            text, children = _in_short(value), self.fields(value)
        elif isinstance(value, tuple) and value and isinstance(value[0], msgspec.Struct):
            children = self._items(value)
            text = ", ".join(child.label for child in children)
        else:
            text = NOTHING.get(place, "none") if value is None else _said(struct, name, value)
        return StateNode(name, label, text, note, place, children)

    def _znodes(self, znodes: tuple[Znode, ...], above: str) -> tuple[StateNode, ...]:
        """Those right below the path `above`, each with its fields and what is below it."""
        return tuple(
            StateNode(
                f"/{znode.path.rpartition('/')[2]}",
                znode.path,
                _in_short(znode),
                field="Znode.path",
                children=(*self.fields(znode), *self._znodes(znodes, znode.path)),
            )
            for znode in znodes
            if znode.path != ROOT and parent_path(znode.path) == above
        )

    def _items(self, items: tuple[Any, ...]) -> tuple[StateNode, ...]:
        rows: list[StateNode] = []
        for item in items:
            owner = type(item).__name__
            name = IDENTITY.get(owner, item.__struct_fields__[0])
            label = _item_label(item, name)
            again = sum(row.label == label for row in rows)
            key = f"{label} ({again + 1})" if again else label
            short, place = _in_short(item), f"{owner}.{name}"
            rows.append(StateNode(key, label, short, field=place, children=self.fields(item)))
        return tuple(rows)


def _item_label(item: Any, name: str) -> str:
    if isinstance(item, (Consumer, Producer)):
        return f"{item.name} on {item.partition}"
    if type(item) in KINDS:
        return str(item.api.label)
    identity, owner = getattr(item, name), cast(Hashable, type(item))
    if name in _fields_of(owner, SessionId):
        return session_name(identity)
    return node_name(identity) if name in _fields_of(owner, BrokerId) else str(identity)


@cache
def _default(owner: Hashable, name: str) -> Any:
    fields = msgspec.structs.fields(cast(type[msgspec.Struct], owner))
    return next(field.default for field in fields if field.name == name)


@cache
def _fields_of(owner: Hashable, hashable: Hashable) -> frozenset[str]:
    """The fields of a struct that hold the id of a node, or of a session; or None."""
    hints = get_type_hints(cast(type, owner)).items()
    return frozenset(name for name, kind in hints if kind in (hashable, cast(Any, hashable) | None))


def _said(struct: Any, name: str, value: Any) -> str:
    if isinstance(value, tuple):
        return _tuple_said(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Enum):
        return value.name if isinstance(value, int) else str(value.value)
    if name == "recovery":
        return next((s.name for s in LeaderRecoveryState if s == value), str(value))
    owner = cast(Hashable, type(struct))
    if name in _fields_of(owner, SessionId):
        return session_name(value) if value else "none"
    if name in _fields_of(owner, BrokerId):
        return "nobody" if value == -1 else node_name(value)
    return "none" if isinstance(value, int) and value < 0 else str(value)


def _tuple_said(value: tuple[Any, ...]) -> str:
    if isinstance(value, EpochStart):
        return f"epoch {value.epoch} from offset {value.offset}"
    if value and isinstance(value[0], EpochStart):
        return ", ".join(_tuple_said(entry) for entry in value)
    if all(isinstance(entry, int) for entry in value):
        return broker_list(value) if value else "none"
    return ", ".join(_pair_said(entry) for entry in value)


def _pair_said(entry: Any) -> str:
    if not isinstance(entry, tuple):
        return str(entry)
    who, what = entry
    if isinstance(who, int):
        return f"{node_name(BrokerId(who))} as epoch {what}"
    return f"{who}: {what.name if isinstance(what, Enum) else what}"


# --- in short, and worked out ---------------------------------------------------------------------


def _in_short(struct: Any) -> str:
    if type(struct) in KINDS:
        return str(struct.in_words())
    short = _SHORT.get(type(struct))
    return short(struct) if short else ""


def _registration(registration: Registration) -> str:
    fenced = "fenced" if registration.fenced else "unfenced"
    leaving = ", in controlled shutdown" if registration.in_controlled_shutdown else ""
    return f"broker epoch {registration.epoch}, {fenced}{leaving}"


def leader_and_isr(state: PartitionRegistration) -> str:
    """A partition in a few words: ``"leader 1, ISR {1, 2}"``, and its ELR if there is one."""
    leader = f"leader {state.leader}" if state.leader >= 0 else "no leader"
    elr = f", ELR {broker_list(state.elr)}" if state.elr else ""
    return f"{leader}, ISR {broker_list(state.isr)}{elr}"


def _role(replica: broker_state.Replica) -> str:
    if replica.leading is not None:
        return f"leader in epoch {replica.leader_epoch}"
    whom = "nobody" if replica.leader < 0 else node_name(replica.leader)
    return f"follower of {whom} in epoch {replica.leader_epoch}"


_SHORT: dict[type, Callable[[Any], str]] = {
    Registration: _registration,
    PartitionRegistration: lambda state: (
        f"{leader_and_isr(state)}, leader epoch {state.leader_epoch},"
        f" partition epoch {state.partition_epoch}"
    ),
    broker_state.DurableReplica: lambda replica: f"LEO {replica.log.end}",
    Log: lambda log: f"LEO {log.end}",
    broker_state.Replica: lambda replica: (
        f"{_role(replica)}, high watermark {replica.high_watermark}"
    ),
    broker_state.RemoteReplica: lambda remote: (
        f"LEO {remote.end}" if remote.end >= 0 else "LEO unknown"
    ),
    AlterPartitionItem: lambda item: (
        f"ISR {broker_list(m.broker for m in item.isr)}, partition epoch {item.partition_epoch}"
    ),
    Consumer: lambda consumer: f"next offset {consumer.position}",
    Producer: lambda producer: (
        f"{len(producer.batches)} batch{'es' * (len(producer.batches) != 1)} not acknowledged"
    ),
    Batch: lambda batch: plural(batch.count, "record"),
    Contact: lambda known: f"seen under broker epoch {known.epoch}",
    ElrList: lambda kept: f"in {kept.topic}: {broker_list(kept.partitions)}",
    HeartbeatState: lambda known: "fenced" if known.fenced else "unfenced",
    broker_state.Volatile: lambda process: (
        f"{process.lifecycle}, broker epoch {process.epoch if process.epoch >= 0 else 'none'}"
    ),
    Message: lambda message: f"to {node_name(message.receiver)}: {message.body.in_words()}",
    **ZOOKEEPER_SHORT,
}


def _worked_out(struct: Any) -> list[StateNode]:
    """Rows of what is no field."""
    if isinstance(struct, broker_state.Replica):
        return [StateNode("role", "role", "leader" if struct.leading is not None else "follower")]
    if isinstance(struct, broker_state.IsrState):
        return [StateNode("maximal", "maximal ISR", broker_list(struct.maximal))]
    return []


# --- what changed ---------------------------------------------------------------------------------

_Names = tuple[str, ...]


def _changes(before: StateNode, after: StateNode, path: _Names, labels: _Names) -> Iterator[Change]:
    if not before.children or not after.children:
        if before.value != after.value or before.children or after.children:
            yield Change(path, labels, before.value, after.value)
        return
    old = {child.key: child for child in before.children}
    new = {child.key: child for child in after.children}
    for key, node in (new | {k: n for k, n in old.items() if k not in new}).items():
        there, called = (*path, key), (*labels, node.label)
        was, now = old.get(key), new.get(key)
        if was is None or now is None:
            old_value = None if was is None else was.value
            yield Change(there, called, old_value, None if now is None else now.value)
        elif was != now:
            yield from _changes(was, now, there, called)
