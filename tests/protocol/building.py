"""Short ways to write down controllers, partitions and the releases that a vector names.

Replica lists and ISRs are written as lists; broker n has epoch 100 + n unless said otherwise.
"""

from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

import pytest
from msgspec.structs import replace

from kiplab.protocol import ids, messages
from kiplab.protocol.facts import Fact, RecordWritten
from kiplab.protocol.features import Features
from kiplab.protocol.kraft.broker_registration import register_broker
from kiplab.protocol.kraft.controller_state import Controller, HeartbeatState
from kiplab.protocol.kraft.heartbeats import broker_heartbeat
from kiplab.protocol.kraft.records import PartitionChangeRecord, Record, record_text
from kiplab.protocol.kraft.replay import ControllerEffect
from kiplab.protocol.registrations import PartitionRegistration, Registration
from kiplab.protocol.releases import METADATA_VERSIONS, RELEASES, at_least, supports

T = TypeVar("T")


class Vector(Protocol):
    """What every row of a table of vectors has."""

    @property
    def id(self) -> str: ...
    @property
    def releases(self) -> str: ...
    @property
    def metadata(self) -> str: ...


def present(value: T | None) -> T:
    """`value`, which is there."""
    assert value is not None
    return value


def instance(kind: type[T], value: object) -> T:
    """`value`, which is of this kind."""
    assert isinstance(value, kind)
    return value


def cases(rows: Iterable[Vector]) -> list[Any]:
    """(row, features) for every release of a row, at the ends of its metadata versions."""
    found = []
    for row in rows:
        for features in at(row.releases, row.metadata):
            name = f"{row.id} {features.release}@{features.metadata_version}"
            found.append(pytest.param(row, features, id=name))
    return found


def vector(id: str, releases: str) -> pytest.MarkDecorator:
    """The test, which takes `features`, is one vector of any metadata version."""
    return vectors("", (id, releases))


def vectors(names: str, *rows: tuple[Any, ...]) -> pytest.MarkDecorator:
    """The test is several vectors, each (id, releases, value of each name ...)."""
    return pytest.mark.parametrize(
        (*names.split(), "features"),
        [
            pytest.param(*values, f, id=f"{id} {f.release}@{f.metadata_version}")
            for id, releases, *values in rows
            for f in at(releases)
        ],
    )


def at(releases: str, metadata: str = "any") -> list[Features]:
    """Features as a vector writes them: ``"3.2-4.3"`` and ``"any"``, ``">= 3.6-IV0"`` or a name.

    Each release comes with the oldest and the newest metadata version it shares with the row.
    """
    first, _, last = releases.partition("-")
    names = list(RELEASES)
    run = names[names.index(first) : names.index(last or first) + 1]
    found = []
    for release in run:
        fitting = [v for v in METADATA_VERSIONS if supports(release, v)]
        fitting = [v for v in fitting if _fits(v, metadata)]
        assert fitting, f"Kafka {release} has no metadata version {metadata}"
        found += [Features(release, v) for v in dict.fromkeys((fitting[0], fitting[-1]))]
    return found


def newest(releases: str) -> list[Features]:
    """Each release with its newest metadata version."""
    return [f for f in at(releases) if f.metadata_version == RELEASES[f.release].latest]


def _fits(version: str, metadata: str) -> bool:
    if metadata == "any":
        return True
    relation, _, bound = metadata.rpartition(" ")
    if relation == "<":
        return not at_least(version, bound)
    return at_least(version, bound) if relation == ">=" else version == bound


def brokers(
    *unfenced: int,
    fenced: Iterable[int] = (),
    leaving: Iterable[int] = (),
    epochs: dict[int, int] | None = None,
) -> tuple[Registration, ...]:
    """Registrations; `leaving` are unfenced and in controlled shutdown."""
    out, going = set(fenced), set(leaving)
    return tuple(
        Registration(
            broker=ids.BrokerId(n),
            epoch=ids.BrokerEpoch((epochs or {}).get(n, 100 + n)),
            incarnation=ids.Incarnation(1),
            fenced=n in out,
            in_controlled_shutdown=n in going,
        )
        for n in sorted({*unfenced, *out, *going})
    )


def partition(
    name: str, replicas: list[int], isr: list[int], leader: int, **fields: Any
) -> PartitionRegistration:
    """`fields`: le, pe, and any field of a PartitionRegistration."""
    bare = PartitionRegistration(name, _ids(replicas), _ids(isr), ids.BrokerId(leader))
    return but(bare, **fields)


def but(state: PartitionRegistration, **fields: Any) -> PartitionRegistration:
    """`state` with some fields changed; le and pe are its epochs."""
    if "le" in fields:
        fields["leader_epoch"] = ids.LeaderEpoch(fields.pop("le"))
    if "pe" in fields:
        fields["partition_epoch"] = ids.PartitionEpoch(fields.pop("pe"))
    return replace(state, **_tuples(fields))


def change(name: str, **fields: Any) -> PartitionChangeRecord:
    """A PartitionChangeRecord with lists written as lists."""
    return PartitionChangeRecord(partition=name, **_tuples(fields))


def controller(
    registrations: tuple[Registration, ...],
    *partitions: PartitionRegistration,
    next_offset: int = 1000,
    heartbeats: tuple[HeartbeatState, ...] | None = None,
) -> Controller:
    """A sitting controller; unless `heartbeats` says more it heard of every broker at time 0."""
    heard = tuple(HeartbeatState(r.broker, fenced=r.fenced) for r in registrations)
    return Controller(
        next_offset=ids.MetadataOffset(next_offset),
        registrations=registrations,
        partitions=partitions,
        heartbeats=heard if heartbeats is None else heartbeats,
    )


def beats(
    state: Controller,
    broker: int,
    features: Features,
    now_ms: int | None = None,
    *,
    epoch: int | None = None,
    offset: int | None = None,
    **wishes: bool,
) -> ControllerEffect:
    """A heartbeat, by default under epoch 100 + n and of who has replicated everything."""
    request = messages.BrokerHeartbeatRequest(
        broker=ids.BrokerId(broker),
        broker_epoch=ids.BrokerEpoch(100 + broker if epoch is None else epoch),
        metadata_offset=ids.MetadataOffset(state.next_offset - 1 if offset is None else offset),
        **wishes,
    )
    return broker_heartbeat(state, request, features, now_ms)


def registers(
    state: Controller,
    broker: int,
    incarnation: int,
    features: Features,
    now_ms: int | None,
    *,
    previous: int = -1,
) -> ControllerEffect:
    """A process of a broker asks for its epoch; `previous` is that of an orderly stop before it."""
    request = messages.BrokerRegistrationRequest(
        broker=ids.BrokerId(broker),
        incarnation=ids.Incarnation(incarnation),
        previous_epoch=ids.BrokerEpoch(previous),
    )
    return register_broker(state, request, features, now_ms)


def written(facts: Iterable[Fact]) -> list[str]:
    """The records that were appended, as text."""
    return [f.text for f in facts if isinstance(f, RecordWritten)]


def texts(records: Iterable[Record]) -> list[str]:
    """Records as `written` would show them."""
    return [record_text(r) for r in records]


def _tuples(fields: dict[str, Any]) -> dict[str, Any]:
    return {k: _ids(v) if isinstance(v, list) else v for k, v in fields.items()}


def _ids(numbers: Iterable[int]) -> tuple[ids.BrokerId, ...]:
    return tuple(ids.BrokerId(n) for n in numbers)
