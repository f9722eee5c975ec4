"""Facts of ZooKeeper mode: those that KRaft's nodes do not report."""

import msgspec

from .ids import BrokerEpoch, BrokerId, ControllerEpoch, Offset, SessionId, Zxid


class AnyFact(msgspec.Struct, frozen=True):
    """A rule's report of its actions; each kind has a tag."""


class ZnodeChanged(AnyFact, frozen=True, tag="znode-changed"):
    """A transaction of ZooKeeper created, wrote or deleted a znode; `text` says to what."""

    node: BrokerId
    path: str
    zxid: Zxid
    text: str


class BrokerFact(AnyFact, frozen=True):
    """A report of ZooKeeper or a controller about a broker."""

    node: BrokerId
    broker: BrokerId


class SessionOpened(BrokerFact, frozen=True, tag="session-opened"):
    """A process has a session with ZooKeeper."""

    session: SessionId


class SessionEnded(BrokerFact, frozen=True, tag="session-ended"):
    """A session with ZooKeeper is over, and what was ephemeral in it is gone."""

    session: SessionId
    expired: bool
    """Whether ZooKeeper ended it; else the process closed it."""


class ControllerElected(BrokerFact, frozen=True, tag="controller-elected"):
    """A broker has become the controller."""

    controller_epoch: ControllerEpoch


class ControllerStoodDown(BrokerFact, frozen=True, tag="controller-stood-down"):
    """A broker is the controller no more, and knows it; its queues are gone."""

    reason: str


class BrokersCompared(AnyFact, frozen=True, tag="brokers-compared", kw_only=True):
    """A controller has compared the registered brokers with those it knows; all lists are sorted.

    With nothing in them it found no change, even if a broker went and came back in between.
    """

    node: BrokerId
    new: tuple[BrokerId, ...] = ()
    bounced: tuple[tuple[BrokerId, BrokerEpoch, BrokerEpoch], ...] = ()
    """(broker, the epoch that was known, the one that is registered)."""
    dead: tuple[BrokerId, ...] = ()


class RequestsQueued(BrokerFact, frozen=True, tag="requests-queued"):
    """A controller has put requests into its queue for a broker; each is described in words."""

    requests: tuple[str, ...]


class QueueDropped(BrokerFact, frozen=True, tag="queue-dropped"):
    """A controller has closed its connection to a broker, and what was queued for it is gone."""

    requests: tuple[str, ...]


class ReplicaStopped(AnyFact, frozen=True, tag="replica-stopped"):
    """A follower stops fetching a partition: a StopReplica, or no leader to fetch from."""

    node: BrokerId
    partition: str
    reason: str


class CheckpointLost(AnyFact, frozen=True, tag="checkpoint-lost"):
    """The file of high watermarks was written anew, without a partition that it had."""

    node: BrokerId
    partition: str
    high_watermark: Offset


class ShutdownTried(AnyFact, frozen=True, tag="shutdown-tried"):
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


class BrokerStateChanged(AnyFact, frozen=True, tag="broker-state-changed"):
    """A broker of KIP-343 takes itself for something else than before."""

    node: BrokerId
    before: str
    after: str
    reason: str
