"""What is seen of a broker after a turn: the same fields of Kafka's own and of the engine's.

Lists of brokers are sorted, since Kafka's leader keeps sets. Times are milliseconds since the
clocks began, and 0 in a run without a clock.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import asdict, replace

from ...protocol.errors import KafkaError
from ...protocol.facts import Fact, Refused
from ...protocol.ids import PartitionName
from ...protocol.log import EMPTY, Log
from ...protocol.messages import AlterPartitionItem, AlterPartitionRequest, FetchResponse
from ...protocol.releases import CodeVersion
from ...protocol.replica.broker_state import Broker, Leading, RemoteReplica, log_of, replica_of

NO_EPOCHS = -2
"""For the broker epoch of a member where a release has none to give."""
NEVER_MS = -1_000_000_000
"""A time at which nothing ever happened, on both clocks."""


class SeenRemote(msgspec.Struct, frozen=True):
    """A follower as its leader knows it."""

    broker: int
    end: int
    leader_end_at_last_fetch: int
    last_fetch_ms: int
    last_caught_up_ms: int
    epoch: int | None


class SeenProposal(msgspec.Struct, frozen=True):
    """An ISR that was asked for: (broker, broker epoch) pairs."""

    leader_epoch: int
    partition_epoch: int
    recovery: int
    isr: tuple[tuple[int, int], ...]


class SeenItem(SeenProposal, frozen=True):
    """One partition of an AlterPartition request."""

    partition: int


class SeenRequest(msgspec.Struct, frozen=True):
    """An AlterPartition request that was sent."""

    version: int
    broker: int
    broker_epoch: int
    items: tuple[SeenItem, ...]


class SeenRead(msgspec.Struct, frozen=True):
    """What a fetch read: `records` as (epoch, offset) pairs, or where the logs part."""

    high_watermark: int
    diverging: tuple[int, int] | None
    records: tuple[tuple[int, int], ...]


class SeenPartition(msgspec.Struct, frozen=True):
    """A partition as the broker plays it; `epochs` is its log's leader-epoch cache."""

    leader: int | None
    leader_epoch: int
    partition_epoch: int
    start_offset: int | None
    isr: tuple[int, ...]
    maximal: tuple[int, ...]
    recovery: int
    proposed: SeenProposal | None
    remotes: tuple[SeenRemote, ...]
    high_watermark: int
    end: int
    epochs: tuple[tuple[int, int], ...]


class ObservedBroker(msgspec.Struct, frozen=True):
    """All of it: the error that the turn met, what it read, what was sent, what is held."""

    error: int
    read: SeenRead | None
    sent: tuple[SeenRequest, ...]
    partitions: tuple[SeenPartition, ...]


def without_times(seen: ObservedBroker) -> ObservedBroker:
    """As if there were no clock."""
    return replace(seen, partitions=tuple(map(_timeless, seen.partitions)))


def _timeless(partition: SeenPartition) -> SeenPartition:
    return replace(partition, remotes=tuple(map(_timeless_remote, partition.remotes)))


def _timeless_remote(remote: SeenRemote) -> SeenRemote:
    return replace(remote, last_fetch_ms=0, last_caught_up_ms=0)


class ObservedParting(msgspec.Struct, frozen=True):
    """One field that the two have otherwise: ``"orders-0 high_watermark"``."""

    what: str
    kafka: str
    engine: str

    def __str__(self) -> str:
        return f"{self.what}: Kafka has {self.kafka}, the engine {self.engine}"


def observed_partings(kafka: ObservedBroker, engine: ObservedBroker) -> Iterator[ObservedParting]:
    """Where the two part, field by field."""
    yield from _fields("", kafka, engine, ("error", "read", "sent"))
    for index, (theirs, mine) in enumerate(zip(kafka.partitions, engine.partitions, strict=True)):
        yield from _fields(f"orders-{index} ", theirs, mine, tuple(asdict(theirs)))


def _fields(
    where: str, kafka: msgspec.Struct, engine: msgspec.Struct, names: tuple[str, ...]
) -> Iterator[ObservedParting]:
    for name in names:
        theirs, mine = getattr(kafka, name), getattr(engine, name)
        if theirs != mine:
            yield ObservedParting(f"{where}{name}", repr(theirs), repr(mine))


