"""What a controller of ZooKeeper's years may tell a broker, and all that is seen of it then.

Epochs are told as they stand to what the broker knows, so that the same question can be put to any
broker: `broker_epoch` is its own, an older one (the one before, where it had one) or a newer one,
or none; `controller_epoch` is counted from the one that the broker has obeyed when a case begins.

Below they are messages of a version, with the codes in their answers.
"""

import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

import msgspec

from kiplab.judge.zookeeper_era.real_control_requests import UnaskedBrokerError

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

    def epoch(self, own: int, before: int) -> int:
        """The broker epoch that it gives to a broker with an epoch of its own and one of before."""
        newer = own + FAR_ABOVE
        return {"own": own, "older": before, "newer": newer, "none": NO_EPOCH}[self.broker_epoch]


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


# --- who is asked, and how ------------------------------------------------------------------------

LOOPBACK = "127.0.0.1"
NO_EPOCH, FAR_ABOVE = -1, 1000
_PLAINTEXT = 0
_NAMESPACE = uuid.UUID(int=380)


class SpokenVersions(NamedTuple):
    """The versions in which a controller sends its requests: its inter-broker protocol says."""

    leader_and_isr: int
    update_metadata: int
    stop_replica: int
    controlled_shutdown: int

    def of(self, api: str) -> int:
        """That of ``"LeaderAndIsr"``, ``"UpdateMetadata"``, ``"StopReplica"`` or
        ``"ControlledShutdown"``.
        """
        return self[_APIS.index(api)]


_APIS = ("LeaderAndIsr", "UpdateMetadata", "StopReplica", "ControlledShutdown")
SPOKEN = {
    "2.1": SpokenVersions(1, 4, 0, 1),
    "2.2": SpokenVersions(2, 5, 1, 2),
    "2.5": SpokenVersions(4, 6, 2, 3),
    "2.6": SpokenVersions(4, 6, 3, 3),
    "2.8": SpokenVersions(5, 7, 3, 3),
    "3.4": SpokenVersions(7, 8, 4, 3),
}
"""By the inter-broker protocol, in Kafka's numbers of two parts."""


ASKED_PATCHES = ("2.1.1", "2.2.2", "2.5.0", "2.5.1", "2.6.3", "2.8.2", "3.4.0", "3.4.1")
"""Releases on both sides of every rule that changed: 2.5.1 takes a newer broker epoch, 3.4.1 an
equal leader epoch in StopReplica.
"""
AT_OLDER_PROTOCOL = ("2.2.2/2.1", "3.4.1/2.1")
"""Brokers whose inter-broker protocol is still that of 2.1, as in the middle of a rolling upgrade:
it has no broker epochs.
"""
ASKED = (*ASKED_PATCHES, *AT_OLDER_PROTOCOL)


class AskedBroker(NamedTuple):
    """A broker that is asked: `protocol` is its inter-broker protocol."""

    patch: str
    protocol: str

    @property
    def versions(self) -> SpokenVersions:
        """The versions in which a controller of the same protocol asks it."""
        return SPOKEN[self.protocol]

    @property
    def settings(self) -> dict[str, str]:
        """What it is started with, besides what all are."""
        return {"inter.broker.protocol.version": self.protocol}


def asked_broker(name: str) -> AskedBroker:
    """``"2.2.2"``, or ``"2.2.2/2.1"`` at another inter-broker protocol than its own.

    Raises UnaskedBrokerError for what is none of `ASKED`.
    """
    if name not in ASKED:
        known = ", ".join(ASKED)
        raise UnaskedBrokerError(f"no broker of Kafka {name!r} is asked; there are {known}")
    patch, _, protocol = name.partition("/")
    return AskedBroker(patch, protocol or patch.rpartition(".")[0])


class WhereEpochs(NamedTuple):
    """The numbers that a question leaves open: the broker's own epoch and one of before, the
    controller epoch that it has obeyed, and where it and any other broker listen.
    """

    broker: int
    before: int
    obeyed: int
    port: int
    elsewhere: int


