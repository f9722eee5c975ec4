"""`canonical`: epochs and offsets renumbered in order, so that equal situations are equal states.

Rules only ever compare these numbers, add to the largest, or test for "none": their order is all
that matters. Broker epochs are metadata offsets, so both share one numbering.

Offsets are the exception: a leader that has lost its log appends towards numbers that are known
already. Their distances stay, up to GAP_MAX records.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ..protocol.clients.consumer import Consumer
from ..protocol.features import Features
from ..protocol.ids import BrokerId
from ..protocol.kraft.controller_state import Controller, HeartbeatState
from ..protocol.log import EpochStart, Log
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
from ..protocol.registrations import PartitionRegistration, Registration
from ..protocol.replica.broker_state import (
    Broker,
    DurableReplica,
    Leading,
    RemoteReplica,
    Replica,
    Volatile,
)
from .cluster import Cluster, Message, MessageName, Observed
from .truth import truth

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
    Consumer: {"position": _OFFSET, "last_epoch": _LEADER, "leader_epoch": _LEADER},
}
GAP_MAX = 8
"""Distances of this many records and more count as equal."""
_PLAIN = frozenset({bool, int, str, type(None), Features})
"""What holds no number that counts: most fields, and not worth a look."""
_NO_NUMBERS: dict[str, str] = {}
_OWNERS = ("broker", "id", "sender", "receiver")
"""Fields that say whose life an incarnation counts."""

Renumber = Callable[[str, str, int], int]
"""(kind of number, whose, number) to the number that takes its place."""
Known = dict[tuple[int, str], Any]
"""What has been walked over already: every broker holds the same image of the metadata."""


def canonical(cluster: Cluster) -> Cluster:
    """The representative of all clusters that differ only in how things are numbered.

    A message keeps its ordinal among those still in flight, and counters go on from there.
    """
    cluster = msgspec.structs.replace(cluster, sent=(), messages=_renamed(cluster))
    # The log's last offset is a number that rules use, whether or not somebody has noted it.
    seen = {(_METADATA, ""): {truth(cluster).next_offset - 1}}

    def note(kind: str, whose: str, number: int) -> int:
        seen.setdefault((kind, whose), {0} if kind == _OFFSET else set()).add(number)
        return number

    _walk(cluster, "", note, {})
    ranks = {key: _ranked(n, GAP_MAX if key[0] == _OFFSET else 1) for key, n in seen.items()}
    renumbered = _walk(cluster, "", lambda kind, whose, number: ranks[kind, whose][number], {})
    assert isinstance(renumbered, Cluster)
    return msgspec.structs.replace(renumbered, sent=_counters(renumbered.messages))


def _ranked(numbers: set[int], gap: int) -> dict[int, int]:
    """Negative numbers mean "none" or "unknown" and stay; distances stay up to `gap`."""
    ranks = {n: n for n in numbers if n < 0}
    positive = sorted(n for n in numbers if n >= 0)
    rank = 0
    for last, number in zip(positive[:1] + positive, positive, strict=False):
        rank += min(number - last, gap)
        ranks[number] = rank
    return ranks


def _renamed(cluster: Cluster) -> tuple[Message, ...]:
    counts: dict[tuple[int, int, str], int] = {}
    connections: dict[tuple[object, ...], int] = {}
    messages = []
    for message in cluster.messages:
        key = message.name[:3]
        counts[key] = counts.get(key, 0) + 1
        name = MessageName(*key, counts[key])
        mine = (*_client(message), message.connection)
        same = sum(1 for known in connections if known[:-1] == mine[:-1])
        number = connections.setdefault(mine, same + 1) if message.connection else 0
        messages.append(msgspec.structs.replace(message, name=name, connection=number))
    return tuple(messages)


def _client(message: Message) -> tuple[int, int, str]:
    """Who opened the connection of a message, in which life, and for what kind of request."""
    kind = message.name.kind
    if message.request is None:
        return message.name.sender, message.name.incarnation, kind
    return message.receiver, message.receiver_incarnation, kind.removesuffix("-reply")


def _counters(messages: tuple[Message, ...]) -> tuple[tuple[BrokerId, int, str, int], ...]:
    """How far each sender's names and connections are taken."""
    taken: dict[tuple[int, int, str], int] = {}
    for message in messages:
        for key, number in (
            (message.name[:3], message.name.ordinal),
            (_client(message), message.connection),
        ):
            taken[key] = max(number, taken.get(key, 0))
    return tuple((BrokerId(who), life, kind, n) for (who, life, kind), n in sorted(taken.items()))


def _walk(value: Any, whose: str, number: Renumber, known: Known) -> Any:
    kind = type(value)
    if kind is tuple:
        return _walk_tuple(value, whose, number, known)
    if kind is EpochStart or kind is MessageName:
        return _walk_named_tuple(value, whose, number)
    if kind in _PLAIN or not isinstance(value, msgspec.Struct):
        return value
    here = (id(value), whose)
    walked = known.get(here)
    if walked is None:
        walked = known[here] = _walk_struct(value, whose, number, known)
    return walked


def _walk_struct(value: Any, whose: str, number: Renumber, known: Known) -> Any:
    if isinstance(value, Observed):
        return _walk_observed(value, number, known)
    if isinstance(value, AlterPartitionResult) and value.error:
        # The zeros of an error entry are a schema's defaults and no epochs.
        return value
    kinds = _FIELDS.get(type(value), _NO_NUMBERS)
    partition = _partition_of(value) or whose
    changed = {}
    for field in value.__struct_fields__:
        old = getattr(value, field)
        if old is None:
            continue
        if field in kinds:
            new = number(kinds[field], _owner(value, field, kinds, partition), old)
        elif type(old) in _PLAIN:
            continue
        else:
            new = _walk(old, partition, number, known)
        if new is not old:
            changed[field] = new
    return msgspec.structs.replace(value, **changed) if changed else value


def _walk_tuple(
    value: tuple[Any, ...], whose: str, number: Renumber, known: Known
) -> tuple[Any, ...]:
    """A tuple that begins with a plain value holds nothing else that counts."""
    if not value or type(value[0]) in _PLAIN:
        return value
    walked = [_walk(v, whose, number, known) for v in value]
    same = all(new is old for new, old in zip(walked, value, strict=True))
    return value if same else tuple(walked)


def _walk_named_tuple(value: Any, whose: str, number: Renumber) -> Any:
    kinds = _FIELDS[type(value)]
    new = {
        f: number(k, _owner(value, f, kinds, whose), getattr(value, f)) for f, k in kinds.items()
    }
    return value._replace(**new)


def _walk_observed(value: Observed, number: Renumber, known: Known) -> Observed:
    epochs = tuple((b, number(_METADATA, "", e)) for b, e in value.isr_epochs)
    committed = _walk(value.committed, value.partition, number, known)
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
