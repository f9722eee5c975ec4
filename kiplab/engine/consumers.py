"""Consumers in the cluster: brokers in reach, answers, and their place in the state."""

from operator import itemgetter

from msgspec.structs import replace

from ..protocol.clients import consumer as client
from ..protocol.clients.consumer import Consumer
from ..protocol.clients.producer import Producer
from ..protocol.facts import MetadataRefreshed
from ..protocol.ids import CLIENT, BrokerId
from ..protocol.messages import MetadataUpdate
from ..protocol.registrations import PartitionRegistration, partition
from ..protocol.replica.broker_parts import fenced_refuses, here, is_fenced
from ..protocol.replica.broker_state import Broker
from . import moves, nodes
from .cluster import Cluster, broker
from .events import Event, Moved


def poll(cluster: Cluster, move: moves.Poll) -> Moved:
    """One turn of one consumer; a new one learns from a broker first who leads."""
    mine = consumer_of(cluster, move.consumer, move.partition)
    if mine is None:
        mine = Consumer(name=move.consumer, partition=move.partition)
        broker = informant(cluster, None)
        mine = mine if broker is None else _told(cluster, mine, broker)
    mine, events = _up_to_date(cluster, mine)
    leader, near = reachable(cluster, mine.leader), reachable(cluster, mine.preferred)
    after, facts = client.poll(mine, leader, near, cluster.features, cluster.clock)
    return with_client(cluster, "consumers", after), [*events, *facts]


def reset(cluster: Cluster, move: moves.ResetOffset) -> Moved:
    """A seek to the beginning or to the end."""
    mine = consumer_of(cluster, move.consumer, move.partition)
    assert mine is not None
    mine, events = _up_to_date(cluster, mine)
    leader = reachable(cluster, mine.leader)
    after, facts = client.seek(mine, move.to, leader, cluster.features, cluster.clock)
    return with_client(cluster, "consumers", after), [*events, *facts]


def _up_to_date(cluster: Cluster, mine: Consumer) -> tuple[Consumer, list[Event]]:
    """A turn of a consumer that has asked for metadata begins with the answer, if there is one."""
    broker = informant(cluster, None) if mine.update_requested else None
    if broker is None:
        return mine, []
    after = _told(cluster, mine, broker)
    return after, [_refreshed(after, broker)]


def refresh(cluster: Cluster, move: moves.RefreshMetadata) -> Moved:
    """New metadata for every partition that the consumer reads."""
    broker = informant(cluster, move.broker)
    assert broker is not None
    refused = fenced_refuses(here(broker, cluster.features, cluster.clock), "metadata")
    if refused is not None:
        return cluster, [refused]
    events: list[Event] = []
    for mine in (c for c in cluster.consumers if c.name == move.consumer):
        after = _told(cluster, mine, broker)
        cluster = with_client(cluster, "consumers", after)
        events.append(_refreshed(after, broker))
    return cluster, events


def _refreshed(mine: Consumer, broker: Broker) -> MetadataRefreshed:
    return MetadataRefreshed(
        node=broker.id,
        consumer=mine.name,
        partition=mine.partition,
        leader=mine.leader,
        leader_epoch=mine.leader_epoch,
        validating=mine.validating,
    )


def consumer_of(cluster: Cluster, name: str, of: str) -> Consumer | None:
    """The consumer called `name` on partition `of`, or None."""
    return next((c for c in cluster.consumers if c.name == name and c.partition == of), None)


def reachable(cluster: Cluster, id: BrokerId) -> Broker | None:
    """A broker that runs and that a client has a link to, or None."""
    node = broker(cluster, id)
    is_up = node is not None and node.process is not None
    return node if is_up and not nodes.is_cut(cluster, CLIENT, id) else None


def informant(cluster: Cluster, broker_id: BrokerId | None) -> Broker | None:
    """The broker for a metadata request: this one, or the reachable one with the newest metadata.

    Kafka takes any broker; the best informed one keeps runs short.
    """
    if broker_id is not None:
        broker = reachable(cluster, broker_id)
        return broker if broker is not None and image_of(broker) is not None else None
    # A broker that is fenced does not answer: the client goes on to the next one.
    near = [b for b in cluster.brokers if reachable(cluster, b.id) is not None]
    images = [(image_of(b), b) for b in near if not is_fenced(b, cluster.features)]
    offsets = [(image.offset, b) for image, b in images if image is not None]
    return max(offsets, key=itemgetter(0))[1] if offsets else None


def image_of(broker: Broker) -> MetadataUpdate | None:
    """The metadata that a broker answers with, if it runs and has any."""
    return broker.process.image if broker.process is not None else None


def known_state(broker: Broker, name: str) -> PartitionRegistration | None:
    """The state of a partition in a broker's metadata."""
    image = image_of(broker)
    return partition(image.partitions, name) if image is not None else None


def _told(cluster: Cluster, mine: Consumer, broker: Broker) -> Consumer:
    state = known_state(broker, mine.partition)
    return mine if state is None else client.refreshed(mine, state, cluster.features)


def with_client(cluster: Cluster, kind: str, changed: Consumer | Producer) -> Cluster:
    """`cluster` with another state of one of its ``"consumers"`` or ``"producers"``."""
    key = (changed.name, changed.partition)
    before = getattr(cluster, kind)
    others = [c for c in before if (c.name, c.partition) != key]
    after = tuple(sorted([*others, changed], key=lambda c: (c.name, c.partition)))
    return cluster if after == before else replace(cluster, **{kind: after})
