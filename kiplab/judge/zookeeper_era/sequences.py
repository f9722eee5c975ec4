"""What a controller of the ZooKeeper era did, in a form in which two can be compared.

What differs from run to run is left out: the numbers of czxids (generations have names instead),
correlation ids, the order inside a request, and how the control requests to several brokers
interleave.
"""

import msgspec

LEADER_AND_ISR, STOP_REPLICA, UPDATE_METADATA = "LeaderAndIsr", "StopReplica", "UpdateMetadata"
NO_EPOCH = "-1"
"""The broker epoch of a request of the versions before KIP-380, which have no such field, and of
one that says -1.
"""


class SentPartition(msgspec.Struct, frozen=True, omit_defaults=True):
    """A partition as LeaderAndIsr and UpdateMetadata tell it."""

    topic: str
    leader: int
    isr: tuple[int, ...]
    leader_epoch: int
    zk_version: int
    controller_epoch: int
    replicas: tuple[int, ...]
    is_new: bool = False
    offline: tuple[int, ...] = ()
    leader_recovery_state: int = 0


class StoppedReplica(msgspec.Struct, frozen=True, omit_defaults=True):
    """A partition of a StopReplica; `leader_epoch` is None before version 3 (KIP-570)."""

    topic: str
    delete: bool
    leader_epoch: int | None = None


class SentRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """One request that reached a broker.

    `generation` is whom it reached, as in ``"b1g2"``: the second registration of broker 1;
    `stamped` is the generation whose epoch it carries. `full`: it has every partition there is.
    `live` are the brokers of an UpdateMetadata, the leaders of a LeaderAndIsr.
    """

    broker: int
    generation: str
    api: str
    version: int
    sender: int
    controller_epoch: int
    stamped: str
    answer: int
    full: bool = False
    partitions: tuple[SentPartition, ...] = ()
    stopped: tuple[StoppedReplica, ...] = ()
    live: tuple[int, ...] = ()


class ShutdownAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of a ControlledShutdown: `stamped` as it was asked for, and the answer."""

    broker: int
    stamped: str
    error: int
    remaining: tuple[str, ...] = ()


class AlteredPartition(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of one partition of an AlterPartition; its state where there was no error."""

    topic: str
    error: int
    leader: int = -1
    isr: tuple[int, ...] = ()
    leader_epoch: int = -1
    zk_version: int = -1
    leader_recovery_state: int = 0


class AlterAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a leader was answered to its AlterPartition, once called AlterIsr."""

    broker: int
    stamped: str
    version: int
    error: int
    partitions: tuple[AlteredPartition, ...] = ()


class StateZnode(msgspec.Struct, frozen=True, omit_defaults=True):
    """The state of a partition in ZooKeeper. `zk_version` is that of the znode."""

    topic: str
    leader: int
    isr: tuple[int, ...]
    leader_epoch: int
    controller_epoch: int
    zk_version: int
    leader_recovery_state: int = 0


class Passage(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was heard up to one moment of a situation.

    `requests` are in the order in which each broker got them, broker after broker; `answers`
    and `altered` in the order in which they were asked for; `znodes` by topic.
    """

    title: str
    controller_epoch: int
    requests: tuple[SentRequest, ...] = ()
    answers: tuple[ShutdownAnswer, ...] = ()
    znodes: tuple[StateZnode, ...] = ()
    altered: tuple[AlterAnswer, ...] = ()

    def to(self, broker: int) -> tuple[SentRequest, ...]:
        """What this broker got."""
        return tuple(sent for sent in self.requests if sent.broker == broker)

    def znode(self, topic: str) -> StateZnode:
        """The state of a topic's partition. Raises KeyError for a topic that is not there."""
        found = {znode.topic: znode for znode in self.znodes}
        return found[topic]