class EngineObservation:
    """Of a broker with that code; a partition is its place in `names`."""

    def __init__(self, code: CodeVersion, names: Sequence[PartitionName]) -> None:
        # From 3.5 on a leader knows its followers' broker epochs.
        self._has_epochs = code >= (3, 5)
        self._names = tuple(names)

    def of(self, broker: Broker, bodies: Iterable[Any], facts: Iterable[Fact]) -> ObservedBroker:
        """All of it after a turn in which it sent `bodies`, and reports `facts`."""
        sent = list(bodies)
        reply = next((body for body in sent if isinstance(body, FetchResponse)), None)
        refused = [fact.error for fact in facts if isinstance(fact, Refused)]
        error = reply.error if reply is not None else next(iter(refused), KafkaError.NONE)
        return ObservedBroker(
            error=int(error),
            read=None if reply is None or reply.error else _read(reply),
            sent=tuple(self.request(b) for b in sent if isinstance(b, AlterPartitionRequest)),
            partitions=tuple(self.partition(broker, name) for name in self._names),
        )

    def request(self, request: AlterPartitionRequest) -> SeenRequest:
        """A request as its receiver sees it."""
        items = sorted(map(self._item, request.items), key=lambda item: item.partition)
        return SeenRequest(request.version, request.broker, request.broker_epoch, tuple(items))

    def _item(self, item: AlterPartitionItem) -> SeenItem:
        asked = self.proposal(item)
        return SeenItem(
            asked.leader_epoch,
            asked.partition_epoch,
            asked.recovery,
            asked.isr,
            self._names.index(item.partition),
        )

    def proposal(self, item: AlterPartitionItem) -> SeenProposal:
        """An ISR that was asked for."""
        isr = sorted((m.broker, m.epoch if self._has_epochs else NO_EPOCHS) for m in item.isr)
        return SeenProposal(item.leader_epoch, item.partition_epoch, item.recovery, tuple(isr))

    def partition(self, broker: Broker, name: PartitionName) -> SeenPartition:
        """A partition as the broker plays it."""
        replica, log = replica_of(broker, name), log_of(broker, name)
        leading = replica.leading if replica is not None else None
        epochs = tuple((entry.epoch, entry.offset) for entry in log.epochs)
        if replica is None:
            return SeenPartition(None, -1, 0, None, (), (), 0, None, (), 0, log.end, epochs)
        return SeenPartition(
            leader=replica.leader,
            leader_epoch=replica.leader_epoch,
            partition_epoch=replica.partition_epoch,
            high_watermark=replica.high_watermark,
            end=log.end,
            epochs=epochs,
            **self._led(leading),
        )

    def _led(self, leading: Leading | None) -> dict[str, Any]:
        if leading is None:
            empty: dict[str, Any] = {"isr": (), "maximal": (), "remotes": (), "recovery": 0}
            return empty | {"start_offset": None, "proposed": None}
        state = leading.isr_state
        return {
            "start_offset": leading.start_offset,
            "isr": tuple(sorted(state.isr)),
            "maximal": tuple(sorted(state.maximal)),
            # A pending state is always RECOVERED, whatever the committed one is.
            "recovery": int(state.recovery) if state.sent is None else 0,
            "proposed": None if state.sent is None else self.proposal(state.sent),
            "remotes": tuple(map(self.remote, sorted(leading.remotes, key=lambda r: r.broker))),
        }

    def remote(self, remote: RemoteReplica) -> SeenRemote:
        """A follower as its leader knows it."""
        return SeenRemote(
            broker=remote.broker,
            end=remote.end,
            leader_end_at_last_fetch=remote.leader_end_at_last_fetch,
            last_fetch_ms=remote.last_fetch_ms,
            last_caught_up_ms=remote.last_caught_up_ms,
            epoch=remote.epoch if self._has_epochs else None,
        )


def _read(reply: FetchResponse) -> SeenRead:
    part = reply.diverging
    return SeenRead(
        high_watermark=reply.high_watermark,
        diverging=None if part is None else (part.epoch, part.offset),
        records=tuple(_each(reply.records)),
    )


def _each(records: Log) -> Iterable[tuple[int, int]]:
    """Every record as (leader epoch, offset)."""
    if records == EMPTY or not records.epochs:
        return
    ends = [*(entry.offset for entry in records.epochs[1:]), records.end]
    for entry, end in zip(records.epochs, ends, strict=True):
        for offset in range(entry.offset, end):
            yield entry.epoch, offset
