"""The observer: sees every log at once, and says when a property stops holding.

It runs after each move and looks only at what the move changed. No rule reads what it knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import is_
from typing import TypeVar

from msgspec.structs import replace

from ..protocol.clients.consumer import Consumer
from ..protocol.clients.producer import Producer
from ..protocol.facts import (
    BecameLeader,
    Destroyed,
    HighWatermarkMoved,
    IsrChanged,
    LeaderElected,
    Polled,
    RecordsDeleted,
)
from ..protocol.ids import NO_BROKER_EPOCH, NO_LEADER, BrokerEpoch, BrokerId, Offset
from ..protocol.log import (
    Log,
    delete_before,
    epoch_at,
    first_difference,
    first_missing,
    holds,
    up_to,
)
from ..protocol.messages import AlterPartitionRequest
from ..protocol.registrations import (
    PartitionRegistration,
    Registration,
    partition,
    registration,
)
from ..protocol.replica.broker_state import Broker, log_of, replica_of
from ..protocol.zookeeper_facts import CheckpointLost
from . import properties
from .at_rest import broken_with_zookeeper
from .cluster import Cluster, Observed, broker
from .events import CommittedLost, Delivered, Event, PropertyBroken
from .nodes import has_zookeeper
from .truth import Truth, is_same_truth, partition_of, registration_of, truth
from .unclean_reigns import Broken, contradictions, with_reign

Client = TypeVar("Client", Consumer, Producer)


def observe(
    before: Cluster, after: Cluster, events: Iterable[Event]
) -> tuple[Cluster, list[Event]]:
    """`after` with the observer's knowledge brought up to date, and what it noticed."""
    if not (has_zookeeper(after) or _may_matter(before, after)):
        return after, []
    noticed: list[Event] = []
    broken: list[Broken] = []
    events = tuple([event for event in events if heeds(event)])
    observed = tuple([_updated(after, o, events) for o in after.observed])
    if not all(map(is_, observed, after.observed)):
        after = replace(after, observed=observed)
    for event in events:
        if isinstance(event, RecordsDeleted) and (after.consumers or after.producers):
            readers = tuple(_with_deleted(reader, event) for reader in after.consumers)
            writers = tuple(_with_deleted(writer, event) for writer in after.producers)
            after = replace(after, consumers=readers, producers=writers)
        elif isinstance(event, BecameLeader):
            after, lost = _takes_over(after, event)
            noticed += lost
            broken += [_loss(found) for found in lost]
    broken += _checks(before, after)
    if has_zookeeper(after):
        broken += broken_with_zookeeper(after, events)
    for found, name, detail in broken:
        after, fact = _report(after, found, name, detail)
        noticed += fact
    return after, noticed


_HEEDED = frozenset(
    (
        *(BecameLeader, Destroyed, HighWatermarkMoved, IsrChanged, LeaderElected, Polled),
        *(CheckpointLost, RecordsDeleted),
    )
)


def heeds(event: Event) -> bool:
    """Whether the observer hears of such an event; it sees the rest with its own eyes."""
    if type(event) is Delivered:
        return isinstance(event.body, AlterPartitionRequest)
    return type(event) in _HEEDED


def broken_now(cluster: Cluster) -> tuple[str, ...]:
    """Ids of the properties that do not hold in `cluster` as it stands, whatever led there."""
    return tuple(dict.fromkeys(found.id for found, _, _ in _checks(cluster, cluster)))


def _may_matter(before: Cluster, after: Cluster) -> bool:
    """Whether the move changed anything that a property speaks of: most heartbeats do not."""
    if not is_same_truth(before, after) and _decides_otherwise(truth(before), truth(after)):
        return True
    if after.consumers is not before.consumers or after.producers is not before.producers:
        return True
    if after.brokers is before.brokers:
        return False
    for was, now in zip(before.brokers, after.brokers, strict=True):
        if was is not now and _plays_differently(was, now):
            return True
    return False


def _decides_otherwise(was: Truth, now: Truth) -> bool:
    return not (
        now.partitions is was.partitions
        and now.registrations is was.registrations
        and now.controller_epoch == was.controller_epoch
    )


def _plays_differently(was: Broker, now: Broker) -> bool:
    if now.durable is not was.durable or was.process is None or now.process is None:
        return True
    if now.process is was.process:
        return False
    same = now.process.replicas is was.process.replicas
    return not same or now.process.epoch != was.process.epoch


