"""The controller's state: that of the metadata log, and the memory of the active controller.

Registrations and partitions result from replaying the log (`replay.py`), so a new controller has
them too. Heartbeats are the memory of one controller, as in BrokerHeartbeatManager, and are lost at
a failover (`fencing.fail_over`). The rules of this package take a Controller and return one: the
same object if nothing changed, so that comparing is cheap.
"""

import msgspec

from .. import ids
from ..errors import KafkaError
from ..facts import Refused, compare
from ..messages import (
    KINDS,
    AlterPartitionRequest,
    AssignReplicasToDirsRequest,
    BrokerHeartbeatRequest,
)
from ..registrations import (
    UNASSIGNED,
    PartitionRegistration,
    Registration,
    directory_of,
    partition,
    registration,
    topic_of,
)


class HeartbeatState(msgspec.Struct, frozen=True, cache_hash=True):
    """The active controller's memory of a broker; lost at a controller failover.

    Offsets are -1 while unknown. `last_contact_ms` stays 0 in a run without a clock.
    """

    broker: ids.BrokerId
    fenced: bool = True
    last_contact_ms: ids.Milliseconds = 0
    metadata_offset: ids.MetadataOffset = ids.UNKNOWN_METADATA_OFFSET
    controlled_shutdown_offset: ids.MetadataOffset = ids.UNKNOWN_METADATA_OFFSET
    target_offset: ids.MetadataOffset = ids.UNKNOWN_METADATA_OFFSET
    """The controller's offset of the broker's registration, where it is wrong."""

    @property
    def leaving(self) -> bool:
        """Whether it is in controlled shutdown, and waits to be let go."""
        return self.controlled_shutdown_offset >= 0

    @property
    def over(self) -> bool:
        """Whether its session is over: up to 3.9 a fenced broker has none."""
        return self.fenced


class Contact(msgspec.Struct, frozen=True, cache_hash=True):
    """Time of the last contact under this broker epoch (`sessions`); 0 without a clock."""

    broker: ids.BrokerId
    epoch: ids.BrokerEpoch
    last_contact_ms: ids.Milliseconds = 0


class ControllerTimers(msgspec.Struct, frozen=True, cache_hash=True):
    """The due times of scheduled elections (`elections`); 0 for one that is not scheduled.

    Always 0 in a run without a clock.
    """

    elect_unclean: ids.Milliseconds = 0
    balance_leaders: ids.Milliseconds = 0


class ElrList(msgspec.Struct, frozen=True, order=True, cache_hash=True):
    """Partitions of a topic in which the controller takes a broker for a member of the ELR, where
    that is not what the partitions say (`brokers_to_elrs`).
    """

    broker: ids.BrokerId
    topic: str
    partitions: tuple[ids.Count, ...] = ()


class Controller(msgspec.Struct, frozen=True, cache_hash=True):
    """The active controller. Registrations and heartbeats are sorted by broker id.

    `timers` and `auto_leader_rebalance` have their defaults in every search: no level has a clock,
    and none offers the controller's own elections.
    """

    epoch: ids.ControllerEpoch = ids.ControllerEpoch(1)
    next_offset: ids.MetadataOffset = ids.MetadataOffset(0)
    """Offset of the next metadata record; new broker epochs are minted from it."""
    write_offset: ids.MetadataOffset | None = None
    """What a controller up to 3.5 takes for its last record until it has written one itself; the
    quorum's own record of its election lies behind that. None where the two are the same."""
    registrations: tuple[Registration, ...] = ()
    partitions: tuple[PartitionRegistration, ...] = ()
    heartbeats: tuple[HeartbeatState, ...] = ()
    timers: ControllerTimers = ControllerTimers()
    watches_sessions: bool = True
    """Whether it ends expired sessions; with a clock not before its first heartbeat."""
    auto_leader_rebalance: bool = False
    """auto.leader.rebalance.enable, which Kafka has on and a play only if it asks for it."""
    contacts: tuple[Contact, ...] = ()
    """Sorted by broker and epoch; up to 3.9 there are none, and `heartbeats` say it all."""
    checks_from_ms: ids.Milliseconds = 0
    """With contacts it is looked for silent brokers from then on, again and again."""
    elr_lists: tuple[ElrList, ...] = ()
    """Sorted; empty until a ClearElrRecord has cleared something."""
    active_since_ms: ids.Milliseconds = 0
    """The time at which it took over, in a run with a clock."""
    static_min_insync_replicas: ids.Count = 1
    """min.insync.replicas in its properties."""
    cluster_min_insync_replicas: ids.Count | None = None
    """The cluster-level entry, for topics without their own; with KIP-966 there always is one."""
    topics_with_min_insync: tuple[str, ...] = ()
    """The topics that have an entry of their own, sorted."""

    @property
    def controller_epoch(self) -> ids.ControllerEpoch:
        """`epoch`, under the name that it has in every mode."""
        return self.epoch


