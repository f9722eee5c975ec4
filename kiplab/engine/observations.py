"""The observer's knowledge of each partition, updated after a move.

It has the committed records, the incarnations in which members of the ISR caught up, and the
brokers that died without committed records. No rule reads it.
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
from ..protocol.replica.broker_state import log_of, replica_of
from .cluster import Cluster, Observed, broker
from .events import Delivered, Event
from .nodes import has_zookeeper
from .truth import partition_of, registration_of
from .unclean_leader_epochs import with_unclean_epoch, without_deleted

Client = TypeVar("Client", Consumer, Producer)


def updated(cluster: Cluster, observed: Observed, events: Iterable[Event]) -> Observed:
    state = partition_of(cluster, observed.partition)
    if state is None:
        return observed
    proposed: dict[BrokerId, BrokerEpoch] = {}
    loser = _loser(cluster, observed, state, events) if events else NO_LEADER
    for event in events:
        if isinstance(event, Delivered) and isinstance(event.body, AlterPartitionRequest):
            proposed = _epochs_asked(event.body, observed.partition)
        elif getattr(event, "partition", None) != observed.partition:
            continue
        elif isinstance(event, facts.IsrChanged):
            observed = _with_members(cluster, observed, state, proposed)
        elif isinstance(event, facts.LeaderElected):
            observed = _after_election(cluster, observed, state, event)
        elif isinstance(event, facts.HighWatermarkMoved) and event.node != loser:
            observed = _committed(cluster, observed, event.node, event.after)
            if _commits_too_little(cluster, state, event.node):
                observed = replace(observed, excused=True, unclean_epoch=None)
        elif isinstance(event, facts.RecordsDeleted):
            left = without_deleted(observed.committed, event)
            if left is not observed.committed:
                observed = replace(observed, committed=left)
    if observed.excused:
        observed = with_unclean_epoch(cluster, observed, state, events)
    return _with_damage(cluster, observed, state, events)


def _commits_too_little(cluster: Cluster, state: PartitionRegistration, leader: BrokerId) -> bool:
    """Whether the leader has not heard of a higher min.insync.replicas, by which the controller
    says already who is an eligible leader replica. Kafka has no rule against it.
    """
    node = broker(cluster, leader)
    if node is None or not cluster.features.has_elr:
        return False
    replica = replica_of(node, state.name)
    return replica is not None and replica.min_insync_replicas < state.min_insync_replicas


def _loser(
    cluster: Cluster, observed: Observed, state: PartitionRegistration, events: Iterable[Event]
) -> BrokerId:
    """The new leader, if it lacks what was committed: a loss, however far its high watermark is."""
    begins = any(
        isinstance(e, facts.BecameLeader) and (e.partition, e.node) == (state.name, state.leader)
        for e in events
    )
    node = broker(cluster, state.leader) if begins else None
    if node is None or log.holds(log_of(node, observed.partition), observed.committed):
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
    observed: Observed,
    state: PartitionRegistration,
    proposed_epochs: dict[BrokerId, BrokerEpoch],
) -> Observed:
    """The members of the ISR, each with the broker epoch under which it caught up."""
    before = dict(observed.isr_epochs)

    def epoch(member: BrokerId) -> BrokerEpoch:
        if member in before:
            return before[member]
        proposed = proposed_epochs.get(member, NO_BROKER_EPOCH)
        return registered_epoch(cluster, member) if proposed == NO_BROKER_EPOCH else proposed

    return replace(observed, isr_epochs=tuple((m, epoch(m)) for m in state.isr))


def _after_election(
    cluster: Cluster, observed: Observed, state: PartitionRegistration, event: facts.LeaderElected
) -> Observed:
    if event.leader == NO_LEADER:
        return observed
    fresh = registered_epoch(cluster, event.leader)
    lone = state.isr == (event.leader,)
    epochs = ((event.leader, fresh),) if lone else observed.isr_epochs
    if event.unclean:
        return replace(observed, isr_epochs=epochs, damaged=(), excused=True)
    return replace(observed, isr_epochs=epochs)


def _committed(cluster: Cluster, observed: Observed, leader: BrokerId, mark: Offset) -> Observed:
    node = broker(cluster, leader)
    if node is None or mark <= observed.committed.end:
        return observed
    records = log.up_to(log_of(node, observed.partition), mark)
    # A new leader may still have records that another one had deleted: they are not missed.
    return replace(observed, committed=log.delete_before(records, observed.committed.start))


def with_deleted(client: Client, event: facts.RecordsDeleted) -> Client:
    """The client without deleted records among those it has read or got acknowledged."""
    left = without_deleted(client.observed, event)
    if client.partition != event.partition or left is client.observed:
        return client
    return replace(client, observed=left)


def _with_damage(
    cluster: Cluster, observed: Observed, state: PartitionRegistration, events: Iterable[Event]
) -> Observed:
    """Members of the ISR whose registered incarnation is over, and whose disk lacks committed
    records.

    With eligible leader replicas (KIP-966) no lost disk is an excuse: who comes back without one is
    in neither list, and what is lost then is lost by an unclean election.

    A member counts while the controller cannot know better: as long as it is not fenced, or when
    the crash itself came while it was a member. What a crash took then counts as committed: its
    leader may know already that the member had it, and commit later. Letting a broker in that is
    fenced already is no excuse.
    """
    if cluster.features.has_elr:
        return observed
    crashed = [e.node for e in events if isinstance(e, facts.Destroyed)]
    # After an unclean election, what was committed since.
    since = observed.unclean_epoch
    counts = observed.committed if since is None else since.committed
    members = [
        m
        for m in state.isr
        if m in observed.damaged or m in crashed or _is_damaged(cluster, observed, m, counts)
    ]
    damaged = tuple(members)
    if not damaged and state.isr:
        return observed if not observed.damaged else replace(observed, damaged=())
    # An ISR that shrinks may leave only members that were damaged before.
    hopeless = bool(state.isr) and set(damaged) >= set(state.isr)
    if not hopeless:
        return observed if damaged == observed.damaged else replace(observed, damaged=damaged)
    if damaged == observed.damaged and observed.excused and observed.unclean_epoch is None:
        return observed
    return replace(observed, damaged=damaged, excused=True, unclean_epoch=None)


def _is_damaged(cluster: Cluster, observed: Observed, member: BrokerId, records: log.Log) -> bool:
    registration = registration_of(cluster, member)
    if registration is None or registration.fenced or is_running(cluster, member, registration):
        return False
    return not holds_records(cluster, observed, member, records)


def holds_records(cluster: Cluster, observed: Observed, member: BrokerId, records: log.Log) -> bool:
    node = broker(cluster, member)
    return node is not None and log.holds(log_of(node, observed.partition), records)


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
    registration = registration_of(cluster, member)
    return registration.epoch if registration is not None else NO_BROKER_EPOCH
