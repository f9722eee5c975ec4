"""What a producer and a consumer hold, in words; and which of their records are gone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from ...engine.cluster import Cluster, broker
from ...engine.consumers import consumer_of
from ...engine.producers import producer_of
from ...engine.truth import partition_of
from ...plays.stage import Stage
from ...protocol.clients.consumer import Consumer
from ...protocol.clients.producer import Batch, Producer
from ...protocol.ids import NO_LEADER, NO_LEADER_EPOCH, BrokerId, LeaderEpoch, node_name
from ...protocol.replica.broker_state import log_of
from ...rows.client_records import EpochRecords, holders, missing, stretches, told_written
from ...rows.wording import offsets, plural


class Held(msgspec.Struct, frozen=True):
    """Something that a client knows, line by line; `lost`: of its records, those that are gone."""

    name: str
    said: tuple[str, ...]
    lost: bool = False


def producer_in_words(stage: Stage, name: str, partition: str) -> tuple[Held, ...]:
    """Whom a producer writes to, what it was told is written, what waits; empty for a new one."""
    found = producer_of(stage.cluster, name, partition)
    if found is None:
        return ()
    told = [t for t in told_written(stage) if (t.producer, t.partition) == (name, partition)]
    everything = [records for one in told for records in one.records]
    acknowledged = tuple(
        f"{_told(records)}, {_acks(one.acks_all)}" for one in told for records in one.records
    )
    return (
        Held("writes to", (_leader(found.leader, found.leader_epoch, _asks(found)),)),
        Held("acknowledged", acknowledged or ("nothing yet",)),
        Held("waits", tuple(_waits(batch) for batch in found.batches) or ("nothing",)),
        *_gone(stage.cluster, partition, everything),
    )


def reader_in_words(stage: Stage, name: str, partition: str) -> tuple[Held, ...]:
    """Where a consumer is, what it has read, and what of that is gone; empty for a new one."""
    found = consumer_of(stage.cluster, name, partition)
    if found is None:
        return ()
    read = stretches(found.observed)
    epoch = found.last_epoch
    last = f", leader epoch {epoch} of the last record" if epoch != NO_LEADER_EPOCH else ""
    doubt = ", in doubt: it will ask where that epoch ends" if found.validating else ""
    return (
        Held("reads from", (_asked(found),)),
        Held("position", (f"offset {found.position}{last}{doubt}",)),
        Held("has read", tuple(_told(records) for records in read) or ("nothing",)),
        *_gone(stage.cluster, partition, read),
    )


def _asked(reader: Consumer) -> str:
    """A follower that is nearer (KIP-392), or the leader."""
    asks = "; it will ask who leads before it reads on" if reader.update_requested else ""
    if reader.preferred != NO_LEADER:
        asks = f"; it was sent there by {node_name(reader.leader)}{asks}"
    return _leader(reader.reads_from, reader.leader_epoch, asks)


def _leader(leader: BrokerId, epoch: LeaderEpoch, besides: str = "") -> str:
    if leader == NO_LEADER:
        return f"nobody: it knows no leader{besides}"
    return f"{node_name(leader)}, in leader epoch {epoch}{besides}"


def _asks(producer: Producer) -> str:
    return "; it will ask who leads before it sends" if producer.update_requested else ""


def _told(records: EpochRecords) -> str:
    return f"{offsets(records.first, records.last)} in leader epoch {records.epoch}"


def _waits(batch: Batch) -> str:
    if batch.at == NO_LEADER:
        return f"{plural(batch.count, 'record')}, not written anywhere yet, {_acks(batch.acks_all)}"
    there = f"{offsets(batch.first, batch.end - 1)} in the log of {node_name(batch.at)}"
    return f"{there}, not acknowledged yet, {_acks(batch.acks_all)}"


def _acks(acks_all: bool) -> str:
    return f"acks={'all' if acks_all else '1'}"


# --- what is gone ---------------------------------------------------------------------------------


def _gone(cluster: Cluster, partition: str, known: Iterable[EpochRecords]) -> Iterator[Held]:
    """What the leader's log does not hold, and whose does. Without a leader nobody can say."""
    state = partition_of(cluster, partition)
    leader = broker(cluster, state.leader) if state is not None else None
    if leader is None:
        return
    lost = missing(log_of(leader, partition), known)
    if lost:
        said = tuple(f"{_told(one)}, {_where(cluster, partition, one)}" for one in lost)
        yield Held(f"leader {leader.id} lacks", said, lost=True)


def _where(cluster: Cluster, partition: str, records: EpochRecords) -> str:
    found = holders(cluster, partition, records)
    if not found:
        return "in no log any more"
    return "still in the log of " + " and ".join(_holder(cluster, id) for id in found)


def _holder(cluster: Cluster, id: BrokerId) -> str:
    node = broker(cluster, id)
    down = node is None or node.process is None
    return f"{node_name(id)}{', which is down' if down else ''}"