def last_known_offset(controller: Controller) -> ids.MetadataOffset:
    """The offset of the last record that the controller knows of.

    Source: QuorumController.writeOffset (3.2.0 to 3.5.0), which claim sets to what was committed,
    and OffsetControlManager.nextWriteOffset (3.6.0), which it sets to the end of the log.
    """
    if controller.write_offset is not None:
        return controller.write_offset
    return ids.MetadataOffset(controller.next_offset - 1)


def heartbeat(controller: Controller, broker: ids.BrokerId) -> HeartbeatState | None:
    """The active controller's memory of `broker`, or None.

    Source: BrokerHeartbeatManager.brokers (3.5.0).
    """
    for entry in controller.heartbeats:
        if entry.broker == broker:
            return entry
    return None


def is_active(controller: Controller, active: frozenset[str], broker: ids.BrokerId) -> bool:
    """Whether a broker may lead and be in a new ISR.

    Source: ClusterControlManager.isActive (3.5.0, 3.9.0-rc3) and unfenced (3.2.0); KIP-841,
    Proposed Changes.
    """
    registered = registration(controller.registrations, broker)
    if registered is None or registered.fenced:
        return False
    # KIP-841, Proposed Changes, its two invariants: a broker that is shutting down may be in no ISR
    # and may not lead, as a fenced one. Version 6 of the page, a draft, spoke of the ISR alone.
    return not (registered.in_controlled_shutdown and "841.active-leader" in active)


def may_lead(
    controller: Controller,
    active: frozenset[str],
    state: PartitionRegistration,
    broker: ids.BrokerId,
) -> bool:
    """Whether a broker may lead this partition: it is active, and has the log directory.

    Source: ReplicationControlManager.LeaderAcceptor (3.7.0, 4.3.1).
    """
    return is_active(controller, active, broker) and has_directory(controller, state, broker)


def has_directory(
    controller: Controller, state: PartitionRegistration, broker: ids.BrokerId
) -> bool:
    """Whether a broker has registered the log directory in which the metadata has its replica.

    Source: ClusterControlManager.hasOnlineDir (3.7.0, 4.3.1).
    """
    registered = registration(controller.registrations, broker)
    if registered is None:
        return False
    # KIP-858: a replica in a log directory that is offline may not lead.
    return directory_of(state, broker) in (UNASSIGNED, *registered.log_dirs)


def effective_min_isr(controller: Controller, state: PartitionRegistration) -> ids.Count:
    """The min.insync.replicas by which the controller judges a partition: at most the number of
    replicas of its topic's partition 0.

    Source: ReplicationControlManager.getTopicEffectiveMinIsr (4.0.2, 4.3.1).
    """
    first = partition(controller.partitions, f"{topic_of(state.name)}-0") or state
    return min(state.min_insync_replicas, len(first.replicas))


def stale_sender(
    controller: Controller,
    request: BrokerHeartbeatRequest | AlterPartitionRequest | AssignReplicasToDirsRequest,
    guard: str | None,
    *,
    checked: bool,
) -> Refused | None:
    """Why a request is refused whose sender speaks under another epoch than it is registered with.

    Any other epoch is stale, a higher one too. A broker that is not registered is refused although
    the guard is off, and epochs are not `checked`.

    Source: ClusterControlManager.checkBrokerEpoch (3.2.0 to 3.9.0-rc3).
    """
    registered = registration(controller.registrations, request.broker)
    epoch = registered.epoch if registered else None
    if epoch == request.broker_epoch:
        return None
    if registered is not None and not checked:
        return None
    compared = (compare(f"broker {request.broker} epoch", request.broker_epoch, epoch),)
    error = KafkaError.STALE_BROKER_EPOCH
    return Refused(ids.CONTROLLER, KINDS[type(request)], error, guard, compared)