def control_body(
    question: ControlQuestion, topic: str, version: int, where: WhereEpochs
) -> dict[str, Any]:
    """The body of a request about `topic`, in a version of its API."""
    head = {
        "ControllerId": FAKE_CONTROLLER,
        "ControllerEpoch": where.obeyed + question.controller_epoch,
        "BrokerEpoch": question.epoch(where.broker, where.before),
    }
    rest = {
        "LeaderAndIsr": _leader_and_isr,
        "UpdateMetadata": _update_metadata,
        "StopReplica": _stop_replica,
    }[question.api]
    return head | rest(question, topic, version, where)


def topic_id_of(topic: str) -> uuid.UUID:
    """The id of a topic of ours: the same for the same name."""
    return uuid.uuid5(_NAMESPACE, topic)


def _leader_and_isr(
    question: ControlQuestion, topic: str, version: int, where: WhereEpochs
) -> dict[str, Any]:
    leaders = {question.leader} & {*question.live}
    live = [
        {"BrokerId": leader, "HostName": LOOPBACK, "Port": _port(leader, where)}
        for leader in leaders
    ]
    states = [
        state | {"IsNew": question.is_new, "LeaderRecoveryState": int(question.recovering)}
        for state in _states(question, where, "PartitionEpoch")
    ]
    return {"LiveLeaders": live} | _by_topic(states, topic, grouped=version >= 2)


def _update_metadata(
    question: ControlQuestion, topic: str, version: int, where: WhereEpochs
) -> dict[str, Any]:
    endpoint = {"Host": LOOPBACK, "Listener": "PLAINTEXT", "SecurityProtocol": _PLAINTEXT}
    live = [
        {"Id": broker, "Endpoints": [endpoint | {"Port": _port(broker, where)}], "Rack": None}
        for broker in question.live
    ]
    states = list(_states(question, where, "ZkVersion"))
    return {"LiveBrokers": live} | _by_topic(states, topic, grouped=version >= 5)


def _stop_replica(
    question: ControlQuestion, topic: str, version: int, _where: WhereEpochs
) -> dict[str, Any]:
    epochs = enumerate(question.leader_epochs)
    if version >= 3:
        states = [
            {"PartitionIndex": p, "LeaderEpoch": epoch, "DeletePartition": question.delete}
            for p, epoch in epochs
        ]
        return {"TopicStates": [{"TopicName": topic, "PartitionStates": states}]}
    indexes = [p for p, _ in epochs]
    if version >= 1:
        named: Mapping[str, Any] = {"Topics": [{"Name": topic, "PartitionIndexes": indexes}]}
    else:
        flat = [{"TopicName": topic, "PartitionIndex": p} for p in indexes]
        named = {"UngroupedPartitions": flat}
    return {"DeletePartitions": question.delete, **named}


def _states(
    question: ControlQuestion, where: WhereEpochs, zk_version: str
) -> Iterator[dict[str, Any]]:
    """What both LeaderAndIsr and UpdateMetadata say of a partition; one of them calls the zkVersion
    by a later name.
    """
    for partition, epoch in enumerate(question.leader_epochs):
        yield {
            "PartitionIndex": partition,
            "ControllerEpoch": where.obeyed + question.controller_epoch,
            "Leader": question.leader,
            "LeaderEpoch": epoch,
            "Isr": question.isr,
            "Replicas": question.replicas,
            zk_version: question.zk_version,
        }


def _by_topic(states: list[dict[str, Any]], topic: str, *, grouped: bool) -> dict[str, Any]:
    if not grouped:
        return {"UngroupedPartitionStates": [state | {"TopicName": topic} for state in states]}
    if not states:
        return {"TopicStates": []}
    named = {"TopicName": topic, "TopicId": topic_id_of(topic), "PartitionStates": states}
    return {"TopicStates": [named]}


def _port(broker: int, where: WhereEpochs) -> int:
    return where.port if broker == ASKED_BROKER else where.elsewhere


def partition_codes(answer: Mapping[str, Any]) -> tuple[int, ...]:
    """The codes of an answer's partitions, by their index, whichever version it has."""
    flat = list(answer.get("PartitionErrors", ()))
    for topic in answer.get("Topics", ()):
        flat += topic["PartitionErrors"]
    return tuple(e["ErrorCode"] for e in sorted(flat, key=lambda e: int(e["PartitionIndex"])))
