"""What a run is said to begin with: brokers, partitions, logs, consumers."""

import msgspec

from ..protocol import ids, registrations
from ..protocol.clients.consumer import Reset
from ..protocol.features import Features


class BrokerSetup(msgspec.Struct, frozen=True, kw_only=True):
    """One registered broker; `up` says whether its process runs."""

    id: ids.BrokerId
    epoch: ids.BrokerEpoch
    fenced: bool = False
    in_controlled_shutdown: bool = False
    up: bool = True


class PartitionSetup(msgspec.Struct, frozen=True, kw_only=True):
    """One partition. `log` is what every replica has, but for those that `logs` names.

    `log` is (records, leader epoch) pairs in order; `flushed` the first offset not on disk, None
    when everything is. `high_watermark` None means: what the ISR has.
    """

    name: str
    replicas: tuple[ids.BrokerId, ...]
    isr: tuple[ids.BrokerId, ...]
    leader: ids.BrokerId
    leader_epoch: ids.LeaderEpoch = ids.LeaderEpoch(0)
    partition_epoch: ids.PartitionEpoch = ids.PartitionEpoch(0)
    recovery: registrations.LeaderRecoveryState = registrations.LeaderRecoveryState.RECOVERED
    adding: tuple[ids.BrokerId, ...] = ()
    removing: tuple[ids.BrokerId, ...] = ()
    min_insync_replicas: int = 1
    unclean_leader_election: bool = False
    log: tuple[tuple[int, ids.LeaderEpoch], ...] = ()
    logs: tuple[tuple[ids.BrokerId, tuple[tuple[int, ids.LeaderEpoch], ...]], ...] = ()
    flushed: ids.Offset | None = None


class ConsumerSetup(msgspec.Struct, frozen=True, kw_only=True):
    """One consumer. It has read the committed records below `position`. `nearest` is the replica
    that a leader would send it to (KIP-392).
    """

    name: str
    partition: str
    position: ids.Offset = ids.Offset(0)
    reset: Reset = Reset.LATEST
    nearest: ids.BrokerId = ids.NO_LEADER
    read_committed: bool = False


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a run begins with."""

    features: Features
    brokers: tuple[BrokerSetup, ...]
    partitions: tuple[PartitionSetup, ...]
    next_offset: ids.MetadataOffset | None = None
    timed: bool = False
    consumers: tuple[ConsumerSetup, ...] = ()
    auto_leader_rebalance: bool = False
    controller: ids.BrokerId | None = None
    """With ZooKeeper, the broker that is the controller; None: the first one that is up."""
    controller_epoch: ids.ControllerEpoch = ids.ControllerEpoch(1)
    zookeeper_servers: int = 1