def _report(
    cluster: Cluster, found: properties.Property, name: str, detail: str
) -> tuple[Cluster, list[Event]]:
    """Only the first time that a property breaks for a partition is news."""
    if (found.id, name) in cluster.broken:
        return cluster, []
    excused = any(o.excused for o in cluster.observed if o.partition == name)
    promised = properties.is_promised(
        found,
        cluster.features,
        excused=excused,
        forged=cluster.forged or (cluster.inherited and bool(found.needs)),
    )
    fact = PropertyBroken(property=found.id, partition=name, detail=detail, promised=promised)
    return replace(cluster, broken=(*cluster.broken, (found.id, name))), [fact]


# --- knowledge ----------------------------------------------------------------------------------


def _updated(cluster: Cluster, known: Observed, events: Iterable[Event]) -> Observed:
    state = partition_of(cluster, known.partition)
    if state is None:
        return known
    asked: dict[BrokerId, BrokerEpoch] = {}
    loser = _loser(cluster, known, state, events) if events else NO_LEADER
    for event in events:
        if isinstance(event, Delivered) and isinstance(event.body, AlterPartitionRequest):
            asked = _epochs_asked(event.body, known.partition)
        elif isinstance(event, IsrChanged) and event.partition == known.partition:
            known = _with_members(cluster, known, state, asked)
        elif isinstance(event, LeaderElected) and event.partition == known.partition:
            known = _after_election(cluster, known, state, event)
        elif (
            isinstance(event, HighWatermarkMoved)
            and event.partition == known.partition
            and event.node != loser
        ):
            known = _committed(cluster, known, event.node, event.after)
        elif isinstance(event, RecordsDeleted) and event.partition == known.partition:
            known = _without_deleted(known, event)
    if known.excused:
        known = with_reign(cluster, known, state, events)
    return _with_damage(cluster, known, state, events)


def _loser(
    cluster: Cluster, known: Observed, state: PartitionRegistration, events: Iterable[Event]
) -> BrokerId:
    """The new leader, if it lacks what was committed: a loss, however far its high watermark is."""
    begins = any(
        isinstance(e, BecameLeader) and (e.partition, e.node) == (state.name, state.leader)
        for e in events
    )
    node = broker(cluster, state.leader) if begins else None
    if node is None or holds(log_of(node, known.partition), known.committed):
        return NO_LEADER
    return node.id


def _epochs_asked(request: AlterPartitionRequest, name: str) -> dict[BrokerId, BrokerEpoch]:
    items = (i for i in request.items if i.partition == name)
    return {
        m.broker: m.observed if m.observed != NO_BROKER_EPOCH else m.epoch
        for item in items
        for m in item.isr
    }


def _with_members(
    cluster: Cluster,
    known: Observed,
    state: PartitionRegistration,
    asked: dict[BrokerId, BrokerEpoch],
) -> Observed:
    """Who is in the ISR, and under which broker epoch each of them caught up."""
    before = dict(known.isr_epochs)

    def epoch(member: BrokerId) -> BrokerEpoch:
        if member in before:
            return before[member]
        said = asked.get(member, NO_BROKER_EPOCH)
        return said if said != NO_BROKER_EPOCH else _registered_epoch(cluster, member)

    return replace(known, isr_epochs=tuple((m, epoch(m)) for m in state.isr))


def _after_election(
    cluster: Cluster, known: Observed, state: PartitionRegistration, event: LeaderElected
) -> Observed:
    if event.leader == NO_LEADER:
        return known
    fresh = _registered_epoch(cluster, event.leader)
    lone = state.isr == (event.leader,)
    epochs = ((event.leader, fresh),) if lone else known.isr_epochs
    if event.unclean:
        return replace(known, isr_epochs=epochs, damaged=(), excused=True)
    return replace(known, isr_epochs=epochs)


def _committed(cluster: Cluster, known: Observed, leader: BrokerId, mark: Offset) -> Observed:
    node = broker(cluster, leader)
    if node is None or mark <= known.committed.end:
        return known
    found = up_to(log_of(node, known.partition), mark)
    # A new leader may still have what another one had deleted; nobody misses it.
    return replace(known, committed=delete_before(found, known.committed.start))


def _with_deleted(client: Client, event: RecordsDeleted) -> Client:
    """As `_without_deleted`, of what a consumer has read or a producer was told is written."""
    left = delete_before(client.observed, Offset(min(event.start, client.observed.end)))
    if client.partition != event.partition or left is client.observed:
        return client
    return replace(client, observed=left)


