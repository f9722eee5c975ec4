"""The visible state of a broker after a turn: the same fields of Kafka's own and of the engine's.

Lists of brokers are sorted: Kafka's leader keeps sets. Times are in ms, 0 without a clock.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import asdict, replace

from ...protocol import errors, ids, releases
from ...protocol.facts import Fact, Refused
from ...protocol.log import Log
from ...protocol.messages import AlterPartitionItem, AlterPartitionRequest, FetchResponse
from ...protocol.replica.broker_state import Broker, RemoteReplica, log_of, replica_of

NO_EPOCHS = ids.BrokerEpoch(-2)
"""For the broker epoch of a member where a release has none to give."""


class SeenRemote(msgspec.Struct, frozen=True):
    """A follower as its leader knows it."""

    broker: ids.BrokerId
    end: ids.Offset
    leader_end_at_last_fetch: ids.Offset
    last_fetch_ms: ids.Milliseconds
    last_caught_up_ms: ids.Milliseconds
    epoch: ids.BrokerEpoch | None


class SeenProposal(msgspec.Struct, frozen=True):
    """An ISR that was asked for: (broker, broker epoch) pairs."""

    leader_epoch: ids.LeaderEpoch
    partition_epoch: ids.PartitionEpoch
    recovery: int
    isr: tuple[tuple[ids.BrokerId, ids.BrokerEpoch], ...]


class SeenItem(SeenProposal, frozen=True):
    """One partition of an AlterPartition request."""

    partition: int


class SeenRequest(msgspec.Struct, frozen=True):
    """An AlterPartition request that was sent."""

    version: int
    broker: ids.BrokerId
    broker_epoch: ids.BrokerEpoch
    items: tuple[SeenItem, ...]


class SeenRead(msgspec.Struct, frozen=True):
    """What a fetch read: `records` as (epoch, offset) pairs, or where the logs diverge."""

    high_watermark: ids.Offset
    diverging: tuple[ids.LeaderEpoch, ids.Offset] | None
    records: tuple[tuple[ids.LeaderEpoch, ids.Offset], ...]


class SeenPartition(msgspec.Struct, frozen=True, kw_only=True):
    """A partition as the broker plays it; `epochs` is its log's leader-epoch cache."""

    leader: ids.BrokerId | None = None
    leader_epoch: ids.LeaderEpoch = ids.LeaderEpoch(-1)
    partition_epoch: ids.PartitionEpoch = ids.PartitionEpoch(0)
    start_offset: ids.Offset | None = None
    isr: tuple[ids.BrokerId, ...] = ()
    maximal: tuple[ids.BrokerId, ...] = ()
    recovery: int = 0
    proposed: SeenProposal | None = None
    remotes: tuple[SeenRemote, ...] = ()
    high_watermark: ids.Offset = ids.Offset(0)
    end: ids.Offset
    epochs: tuple[tuple[ids.LeaderEpoch, ids.Offset], ...]


class ObservedBroker(msgspec.Struct, frozen=True):
    """All of it: the error that the turn met, what it read, what was sent, what is held."""

    error: int
    read: SeenRead | None
    sent: tuple[SeenRequest, ...]
    partitions: tuple[SeenPartition, ...]


def without_times(broker: ObservedBroker) -> ObservedBroker:
    """As if there were no clock."""
    partitions = []
    for partition in broker.partitions:
        remotes = (replace(r, last_fetch_ms=0, last_caught_up_ms=0) for r in partition.remotes)
        partitions.append(replace(partition, remotes=tuple(remotes)))
    return replace(broker, partitions=tuple(partitions))


class Parting(msgspec.Struct, frozen=True):
    """One thing that the real side and the engine have otherwise: ``"orders-0 high_watermark"``."""

    what: str
    real: str
    engine: str

    def __str__(self) -> str:
        return f"{self.what}: Kafka has {self.real}, the engine {self.engine}"


def observed_partings(
    kafka: ObservedBroker, engine: ObservedBroker, names: Sequence[ids.PartitionName] = ()
) -> Iterator[Parting]:
    """Where the two part, field by field; without `names` partitions are those of one topic."""
    yield from field_partings(kafka, engine, ("error", "read", "sent"))
    for index, (theirs, mine) in enumerate(zip(kafka.partitions, engine.partitions, strict=True)):
        name = names[index] if names else f"orders-{index}"
        yield from field_partings(theirs, mine, where=f"{name} ")


