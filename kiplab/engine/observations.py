"""What the observer knows of each partition, brought up to date after a move.

What was committed, under which epochs the members of the ISR caught up, who died without committed
records. No rule reads it.
"""

from collections.abc import Iterable
from typing import TypeVar

from msgspec.structs import replace

from ..protocol import facts, log
from ..protocol.clients.consumer import Consumer
from ..protocol.clients.producer import Producer
from ..protocol.ids import NO_BROKER_EPOCH, NO_LEADER, BrokerEpoch, BrokerId, Offset
from ..protocol.messages import AlterPartitionRequest
from ..protocol.registrations import PartitionRegistration, Registration
from ..protocol.replica.broker_state import log_of
from .cluster import Cluster, Observed, broker
from .events import Delivered, Event
from .nodes import has_zookeeper
from .truth import partition_of, registration_of
from .unclean_leader_epochs import with_unclean_epoch

Client = TypeVar("Client", Consumer, Producer)


def updated(cluster: Cluster, known: Observed, events: Iterable[Event]) -> Observed:
    state = partition_of(cluster, known.partition)
    if state is None:
        return known
    asked: dict[BrokerId, BrokerEpoch] = {}
    loser = _loser(cluster, known, state, events) if events else NO_LEADER
    for event in events:
        if isinstance(event, Delivered) and isinstance(event.body, AlterPartitionRequest):
            asked = _epochs_asked(event.body, known.partition)
        elif isinstance(event, facts.IsrChanged) and event.partition == known.partition:
            known = _with_members(cluster, known, state, asked)
        elif isinstance(event, facts.LeaderElected) and event.partition == known.partition:
            known = _after_election(cluster, known, state, event)
        elif (
            isinstance(event, facts.HighWatermarkMoved)
            and event.partition == known.partition
            and event.node != loser
        ):
            known = _committed(cluster, known, event.node, event.after)
        elif isinstance(event, facts.RecordsDeleted) and event.partition == known.partition:
            known = _without_deleted(known, event)
    if known.excused:
        known = with_unclean_epoch(cluster, known, state, events)
    return _with_damage(cluster, known, state, events)


def _loser(
    cluster: Cluster, known: Observed, state: PartitionRegistration, events: Iterable[Event]
) -> BrokerId:
    """The new leader, if it lacks what was committed: a loss, however far its high watermark is."""
    begins = any(
        isinstance(e, facts.BecameLeader) and (e.partition, e.node) == (state.name, state.leader)
        for e in events
    )
    node = broker(cluster, state.leader) if begins else None
    if node is None or log.holds(log_of(node, known.partition), known.committed):
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
        return said if said != NO_BROKER_EPOCH else registered_epoch(cluster, member)

    return replace(known, isr_epochs=tuple((m, epoch(m)) for m in state.isr))


def _after_election(
    cluster: Cluster, known: Observed, state: PartitionRegistration, event: facts.LeaderElected
) -> Observed:
    if event.leader == NO_LEADER:
        return known
    fresh = registered_epoch(cluster, event.leader)
    lone = state.isr == (event.leader,)
    epochs = ((event.leader, fresh),) if lone else known.isr_epochs
    if event.unclean:
        return replace(known, isr_epochs=epochs, damaged=(), excused=True)
    return replace(known, isr_epochs=epochs)


def _committed(cluster: Cluster, known: Observed, leader: BrokerId, mark: Offset) -> Observed:
    node = broker(cluster, leader)
    if node is None or mark <= known.committed.end:
        return known
    found = log.up_to(log_of(node, known.partition), mark)
    # A new leader may still have what another one had deleted; nobody misses it.
    return replace(known, committed=log.delete_before(found, known.committed.start))


def with_deleted(client: Client, event: facts.RecordsDeleted) -> Client:
    """As `_without_deleted`, of what a consumer has read or a producer was told is written."""
    left = log.delete_before(client.observed, Offset(min(event.start, client.observed.end)))
    if client.partition != event.partition or left is client.observed:
        return client
    return replace(client, observed=left)


def _without_deleted(known: Observed, event: facts.RecordsDeleted) -> Observed:
    """What is deleted on purpose is not lost."""
    left = log.delete_before(known.committed, Offset(min(event.start, known.committed.end)))
    return known if left is known.committed else replace(known, committed=left)


def _with_damage(
    cluster: Cluster, known: Observed, state: PartitionRegistration, events: Iterable[Event]
) -> Observed:
    """ISR members whose registered incarnation is over, and whose disk lacks committed records.

    A member counts while the controller cannot know better: as long as it is not fenced, or when
    the crash itself came while it was a member. What a crash took then counts as committed: its
    leader may know already that the member had it, and commit later. Letting a broker in that is
    fenced already is no excuse.
    """
    crashed = [e.node for e in events if isinstance(e, facts.Destroyed)]
    # After an unclean election, what was committed since.
    counts = known.committed if known.unclean_epoch is None else known.unclean_epoch.committed
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
    if damaged == known.damaged and known.excused and known.unclean_epoch is None:
        return known
    return replace(known, damaged=damaged, excused=True, unclean_epoch=None)


def _is_damaged(cluster: Cluster, known: Observed, member: BrokerId, records: log.Log) -> bool:
    found = registration_of(cluster, member)
    if found is None or found.fenced or is_running(cluster, member, found):
        return False
    return not holds_records(cluster, known, member, records)


def holds_records(cluster: Cluster, known: Observed, member: BrokerId, records: log.Log) -> bool:
    node = broker(cluster, member)
    return node is not None and log.holds(log_of(node, known.partition), records)


def is_running(cluster: Cluster, member: BrokerId, registered: Registration) -> bool:
    """Whether the process that runs is the one that is registered."""
    node = broker(cluster, member)
    if node is None or node.process is None:
        return False
    if not has_zookeeper(cluster):
        return node.process.epoch == registered.epoch
    # A broker of 2.1 does not know its own epoch.
    return registered.incarnation == node.incarnation


def registered_epoch(cluster: Cluster, member: BrokerId) -> BrokerEpoch:
    found = registration_of(cluster, member)
    return found.epoch if found is not None else NO_BROKER_EPOCH
