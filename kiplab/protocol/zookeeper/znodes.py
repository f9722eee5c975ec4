"""The data of ZooKeeper: znodes, each with a path, contents and a Stat.

Real znodes hold bytes, and Kafka writes JSON into them; here each kind of contents is a struct, so
that a broker epoch or a leader epoch stays visible as such. A znode's Stat has the transaction that
created it (czxid: a broker's epoch), the one that wrote it last (mzxid), the number of writes since
(version: what Kafka calls zkVersion and, of a partition's state, from 3.2 on the partition epoch),
and the session that it is deleted with (ephemeral_owner). Paths are Kafka's. Nothing here changes
anything: see `ensemble_writes`.
"""

from enum import StrEnum

import msgspec

from .. import ids
from ..registrations import LeaderRecoveryState, PartitionRegistration, topic_of

ROOT = "/"
CONTROLLER_PATH = "/controller"
CONTROLLER_EPOCH_PATH = "/controller_epoch"
BROKER_IDS_PATH = "/brokers/ids"
TOPICS_PATH = "/brokers/topics"
TOPIC_CONFIGS_PATH = "/config/topics"
ISR_CHANGES_PATH = "/isr_change_notification"
ISR_CHANGE_PREFIX = f"{ISR_CHANGES_PATH}/isr_change_"
"""Of a sequential create: ZooKeeper appends ten digits."""


class BrokerZnode(msgspec.Struct, frozen=True, cache_hash=True, tag="broker"):
    """/brokers/ids/1: that a broker lives. The incarnation stands for host and port."""

    broker: ids.BrokerId
    incarnation: ids.Incarnation
    version: ids.Count = 4
    """Of BrokerInfo: 5 is from a broker that sends heartbeats (KIP-343)."""


class ControllerZnode(msgspec.Struct, frozen=True, cache_hash=True, tag="controller"):
    """/controller: which broker is the controller."""

    broker: ids.BrokerId


class ControllerEpochZnode(msgspec.Struct, frozen=True, cache_hash=True, tag="controller-epoch"):
    """/controller_epoch: what the last elected controller is numbered."""

    epoch: ids.ControllerEpoch


class PartitionStateZnode(msgspec.Struct, frozen=True, cache_hash=True, tag="partition-state"):
    """/brokers/topics/orders/partitions/0/state: who leads and who is in sync.

    `controller_epoch` is that of the controller that made the leader.
    """

    partition: ids.PartitionName
    leader: ids.BrokerId
    leader_epoch: ids.LeaderEpoch
    controller_epoch: ids.ControllerEpoch
    isr: tuple[ids.BrokerId, ...]
    recovery: LeaderRecoveryState = LeaderRecoveryState.RECOVERED

    @classmethod
    def of(cls, state: PartitionRegistration, epoch: ids.ControllerEpoch) -> "PartitionStateZnode":
        """A partition's, as a controller writes it.

        Source: TopicPartitionStateZNode.encode (2.1.1 to 3.4.1).
        """
        return cls(
            *(state.name, state.leader, state.leader_epoch),
            controller_epoch=epoch,
            isr=state.isr,
            recovery=state.recovery,
        )


class ReplicaAssignment(msgspec.Struct, frozen=True, cache_hash=True):
    """The replicas of one partition, and those that are added or removed."""

    partition: ids.PartitionName
    replicas: tuple[ids.BrokerId, ...]
    adding: tuple[ids.BrokerId, ...] = ()
    removing: tuple[ids.BrokerId, ...] = ()


class TopicZnode(msgspec.Struct, frozen=True, cache_hash=True, tag="topic"):
    """/brokers/topics/orders: the assignments of its partitions, sorted by name."""

    topic: str
    assignments: tuple[ReplicaAssignment, ...]


class TopicConfigZnode(msgspec.Struct, frozen=True, cache_hash=True, tag="topic-config"):
    """/config/topics/orders: min.insync.replicas and unclean.leader.election.enable."""

    topic: str
    min_insync_replicas: ids.Count = 1
    unclean_leader_election: bool = False


