"""The normal form of a state at the level "recovery"; levels.toml has its fields."""

from collections.abc import Iterator

from msgspec.structs import replace

from ...engine.cluster import Cluster, Observed
from ...protocol.clients.consumer import Consumer
from ...protocol.ids import NO_LEADER, BrokerId, MetadataOffset, PartitionEpoch
from ...protocol.kraft.controller_state import Controller
from ...protocol.kraft.replay import image
from ...protocol.log import EMPTY
from ...protocol.messages import MetadataUpdate
from ...protocol.registrations import PartitionRegistration
from ...protocol.replica.broker_state import Broker, Volatile
from . import normal_partition as forms
from .normal_partition import Incarnations

READER = "reader-"
"""The beginning of the names of the level's own consumers."""


def normal(cluster: Cluster) -> Cluster:
    """The representative of all clusters that no action of this level can tell apart.

    Raises PlayError for a cluster in another mode than KRaft.
    """
    held = forms.kraft_controller(cluster)
    incarnations = forms.new_incarnations(held)
    apart = forms.Parts(
        controller=forms.of_controller(held, incarnations),
        brokers=tuple(_broker(b, incarnations) for b in cluster.brokers),
        requests=forms.of_requests(cluster.messages, incarnations),
        observed=tuple(_observed(cluster, incarnations)),
    )
    news = (b for b in apart.brokers if _has_news(apart.controller, b))
    late = {b.id: _behind(apart.controller, b) for b in news}
    return forms.whole(replace(cluster, consumers=first_reader(cluster)), apart, late)


def first_reader(cluster: Cluster) -> tuple[Consumer, ...]:
    """The consumer of the play that may still be given something that a new one is not, or none.

    At first all of them know the same; one that is near a follower may read there, too.
    """
    waiting = [c for c in cluster.consumers if _waits(c)]
    return tuple(sorted(waiting, key=lambda c: (c.nearest == NO_LEADER, c.name))[:1])


def _waits(reader: Consumer) -> bool:
    asks = reader.update_requested and reader.nearest == NO_LEADER
    return not (reader.name.startswith(READER) or reader.observed.epochs or asks)


# --- brokers --------------------------------------------------------------------------------------


def _broker(node: Broker, incarnations: Incarnations) -> Broker:
    process, broker = node.process, forms.of_broker(node, incarnations)
    if process is None or process.image is None or broker.process is None:
        return broker
    image = _image(process.image, node.id, process, incarnations)
    return replace(broker, process=replace(broker.process, image=image))


def _image(
    metadata_update: MetadataUpdate, id: BrokerId, process: Volatile, incarnations: Incarnations
) -> MetadataUpdate:
    """What is read of a broker's metadata: by its own rules, and by clients that ask it."""
    update = forms.metadata_seen(metadata_update, id, incarnations)
    leads = any(r.leading is not None for r in process.replicas)
    states = (
        PartitionRegistration(
            state.name,
            (),
            (),
            state.leader,
            leader_epoch=state.leader_epoch,
            partition_epoch=state.partition_epoch if leads else PartitionEpoch(-1),
            recovery=state.recovery,
        )
        for state in metadata_update.partitions
    )
    registrations = update.registrations if leads else ()
    return replace(update, registrations=registrations, partitions=tuple(states))


# --- metadata under way ---------------------------------------------------------------------------


def _has_news(controller: Controller, node: Broker) -> bool:
    """Whether the newest image would change anything at a broker that runs."""
    process = node.process
    if process is None or process.image is None:
        return False
    return process.image != _image(image(controller), node.id, process, {})


def _behind(controller: Controller, node: Broker) -> Broker:
    """Of two that are behind, a client believes the one with the later leader epoch."""
    process = node.process
    assert process is not None
    assert process.image is not None
    newest, known = (
        max((p.leader_epoch for p in partitions), default=0)
        for partitions in (controller.partitions, process.image.partitions)
    )
    offset = MetadataOffset(forms.BEHIND - (newest - known))
    return replace(node, process=replace(process, image=replace(process.image, offset=offset)))


# --- the observer ---------------------------------------------------------------------------------


def _observed(cluster: Cluster, incarnations: Incarnations) -> Iterator[Observed]:
    normal = forms.of_observed(cluster.observed, incarnations)
    for new, old in zip(normal, cluster.observed, strict=True):
        committed = EMPTY if old.excused else new.committed
        yield replace(new, committed=committed, unclean_epoch=old.unclean_epoch)
