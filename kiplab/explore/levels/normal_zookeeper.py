"""A state at the level "zookeeper": `canonical`, of the parts that a rule could still read.

The level writes no record and fetches none, and the controller's process never ends. So the
following is no part of a state, though a run may show it:

ZooKeeper
    The transaction that wrote a znode, and the one that created it, but for registrations.
Broker
    The epoch that begins at the end of a log, without a record. The state of partitions from
    UpdateMetadata: a follower only reads the live brokers, and not their incarnations.
Queues
    The partitions in an UpdateMetadata, for the same reason.
Messages
    The order of two that do not share a connection.
Observer
    The committed records and the brokers that had them.
The rest is renumbered by `engine.canonical`: epochs count only in their order.
"""

from msgspec.structs import replace

from ...engine.canonical import canonical
from ...engine.cluster import Cluster, Message, Observed
from ...engine.nodes import ensemble_of
from ...protocol import log
from ...protocol.ids import Incarnation, SessionId, Zxid
from ...protocol.messages import UpdateMetadataRequest
from ...protocol.replica.broker_state import Broker, Durable, Volatile
from ...protocol.zookeeper.ensemble import Ensemble
from ...protocol.zookeeper.znodes import BrokerZnode, Stat, Znode
from ...protocol.zookeeper.zookeeper_controller import QueuedRequest, ZooKeeperController


def normal(cluster: Cluster) -> Cluster:
    """The representative of all clusters that no action of this level can tell apart."""
    return canonical(
        replace(
            cluster,
            controller=_ensemble(ensemble_of(cluster)),
            brokers=tuple(_broker(b) for b in cluster.brokers),
            messages=_in_flight(cluster.messages),
            observed=tuple(Observed(o.partition) for o in cluster.observed),
            broken=(),
        )
    )


def _ensemble(ensemble: Ensemble) -> Ensemble:
    """The numbers that come next are higher than all that are known: how much is no matter."""
    return replace(
        ensemble,
        zxid=Zxid(ensemble.zxid + 1),
        znodes=tuple(_znode(z) for z in ensemble.znodes),
        last_sessions=tuple(SessionId(last + 1) for last in ensemble.last_sessions),
    )


def _znode(znode: Znode) -> Znode:
    created = znode.stat.czxid if isinstance(znode.data, BrokerZnode) else Zxid(0)
    stat = Stat(created, Zxid(0), znode.stat.version, znode.stat.ephemeral_owner)
    return znode if stat == znode.stat else replace(znode, stat=stat)


def _broker(node: Broker) -> Broker:
    kept = tuple(replace(r, log=log.truncate(r.log, r.log.end)) for r in node.durable.replicas)
    process = None if node.process is None else _process(node.process)
    return replace(node, durable=Durable(kept), process=process)


def _process(volatile: Volatile) -> Volatile:
    image, plane = volatile.image, volatile.control_plane
    if image is not None:
        # An UpdateMetadata says who lives, and nothing of which incarnation it is.
        alive = tuple(replace(r, incarnation=_SOME_LIFE) for r in image.registrations)
        image = replace(image, registrations=alive, partitions=())
    assert isinstance(plane, ZooKeeperController)
    queues = (replace(c, queue=tuple(_request(r) for r in c.queue)) for c in plane.channels)
    if plane.channels:
        plane = replace(plane, channels=tuple(queues))
    return replace(volatile, image=image, control_plane=plane)


_SOME_LIFE = Incarnation(-1)
"""Below 0 nothing is counted: what names no incarnation in particular tells no two states apart."""


def _request(request: QueuedRequest) -> QueuedRequest:
    if isinstance(request, UpdateMetadataRequest) and request.partitions:
        return replace(request, partitions=())
    return request


def _in_flight(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """In the order of their connections, and of each as they were sent."""
    ordered = sorted(messages, key=lambda m: (m.receiver, m.lane, m.name[:2]))
    return tuple(
        replace(m, body=_request(m.body)) if isinstance(m.body, UpdateMetadataRequest) else m
        for m in ordered
    )
