"""Nodes: the process at an address, whether it runs, and access to its state.

A node's kind is the type of its state; `routes` finds the rule for it. Brokers have their ids.
KRaft's controller and the clients have addresses of their own, and are always there. A control
plane may run on a broker (`ids.controller_on`): it is part of that broker's process, dies with it,
and there may be several at once, each believing that it is the active one.
"""

from collections.abc import Iterator
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from ..protocol import ids, releases
from ..protocol.replica.broker_parts import process_of
from ..protocol.replica.broker_state import Broker, replica_of
from ..protocol.zookeeper.ensemble import Ensemble
from ..protocol.zookeeper.zookeeper_controller import ZooKeeperController
from .cluster import Cluster, broker


class Clients(msgspec.Struct, frozen=True):
    """Admin clients and producers: always there, and nothing is kept of them."""


_CLIENTS = Clients()
_OFF_THE_BROKERS = (ids.CONTROLLER, ids.ZOOKEEPER)
"""Addresses of what is no part of any broker; a cluster has one of them."""
_NONE_ON_BROKERS = (ids.CONTROLLER,)
_ALWAYS_UP = (*_OFF_THE_BROKERS, ids.CLIENT)
_NO_LIFE = ids.Incarnation(0)
_WITH_ZOOKEEPER = frozenset(releases.of_mode(releases.Mode.ZOOKEEPER))
"""Names of releases."""


def state_of(cluster: Cluster, node: ids.BrokerId) -> Any:
    """The state that a rule at `node` gets to see; None while nothing runs there."""
    if node in _OFF_THE_BROKERS:
        return cluster.controller
    if node >= 0:
        for state in cluster.brokers:
            if state.id == node:
                return state if state.process is not None else None
        return None
    if node == ids.CLIENT:
        return _CLIENTS
    host = _host(cluster, node)
    return host.process.control_plane if host is not None and host.process is not None else None


def with_state(cluster: Cluster, node: ids.BrokerId, state: Any) -> Cluster:
    """`cluster` with another state at `node`; the same cluster if it is the same state."""
    if node >= 0:
        return _with_broker(cluster, state)
    if node in _OFF_THE_BROKERS:
        return cluster if state is cluster.controller else replace(cluster, controller=state)
    host = _host(cluster, node)
    if host is None or host.process is None or host.process.control_plane is state:
        return cluster
    return _with_broker(cluster, replace(host, process=replace(host.process, control_plane=state)))


def has_zookeeper(cluster: Cluster) -> bool:
    """Whether ZooKeeper is a node: the release says it (see explore/search/hidden_parts.py)."""
    return cluster.features.release in _WITH_ZOOKEEPER


def ensemble_of(cluster: Cluster) -> Ensemble:
    """ZooKeeper, in a cluster that has it."""
    return cast("Ensemble", cluster.controller)


def session_at(cluster: Cluster, node: ids.BrokerId) -> Any:
    """The session with ZooKeeper of the process that runs at `node`, or hosts it."""
    return process_of(state_of(cluster, ids.host_of(node))).session


def kind_of(cluster: Cluster, node: ids.BrokerId) -> type:
    """The kind of `node`: the type of its state, whether or not the broker is up."""
    return Broker if node >= 0 else type(state_of(cluster, node))


def control_planes(cluster: Cluster) -> tuple[ids.BrokerId, ...]:
    """The addresses of control planes: off the brokers, then on one broker after the other."""
    hosts = [b.id for b in cluster.brokers if b.process and b.process.control_plane is not None]
    return (ids.CONTROLLER, *map(ids.controller_on, hosts)) if hosts else _NONE_ON_BROKERS


def zookeeper_controllers(cluster: Cluster) -> Iterator[tuple[ids.BrokerId, ZooKeeperController]]:
    """The controllers of ZooKeeper mode that run, active or not, and where."""
    for node in cluster.brokers:
        state = state_of(cluster, ids.controller_on(node.id))
        if isinstance(state, ZooKeeperController):
            yield ids.controller_on(node.id), state


def leads(node: Broker, partition: str) -> bool:
    """Whether a broker believes that it leads."""
    replica = replica_of(node, partition)
    return replica is not None and replica.leading is not None


def is_in_control(node: ids.BrokerId, state: Any) -> bool:
    """Whether what lives at `node` has a say: a control plane, or a broker that one lives on."""
    if node < 0:
        return node != ids.CLIENT
    return state.process is not None and state.process.control_plane is not None


def is_up(cluster: Cluster, node: ids.BrokerId) -> bool:
    """Whether something can be delivered to `node`; it reads nothing else."""
    if node >= 0:
        member = broker(cluster, node)
        return member is not None and member.up
    return node in _ALWAYS_UP or state_of(cluster, node) is not None


def incarnation_of(cluster: Cluster, node: ids.BrokerId) -> ids.Incarnation:
    """Which incarnation of a node is on now; 0 for what lives on no broker."""
    if node in _OFF_THE_BROKERS:
        return _NO_LIFE
    on = node if node >= 0 else ids.host_of(node)
    for host in cluster.brokers:
        if host.id == on:
            return host.incarnation
    return _NO_LIFE


def running_incarnation(cluster: Cluster, node: ids.BrokerId) -> ids.Incarnation | None:
    """Which incarnation of a node runs now: None if nothing can be delivered to it."""
    if node < 0:
        return incarnation_of(cluster, node) if is_up(cluster, node) else None
    for state in cluster.brokers:
        if state.id == node:
            return state.incarnation if state.up else None
    return None


def is_cut(cluster: Cluster, one: ids.BrokerId, other: ids.BrokerId) -> bool:
    """Whether the link between two nodes is down."""
    if not cluster.cut:
        return False
    ends = ids.host_of(one), ids.host_of(other)
    return ends in cluster.cut or ends[::-1] in cluster.cut


def due_ms(state: Any, timer: str) -> ids.Milliseconds:
    """The next due time of a node's timer ``"lag-check"``."""
    owner = process_of(state) if isinstance(state, Broker) else state
    due: ids.Milliseconds = getattr(owner.timers, timer.replace("-", "_"))
    return due


def with_due(state: Any, timer: str, due_ms: int) -> Any:
    """`state` with its timer ``"lag-check"`` due at `due_ms`."""
    due = {timer.replace("-", "_"): due_ms}
    if isinstance(state, Broker):
        process = process_of(state)
        return replace(state, process=replace(process, timers=replace(process.timers, **due)))
    return replace(state, timers=replace(state.timers, **due))


def _host(cluster: Cluster, node: ids.BrokerId) -> Broker | None:
    on = ids.host_of(node)
    return None if on == node else broker(cluster, on)


def _with_broker(cluster: Cluster, state: Broker) -> Cluster:
    id, brokers = state.id, cluster.brokers
    for broker_before in brokers:
        if broker_before is state:
            return cluster
    return replace(cluster, brokers=tuple([state if b.id == id else b for b in brokers]))
