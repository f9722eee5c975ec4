"""The metadata records of a play, as a real controller's log has them, and the state after each."""

import base64
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec.structs import asdict

from kiplab.engine.cluster import Cluster
from kiplab.incident.log_items import LogRecord
from kiplab.plays.stage import Stage
from kiplab.protocol.facts import RecordWritten
from kiplab.protocol.kraft import records
from kiplab.protocol.kraft.controller_state import Controller
from kiplab.protocol.kraft.replay import CLUSTER, MIN_INSYNC, UNCLEAN, replay
from kiplab.protocol.registrations import ONE_DIRECTORY, PartitionRegistration, topic_of
from kiplab.protocol.releases import METADATA_LEVEL, METADATA_VERSIONS, RELEASES
from tests.incident.written_logs import BEGIN

TICK_MS = 20
"""Between two records: plays have no clock of the controller."""


class Written(NamedTuple):
    """A record, and the engine's controller after it; None for those that the play begins with."""

    record: LogRecord
    controller: Controller | None = None


def log_of(stage: Stage) -> Iterator[Written]:
    """What a play writes; before it, in records of their own, what it begins with."""
    controller = _controller(stage.history.start)
    begin = list(_beginning(stage, controller))
    first = controller.next_offset
    shift = max(0, len(begin) - first)
    of_records = METADATA_VERSIONS[stage.features.metadata_version]
    versions = {
        "REGISTER_BROKER_RECORD": of_records.register_broker_record,
        "PARTITION_RECORD": of_records.partition_change_record,
    }
    for at, (kind, fields) in enumerate(begin, start=first - len(begin)):
        yield Written(_record(at + shift, kind, fields, versions.get(kind, 0)))
    for before, step in zip(_clusters(stage), stage.history.steps, strict=False):
        controller = _controller(before)
        for name, level in _levels(step.cluster) - _levels(before):
            # The engine has features of a cluster, and no record of them.
            at, shift = controller.next_offset + shift, shift + 1
            fields = {"name": name, "featureLevel": level}
            yield Written(_record(at, "FEATURE_LEVEL_RECORD", fields))
        for event in step.events:
            if isinstance(event, RecordWritten):
                record = _parsed(event.text)
                kind, fields = _kafkas(record, stage)
                controller = replay(controller, record)
                made = _record(event.offset + shift, kind, fields, event.version)
                yield Written(made, controller)


def _levels(cluster: Cluster) -> set[tuple[str, int]]:
    version = METADATA_LEVEL[cluster.features.metadata_version]
    elr = "eligible.leader.replicas.version", int(cluster.features.has_elr)
    return {("metadata.version", version), elr}


def uuid(*parts: object) -> str:
    """A uuid in Kafka's text, the same for the same parts."""
    text = ".".join(map(str, parts)).encode()[:16]
    return base64.urlsafe_b64encode(text.ljust(16, b"\0")).decode().rstrip("=")


def _clusters(stage: Stage) -> Iterator[Cluster]:
    yield stage.history.start
    yield from (step.cluster for step in stage.history.steps)


def _controller(cluster: Cluster) -> Controller:
    assert isinstance(cluster.controller, Controller)
    return cluster.controller


def _record(offset: int, kind: str, fields: dict[str, Any], version: int = 0) -> LogRecord:
    return LogRecord(offset, BEGIN + TICK_MS * offset, 1, kind, version, fields)


Fields = tuple[str, dict[str, Any]]


def _beginning(stage: Stage, controller: Controller) -> Iterator[Fields]:
    features = stage.features
    levels = {"metadata.version": METADATA_LEVEL[features.metadata_version]}
    if features.has_elr:
        levels["eligible.leader.replicas.version"] = 1
    for name, level in levels.items():
        yield "FEATURE_LEVEL_RECORD", {"name": name, "featureLevel": level}
    for r in controller.registrations:
        register = records.RegisterBrokerRecord(
            *(r.broker, r.incarnation, r.epoch, r.fenced, r.in_controlled_shutdown, r.log_dirs)
        )
        yield _kafkas(register, stage)
    for topic in sorted({topic_of(p.name) for p in controller.partitions}):
        yield "TOPIC_RECORD", {"name": topic, "topicId": uuid(topic)}
    for topic in controller.topics_with_min_insync:
        minimum = next(
            p.min_insync_replicas for p in controller.partitions if topic_of(p.name) == topic
        )
        yield _configured(topic, MIN_INSYNC, str(minimum))
    for topic in sorted(
        {topic_of(p.name) for p in controller.partitions if p.unclean_leader_election}
    ):
        yield _configured(topic, UNCLEAN, "true")
    if controller.cluster_min_insync_replicas is not None:
        yield _configured(CLUSTER, MIN_INSYNC, str(controller.cluster_min_insync_replicas))
    for partition in controller.partitions:
        yield "PARTITION_RECORD", _of_partition(partition)


