"""The controller of ZooKeeper mode: Kafka's KafkaController, which every broker process has.

Only the active one does anything besides watching /controller. Its knowledge is a cache: the live
brokers and their epochs, the brokers that are shutting down, each partition's state, the offline
partitions. It keeps a queue of requests for every broker. All of this is lost when it resigns.
Nothing here changes anything by itself: see `controller_election`, `watch_events`, `broker_change`.

Kafka's states of replicas are left out, because without reassignments and deletions nothing depends
on them: an offline replica may go online and offline again from any state. Of the states of
partitions OfflinePartition and NewPartition are kept, from which a leader is elected. Offline log
directories, topic deletions, reassignments and the controller epoch beside each partition's state
are left out too.
"""

import msgspec
from msgspec.structs import replace

from .. import ids
from ..messages import LeaderAndIsrRequest, StopReplicaRequest, UpdateMetadataRequest
from ..registrations import PartitionRegistration, partition

QueuedRequest = LeaderAndIsrRequest | UpdateMetadataRequest | StopReplicaRequest


class LiveBroker(msgspec.Struct, frozen=True, cache_hash=True):
    """A broker that a controller takes for registered; the epoch is -1 before 2.2."""

    broker: ids.BrokerId
    epoch: ids.BrokerEpoch


class BrokerChannel(msgspec.Struct, frozen=True, cache_hash=True):
    """The requests queued for one broker; the head is sent until it is answered."""

    broker: ids.BrokerId
    queue: tuple[QueuedRequest, ...] = ()


class ZooKeeperTimers(msgspec.Struct, frozen=True, cache_hash=True):
    """It has none: its events come from watches, brokers and operators."""


class ZooKeeperController(msgspec.Struct, frozen=True, cache_hash=True):
    """Everything is sorted, by broker or by name. While it is not active it knows nothing."""

    broker: ids.BrokerId
    session: ids.SessionId = ids.NO_SESSION
    active: bool = False
    epoch: ids.ControllerEpoch = ids.ControllerEpoch(0)
    epoch_version: ids.PartitionEpoch = ids.PartitionEpoch(0)
    """The version of /controller_epoch at its election: every write checks that it still is."""
    live: tuple[LiveBroker, ...] = ()
    """Live or shutting down."""
    shutting_down: tuple[ids.BrokerId, ...] = ()
    channels: tuple[BrokerChannel, ...] = ()
    partitions: tuple[PartitionRegistration, ...] = ()
    offline: tuple[ids.PartitionName, ...] = ()
    """In the state OfflinePartition: a leader is looked for whenever something changes."""
    new: tuple[ids.PartitionName, ...] = ()
    """In the state NewPartition: assigned, and without a state in ZooKeeper."""
    timers: ZooKeeperTimers = ZooKeeperTimers()

    @property
    def node(self) -> ids.BrokerId:
        """Its address."""
        return ids.controller_on(self.broker)

    @property
    def live_brokers(self) -> tuple[ids.BrokerId, ...]:
        """Live or shutting down: liveOrShuttingDownBrokerIds."""
        return tuple(live_broker.broker for live_broker in self.live)


def epoch_of(controller: ZooKeeperController, broker: ids.BrokerId) -> ids.BrokerEpoch | None:
    """The epoch that the controller knows of a live broker; None where it knows no such broker.

    Source: ControllerContext.liveBrokerIdAndEpochs (2.2.2).
    """
    return next((live.epoch for live in controller.live if live.broker == broker), None)


def is_online(controller: ZooKeeperController, broker: ids.BrokerId) -> bool:
    """Whether a replica there counts as online: live, and not shutting down.

    Source: ControllerContext.isReplicaOnline (2.1.1 to 3.4.1).
    """
    return broker not in controller.shutting_down and epoch_of(controller, broker) is not None


def hosted_by(controller: ZooKeeperController, broker: ids.BrokerId) -> tuple[str, ...]:
    """Names of the partitions with a replica there.

    Source: ControllerContext.partitionsOnBroker (2.1.1 to 3.4.1).
    """
    return tuple(p.name for p in controller.partitions if broker in p.replicas)


def cached(controller: ZooKeeperController, name: str) -> PartitionRegistration:
    """The state of a partition as the controller remembers it.

    Source: ControllerContext.partitionLeadershipInfo (2.1.1 to 3.4.1).
    """
    registration = partition(controller.partitions, name)
    assert registration is not None, f"{name} is in the cache"
    return registration


def with_partition(
    controller: ZooKeeperController, state: PartitionRegistration
) -> ZooKeeperController:
    """`controller` that remembers this state of a partition; itself if it does already.

    Source: ControllerContext.putPartitionLeadershipInfo (2.8.2, 3.4.1).
    """
    if partition(controller.partitions, state.name) == state:
        return controller
    others = [p for p in controller.partitions if p.name != state.name]
    states = tuple(sorted([*others, state], key=lambda p: p.name))
    return replace(controller, partitions=states)
