"""What lasts in ZooKeeper's time: sessions, registrations, controllers on brokers, their queues."""

from collections.abc import Iterator, Sequence
from functools import partial

from ..engine.cluster import Cluster, broker
from ..engine.nodes import has_zookeeper, state_of
from ..engine.truth import controller_of, registration_of, truth
from ..protocol import ids, registrations
from ..protocol.replica.broker_state import Broker, Lifecycle, replica_of
from ..protocol.zookeeper.zookeeper_controller import ZooKeeperController
from .columns import QUEUE_FOR, ZOOKEEPER_LANE, SpanRow, broker_lane, plural
from .snapshots import Reading, Snapshot, Waiting, track

Queues = dict[int, dict[ids.BrokerId, Waiting]]
"""By moment and broker."""


def zookeeper_spans(shots: Sequence[Snapshot]) -> Iterator[SpanRow]:
    """Sessions, by broker, and the controllers' queues as far as anything waits in them."""
    for node in shots[0].cluster.brokers:
        read = partial(_session, node.id)
        yield from track(shots, ZOOKEEPER_LANE, broker_lane(node.id), read)
    found = {shot.x: _by_broker(shot.waiting) for shot in shots}
    for id in sorted({id for queues in found.values() for id in queues}):
        name = f"{QUEUE_FOR}{broker_lane(id)}"
        yield from track(shots, "controller", name, partial(_queue, id, found))


def broker_spans(shots: Sequence[Snapshot], id: ids.BrokerId) -> Iterator[SpanRow]:
    """What ZooKeeper and the controller take a broker for, where that is not what it is."""
    yield from track(shots, broker_lane(id), "registered", partial(_still_registered, id))
    yield from track(shots, broker_lane(id), "passed over", partial(_passed_over, id))


def controller_in_zookeeper(shot: Snapshot) -> Reading:
    """The broker that /controller names."""
    epoch, address = truth(shot.cluster).controller_epoch, controller_of(shot.cluster)
    if address is None:
        return Reading("none", "no controller")
    host = broker_lane(ids.host_of(address))
    return Reading(str(epoch), f"controller epoch {epoch} · {host}", (host,))


def czxid_of(node: Broker, shot: Snapshot, incarnation: tuple[str, ...]) -> Reading:
    """The transaction that created the znode of this process: from 2.2 on the broker's epoch."""
    registration = _of_this_incarnation(node, shot.cluster)
    if registration is None:
        return Reading("none", "not registered", incarnation)
    told = node.process is not None and node.process.epoch != ids.NO_BROKER_EPOCH
    flags = incarnation if told else (*incarnation, "not told")
    return Reading(str(registration.epoch), f"czxid {registration.epoch}", flags)


def is_idle(cluster: Cluster, node: Broker, state: registrations.PartitionRegistration) -> bool:
    """Whether a running broker is assigned a partition that somebody else leads, and does not
    fetch it: nobody has told it to, or somebody has told it not to.
    """
    process = node.process
    if not has_zookeeper(cluster) or process is None or state.leader in (ids.NO_LEADER, node.id):
        return False
    if process.lifecycle is Lifecycle.PENDING_CONTROLLED_SHUTDOWN:
        return False
    return replica_of(node, state.name) is None or state.name in process.stopped


def _of_this_incarnation(node: Broker, cluster: Cluster) -> registrations.Registration | None:
    registration = registration_of(cluster, node.id)
    return (
        registration
        if registration is not None and registration.incarnation == node.incarnation
        else None
    )


def _session(id: ids.BrokerId, shot: Snapshot) -> Reading | None:
    ensemble = state_of(shot.cluster, ids.ZOOKEEPER)
    mine = [s.id for s in ensemble.sessions if s.owner == id]
    words = ", ".join(map(session_words, mine))
    return Reading(words.replace("session ", ""), f"{words} of broker {id}") if mine else None


def session_words(session: ids.SessionId) -> str:
    """``session 4``; of another server than the first, ``session 4 of server 1``."""
    server, number = divmod(session, ids.SESSIONS_OF_A_SERVER)
    return f"session {number} of server {server}" if server else f"session {number}"


def _still_registered(id: ids.BrokerId, shot: Snapshot) -> Reading | None:
    node, registration = broker(shot.cluster, id), registration_of(shot.cluster, id)
    if node is None or node.process is not None or registration is None:
        return None
    text = f"still registered as czxid {registration.epoch}: the session lasts"
    return Reading(str(registration.epoch), text)


def _passed_over(id: ids.BrokerId, shot: Snapshot) -> Reading | None:
    """A controller forgets who shuts down when it sees the broker go: not if it never sees it."""
    node, address = broker(shot.cluster, id), controller_of(shot.cluster)
    if node is None or node.process is None or address is None:
        return None
    lives_there = state_of(shot.cluster, address)
    leaving = node.process.lifecycle is Lifecycle.PENDING_CONTROLLED_SHUTDOWN
    if leaving or not isinstance(lives_there, ZooKeeperController):
        return None
    if id not in lives_there.shutting_down:
        return None
    return Reading("yes", "never elected: the controller takes it for shutting down")


def _by_broker(waiting: Sequence[Waiting]) -> dict[ids.BrokerId, Waiting]:
    """Of several controllers' queues for a broker, that of the one on the lowest broker."""
    return {w.broker: w for w in sorted(waiting, key=lambda w: w.kept_by)}


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
    verb = "waits" if count == 1 else "wait"
    return Reading(str(count), f"{plural(count, 'request')} {verb} for czxid {listed}", flags)
