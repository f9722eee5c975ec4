"""What a controller of ZooKeeper's years may tell a broker, and all that is seen of it then.

Epochs are told as they stand to what the broker knows, so that the same question can be put to any
broker: `broker_epoch` is its own, an older one (the one before, where it had one) or a newer one,
or none; `controller_epoch` is counted from the one that the broker has obeyed when a case begins.
"""

from typing import Literal

import msgspec

ControlApi = Literal["LeaderAndIsr", "UpdateMetadata", "StopReplica"]
GivenEpoch = Literal["own", "older", "newer", "none"]
SessionEvent = Literal["", "ends", "is found to have ended"]
Role = Literal["leader", "follower"]
ASKED_BROKER, OTHER_BROKER, FAKE_CONTROLLER = 0, 1, 99
"""The broker that is asked, one that nobody started, and who claims to be the controller."""
USUAL_EPOCH = 7
"""A leader epoch with room below it."""


class ControlQuestion(msgspec.Struct, frozen=True, omit_defaults=True):
    """One control request about partitions 0, 1, ... of a topic, one for each of `leader_epochs`.

    `live` are the brokers that UpdateMetadata names; `delete` and no other field is StopReplica's
    own. `session` is what becomes of the broker's session in ZooKeeper before it is asked.
    """

    api: ControlApi
    leader_epochs: tuple[int, ...] = (USUAL_EPOCH,)
    broker_epoch: GivenEpoch = "own"
    controller_epoch: int = 0
    leader: int = ASKED_BROKER
    isr: tuple[int, ...] = (ASKED_BROKER,)
    replicas: tuple[int, ...] = (ASKED_BROKER,)
    zk_version: int = 0
    is_new: bool = False
    recovering: bool = False
    delete: bool = False
    live: tuple[int, ...] = (ASKED_BROKER,)
    session: SessionEvent = ""


BROKERS_ALONE = ControlQuestion("UpdateMetadata", ())
"""What a case begins with: the broker knows of itself alone."""


class ReplicaSight(msgspec.Struct, frozen=True, array_like=True):
    """A replica that the broker has: as what, and at which leader epoch; -1 before any."""

    role: Role
    leader_epoch: int


class MetadataSight(msgspec.Struct, frozen=True, array_like=True):
    """A partition as the broker tells clients of it; -1 for a leader that is not alive to it."""

    leader: int
    leader_epoch: int


class ControlAnswer(msgspec.Struct, frozen=True, array_like=True):
    """What a broker answered, and what was seen of it afterwards.

    `partitions` are the codes for each partition, none where the answer has none. `replicas`,
    `on_disk` and `metadata` have an entry for each partition; None for what is not there.
    `brokers` are those that it names to clients.
    """

    error: int
    partitions: tuple[int, ...]
    replicas: tuple[ReplicaSight | None, ...]
    on_disk: tuple[bool, ...]
    metadata: tuple[MetadataSight | None, ...]
    brokers: tuple[int, ...]


class AcceptanceCase(msgspec.Struct, frozen=True):
    """A conversation with a broker that knows of itself alone; `name` says what is tried."""

    name: str
    questions: tuple[ControlQuestion, ...]
