"""Facts of ZooKeeper's time: what its nodes report that nobody reports in KRaft."""

import msgspec

from .ids import BrokerEpoch, BrokerId, ControllerEpoch, Offset, SessionId, Zxid


class ZnodeChanged(msgspec.Struct, frozen=True, tag="znode-changed", kw_only=True):
    """A transaction of ZooKeeper created, wrote or deleted a znode; `text` says to what."""

    node: BrokerId
    path: str
    zxid: Zxid
    text: str


class BrokerFact(msgspec.Struct, frozen=True, kw_only=True):
    """What ZooKeeper or a controller reports of a broker."""

    node: BrokerId
    broker: BrokerId


class SessionOpened(BrokerFact, frozen=True, tag="session-opened", kw_only=True):
    """A process has a session with ZooKeeper."""

    session: SessionId


class SessionEnded(BrokerFact, frozen=True, tag="session-ended", kw_only=True):
    """A session with ZooKeeper is over, and what was ephemeral in it is gone."""

    session: SessionId
    expired: bool
    """Whether ZooKeeper ended it; else the process closed it."""


class ControllerElected(BrokerFact, frozen=True, tag="controller-elected", kw_only=True):
    """A broker has become the controller."""

    controller_epoch: ControllerEpoch


class ControllerStoodDown(BrokerFact, frozen=True, tag="controller-stood-down", kw_only=True):
    """A broker is the controller no more, and knows it; its queues are gone."""

    reason: str


class BrokersCompared(msgspec.Struct, frozen=True, tag="brokers-compared", kw_only=True):
    """A controller has compared the registered brokers with those it knows; all lists are sorted.

    With nothing in them it found no change, whatever has happened in between.
    """

    node: BrokerId
    new: tuple[BrokerId, ...] = ()
    bounced: tuple[tuple[BrokerId, BrokerEpoch, BrokerEpoch], ...] = ()
    """(broker, the epoch that was known, the one that is registered)."""
    dead: tuple[BrokerId, ...] = ()


class RequestsQueued(BrokerFact, frozen=True, tag="requests-queued", kw_only=True):
    """A controller has put requests into its queue for a broker; each is told in words."""

    requests: tuple[str, ...]


class QueueDropped(BrokerFact, frozen=True, tag="queue-dropped", kw_only=True):
    """A controller has closed its connection to a broker, and what was queued for it is gone."""

    requests: tuple[str, ...]


class ReplicaStopped(msgspec.Struct, frozen=True, tag="replica-stopped", kw_only=True):
    """A follower fetches a partition no more: a StopReplica, or nobody to fetch from."""

    node: BrokerId
    partition: str
    reason: str


class CheckpointLost(msgspec.Struct, frozen=True, tag="checkpoint-lost", kw_only=True):
    """The file of high watermarks was written anew, without a partition that it had."""

    node: BrokerId
    partition: str
    high_watermark: Offset


class ShutdownTried(msgspec.Struct, frozen=True, tag="shutdown-tried", kw_only=True):
    """A broker's try at a controlled shutdown came to nothing; `left` is how many it still has."""

    node: BrokerId
    reason: str
    left: int


class BrokerDeclared(BrokerFact, frozen=True, tag="broker-declared", kw_only=True):
    """A controller of KIP-343 has put a broker into another state; `before` is "" at first."""

    incarnation_id: BrokerEpoch
    before: str
    after: str
    reason: str


class BrokerStateChanged(msgspec.Struct, frozen=True, tag="broker-state-changed", kw_only=True):
    """A broker of KIP-343 takes itself for something else than before."""

    node: BrokerId
    before: str
    after: str
    reason: str


ZooKeeperFact = (
    ZnodeChanged
    | SessionOpened
    | SessionEnded
    | ControllerElected
    | ControllerStoodDown
    | BrokersCompared
    | RequestsQueued
    | QueueDropped
    | ReplicaStopped
    | CheckpointLost
    | ShutdownTried
    | BrokerDeclared
    | BrokerStateChanged
)
