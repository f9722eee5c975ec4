"""What a record changed, in words: for tables, terminals and pictures."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from ..protocol.ids import broker_list
from ..protocol.releases import METADATA_LEVEL
from .records import UNKNOWN, LogRecord
from .states import NO_LEADER, BrokerLife, LogEvent, PartitionState

METADATA_VERSION = "metadata.version"
_VERSIONS = {level: name for name, level in METADATA_LEVEL.items()}


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
    moment = time_words(event.record.time)
    return ChangeLine(event.record.offset, moment, change_words(event), *epochs, doing(event))


def change_words(event: LogEvent) -> str:
    """``leader 2 → 1, ISR {2, 1} → {1}``; ``broker 1 registers as epoch 60``."""
    return ", ".join(_changes(event)) or event.record.type


def short_words(event: LogEvent) -> str:
    """The same in few words: ``leader 1, ISR {1}``; ``fence 1``."""
    if event.partition is None:
        return tick_words(event) or event.record.type
    return ", ".join(map(_now, _changes(event))) or event.record.type


def doing(event: LogEvent) -> str:
    """Which request or timer of the controller wrote it, as far as the order of records tells."""
    if event.partition is None:
        return ""
    return " or ".join("cannot tell" if h == "unknown" else h for h in event.handlers)


def _now(part: str) -> str:
    """``leader 1`` of ``leader 2 → 1``; ``no leader`` of ``leader 2 → none``."""
    before, arrow, now = part.partition(" → ")
    name = re.split(" [{\\d]| none", before)[0]
    return f"{name} {now}".replace("leader none", "no leader") if arrow else part


# --- what changed ---------------------------------------------------------------------------------


def _changes(event: LogEvent) -> Iterator[str]:
    if event.partition is not None:
        yield from _of_partition(event.before, event.after)
    elif event.life is not None:
        yield from _of_life(event.record, event.life)
    else:
        yield from _of_cluster(event.record)


def _of_partition(before: PartitionState | None, after: PartitionState | None) -> Iterator[str]:
    if after is None:
        yield "the topic is removed"
    elif before is None:
        leader = _leader(after.leader)
        yield f"created on {broker_list(after.replicas)}"
        yield f"leader {leader}"
        yield f"ISR {broker_list(after.isr)}"
    else:
        yield from _differences(before, after)


def _differences(before: PartitionState, after: PartitionState) -> Iterator[str]:
    if after.leader != before.leader:
        yield f"leader {_leader(before.leader)} → {_leader(after.leader)}"
    for name, old, new in (
        ("ISR", before.isr, after.isr),
        ("ELR", before.elr, after.elr),
        ("last known leader", before.last_known, after.last_known),
        ("replicas", before.replicas, after.replicas),
        ("adding", before.adding, after.adding),
        ("removing", before.removing, after.removing),
    ):
        if old != new:
            yield f"{name} {broker_list(old)} → {broker_list(new)}"
    if after.recovering != before.recovering:
        yield "recovering begins" if after.recovering else "recovering ends"
    if after.directories != before.directories:
        yield "other log directories"
    if after.leader == before.leader and after.leader_epoch != before.leader_epoch:
        yield f"leader epoch {after.leader_epoch} of the same leader"


def _leader(id: int) -> str:
    return "none" if id == NO_LEADER else str(id)


_LIVES = {
    "registers": (
        "broker {0.broker} registers as epoch {0.epoch}",
        "register {0.broker} → {0.epoch}",
    ),
    "unregistered": ("broker {0.broker} is unregistered", "unregister {0.broker}"),
    "leaves": ("broker {0.broker} begins a controlled shutdown", "{0.broker} shutting down"),
    "fenced": ("broker {0.broker} is fenced", "fence {0.broker}"),
    "unfenced": ("broker {0.broker} is unfenced", "unfence {0.broker}"),
    "": ("broker {0.broker} has other log directories", ""),
}
"""What becomes of a life, in words for a table and for the picture."""


def _fate(record: LogRecord) -> str:
    """The key in `_LIVES` of a record about a broker."""
    types = {"REGISTER": "registers", "UNREGISTER": "unregistered"}
    types |= {"FENCE": "fenced", "UNFENCE": "unfenced"}
    if fate := types.get(record.type.partition("_BROKER_RECORD")[0]):
        return fate
    if record.fields.get("inControlledShutdown", 0) == 1:
        return "leaves"
    return {1: "fenced", -1: "unfenced"}.get(record.fields.get("fenced", 0), "")


def _of_life(record: LogRecord, life: BrokerLife) -> Iterator[str]:
    fate = _fate(record)
    kafka = f" (Kafka {life.release})" if life.release and fate == "registers" else ""
    yield _LIVES[fate][0].format(life) + kafka


def tick_words(event: LogEvent) -> str:
    """What stands over the controller's line: ``fence 3``."""
    if event.life is not None:
        return _LIVES[_fate(event.record)][1].format(event.life)
    return ", ".join(_of_cluster(event.record))


def _of_cluster(record: LogRecord) -> Iterator[str]:
    fields = record.fields
    if record.type == "LEADER_CHANGE":
        leader = fields.get("leaderId")
        yield "a controller takes over" + ("" if leader is None else f": {leader}")
    elif record.type == "FEATURE_LEVEL_RECORD":
        name, level = fields.get("name", ""), fields.get("featureLevel", 0)
        told = version_words(level) if name == METADATA_VERSION else str(level)
        feature = "metadata version" if name == METADATA_VERSION else name
        yield f"{feature} becomes {told}"
    elif record.type == "CONFIG_RECORD":
        of = fields.get("resourceName") or "the cluster"
        yield f"{fields.get('name')} of {of} becomes {fields.get('value', 'the default')}"


def version_words(level: int) -> str:
    """``3.4-IV0`` of 8; the number of one that kiplab does not know."""
    return _VERSIONS.get(level, f"level {level}") if level > 0 else "unknown"


# --- when -----------------------------------------------------------------------------------------


def time_words(time: int) -> str:
    """``2026-11-29 10:00:33.345`` of milliseconds since 1970, in UTC."""
    if time == UNKNOWN:
        return "no time"
    return datetime.fromtimestamp(time / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def clock_words(time: int) -> str:
    """``10:00:33.3``."""
    return "" if time == UNKNOWN else time_words(time).split(" ")[1][:-2]
