"""What every log holds, record by record: brokers' disks, and all that each consumer has read."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from ..engine.cluster import Cluster, broker
from ..engine.consumers import consumer_of
from ..engine.events import CommittedLost
from ..engine.truth import partition_of, truth
from ..protocol.ids import NO_LEADER_EPOCH, BrokerId
from ..protocol.log import Log
from ..protocol.replica.broker_state import log_of
from .client_requests import client_name
from .columns import LOST, LogRow, Ranges, broker_lane
from .snapshots import Snapshot

_Read = Callable[[Cluster], Ranges | None]


def log_rows(shots: Sequence[Snapshot]) -> Iterator[LogRow]:
    """Partition by partition: brokers, consumers, what was lost."""
    for name in (p.name for p in truth(shots[0].cluster).partitions):
        for node in shots[0].cluster.brokers:
            yield from _rows(shots, broker_lane(node.id), name, partial(_disk, node.id, name))
        for found in shots[-1].cluster.consumers:
            if found.partition == name:
                lane = client_name("consumer", found.name)
                yield from _rows(shots, lane, name, partial(_memory, found.name, name))
        yield from _lost(shots, name)


def _rows(shots: Sequence[Snapshot], holder: str, name: str, read: _Read) -> Iterator[LogRow]:
    """Equal neighbours are one."""
    begun, before = 0, None
    for shot in shots:
        found = read(shot.cluster)
        if found != before:
            if before is not None:
                yield LogRow(holder, name, begun, shot.x, before)
            begun, before = shot.x, found
    if before is not None:
        yield LogRow(holder, name, begun, shots[-1].x + 1, before)


def _disk(id: BrokerId, name: str, cluster: Cluster) -> Ranges | None:
    node, state = broker(cluster, id), partition_of(cluster, name)
    if node is None or state is None or id not in state.replicas:
        return None
    return ranges(log_of(node, name))


def _memory(consumer: str, name: str, cluster: Cluster) -> Ranges | None:
    mine = consumer_of(cluster, consumer, name)
    return None if mine is None else ranges(mine.observed)


def ranges(log: Log) -> Ranges:
    """Its records by leader epoch; what lies below its start, or was never read, is left out."""
    ends = [*(e.offset for e in log.epochs[1:]), log.end]
    found = (
        (int(e.epoch), max(int(e.offset), int(log.start)), int(end))
        for e, end in zip(log.epochs, ends, strict=False)
    )
    return tuple(r for r in found if r[1] < r[2] and r[0] != NO_LEADER_EPOCH)


def _lost(shots: Sequence[Snapshot], name: str) -> Iterator[LogRow]:
    for shot in shots:
        for event in shot.events:
            if isinstance(event, CommittedLost) and event.partition == name:
                gone = ((int(NO_LEADER_EPOCH), int(event.first), int(event.last) + 1),)
                yield LogRow(LOST, name, shot.x, shots[-1].x + 1, gone)
