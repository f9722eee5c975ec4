"""Between the engine's messages and records and Kafka's own: the same things under other names.

The engine numbers the processes of a broker and names partitions; Kafka has uuids for processes and
topics. Everything else is the same number in both.
"""

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ...protocol import messages as api
from ...protocol.errors import KafkaError
from ...protocol.ids import BrokerId, Incarnation
from ...protocol.kraft import records
from ...protocol.kraft.replay import CLUSTER, SETTINGS
from ...protocol.registrations import ONE_DIRECTORY, LeaderRecoveryState
from ..controller.controller_process import CLUSTER_ID
from ..wire.metadata_log import LoggedRecord, ReleaseSchemas

Fields = dict[str, Any]
UNKNOWN_TOPIC = uuid.UUID(int=99)
_PROCESSES, _DISKS = 1 << 100, 7 << 120
"""Uuids of processes and of log directories count from here on."""
_BROKER_BITS = 32
_ANY_BROKER, _ANY_PORT = (1 << _BROKER_BITS) - 1, (1 << 16) - 1
_ANY_VERSION = 40
"""As high a version of a feature as brokers of any release could claim to know."""
_FEATURES = {
    "metadata.version": 1,
    # 4.0 and later register nobody who does not know each feature that the cluster has.
    "kraft.version": 0,
    "group.version": 0,
    "transaction.version": 0,
    "eligible.leader.replicas.version": 0,
    "share.version": 0,
    "streams.version": 0,
}
"""What brokers claim to know, and the lowest version of each."""
ELECT_TIMEOUT_MS = 30_000


class TopicNames(NamedTuple):
    """Topics by name and by uuid."""

    ids: dict[str, uuid.UUID]
    names: dict[uuid.UUID, str]

    def partition(self, topic: uuid.UUID, index: int) -> str:
        """``"orders-0"``; a topic that nobody has named is called by its uuid."""
        return f"{self.names.get(topic, topic)}-{index}"


class KafkaCall(NamedTuple):
    """A request as a node of Kafka gets it."""

    api: str
    version: int
    fields: Fields


class UnspokenError(ValueError):
    """A request or a record that has no other side."""


# --- requests -----------------------------------------------------------------------------------


def call_of(request: api.Request, schemas: ReleaseSchemas, topics: TopicNames) -> KafkaCall:
    """`request` in Kafka's terms. Raises UnspokenError for one that no controller answers."""
    match request:
        case api.BrokerRegistrationRequest():
            return _register(request, schemas)
        case api.BrokerHeartbeatRequest():
            return KafkaCall("BrokerHeartbeat", 0, _heartbeat(request))
        case api.AlterPartitionRequest():
            items = [_asked(item, request.version, schemas, topics) for item in request.items]
            who = {"BrokerId": request.broker, "BrokerEpoch": request.broker_epoch}
            return KafkaCall("AlterPartition", request.version, {**who, "Topics": items})
        case api.ElectLeadersRequest():
            return KafkaCall("ElectLeaders", 2, _election(request))
        case api.UnregisterBrokerRequest():
            return KafkaCall("UnregisterBroker", 0, {"BrokerId": request.broker})
        case api.AssignReplicasToDirsRequest():
            return KafkaCall("AssignReplicasToDirs", 0, _assignment(request, topics))
    raise UnspokenError(f"{type(request).__name__} is not a request to a controller")


def _register(request: api.BrokerRegistrationRequest, schemas: ReleaseSchemas) -> KafkaCall:
    version = schemas.requests["BrokerRegistration"].versions.last
    own = request.broker & _ANY_BROKER
    incarnation = _PROCESSES + (own << _BROKER_BITS) + request.incarnation
    # Port 0 would be refused as none.
    where = {"Host": "127.0.0.1", "Port": own & _ANY_PORT | 1, "SecurityProtocol": 0}
    fields: Fields = {
        "BrokerId": request.broker,
        "ClusterId": CLUSTER_ID,
        "IncarnationId": uuid.UUID(int=incarnation),
        "Listeners": [{"Name": "PLAINTEXT", **where}],
        "Features": [
            {"Name": name, "MinSupportedVersion": lowest, "MaxSupportedVersion": _ANY_VERSION}
            for name, lowest in _FEATURES.items()
        ],
    }
    if version >= 2:
        fields["LogDirs"] = [_log_dir(request.broker, d) for d in request.log_dirs]
    if version >= 3:
        fields["PreviousBrokerEpoch"] = request.previous_epoch
    return KafkaCall("BrokerRegistration", version, fields)


def _log_dir(broker: int, directory: int) -> uuid.UUID:
    """Directories of a broker count from 1 on."""
    return uuid.UUID(int=_DISKS + (directory - 1 << _BROKER_BITS) + (broker & _ANY_BROKER))


def directories_in(log_dirs: Iterable[uuid.UUID]) -> tuple[int, ...]:
    """The other way round; 0 for Kafka's ids of no directory."""
    return tuple(max(0, (id.int - _DISKS >> _BROKER_BITS) + 1) for id in log_dirs)


