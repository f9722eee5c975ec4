"""What is seen of a broker after a turn: the same fields of Kafka's own and of the engine's.

Lists of brokers are sorted, since Kafka's leader keeps sets. Times are milliseconds since the
clocks began, and 0 in a run without a clock.
"""

from collections.abc import Iterator

import msgspec
from msgspec.structs import asdict, replace

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