def _of_partition(p: PartitionRegistration) -> dict[str, Any]:
    fields = {
        **_named(p.name),
        "replicas": list(p.replicas),
        "isr": list(p.isr),
        "removingReplicas": list(p.removing),
        "addingReplicas": list(p.adding),
        "leader": p.leader,
        "leaderEpoch": p.leader_epoch,
        "partitionEpoch": p.partition_epoch,
    }
    tagged = {
        "directories": [*map(_directory, p.directories)],
        "leaderRecoveryState": int(p.recovery),
        "eligibleLeaderReplicas": list(p.elr),
        "lastKnownElr": list(p.last_known),
    }
    return fields | {name: value for name, value in tagged.items() if value}


def _named(partition: str) -> dict[str, Any]:
    topic, _, number = partition.rpartition("-")
    return {"partitionId": int(number), "topicId": uuid(topic)}


def _configured(topic: str, name: str, value: str) -> Fields:
    kind = 4 if topic == CLUSTER else 2
    return "CONFIG_RECORD", {
        "resourceType": kind,
        "resourceName": topic,
        "name": name,
        "value": value,
    }


_CHANGED = {
    "isr": "isr",
    "leader": "leader",
    "replicas": "replicas",
    "removing": "removingReplicas",
    "adding": "addingReplicas",
    "recovery": "leaderRecoveryState",
    "elr": "eligibleLeaderReplicas",
    "last_known": "lastKnownElr",
}


def _kafkas(record: Any, stage: Stage) -> Fields:
    """A record of the engine, under Kafka's names."""
    match record:
        case records.RegisterBrokerRecord():
            return "REGISTER_BROKER_RECORD", _registration(record, stage)
        case records.PartitionChangeRecord():
            given = {k: v for k, v in asdict(record).items() if v is not None and k in _CHANGED}
            fields = {_CHANGED[k]: list(v) if isinstance(v, tuple) else v for k, v in given.items()}
            if record.directories is not None:
                fields["directories"] = [*map(_directory, record.directories)]
            return "PARTITION_CHANGE_RECORD", _named(record.partition) | fields
        case records.ClearElrRecord():
            return "CLEAR_ELR_RECORD", {"topicName": record.topic}
        case records.RemoveTopicRecord():
            return "REMOVE_TOPIC_RECORD", {"topicId": uuid(record.topic)}
        case records.ConfigRecord():
            return _configured(record.topic, record.name, record.value)
        case records.BrokerRegistrationChangeRecord():
            changes = {
                "fenced": record.fenced,
                "inControlledShutdown": record.in_controlled_shutdown,
            }
            fields = {name: value for name, value in changes.items() if value}
            broker = {"brokerId": record.broker, "brokerEpoch": record.epoch}
            return "BROKER_REGISTRATION_CHANGE_RECORD", broker | fields
        case records.UnregisterBrokerRecord():
            broker = {"brokerId": record.broker, "brokerEpoch": record.epoch}
            return "UNREGISTER_BROKER_RECORD", broker
    kind = re.sub(r"(?<!^)([A-Z])", r"_\1", type(record).__name__).upper()
    return kind, {"id": record.broker, "epoch": record.epoch}


def _directory(number: int) -> str:
    return uuid("directory", number) if number else uuid("")


def _registration(record: records.RegisterBrokerRecord, stage: Stage) -> dict[str, Any]:
    highest = METADATA_LEVEL[RELEASES[stage.features.release_of(record.broker)].latest]
    feature = {
        "name": "metadata.version",
        "minSupportedVersion": 1,
        "maxSupportedVersion": highest,
    }
    return {
        "brokerId": record.broker,
        "incarnationId": uuid("process", record.broker, record.incarnation),
        "brokerEpoch": record.epoch,
        "endPoints": [],
        "logDirs": [*map(_directory, record.log_dirs or ONE_DIRECTORY)],
        "rack": None,
        "features": [feature],
        "fenced": record.fenced,
        "inControlledShutdown": record.in_controlled_shutdown,
    }


def _parsed(text: str) -> Any:
    """The record whose `record_text` that is."""
    name, *words = text.split(" ")
    kind = getattr(records, name)
    given = dict(word.split("=", 1) for word in words)
    return kind(**{field: _value(field, value) for field, value in given.items()})


def _value(field: str, value: str) -> Any:
    if value.startswith("["):
        return tuple(int(v) for v in value[1:-1].split(",") if v)
    if field in ("partition", "topic", "name", "value"):
        return value
    return value == "true" if value in ("true", "false") else int(value)
