"""Faults in ZooKeeper mode that remain when nothing is under way any more.

At rest, no message is in flight, no queue holds anything, and every session is that of a running
process: a fault then stays until something else happens. There are four, and they are the subject
of KIP-380: a replica that nobody told to fetch, a leader that does not know that it leads, a broker
that the controller takes for leaving, and a file of high watermarks that was written before its
process knew all of its partitions (which is checked when it happens).
"""

from collections.abc import Iterable, Iterator

from ..protocol.ids import NO_LEADER
from ..protocol.kip343.heartbeat_controller import HeartbeatController
from ..protocol.messages import MembershipState
from ..protocol.registrations import PartitionRegistration
from ..protocol.replica.broker_state import Broker, Lifecycle, replica_of
from ..protocol.zookeeper.zookeeper_controller import ZooKeeperController
from ..protocol.zookeeper_facts import CheckpointLost
from . import nodes, properties
from .cluster import Cluster, broker
from .events import Event
from .truth import registration_of, truth
from .unclean_leader_epochs import Broken

_WAITING = (MembershipState.INITIAL, MembershipState.INACTIVE)
"""Such a process sends a heartbeat next, and more comes of it (KIP-343)."""


def broken_with_zookeeper(cluster: Cluster, events: Iterable[Event]) -> Iterator[Broken]:
    """Properties of ZooKeeper mode that do not hold."""
    for event in events:
        if isinstance(event, CheckpointLost):
            detail = (
                f"broker {event.node} forgets that its high watermark was {event.high_watermark}"
            )
            yield properties.CHECKPOINT_KEEPS_PARTITIONS, event.partition, detail
    if is_at_rest(cluster):
        for state in truth(cluster).partitions:
            yield from _unserved(cluster, state)
            yield from _abandoned(cluster, state)
        yield from _never_electable(cluster)


def is_at_rest(cluster: Cluster) -> bool:
    """Whether nothing is under way that would change anything by itself."""
    if cluster.messages or cluster.cut:
        return False
    processes = {(b.id, b.incarnation): b.process for b in cluster.brokers if b.process}
    if any(p.lifecycle is not Lifecycle.RUNNING or p.state in _WAITING for p in processes.values()):
        return False
    if any((s.owner, s.incarnation) not in processes for s in nodes.ensemble_of(cluster).sessions):
        return False
    return not any(
        _waits_for_heartbeats(plane) or any(channel.queue for channel in plane.channels)
        for _, plane in nodes.zookeeper_controllers(cluster)
    )


def _waits_for_heartbeats(plane: ZooKeeperController) -> bool:
    """Whether a registered broker counts as inactive: its next heartbeat changes that (KIP-343)."""
    return isinstance(plane, HeartbeatController) and any(
        b.state is MembershipState.INACTIVE and not b.legacy for b in plane.known_brokers
    )


def _unserved(cluster: Cluster, state: PartitionRegistration) -> Iterator[Broken]:
    leader = broker(cluster, state.leader)
    if leader is None or leader.process is None:
        return
    if not nodes.leads(leader, state.name):
        detail = f"broker {leader.id} is up, and does not know that it leads {state.name}"
        yield properties.LEADER_SERVES, state.name, detail


def _abandoned(cluster: Cluster, state: PartitionRegistration) -> Iterator[Broken]:
    # Up to 2.2 a controller that takes over leaves a dead leader where it is
    # (PartitionStateMachine.startup, 2.2.2): there is nobody to fetch from.
    if state.leader == NO_LEADER or registration_of(cluster, state.leader) is None:
        return
    for id in state.replicas:
        node = broker(cluster, id)
        if node is None or node.process is None or id == state.leader:
            continue
        if registration_of(cluster, id) is not None and not _fetches(node, state):
            detail = f"broker {id} is up, is a replica of {state.name}, and does not fetch it"
            yield properties.REPLICA_FETCHES, state.name, detail


def _fetches(node: Broker, state: PartitionRegistration) -> bool:
    played = replica_of(node, state.name)
    assert node.process is not None
    stopped = state.name in node.process.stopped
    return played is not None and played.leader == state.leader and not stopped


def _never_electable(cluster: Cluster) -> Iterator[Broken]:
    for _, plane in nodes.zookeeper_controllers(cluster):
        for id in plane.shutting_down if plane.active else ():
            if registration_of(cluster, id) is not None:
                detail = f"broker {id} runs, and the controller treats it as shutting down"
                yield properties.BROKER_ELECTABLE, "", detail