class IsrChangeZnode(msgspec.Struct, frozen=True, cache_hash=True, tag="isr-change"):
    """/isr_change_notification/isr_change_0000000000: whose ISR a leader wrote."""

    partitions: tuple[str, ...]


class TextZnode(msgspec.Struct, frozen=True, cache_hash=True, tag="text"):
    """Any other contents."""

    text: str


ZnodeData = (
    BrokerZnode
    | ControllerZnode
    | ControllerEpochZnode
    | PartitionStateZnode
    | TopicZnode
    | TopicConfigZnode
    | IsrChangeZnode
    | TextZnode
    | None
)
"""None: null data, as a broker of 2.2 and later creates its znode with."""


class Stat(msgspec.Struct, frozen=True, cache_hash=True):
    """The Stat of a znode: org.apache.zookeeper.data.Stat, the fields that Kafka reads.

    `version` is a PartitionEpoch because of a partition's state it is just that.
    """

    czxid: ids.Zxid
    mzxid: ids.Zxid
    version: ids.PartitionEpoch = ids.PartitionEpoch(0)
    ephemeral_owner: ids.SessionId = ids.NO_SESSION


class Znode(msgspec.Struct, frozen=True, cache_hash=True):
    """One znode. `partition` is the one whose state this is, "" for every other znode."""

    path: str
    data: ZnodeData
    stat: Stat
    partition: ids.PartitionName = ""
    children_created: ids.Count | None = None
    """How many children were ever created below it, if sequential: the next one's number."""


class WatchKind(StrEnum):
    """The subject of a watch: the znode itself, or its children."""

    DATA = "data"
    CHILDREN = "children"


class WatchEventType(StrEnum):
    """The type of a watch event; it has neither the old nor the new value."""

    CREATED = "NodeCreated"
    DELETED = "NodeDeleted"
    DATA_CHANGED = "NodeDataChanged"
    CHILDREN_CHANGED = "NodeChildrenChanged"


class WatchEvent(msgspec.Struct, frozen=True, cache_hash=True):
    """The content of a watch event."""

    type: WatchEventType
    path: str


def znode(path: str, data: ZnodeData, stat: Stat, children_created: int | None = None) -> Znode:
    """A znode that names the partition whose state it holds. Source: stands for DataNode."""
    partition = data.partition if isinstance(data, PartitionStateZnode) else ""
    return Znode(path, data, stat, partition, children_created)


def broker_path(broker: ids.BrokerId) -> str:
    """/brokers/ids/1. Source: BrokerIdZNode.path (3.5.0)."""
    return f"{BROKER_IDS_PATH}/{broker}"


def topic_path(topic: str) -> str:
    """/brokers/topics/orders. Source: TopicZNode.path (3.5.0)."""
    return f"{TOPICS_PATH}/{topic}"


def topic_config_path(topic: str) -> str:
    """/config/topics/orders. Source: ConfigEntityZNode.path (3.5.0)."""
    return f"{TOPIC_CONFIGS_PATH}/{topic}"


def partitions_path(topic: str) -> str:
    """/brokers/topics/orders/partitions. Source: TopicPartitionsZNode.path (3.5.0)."""
    return f"{topic_path(topic)}/partitions"


def partition_path(partition: str) -> str:
    """``"/brokers/topics/orders/partitions/0"``. Source: TopicPartitionZNode.path (3.5.0)."""
    return f"{partitions_path(topic_of(partition))}/{partition.rpartition('-')[2]}"


def partition_state_path(partition: str) -> str:
    """/brokers/topics/orders/partitions/0/state, of ``"orders-0"``.

    Source: TopicPartitionStateZNode.path (3.5.0).
    """
    return f"{partition_path(partition)}/state"


def parent_path(path: str) -> str:
    """The path above. Source: PrepRequestProcessor.validatePathForCreate (ZooKeeper 3.9.5)."""
    return path.rpartition("/")[0] or ROOT
