"""What a record changed, in words: for tables, terminals and pictures."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ..protocol.ids import broker_list
from ..protocol.releases import METADATA_LEVEL
from .log_items import UNKNOWN, LogRecord
from .states import NO_LEADER, LogEvent, PartitionState, RegisteredIncarnation

METADATA_VERSION = "metadata.version"
_VERSIONS = {level: name for name, level in METADATA_LEVEL.items()}
_LISTS = {"ISR": "isr", "ELR": "elr", "last known leader": "last_known"}
_LISTS |= {name: name for name in ("replicas", "adding", "removing")}


class ChangeLine(NamedTuple):
    """One change of a partition or of what surrounds it, as a line of a table. The epochs are those
    of the partition after it, empty where it is gone or not known.
    """

    offset: int
    time: str
    what: str
    leader_epoch: str
    partition_epoch: str
    by: str


HEADS = ("offset", "time (UTC)", "what changed", "leader epoch", "partition epoch", "whose doing")
"""What the columns of a `ChangeLine` are called."""


def change_line(event: LogEvent, state: PartitionState | None) -> ChangeLine:
    """The line of a record; `state` is the partition after it."""
    epochs = ("", "") if state is None else (str(state.leader_epoch), str(state.partition_epoch))
    record = event.record
    what = time_words(record.time), change_words(event)
    return ChangeLine(record.offset, *what, *epochs, doing(event))


def change_words(event: LogEvent, *, short: bool = False) -> str:
    """``leader 2 → 1, ISR {2, 1} → {1}``; ``broker 1 registered as epoch 60``. A `short` one does
    not say what was before: ``leader 1, ISR {1}``.
    """
    record, before, after = event.record, event.before, event.after
    if event.incarnation is not None:
        told = _incarnation_words(record, event.incarnation)
        return told.partition(" (")[0] if short else told
    if event.partition is None:
        return _cluster_words(record)
    if after is None:
        return "topic removed"
    if before is None:
        return f"created, leader {_leader(after.leader)}, ISR {broker_list(after.isr)}"
    differences = [*_differences(before, after)]
    if short:
        return ", ".join(f"{name} {new.replace(', ', ',')}" for name, _, new in differences)
    return ", ".join(f"{name} {old} → {new}" for name, old, new in differences) or record.type


def doing(event: LogEvent) -> str:
    """Which request or timer of the controller wrote it, as far as the order of records tells."""
    if event.partition is None:
        return ""
    return " or ".join(event.handlers).replace("unknown", "cannot tell")


def _differences(before: PartitionState, after: PartitionState) -> Iterator[tuple[str, str, str]]:
    """What, how it was, how it is."""
    if after.leader != before.leader:
        yield "leader", _leader(before.leader), _leader(after.leader)
    elif after.leader_epoch != before.leader_epoch:
        yield "leader epoch", str(before.leader_epoch), str(after.leader_epoch)
    for name, field in _LISTS.items():
        old, new = getattr(before, field), getattr(after, field)
        if old != new:
            yield name, broker_list(old), broker_list(new)
    if after.recovering != before.recovering:
        old, new = ("recovered", "recovering")[:: 1 if after.recovering else -1]
        yield "recovery state", old, new
    if after.directories != before.directories:
        yield "log directories", "some", "others"


def _leader(id: int) -> str:
    return "none" if id == NO_LEADER else str(id)


def _incarnation_words(record: LogRecord, incarnation: RegisteredIncarnation) -> str:
    kind, fields = record.type.partition("_BROKER_RECORD")[0], record.fields
    if kind == "REGISTER":
        kafka = f" (Kafka {incarnation.release})" if incarnation.release else ""
        return f"broker {incarnation.broker} registered as epoch {incarnation.epoch}{kafka}"
    stops = "shutting down" if fields.get("inControlledShutdown", 0) == 1 else ""
    told = {1: "fenced", -1: "unfenced"}.get(fields.get("fenced", 0), "other log directories")
    kinds = {"FENCE": "fenced", "UNFENCE": "unfenced", "UNREGISTER": "unregistered"}
    return f"broker {incarnation.broker} {kinds.get(kind) or stops or told}"


def _cluster_words(record: LogRecord) -> str:
    fields: dict[str, Any] = record.fields
    name, value = fields.get("name", ""), fields.get("value", "the default")
    if record.type == "LEADER_CHANGE":
        return f"controller {fields.get('leaderId', '')} takes over".replace("  ", " ")
    if record.type == "CONFIG_RECORD":
        return f"{name} of {fields.get('resourceName') or 'the cluster'} is {value}"
    if record.type != "FEATURE_LEVEL_RECORD":
        return record.type
    level = fields.get("featureLevel", 0)
    is_version = name == METADATA_VERSION
    return f"metadata version {version_words(level)}" if is_version else f"{name} {level}"


def version_words(level: int) -> str:
    """``3.4-IV0`` of 8; the number of one that kiplab does not know."""
    return _VERSIONS.get(level, f"level {level}") if level > 0 else "unknown"


def time_words(time: int) -> str:
    """``2026-11-29 10:00:33.345`` of milliseconds since 1970, in UTC."""
    if time == UNKNOWN:
        return "no time"
    return datetime.fromtimestamp(time / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
