"""States that last in ZooKeeper mode: sessions, registrations, controllers on brokers, queues."""

from collections.abc import Iterator, Sequence
from functools import partial

from ..engine.cluster import Cluster
from ..engine.nodes import has_zookeeper, state_of
from ..engine.truth import controller_of, registration_of, truth
from ..protocol import ids, registrations
from ..protocol.replica.broker_state import Broker, Lifecycle, Volatile, replica_of
from ..protocol.zookeeper.zookeeper_controller import ZooKeeperController
from .columns import QUEUE_FOR, ZOOKEEPER_LANE, SpanRow, broker_lane, plural
from .snapshots import Reading, Snapshot, Track, Waiting, track

Queues = dict[int, dict[ids.BrokerId, Waiting]]
"""By moment and broker."""


def zookeeper_spans(shots: Sequence[Snapshot]) -> Iterator[SpanRow]:
    """Sessions, by broker, and the controllers' queues as far as anything waits in them."""
    for node in shots[0].cluster.brokers:
        read = partial(_session, node.id)
        yield from track(shots, ZOOKEEPER_LANE, broker_lane(node.id), read)
    # Of several controllers' queues for a broker, that of the one on the lowest broker.
    queues = {
        shot.x: {w.broker: w for w in sorted(shot.waiting, key=lambda w: w.kept_by)}
        for shot in shots
    }
    for id in sorted({id for of_brokers in queues.values() for id in of_brokers}):
        name = f"{QUEUE_FOR}{broker_lane(id)}"
        yield from track(shots, "controller", name, partial(_queue, id, queues))


def taken_for(
    node: Broker, registration: registrations.Registration | None, shot: Snapshot
) -> Iterator[tuple[Track, Reading]]:
    """What ZooKeeper and the controller take a broker for, where that is not what it is."""
    if node.process is None and registration is not None:
        text = f"still registered as czxid {registration.epoch}: the session lasts"
        yield ("registered", ""), Reading(str(registration.epoch), text)
    if node.process is not None and _is_passed_over(node.id, node.process, shot.cluster):
        text = "never elected: the controller treats it as shutting down"
        yield ("passed over", ""), Reading("yes", text)


def _is_passed_over(id: ids.BrokerId, process: Volatile, cluster: Cluster) -> bool:
    """A controller forgets who shuts down when it sees the broker go: not if it never sees it."""
    address = controller_of(cluster)
    controller = None if address is None else state_of(cluster, address)
    is_named = isinstance(controller, ZooKeeperController) and id in controller.shutting_down
    return is_named and process.lifecycle is not Lifecycle.PENDING_CONTROLLED_SHUTDOWN


def controller_in_zookeeper(shot: Snapshot) -> Reading:
    """The broker that /controller names."""
    epoch, address = truth(shot.cluster).controller_epoch, controller_of(shot.cluster)
    if address is None:
        return Reading("none", "no controller")
    host = broker_lane(ids.host_of(address))
    return Reading(str(epoch), f"controller epoch {epoch} · {host}", (host,))


def czxid_of(node: Broker, shot: Snapshot, incarnation: tuple[str, ...]) -> Reading:
    """The transaction that created the znode of this process: from 2.2 on the broker's epoch."""
    registration = registration_of(shot.cluster, node.id)
    if registration is None or registration.incarnation != node.incarnation:
        return Reading("none", "not registered", incarnation)
    knows = node.process is not None and node.process.epoch != ids.NO_BROKER_EPOCH
    flags = incarnation if knows else (*incarnation, "not told")
    return Reading(str(registration.epoch), f"czxid {registration.epoch}", flags)


def is_idle(cluster: Cluster, node: Broker, state: registrations.PartitionRegistration) -> bool:
    """Whether a running broker does not fetch what it has: no LeaderAndIsr, or a StopReplica."""
    process = node.process
    if not has_zookeeper(cluster) or process is None or state.leader in (ids.NO_LEADER, node.id):
        return False
    if process.lifecycle is Lifecycle.PENDING_CONTROLLED_SHUTDOWN:
        return False
    return replica_of(node, state.name) is None or state.name in process.stopped


def _session(id: ids.BrokerId, shot: Snapshot) -> Reading | None:
    ensemble = state_of(shot.cluster, ids.ZOOKEEPER)
    mine = [s.id for s in ensemble.sessions if s.owner == id]
    words = ", ".join(map(session_words, mine))
    return Reading(words.replace("session ", ""), f"{words} of broker {id}") if mine else None


def session_words(session: ids.SessionId) -> str:
    """``session 4``; of another server than the first, ``session 4 of server 1``."""
    server, number = divmod(session, ids.SESSIONS_OF_A_SERVER)
    return f"session {number} of server {server}" if server else f"session {number}"


def _queue(id: ids.BrokerId, queues: Queues, shot: Snapshot) -> Reading | None:
    queue = queues[shot.x].get(id)
    if queue is None:
        return None
    now = registration_of(shot.cluster, id)
    meant = list(dict.fromkeys(queue.meant_for))
    earlier = sum(1 for epoch in queue.meant_for if now is not None and epoch < now.epoch)
    flags = (*(f"for {epoch}" for epoch in meant), *(("earlier",) if earlier else ()))
    listed = " and ".join(str(epoch) for epoch in meant)
    count = len(queue.requests)
    waits = f"{plural(count, 'request')} {'waits' if count == 1 else 'wait'}"
    return Reading(str(count), f"{waits} for czxid {listed}", flags)
