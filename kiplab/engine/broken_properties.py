"""Which properties do not hold after a move."""

from __future__ import annotations

from collections.abc import Iterator

from ..protocol.clients.consumer import Consumer
from ..protocol.clients.producer import Producer
from ..protocol.ids import Offset
from ..protocol.log import (
    Log,
    epoch_at,
    first_difference,
    first_missing,
)
from ..protocol.registrations import (
    PartitionRegistration,
    partition,
    registration,
)
from ..protocol.replica.broker_state import Broker, log_of, replica_of
from . import properties
from .cluster import Cluster, Observed, broker
from .nodes import has_zookeeper
from .observations import holds_records, lives, registered_epoch
from .truth import is_same_truth, partition_of, registration_of, truth
from .unclean_reigns import Broken, contradictions


def checks(before: Cluster, after: Cluster) -> list[Broken]:
    broken: list[Broken] = []
    for known in after.observed:
        state = partition_of(after, known.partition)
        if state is not None:
            broken += _unelectable(after, known, state)
            # KIP-903, a notable exception: the last member stays, whatever became of it.
            if len(state.isr) != 1:
                broken += _stale_members(after, known)
            if known.reign is not None:
                broken += contradictions(after, known, state)
    for old, new in zip(before.brokers, after.brokers, strict=True):
        if old.process is not new.process:
            broken += _fallen_marks(old, new)
        if old.durable is not new.durable:
            broken += _mismatches(after, old, new)
    if not is_same_truth(before, after):
        broken += _fallen_epochs(before, after)
    for reader in after.consumers:
        done = f"which {reader.name} has read"
        broken += _forgotten(after, reader, properties.CONSUMER_READS_STAY, done)
    for writer in after.producers:
        done = f"which {writer.name} was told is written"
        broken += _forgotten(after, writer, properties.ACKNOWLEDGED_RECORDS_STAY, done)
    return broken


def _unelectable(
    cluster: Cluster, known: Observed, state: PartitionRegistration
) -> Iterator[Broken]:
    for member in state.isr:
        found = registration_of(cluster, member)
        if found is None or found.fenced or found.in_controlled_shutdown:
            continue
        runs = lives(cluster, member, found)
        if not runs or holds_records(cluster, known, member, known.committed):
            continue
        detail = f"broker {member} could be elected without every committed record"
        yield properties.ELECTABLE_HOLDS_COMMITTED, known.partition, detail


def _stale_members(cluster: Cluster, known: Observed) -> Iterator[Broken]:
    if has_zookeeper(cluster):
        # Nobody says which life of a broker is in the ISR.
        return
    for member, epoch in known.isr_epochs:
        now = registered_epoch(cluster, member)
        if epoch != now:
            detail = f"broker {member} caught up as epoch {epoch}, but is registered as {now}"
            yield properties.NO_STALE_EPOCH_IN_ISR, known.partition, detail


def _fallen_marks(old: Broker, new: Broker) -> Iterator[Broken]:
    if old.process is None or old.incarnation != new.incarnation:
        return
    for was in old.process.replicas:
        now = replica_of(new, was.partition)
        sitting = now is not None and was.leading is not None and now.leading is not None
        if now is None or not sitting or now.leader_epoch != was.leader_epoch:
            continue
        if now.high_watermark < was.high_watermark:
            detail = f"broker {new.id}: {was.high_watermark} to {now.high_watermark}"
            yield properties.HIGH_WATERMARK_STAYS, was.partition, detail


def _forgotten(
    cluster: Cluster, client: Consumer | Producer, found: properties.Property, done: str
) -> Iterator[Broken]:
    """What a client has seen, and the broker that leads, and knows that it does, has not."""
    if not client.observed.end:
        return
    state = partition_of(cluster, client.partition)
    node = broker(cluster, state.leader) if state is not None else None
    replica = replica_of(node, client.partition) if node is not None else None
    if state is None or node is None or replica is None or replica.leading is None:
        return
    if replica.leader_epoch != state.leader_epoch:
        return
    missing = first_missing(log_of(node, client.partition), client.observed)
    if missing is not None:
        yield found, client.partition, f"broker {node.id} leads without offset {missing}, {done}"


def _mismatches(cluster: Cluster, old: Broker, new: Broker) -> Iterator[Broken]:
    for replica in new.durable.replicas:
        if log_of(old, replica.partition) is replica.log:
            continue
        for other in cluster.brokers:
            if other.id != new.id and not _match(replica.log, log_of(other, replica.partition)):
                detail = f"the logs of brokers {new.id} and {other.id} part and meet again"
                yield properties.LOGS_MATCH, replica.partition, detail


def _match(one: Log, other: Log) -> bool:
    if one.epochs == other.epochs:
        return True
    shared = min(one.end, other.end)
    parted = first_difference(one, other)
    later = {parted, *(e.offset for e in (*one.epochs, *other.epochs) if e.offset >= parted)}
    return all(epoch_at(one, Offset(o)) != epoch_at(other, Offset(o)) for o in later if o < shared)


def _fallen_epochs(before: Cluster, after: Cluster) -> Iterator[Broken]:
    old, new = truth(before), truth(after)
    if new.controller_epoch < old.controller_epoch:
        detail = f"controller epoch {old.controller_epoch} to {new.controller_epoch}"
        yield properties.EPOCHS_STAY, "", detail
    for was in old.partitions:
        now = partition(new.partitions, was.name)
        if now is not None and (now.leader_epoch, now.partition_epoch) < (
            was.leader_epoch,
            was.partition_epoch,
        ):
            yield properties.EPOCHS_STAY, was.name, "an epoch of the partition went back"
    for known in old.registrations:
        held = registration(new.registrations, known.broker)
        if held is not None and held.epoch < known.epoch:
            yield (
                properties.EPOCHS_STAY,
                "",
                f"broker {known.broker}: {known.epoch} to {held.epoch}",
            )
