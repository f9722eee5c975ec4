"""Records that clients got acknowledged or read, and those of them that a log lacks.

Offset and leader epoch name a record, so everything here is stretches of offsets in one epoch.
Acknowledged records are read off a run, of acks=1 as of acks=all; what a consumer has read is
kept by the observer. Records that were deleted on purpose are missing nowhere.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise

import msgspec

from ..engine.cluster import Cluster, broker
from ..plays.stage import Stage
from ..protocol.facts import BatchAcknowledged
from ..protocol.ids import NO_LEADER_EPOCH, BrokerId, LeaderEpoch, Offset
from ..protocol.log import Log, epoch_at, records_from, up_to
from ..protocol.replica.broker_state import log_of


class EpochRecords(msgspec.Struct, frozen=True):
    """Records of one leader epoch that lie together; `last` is the offset of the last one."""

    epoch: LeaderEpoch
    first: Offset
    last: Offset

    @property
    def count(self) -> int:
        """The number of records."""
        return self.last - self.first + 1


class AcknowledgedRecords(msgspec.Struct, frozen=True):
    """Records that were acknowledged to a producer, and with which acks."""

    producer: str
    partition: str
    records: tuple[EpochRecords, ...]
    acks_all: bool


def stretches(log: Log) -> tuple[EpochRecords, ...]:
    """The records of a log, epoch by epoch; epoch -1 is no record."""
    starts = [max(entry.offset, log.start) for entry in log.epochs]
    return tuple(
        EpochRecords(entry.epoch, Offset(first), Offset(end - 1))
        for entry, (first, end) in zip(log.epochs, pairwise((*starts, log.end)), strict=True)
        if first < end and entry.epoch != NO_LEADER_EPOCH
    )


def missing(log: Log, recordses: Iterable[EpochRecords]) -> tuple[EpochRecords, ...]:
    """Those of the `known` records that `log` does not hold and never deleted, in their order."""
    return tuple(part for stretch in recordses for part in _missing(log, stretch))


def _missing(log: Log, stretch: EpochRecords) -> Iterator[EpochRecords]:
    first, end = max(stretch.first, log.start), stretch.last + 1
    cuts = {log.end, *(entry.offset for entry in log.epochs)}
    edges = (first, *sorted(cut for cut in cuts if first < cut < end), end)
    lacks: int | None = None
    for here, there in pairwise(edges):
        held = here < log.end and epoch_at(log, Offset(here)) == stretch.epoch
        if here < there and not held and lacks is None:
            lacks = here
        if held and lacks is not None:
            yield EpochRecords(stretch.epoch, Offset(lacks), Offset(here - 1))
            lacks = None
    if lacks is not None:
        yield EpochRecords(stretch.epoch, Offset(lacks), Offset(end - 1))


def holders(cluster: Cluster, partition: str, records: EpochRecords) -> tuple[BrokerId, ...]:
    """The brokers in whose logs all of these records are, running or not."""
    return tuple(
        node.id for node in cluster.brokers if not missing(log_of(node, partition), (records,))
    )


def acknowledged_records(stage: Stage) -> tuple[AcknowledgedRecords, ...]:
    """All records acknowledged to named producers, in the order of the acknowledgements."""
    steps = stage.history.steps[: stage.history.at]
    return tuple(
        _told(step.cluster, event)
        for step in steps
        for event in step.events
        if isinstance(event, BatchAcknowledged)
    )


def _told(cluster: Cluster, event: BatchAcknowledged) -> AcknowledgedRecords:
    node = broker(cluster, event.node)
    assert node is not None
    written = up_to(log_of(node, event.partition), Offset(event.last + 1))
    records = stretches(records_from(written, event.first))
    return AcknowledgedRecords(event.producer, event.partition, records, event.acks_all)
