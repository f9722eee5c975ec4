"""Metadata logs written short: ``"24 11.5 fence 3@9"``, one record a line, for tests."""

from collections.abc import Callable
from typing import Any

from kiplab.incident.findings.finding import Finding
from kiplab.incident.log_items import LogItem, LogRecord
from kiplab.incident.replayed_log.replaying import Replay
from kiplab.incident.states import LogEvent, PartitionState

TOPIC_ID = "T"


def short_log(text: str, *, epoch: int = 1) -> list[LogRecord]:
    """The records of lines ``offset seconds what words``; ``3@9`` is broker 3 of broker epoch 9."""
    return [_record(line.split(), epoch) for line in text.splitlines() if line]


def replayed(items: list[LogItem]) -> tuple[list[LogEvent], Replay, list[Finding]]:
    """All events, the replay after the last one, and what did not fit."""
    found: list[Finding] = []
    replay = Replay(found.append)
    return list(replay.events(items)), replay, found


def the_partition(replay: Replay, number: int) -> PartitionState:
    """The last state of a partition of the topic."""
    (state,) = (p for p in replay.partitions.values() if p.key.partition == number)
    return state


def _record(words: list[str], epoch: int) -> LogRecord:
    offset, seconds, what, *rest = words
    kind, fields = _KINDS[what](rest)
    return LogRecord(int(offset), round(float(seconds) * 1000), epoch, kind, 0, fields)


def _broker(word: str) -> dict[str, int]:
    broker, epoch = word.split("@")
    return {"brokerId": int(broker), "brokerEpoch": int(epoch)}


def _register(words: list[str]) -> tuple[str, dict[str, Any]]:
    """``3@9 X 21 A,B``: the highest metadata version as a level, and directories, where known."""
    features = [{"name": "metadata.version", "maxSupportedVersion": int(w)} for w in words[2:3]]
    fields = {**_broker(words[0]), "incarnationId": words[1], "features": features}
    fields["logDirs"] = [uuid for w in words[3:] for uuid in w.split(",")]
    return "REGISTER_BROKER_RECORD", fields


def _registration_change(**field: int) -> Callable[[list[str]], tuple[str, dict[str, Any]]]:
    return lambda words: ("BROKER_REGISTRATION_CHANGE_RECORD", {**_broker(words[0]), **field})


def _partition(words: list[str]) -> tuple[str, dict[str, Any]]:
    """``p1 leader=2 isr=2,1``; ``isr=`` is the empty list."""
    fields: dict[str, Any] = {"partitionId": int(words[0][1:]), "topicId": TOPIC_ID}
    for word in words[1:]:
        name, _, value = word.partition("=")
        fields[name] = _value(name, value)
    return "PARTITION_CHANGE_RECORD", fields


def _value(name: str, value: str) -> Any:
    if name in ("leader", "leaderRecoveryState", "leaderEpoch", "partitionEpoch"):
        return int(value)
    return [v if name == "directories" else int(v) for v in value.split(",") if v]


def _new(words: list[str]) -> tuple[str, dict[str, Any]]:
    epochs = {"leaderEpoch": 0, "partitionEpoch": 0}
    return "PARTITION_RECORD", {**epochs, **_partition(words)[1]}


_KINDS: dict[str, Callable[[list[str]], tuple[str, dict[str, Any]]]] = {
    "register": _register,
    "fence": _registration_change(fenced=1),
    "unfence": _registration_change(fenced=-1),
    "stop": _registration_change(inControlledShutdown=1),
    "moved": lambda words: (
        "BROKER_REGISTRATION_CHANGE_RECORD",
        {**_broker(words[0]), "logDirs": ["a"]},
    ),
    "unregister": lambda words: ("UNREGISTER_BROKER_RECORD", dict(_broker(words[0]))),
    "new": _new,
    "change": _partition,
    "topic": lambda words: ("TOPIC_RECORD", {"name": words[0], "topicId": TOPIC_ID}),
    "remove": lambda _: ("REMOVE_TOPIC_RECORD", {"topicId": TOPIC_ID}),
    "clear": lambda words: ("CLEAR_ELR_RECORD", {"topicName": words[0] if words else ""}),
    "feature": lambda w: ("FEATURE_LEVEL_RECORD", {"name": w[0], "featureLevel": int(w[1])}),
    "topic-config": lambda w: (
        "CONFIG_RECORD",
        {"resourceType": 2, "resourceName": "orders", "name": w[0], "value": w[1]},
    ),
    "cluster-config": lambda w: (
        "CONFIG_RECORD",
        {"resourceType": 4, "resourceName": "", "name": w[0], "value": w[1]},
    ),
    "idle": lambda _: ("NO_OP_RECORD", {}),
    "leads": lambda w: ("LEADER_CHANGE", {"leaderId": int(w[0])}),
    "controller": lambda w: (
        "REGISTER_CONTROLLER_RECORD",
        {"controllerId": int(w[0]), **_register(["0@0", "", w[1]])[1]},
    ),
    "begin": lambda _: ("BEGIN_TRANSACTION_RECORD", {}),
    "end": lambda _: ("END_TRANSACTION_RECORD", {}),
    "abort": lambda _: ("ABORT_TRANSACTION_RECORD", {}),
}