def _assignment(request: api.AssignReplicasToDirsRequest, topics: TopicNames) -> Fields:
    directories: list[Fields] = []
    for item in request.items:
        topic, index = split(item.partition)
        asked = {"TopicId": topics.ids.get(topic, UNKNOWN_TOPIC)}
        named = {**asked, "Partitions": [{"PartitionIndex": index}]}
        directories.append({"Id": _log_dir(request.broker, item.directory), "Topics": [named]})
    who = {"BrokerId": request.broker, "BrokerEpoch": request.broker_epoch}
    return {**who, "Directories": directories}


def _heartbeat(request: api.BrokerHeartbeatRequest) -> Fields:
    return {
        "BrokerId": request.broker,
        "BrokerEpoch": request.broker_epoch,
        "CurrentMetadataOffset": request.metadata_offset,
        "WantFence": request.want_fence,
        "WantShutDown": request.want_shut_down,
    }


def _asked(
    item: api.AlterPartitionItem, version: int, schemas: ReleaseSchemas, topics: TopicNames
) -> Fields:
    topic, index = split(item.partition)
    partition: Fields = {
        "PartitionIndex": index,
        "LeaderEpoch": item.leader_epoch,
        "PartitionEpoch": item.partition_epoch,
    }
    if version >= 3:
        members = [{"BrokerId": m.broker, "BrokerEpoch": m.epoch} for m in item.isr]
        partition["NewIsrWithEpochs"] = members
    else:
        partition["NewIsr"] = [member.broker for member in item.isr]
    if version >= 1:
        partition["LeaderRecoveryState"] = int(item.recovery)
    if version >= 2:
        return {"TopicId": topics.ids.get(topic, UNKNOWN_TOPIC), "Partitions": [partition]}
    # 3.2 calls a topic's name otherwise than later releases.
    fields = schemas.requests["AlterPartition"].fields
    (asked,) = (field for field in fields if field.name == "Topics")
    name = next(field.name for field in asked.fields if field.kind == "string")
    return {name: topic, "Partitions": [partition]}


def _election(request: api.ElectLeadersRequest) -> Fields:
    by_topic: dict[str, list[int]] = {}
    for partition in request.partitions or ():
        topic, index = split(partition)
        by_topic.setdefault(topic, []).append(index)
    named = [{"Topic": topic, "Partitions": indices} for topic, indices in by_topic.items()]
    return {
        "ElectionType": int(request.unclean),
        "TopicPartitions": None if request.partitions is None else named,
        "TimeoutMs": ELECT_TIMEOUT_MS,
    }


def split(partition: str) -> tuple[str, int]:
    """``("orders", 0)`` of ``"orders-0"``; ``"orders--1"`` has an index that is none."""
    topic, _, index = partition.rpartition("-")
    if topic.endswith("-"):
        return topic[:-1], -int(index)
    return topic, int(index)


# --- answers ------------------------------------------------------------------------------------


def error_of(code: int) -> KafkaError:
    """The error with that number. Raises UnspokenError for one that the engine has no name for."""
    try:
        return KafkaError(code)
    except ValueError:
        why = f"error {code} has no name here: add it to protocol/errors.py"
        raise UnspokenError(why) from None


def answer_of(request: api.Request, answer: Mapping[str, Any]) -> api.Response:
    """Kafka's answer in the engine's terms. Raises UnspokenError where no controller answers."""
    if isinstance(request, api.ElectLeadersRequest):
        return api.ElectLeadersResponse(results=_elected(request, answer))
    error = error_of(answer.get("ErrorCode", 0))
    match request:
        case api.BrokerRegistrationRequest():
            return api.BrokerRegistrationResponse(error=error, broker_epoch=answer["BrokerEpoch"])
        case api.BrokerHeartbeatRequest():
            return api.BrokerHeartbeatResponse(
                error=error,
                is_caught_up=answer["IsCaughtUp"],
                is_fenced=answer["IsFenced"],
                should_shut_down=answer["ShouldShutDown"],
            )
        case api.AlterPartitionRequest(version=version):
            results = tuple(_results(request, answer))
            return api.AlterPartitionResponse(version=version, error=error, results=results)
        case api.UnregisterBrokerRequest():
            return api.UnregisterBrokerResponse(error=error)
        case api.AssignReplicasToDirsRequest():
            noted = tuple(_noted(request, answer))
            return api.AssignReplicasToDirsResponse(error=error, results=noted)
    raise UnspokenError(f"no controller answers {type(request).__name__}")


def _results(
    request: api.AlterPartitionRequest, answer: Mapping[str, Any]
) -> Iterator[api.AlterPartitionResult]:
    """Answers come in the order of the questions, and each was asked under a topic of its own."""
    recovered = LeaderRecoveryState.RECOVERED
    for item, topic in zip(request.items, answer["Topics"], strict=False):
        for partition in topic["Partitions"]:
            yield api.AlterPartitionResult(
                partition=f"{split(item.partition)[0]}-{partition['PartitionIndex']}",
                error=error_of(partition["ErrorCode"]),
                leader=partition["LeaderId"],
                leader_epoch=partition["LeaderEpoch"],
                partition_epoch=partition["PartitionEpoch"],
                isr=partition["Isr"],
                recovery=partition["LeaderRecoveryState"] if request.version >= 1 else recovered,
            )