def field_partings(
    kafka: msgspec.Struct, engine: msgspec.Struct, names: Sequence[str] = (), where: str = ""
) -> Iterator[Parting]:
    """Where two structs differ, in these fields or in all; `where` comes before their names."""
    for name in names or kafka.__struct_fields__:
        theirs, mine = getattr(kafka, name), getattr(engine, name, None)
        if theirs != mine:
            yield Parting(f"{where}{name}", repr(theirs), repr(mine))


class EngineObservation:
    """What is seen of an engine's broker with that code; a partition is its place in `names`."""

    def __init__(self, code: releases.CodeVersion, names: Sequence[ids.PartitionName]) -> None:
        # From 3.5 on a leader knows its followers' broker epochs.
        self._has_epochs = code >= (3, 5)
        self.names = tuple(names)

    def of(self, broker: Broker, bodies: Iterable[Any], facts: Iterable[Fact]) -> ObservedBroker:
        """All of it after a turn in which it sent `bodies`, and reports `facts`."""
        sent = list(bodies)
        reply = next((body for body in sent if isinstance(body, FetchResponse)), None)
        refused = [fact.error for fact in facts if isinstance(fact, Refused)]
        error = reply.error if reply is not None else next(iter(refused), errors.KafkaError.NONE)
        return ObservedBroker(
            error=int(error),
            read=None if reply is None or reply.error else _read(reply),
            sent=tuple(self.request(b) for b in sent if isinstance(b, AlterPartitionRequest)),
            partitions=tuple(self.partition(broker, name) for name in self.names),
        )

    def request(self, request: AlterPartitionRequest) -> SeenRequest:
        """A request as its receiver sees it."""
        items = (
            SeenItem(**asdict(self.proposal(item)), partition=self.names.index(item.partition))
            for item in request.items
        )
        in_order = tuple(sorted(items, key=lambda item: item.partition))
        return SeenRequest(request.version, request.broker, request.broker_epoch, in_order)

    def proposal(self, item: AlterPartitionItem) -> SeenProposal:
        """An ISR that was asked for."""
        isr = ((m.broker, m.epoch if self._has_epochs else NO_EPOCHS) for m in item.isr)
        epochs = item.leader_epoch, item.partition_epoch
        return SeenProposal(*epochs, item.recovery, tuple(sorted(isr)))

    def partition(self, broker: Broker, name: ids.PartitionName) -> SeenPartition:
        """A partition as the broker plays it."""
        replica, log = replica_of(broker, name), log_of(broker, name)
        epochs = tuple((entry.epoch, entry.offset) for entry in log.epochs)
        partition = SeenPartition(end=log.end, epochs=epochs)
        if replica is None:
            return partition
        played = ("leader", "leader_epoch", "partition_epoch", "high_watermark")
        partition = replace(partition, **{field: getattr(replica, field) for field in played})
        leading = replica.leading
        if leading is None:
            return partition
        state = leading.isr_state
        return replace(
            partition,
            start_offset=leading.start_offset,
            isr=tuple(sorted(state.isr)),
            maximal=tuple(sorted(state.maximal)),
            # A pending state is always RECOVERED, also beside a committed RECOVERING.
            recovery=int(state.recovery) if state.sent is None else 0,
            proposed=None if state.sent is None else self.proposal(state.sent),
            remotes=tuple(map(self.remote, sorted(leading.remotes, key=lambda r: r.broker))),
        )

    def remote(self, remote: RemoteReplica) -> SeenRemote:
        """A follower as its leader knows it."""
        fields = {name: getattr(remote, name) for name in SeenRemote.__struct_fields__}
        return SeenRemote(**fields if self._has_epochs else fields | {"epoch": None})


def _read(reply: FetchResponse) -> SeenRead:
    part = reply.diverging
    diverging = None if part is None else (part.epoch, part.offset)
    each = ((epoch, ids.Offset(n)) for epoch, run in runs_of(reply.records) for n in run)
    return SeenRead(reply.high_watermark, diverging, tuple(each))


def runs_of(log: Log) -> Iterator[tuple[ids.LeaderEpoch, range]]:
    """The leader epochs of a log, each with its offsets; an epoch without a record has none."""
    ends = [*(entry.offset for entry in log.epochs[1:]), log.end]
    for entry, end in zip(log.epochs, ends, strict=False):
        yield entry.epoch, range(entry.offset, end)
