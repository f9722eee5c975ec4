"""`canonical`: epochs and offsets renumbered in order, so that equal situations are equal states.

Rules only ever compare these numbers, add to the largest, or test for "none": their order is all
that matters. Broker epochs are metadata offsets, so both share one numbering.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ..protocol.kraft.state import (
    Controller,
    HeartbeatState,
    PartitionRegistration,
    Registration,
)
from ..protocol.messages import (
    AlterPartitionItem,
    AlterPartitionRequest,
    AlterPartitionResult,
    BrokerHeartbeatRequest,
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    FetchRequest,
    FetchResponse,
    IsrMember,
    MetadataUpdate,
)
from ..protocol.replica.log import EpochStart, Log
from ..protocol.replica.state import (
    Broker,
    DurableReplica,
    Leading,
    RemoteReplica,
    Replica,
    Volatile,
)
from .cluster import Cluster, Message, MessageName, Observed

_METADATA, _LEADER, _PARTITION, _OFFSET, _LIFE = "metadata", "leader", "partition", "offset", "life"
_FIELDS: dict[type, dict[str, str]] = {
    Controller: {"next_offset": _METADATA},
    Registration: {"epoch": _METADATA, "record_offset": _METADATA, "incarnation": _LIFE},
    HeartbeatState: {"metadata_offset": _METADATA, "controlled_shutdown_offset": _METADATA},
    PartitionRegistration: {"leader_epoch": _LEADER, "partition_epoch": _PARTITION},
    Broker: {"incarnation": _LIFE},
    Volatile: {"epoch": _METADATA},
    Replica: {"leader_epoch": _LEADER, "partition_epoch": _PARTITION, "high_watermark": _OFFSET},
    Leading: {"start_offset": _OFFSET},
    RemoteReplica: {
        "end": _OFFSET,
        "leader_end_at_last_fetch": _OFFSET,
        "epoch": _METADATA,
        "observed": _METADATA,
    },
    DurableReplica: {"checkpoint": _OFFSET},
    Log: {"end": _OFFSET, "flushed": _OFFSET},
    EpochStart: {"epoch": _LEADER, "offset": _OFFSET},
    IsrMember: {"epoch": _METADATA, "observed": _METADATA},
    AlterPartitionItem: {"leader_epoch": _LEADER, "partition_epoch": _PARTITION},
    AlterPartitionRequest: {"broker_epoch": _METADATA},
    AlterPartitionResult: {"leader_epoch": _LEADER, "partition_epoch": _PARTITION},
    FetchRequest: {
        "replica_epoch": _METADATA,
        "leader_epoch": _LEADER,
        "last_fetched_epoch": _LEADER,
        "offset": _OFFSET,
    },
    FetchResponse: {"leader_epoch": _LEADER, "high_watermark": _OFFSET},
    BrokerRegistrationRequest: {"incarnation": _LIFE},
    BrokerRegistrationResponse: {"broker_epoch": _METADATA},
    BrokerHeartbeatRequest: {"broker_epoch": _METADATA, "metadata_offset": _METADATA},
    MetadataUpdate: {"offset": _METADATA},
    Message: {"receiver_incarnation": _LIFE},
    MessageName: {"incarnation": _LIFE},
    Observed: {},
}
_OWNERS = ("broker", "id", "sender", "receiver")
"""Fields that say whose life an incarnation counts."""

Renumber = Callable[[str, str, int], int]
"""(kind of number, whose, number) to the number that takes its place."""


def canonical(cluster: Cluster) -> Cluster:
    """The representative of all clusters that differ only in how things are numbered.

    Message counters are dropped; a message keeps its ordinal among those still in flight.
    """
    cluster = msgspec.structs.replace(cluster, sent=(), messages=_renamed(cluster))
    seen: dict[tuple[str, str], set[int]] = {}

    def note(kind: str, whose: str, number: int) -> int:
        seen.setdefault((kind, whose), {0} if kind == _OFFSET else set()).add(number)
        return number

    _walk(cluster, "", note)
    ranks = {key: _ranked(numbers) for key, numbers in seen.items()}
    renumbered = _walk(cluster, "", lambda kind, whose, number: ranks[kind, whose][number])
    assert isinstance(renumbered, Cluster)
    return renumbered


def _ranked(numbers: set[int]) -> dict[int, int]:
    """Negative numbers mean "none" or "unknown" and stay."""
    positive = sorted(n for n in numbers if n >= 0)
    ranks = {number: rank for rank, number in enumerate(positive)}
    return ranks | {n: n for n in numbers if n < 0}


def _renamed(cluster: Cluster) -> tuple[Message, ...]:
    counts: dict[tuple[int, int, str], int] = {}
    messages = []
    for message in cluster.messages:
        key = message.name[:3]
        counts[key] = counts.get(key, 0) + 1
        name = MessageName(*key, counts[key])
        connection = 0 if message.connection == 0 else counts[key]
        messages.append(msgspec.structs.replace(message, name=name, connection=connection))
    return tuple(messages)


def _walk(value: Any, whose: str, number: Renumber) -> Any:
    if isinstance(value, (EpochStart, MessageName)):
        return _walk_named_tuple(value, whose, number)
    if isinstance(value, tuple):
        return tuple(_walk(v, whose, number) for v in value)
    if not isinstance(value, msgspec.Struct):
        return value
    if isinstance(value, Observed):
        return _walk_observed(value, number)
    kinds = _FIELDS.get(type(value), {})
    partition = _partition_of(value) or whose
    changed = {}
    for field in value.__struct_fields__:
        old = getattr(value, field)
        if field in kinds:
            new = (
                old
                if old is None
                else number(kinds[field], _owner(value, field, kinds, partition), old)
            )
        else:
            new = _walk(old, partition, number)
        if new is not old:
            changed[field] = new
    return msgspec.structs.replace(value, **changed) if changed else value


def _walk_named_tuple(value: Any, whose: str, number: Renumber) -> Any:
    kinds = _FIELDS[type(value)]
    new = {
        f: number(k, _owner(value, f, kinds, whose), getattr(value, f)) for f, k in kinds.items()
    }
    return value._replace(**new)


def _walk_observed(value: Observed, number: Renumber) -> Observed:
    epochs = tuple((b, number(_METADATA, "", e)) for b, e in value.isr_epochs)
    committed = _walk(value.committed, value.partition, number)
    return msgspec.structs.replace(value, isr_epochs=epochs, committed=committed)


def _owner(value: Any, field: str, kinds: dict[str, str], partition: str) -> str:
    kind = kinds[field]
    if kind == _METADATA:
        return ""
    if kind != _LIFE:
        return partition
    owner = "receiver" if field == "receiver_incarnation" else None
    names = (owner,) if owner else _OWNERS
    return str(next(getattr(value, name) for name in names if name and hasattr(value, name)))


def _partition_of(value: Any) -> str | None:
    if isinstance(value, PartitionRegistration):
        return value.name
    found = getattr(value, "partition", None)
    return found if isinstance(found, str) else None