def _without_deleted(known: Observed, event: RecordsDeleted) -> Observed:
    """What is deleted on purpose is not lost."""
    left = delete_before(known.committed, Offset(min(event.start, known.committed.end)))
    return known if left is known.committed else replace(known, committed=left)


def _with_damage(
    cluster: Cluster, known: Observed, state: PartitionRegistration, events: Iterable[Event]
) -> Observed:
    """ISR members whose registered life is over, and whose disk lacks committed records.

    A member counts while the controller cannot know better: as long as it is not fenced, or when
    the crash itself came while it was a member. What a crash took then counts as committed: its
    leader may know already that the member had it, and commit later. Letting a broker in that is
    fenced already is no excuse.
    """
    crashed = [e.node for e in events if isinstance(e, Destroyed)]
    # After an unclean election, what was committed since.
    counts = known.committed if known.reign is None else known.reign.committed
    damaged = tuple(
        [
            m
            for m in state.isr
            if m in known.damaged or m in crashed or _is_damaged(cluster, known, m, counts)
        ]
    )
    if not damaged and state.isr:
        return known if not known.damaged else replace(known, damaged=())
    # An ISR that shrinks may leave only members that were damaged before.
    hopeless = bool(state.isr) and set(damaged) >= set(state.isr)
    if not hopeless:
        return known if damaged == known.damaged else replace(known, damaged=damaged)
    if damaged == known.damaged and known.excused and known.reign is None:
        return known
    return replace(known, damaged=damaged, excused=True, reign=None)


def _is_damaged(cluster: Cluster, known: Observed, member: BrokerId, records: Log) -> bool:
    found = registration_of(cluster, member)
    if found is None or found.fenced or _lives(cluster, member, found):
        return False
    return not _holds(cluster, known, member, records)


def _holds(cluster: Cluster, known: Observed, member: BrokerId, records: Log) -> bool:
    node = broker(cluster, member)
    return node is not None and holds(log_of(node, known.partition), records)


def _lives(cluster: Cluster, member: BrokerId, registered: Registration) -> bool:
    """Whether the process that runs is the one that is registered."""
    node = broker(cluster, member)
    if node is None or node.process is None:
        return False
    if not has_zookeeper(cluster):
        return node.process.epoch == registered.epoch
    # A broker of 2.1 does not know its own epoch.
    return registered.incarnation == node.incarnation


def _registered_epoch(cluster: Cluster, member: BrokerId) -> BrokerEpoch:
    found = registration_of(cluster, member)
    return found.epoch if found is not None else NO_BROKER_EPOCH


# --- loss ---------------------------------------------------------------------------------------


def _takes_over(cluster: Cluster, event: BecameLeader) -> tuple[Cluster, list[CommittedLost]]:
    """A leader begins: whatever it lacks of the committed records is lost from here on."""
    known = next((o for o in cluster.observed if o.partition == event.partition), None)
    node = broker(cluster, event.node)
    state = partition_of(cluster, event.partition)
    if known is None or node is None or state is None or state.leader != event.node:
        return cluster, []
    mine = log_of(node, event.partition)
    if holds(mine, known.committed):
        return cluster, []
    lost = CommittedLost(
        partition=event.partition,
        leader=event.node,
        first=first_difference(mine, known.committed),
        last=Offset(known.committed.end - 1),
    )
    # What is lost is lost once: from now on the new leader's records are the ones that count.
    replica = replica_of(node, event.partition)
    mark = replica.high_watermark if replica is not None else Offset(0)
    now = replace(known, committed=up_to(mine, mark))
    observed = tuple(now if o is known else o for o in cluster.observed)
    return replace(cluster, observed=observed), [lost]


def _loss(found: CommittedLost) -> Broken:
    detail = (
        f"broker {found.leader} leads {found.partition} without offsets {found.first}-{found.last}"
    )
    return properties.NO_COMMITTED_RECORD_LOST, found.partition, detail


# --- checks -------------------------------------------------------------------------------------


def _checks(before: Cluster, after: Cluster) -> list[Broken]:
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
        lives = _lives(cluster, member, found)
        if not lives or _holds(cluster, known, member, known.committed):
            continue
        detail = f"broker {member} could be elected without every committed record"
        yield properties.ELECTABLE_HOLDS_COMMITTED, known.partition, detail


def _stale_members(cluster: Cluster, known: Observed) -> Iterator[Broken]:
    if has_zookeeper(cluster):
        # Nobody says which life of a broker is in the ISR.
        return
    for member, epoch in known.isr_epochs:
        now = _registered_epoch(cluster, member)
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
