"""Brokers and partitions as a control plane registers them, and as brokers see them in metadata."""

from enum import IntEnum

import msgspec

from . import ids


class LeaderRecoveryState(IntEnum):
    """Whether a partition's leader may have lost committed records (KIP-704)."""

    RECOVERED = 0
    RECOVERING = 1
    """An unclean election made the leader, and it has not recovered since."""


ONE_DIRECTORY: tuple[ids.Count, ...] = (ids.Count(1),)
"""The log directories of a broker, unless somebody says that there are more."""
UNASSIGNED = ids.Count(0)
"""The directory of a new replica whose broker has several, until the broker has chosen one."""


class Registration(msgspec.Struct, frozen=True, cache_hash=True):
    """BrokerRegistration, replayed from the metadata log. Log directories are numbered per broker,
    from 1 on; Kafka's have uuids.
    """

    broker: ids.BrokerId
    epoch: ids.BrokerEpoch
    incarnation: ids.Incarnation
    fenced: bool = True
    in_controlled_shutdown: bool = False
    record_offset: ids.MetadataOffset = ids.MetadataOffset(0)
    """Offset of the RegisterBrokerRecord that a broker must have replicated to be unfenced."""
    log_dirs: tuple[ids.Count, ...] = ONE_DIRECTORY
    """Its online log directories (KIP-858)."""


class PartitionRegistration(msgspec.Struct, frozen=True, cache_hash=True):
    """A partition as the metadata log has it. Lists are ordered; ``replicas[0]`` is preferred.

    The two settings are its topic's. `elr` and `last_known` are KIP-966's: the eligible leader
    replicas, sorted, and the last known leader, one id at most (LastKnownElr in the records).
    `directories` has the log directory of each replica; () is the first one of each.
    """

    name: ids.PartitionName
    replicas: tuple[ids.BrokerId, ...]
    isr: tuple[ids.BrokerId, ...]
    leader: ids.BrokerId
    leader_epoch: ids.LeaderEpoch = ids.LeaderEpoch(0)
    partition_epoch: ids.PartitionEpoch = ids.PartitionEpoch(0)
    recovery: LeaderRecoveryState = LeaderRecoveryState.RECOVERED
    adding: tuple[ids.BrokerId, ...] = ()
    removing: tuple[ids.BrokerId, ...] = ()
    min_insync_replicas: ids.Count = 1
    unclean_leader_election: bool = False
    elr: tuple[ids.BrokerId, ...] = ()
    last_known: tuple[ids.BrokerId, ...] = ()
    directories: tuple[ids.Count, ...] = ()


def topic_of(partition_name: str) -> str:
    """The topic of a partition: ``"orders"`` of ``"orders-0"``."""
    return partition_name.rpartition("-")[0]


def directory_of(state: PartitionRegistration, broker: ids.BrokerId) -> ids.Count:
    """The log directory in which the metadata has a replica. Source:
    PartitionRegistration.directory (3.7.0, 4.3.1).
    """
    directories = dict(zip(state.replicas, state.directories, strict=False))
    return directories.get(broker, ONE_DIRECTORY[0])


def with_directories(
    state: PartitionRegistration, directories: tuple[ids.Count, ...]
) -> PartitionRegistration:
    """`state` with a log directory for each replica."""
    all_first = {*directories} <= {*ONE_DIRECTORY}
    return msgspec.structs.replace(state, directories=() if all_first else directories)


def registration(
    registrations: tuple[Registration, ...], broker: ids.BrokerId
) -> Registration | None:
    """The registration of `broker`, or None."""
    for candidate in registrations:
        if candidate.broker == broker:
            return candidate
    return None


def partition(
    partitions: tuple[PartitionRegistration, ...], name: str
) -> PartitionRegistration | None:
    """The partition called `name`, or None."""
    for registration in partitions:
        if registration.name == name:
            return registration
    return None
