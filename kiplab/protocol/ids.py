"""Names for the numbers of Kafka's replication protocol.

Four epochs guard four different things. They are four types, so that a signature says which one it
takes and mypy refuses the others.

Every number of a cluster has a type for what it counts: `engine.canonical` reads the annotations,
and accepts no field that is a bare int.
"""

from collections.abc import Iterable
from typing import Annotated, NewType

BrokerId = NewType("BrokerId", int)
Offset = NewType("Offset", int)
"""A place in a partition's log."""
MetadataOffset = NewType("MetadataOffset", int)
"""A place in the metadata log."""
Incarnation = NewType("Incarnation", int)
"""The number of a node's process: stands for the random uuid that Kafka's brokers register with."""

ControllerEpoch = NewType("ControllerEpoch", int)
"""The number of the active controller: rises by one at every controller failover."""
BrokerEpoch = NewType("BrokerEpoch", int)
"""An incarnation of a broker: its registration's metadata offset, or its znode's transaction."""
LeaderEpoch = NewType("LeaderEpoch", int)
"""The term of a partition's leader: rises whenever a record sets the leader field."""
PartitionEpoch = NewType("PartitionEpoch", int)
"""The version of a partition's state: rises with every PartitionChangeRecord."""

Zxid = NewType("Zxid", int)
"""A ZooKeeper transaction's id. A broker epoch is the zxid that created the broker's znode."""
SessionId = NewType("SessionId", int)
"""The id of a ZooKeeper session: the number of the server that opened it in the top byte, as in
SessionTrackerImpl.initializeNextSessionId (ZooKeeper 3.9.5), and below that how many it opened."""
SESSIONS_OF_A_SERVER = 1 << 56
"""The distance between the session ids of one server and the next."""
NO_SESSION = SessionId(0)
"""The owner of a znode that outlives every session."""

PLAIN = "a number that means the same in every cluster"
Count = Annotated[int, PLAIN]
Milliseconds = Annotated[int, PLAIN]
ApiVersion = Annotated[int, PLAIN, "of a request and its answer"]

Sender = Annotated[BrokerId, "who sends the request that has such a field"]

PartitionName = Annotated[str, "whose the offsets and epochs beside it are"]
"""``"orders-0"``: topic and number."""

NO_LEADER = BrokerId(-1)
NO_BROKER_EPOCH = BrokerEpoch(-1)
"""On the wire: "no epoch here, don't check"."""
NO_LEADER_EPOCH = LeaderEpoch(-1)
UNKNOWN_METADATA_OFFSET = MetadataOffset(-1)

CONTROLLER = BrokerId(-10)
"""The address of the active controller; brokers use their ids."""
CLIENT = BrokerId(-20)
"""The address of an admin client or producer."""
ZOOKEEPER = BrokerId(-40)
"""The address of the ZooKeeper ensemble, where a cluster has one."""
ALL_BROKERS = BrokerId(-30)
"""As a receiver: every running broker that can be reached."""
_ON_A_BROKER = -1000
"""Addresses from here down are those of control planes that live on brokers."""


def controller_on(broker: BrokerId) -> BrokerId:
    """The address of the control plane that lives on `broker`, in the same process."""
    return BrokerId(_ON_A_BROKER - broker)


def host_of(node: BrokerId) -> BrokerId:
    """The broker that a control plane lives on; every other node is its own host."""
    return BrokerId(_ON_A_BROKER - node) if node <= _ON_A_BROKER else node


def node_name(node: BrokerId) -> str:
    """``"controller"``, ``"client"``, ``"broker 3"``, ``"controller on broker 3"`` and so on."""
    if node == CONTROLLER:
        return "controller"
    if node == ZOOKEEPER:
        return "ZooKeeper"
    if node == CLIENT:
        return "client"
    if node <= _ON_A_BROKER:
        return f"controller on broker {host_of(node)}"
    return f"broker {node}"


def broker_list(ids: Iterable[int]) -> str:
    """``{1, 2}``."""
    return "{" + ", ".join(str(i) for i in ids) + "}"


def epoch_in_version(version: ApiVersion, first: int, epoch: BrokerEpoch) -> BrokerEpoch:
    """`epoch` as a request of `version` carries it: -1 where its schema is below `first`."""
    return epoch if version >= first else NO_BROKER_EPOCH


def is_of_another_incarnation(epoch: BrokerEpoch, registered: BrokerEpoch) -> bool:
    """Whether `epoch` was sent, and differs from the `registered` one: -1 stands for none."""
    return epoch not in (registered, NO_BROKER_EPOCH)