def _noted(
    request: api.AssignReplicasToDirsRequest, answer: Mapping[str, Any]
) -> Iterator[tuple[str, KafkaError]]:
    """In the order of the questions, each under a directory of its own."""
    for item, directory in zip(request.items, answer["Directories"], strict=False):
        for topic in directory["Topics"]:
            for partition in topic["Partitions"]:
                yield item.partition, error_of(partition["ErrorCode"])


def _elected(
    request: api.ElectLeadersRequest, answer: Mapping[str, Any]
) -> tuple[tuple[str, KafkaError], ...]:
    errors = {
        f"{topic['Topic']}-{partition['PartitionId']}": error_of(partition["ErrorCode"])
        for topic in answer["ReplicaElectionResults"]
        for partition in topic["PartitionResult"]
    }
    # Kafka answers by topic, in an order of its own.
    order = request.partitions or sorted(errors)
    return tuple((name, errors[name]) for name in order if name in errors)


# --- records ------------------------------------------------------------------------------------


def record_of(logged: LoggedRecord, topics: TopicNames) -> records.Record | None:
    """The same record of the engine; None for what the engine writes no record of."""
    make = _RECORDS.get(logged.name)
    return None if make is None else make(logged.fields, topics)


def _partition_change(f: Fields, topics: TopicNames) -> records.Record:
    recovery = f["LeaderRecoveryState"]
    directories = f.get("Directories")
    return records.PartitionChangeRecord(
        partition=topics.partition(f["TopicId"], f["PartitionId"]),
        isr=f["Isr"],
        leader=None if f["Leader"] == NO_CHANGE else f["Leader"],
        replicas=f["Replicas"],
        removing=f["RemovingReplicas"],
        adding=f["AddingReplicas"],
        recovery=None if recovery == NO_RECOVERY_CHANGE else LeaderRecoveryState(recovery),
        elr=_as_set(f.get("EligibleLeaderReplicas")),
        last_known=_as_set(f.get("LastKnownElr")),
        directories=None if directories is None else directories_in(directories),
    )


def _several(log_dirs: Iterable[uuid.UUID]) -> tuple[int, ...] | None:
    directories = tuple(sorted(directories_in(log_dirs)))
    return None if directories in ((), ONE_DIRECTORY) else directories


def _as_set(brokers: Iterable[BrokerId] | None) -> tuple[BrokerId, ...] | None:
    """Kafka's order in these two lists is that of a hash table."""
    return None if brokers is None else tuple(sorted(brokers))


def _config(f: Fields, _topics: TopicNames) -> records.Record | None:
    """None for what is no setting of a topic or of the cluster that the engine has."""
    is_known = f["ResourceType"] == TOPIC or f["ResourceName"] == CLUSTER
    if not is_known or f["Name"] not in SETTINGS or f["Value"] is None:
        return None
    return records.ConfigRecord(f["ResourceName"], f["Name"], f["Value"])


TOPIC, BROKER = 2, 4
"""Kafka's numbers of topics and of brokers among all that has settings."""
NO_CHANGE, NO_RECOVERY_CHANGE = -2, -1
"""Kafka's numbers for "as before", of a leader and of a recovery state."""

_RECORDS: dict[str, Callable[[Fields, TopicNames], records.Record | None]] = {
    "RegisterBrokerRecord": lambda f, _: records.RegisterBrokerRecord(
        f["BrokerId"],
        # Which process of its broker a uuid stands for.
        Incarnation(f["IncarnationId"].int & _ANY_BROKER),
        f["BrokerEpoch"],
        f["Fenced"],
        f.get("InControlledShutdown", False),
        _several(f.get("LogDirs") or ()),
    ),
    "UnregisterBrokerRecord": lambda f, _: records.UnregisterBrokerRecord(
        f["BrokerId"], f["BrokerEpoch"]
    ),
    "FenceBrokerRecord": lambda f, _: records.FenceBrokerRecord(f["Id"], f["Epoch"]),
    "UnfenceBrokerRecord": lambda f, _: records.UnfenceBrokerRecord(f["Id"], f["Epoch"]),
    "BrokerRegistrationChangeRecord": lambda f, _: records.BrokerRegistrationChangeRecord(
        f["BrokerId"], f["BrokerEpoch"], f["Fenced"], f.get("InControlledShutdown", 0)
    ),
    "PartitionChangeRecord": _partition_change,
    "ClearElrRecord": lambda f, _: records.ClearElrRecord(f["TopicName"]),
    "ConfigRecord": _config,
    "RemoveTopicRecord": lambda f, topics: records.RemoveTopicRecord(topics.names[f["TopicId"]]),
}
