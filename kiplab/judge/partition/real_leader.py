"""Kafka's own broker side, told the turns of a run: what it holds after each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from ...protocol.messages import AlterPartitionResponse, FetchRequest, MetadataUpdate
from ...protocol.messages.replication_messages import AlterPartitionResult
from ...protocol.registrations import PartitionRegistration, Registration
from ...protocol.replica.remote_replicas import LAG_TIME_MAX_MS
from .broker_sight import BrokerSight, SeenPartition, SeenRemote
from .broker_turns import (
    LEADER_BROKER_EPOCH,
    TOPIC,
    BrokerTurn,
    LagTurn,
    LostTurn,
    PauseTurn,
    ProducedTurn,
    ReplicatedTurn,
    RetryTurn,
    index_of,
)
from .partition_process import PartitionProcess


class RealLeader:
    """A fresh broker in `process`, with so many partitions of one topic and empty logs.

    Without a clock whoever is not level has lagged for too long: so much time passes before each
    turn, and no time is told.
    """

    def __init__(
        self, process: PartitionProcess, name: str, partitions: int, *, timed: bool
    ) -> None:
        self._process = process
        self._timed = timed
        self._partitions = partitions
        self._known: dict[str, int] = {}
        self._lines: dict[type, Callable[[Any], str]] = {
            FetchRequest: _fetch,
            MetadataUpdate: self._metadata,
            AlterPartitionResponse: _answered,
            ProducedTurn: _produced,
            ReplicatedTurn: _replicated,
            LagTurn: self._lag,
            RetryTurn: lambda _: "retry",
            LostTurn: lambda _: "lost",
            PauseTurn: lambda turn: f"advance {turn.ms}",
        }
        process.tell(f"begin {TOPIC}{name} {partitions} {LEADER_BROKER_EPOCH}")

    def do(self, turn: BrokerTurn) -> BrokerSight:
        """What is seen after the turn. Raises DeadKafkaError if the process has ended."""
        if not self._timed:
            self._process.tell(f"advance {LAG_TIME_MAX_MS + 1}")
        answer = self._process.tell(self._lines[type(turn)](turn))
        seen = msgspec.json.decode(answer, type=BrokerSight)
        return seen if self._timed else _without_times(seen)

    def _metadata(self, turn: MetadataUpdate) -> str:
        changed = [p for p in turn.partitions if self._known.get(p.name) != p.partition_epoch]
        self._known = {p.name: p.partition_epoch for p in turn.partitions}
        brokers = ";".join(map(_registered, turn.registrations))
        partitions = ";".join(map(_partition, turn.partitions))
        return f"metadata {brokers} {partitions} {_numbers(index_of(p.name) for p in changed)}"

    def _lag(self, _turn: LagTurn) -> str:
        return f"lag {_numbers(range(self._partitions))}"


def _fetch(turn: FetchRequest) -> str:
    # Below version 15 and 12 the fields are not on the wire, and read as -1.
    epoch = turn.replica_epoch if turn.version >= 15 else -1
    last = turn.last_fetched_epoch if turn.version >= 12 else -1
    where = f"{index_of(turn.partition)} {turn.replica} {epoch}"
    return f"fetch {where} {turn.leader_epoch} {turn.offset} {last}"


def _produced(turn: ProducedTurn) -> str:
    return f"append {index_of(turn.partition)} {turn.count} {-1 if turn.acks_all else 1}"


def _replicated(turn: ReplicatedTurn) -> str:
    epochs = turn.records.epochs
    ends = [*(entry.offset for entry in epochs[1:]), turn.records.end]
    runs = [f"{e.epoch}x{end - e.offset}" for e, end in zip(epochs, ends, strict=False)]
    return f"follow {index_of(turn.partition)} {turn.high_watermark} {','.join(runs)}".strip()


def _answered(turn: AlterPartitionResponse) -> str:
    return f"answer {int(turn.error)} {';'.join(map(_result, turn.results))}".strip()


def _registered(known: Registration) -> str:
    leaving = int(known.in_controlled_shutdown)
    return f"{known.broker}:{known.epoch}:{int(known.fenced)}:{leaving}"


def _partition(state: PartitionRegistration) -> str:
    parts = (
        state.leader,
        state.leader_epoch,
        state.partition_epoch,
        _numbers(state.replicas),
        _numbers(state.isr),
        int(state.recovery),
        state.min_insync_replicas,
        _numbers(state.adding),
        _numbers(state.removing),
    )
    return ":".join(map(str, parts))


def _result(result: AlterPartitionResult) -> str:
    parts = (
        index_of(result.partition),
        int(result.error),
        result.leader,
        result.leader_epoch,
        result.partition_epoch,
        _numbers(result.isr),
        int(result.recovery),
    )
    return ":".join(map(str, parts))


def _numbers(these: Iterable[int]) -> str:
    return ",".join(map(str, these)) or "-"


def _without_times(seen: BrokerSight) -> BrokerSight:
    return replace(seen, partitions=tuple(map(_timeless, seen.partitions)))


def _timeless(partition: SeenPartition) -> SeenPartition:
    return replace(partition, remotes=tuple(map(_timeless_remote, partition.remotes)))


def _timeless_remote(remote: SeenRemote) -> SeenRemote:
    return replace(remote, last_fetch_ms=0, last_caught_up_ms=0)
