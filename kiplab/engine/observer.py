"""The observer: sees every log at once, and says when a property stops holding.

It runs after each move and looks only at what the move changed. No rule reads what it knows.
"""

from collections.abc import Iterable, Iterator
from operator import is_

from msgspec.structs import replace

from ..protocol import facts, log, messages, registrations, zookeeper_facts
from ..protocol.clients.consumer import Consumer
from ..protocol.clients.producer import Producer
from ..protocol.ids import Offset
from ..protocol.replica.broker_state import Broker, log_of, replica_of
from . import at_rest, nodes, observations, properties
from .cluster import Cluster, Observed, broker
from .events import CommittedLost, Delivered, Event, PropertyBroken
from .truth import controller_of, is_same_truth, partition_of, registration_of, truth
from .unclean_leader_epochs import Broken, contradictions, knowing_leader


def observe(
    before: Cluster, after: Cluster, events: Iterable[Event]
) -> tuple[Cluster, list[Event]]:
    """`after` with the observer's knowledge brought up to date, and what it noticed."""
    zookeeper = nodes.has_zookeeper(after)
    if not (zookeeper or _may_matter(before, after)):
        return after, []
    noticed: list[Event] = []
    broken: list[Broken] = []
    events = tuple([e for e in events if type(e) in _MAY_BE_HEEDED and heeds(e)])
    observed = tuple([observations.updated(after, o, events) for o in after.observed])
    if not all(map(is_, observed, after.observed)):
        after = replace(after, observed=observed)
    for event in events:
        if isinstance(event, facts.RecordsDeleted) and (after.consumers or after.producers):
            readers = tuple(observations.with_deleted(reader, event) for reader in after.consumers)
            writers = tuple(observations.with_deleted(writer, event) for writer in after.producers)
            after = replace(after, consumers=readers, producers=writers)
        elif isinstance(event, facts.BecameLeader):
            after, lost = _takes_over(after, event)
            noticed += lost
            broken += [_loss(broken_property) for broken_property in lost]
    broken += checks(before, after)
    if zookeeper:
        broken += at_rest.broken_with_zookeeper(after, events)
    for broken_property, name, detail in broken:
        after, fact = _report(after, broken_property, name, detail)
        noticed += fact
    return after, noticed


_HEEDED = {
    *(facts.BecameLeader, facts.Destroyed, facts.HighWatermarkMoved, facts.IsrChanged),
    *(facts.LeaderElected, facts.Polled, facts.RecordsDeleted, zookeeper_facts.CheckpointLost),
}
_MAY_BE_HEEDED = _HEEDED | {Delivered}


def heeds(event: Event) -> bool:
    """Whether the observer reads such an event; everything else it finds in the cluster."""
    if type(event) is Delivered:
        return isinstance(event.body, messages.AlterPartitionRequest)
    return type(event) in _HEEDED


def broken_now(cluster: Cluster) -> tuple[str, ...]:
    """Ids of the properties that do not hold in `cluster` as it stands, whatever led there."""
    return tuple(
        dict.fromkeys(broken_property.id for broken_property, _, _ in checks(cluster, cluster))
    )


def _may_matter(before: Cluster, after: Cluster) -> bool:
    """Whether the move changed anything that a property speaks of: most heartbeats do not."""
    if not is_same_truth(before, after):
        was, now = truth(before), truth(after)
        if now.partitions is not was.partitions or now.registrations is not was.registrations:
            return True
        if now.controller_epoch != was.controller_epoch:
            return True
    if after.consumers is not before.consumers or after.producers is not before.producers:
        return True
    if after.brokers is before.brokers:
        return False
    for node, changed in zip(before.brokers, after.brokers, strict=True):
        if node is changed:
            continue
        old, new = node.process, changed.process
        if changed.durable is not node.durable or old is None or new is None:
            return True
        if new.replicas is not old.replicas or new.epoch != old.epoch:
            return True
    return False


def _report(
    cluster: Cluster, broken_property: properties.Property, name: str, detail: str
) -> tuple[Cluster, list[Event]]:
    """Only the first time that a property breaks for a partition is news."""
    if (broken_property.id, name) in cluster.broken:
        return cluster, []
    excused = any(o.excused for o in cluster.observed if o.partition == name)
    promised = properties.is_promised(
        broken_property,
        cluster.features,
        excused=excused,
        forged=cluster.forged or (cluster.inherited and bool(broken_property.needs)),
        without_controller=controller_of(cluster) is None,
    )
    fact = PropertyBroken(
        property=broken_property.id, partition=name, detail=detail, promised=promised
    )
    return replace(cluster, broken=(*cluster.broken, (broken_property.id, name))), [fact]


# --- loss ---------------------------------------------------------------------------------------


def _takes_over(cluster: Cluster, event: facts.BecameLeader) -> tuple[Cluster, list[CommittedLost]]:
    """A leader begins: committed records that it lacks are lost from here on."""
    before = next((o for o in cluster.observed if o.partition == event.partition), None)
    node = broker(cluster, event.node)
    state = partition_of(cluster, event.partition)
    if before is None or node is None or state is None or state.leader != event.node:
        return cluster, []
    mine = log_of(node, event.partition)
    if log.holds(mine, before.committed):
        return cluster, []
    lost = CommittedLost(
        partition=event.partition,
        leader=event.node,
        first=log.first_difference(mine, before.committed),
        last=Offset(before.committed.end - 1),
    )
    # What is lost is lost once: from now on the new leader's records are the ones that count.
    replica = replica_of(node, event.partition)
    mark = replica.high_watermark if replica is not None else Offset(0)
    now = replace(before, committed=log.up_to(mine, mark))
    observed = tuple(now if o is before else o for o in cluster.observed)
    return replace(cluster, observed=observed), [lost]


def _loss(lost: CommittedLost) -> Broken:
    detail = f"broker {lost.leader} leads {lost.partition} without offsets {lost.first}-{lost.last}"
    return properties.NO_COMMITTED_RECORD_LOST, lost.partition, detail


def checks(before: Cluster, after: Cluster) -> list[Broken]:
    broken: list[Broken] = []
    for observed in after.observed:
        state = partition_of(after, observed.partition)
        if state is not None:
            broken += _unelectable(after, observed, state)
            # KIP-903, a notable exception: the last member stays in any case.
            if len(state.isr) != 1:
                broken += _stale_members(after, observed)
            if observed.unclean_epoch is not None:
                broken += contradictions(after, observed, state)
    for old, new in zip(before.brokers, after.brokers, strict=True):
        if old.process is not new.process:
            broken += _fallen_marks(old, new)
        if old.durable is not new.durable:
            broken += _mismatches(after, old, new)
    if not is_same_truth(before, after):
        broken += _fallen_epochs(before, after)
    for reader in after.consumers:
        fate = f"which {reader.name} has read"
        broken += _forgotten(after, reader, properties.CONSUMER_READS_STAY, fate)
    for writer in after.producers:
        fate = f"which was acknowledged to {writer.name}"
        broken += _forgotten(after, writer, properties.ACKNOWLEDGED_RECORDS_STAY, fate)
    return broken


def _unelectable(
    cluster: Cluster, observed: Observed, state: registrations.PartitionRegistration
) -> Iterator[Broken]:
    for member in state.isr or state.elr:
        registration = registration_of(cluster, member)
        if registration is None or registration.fenced or registration.in_controlled_shutdown:
            continue
        runs = observations.is_running(cluster, member, registration)
        if not runs or observations.holds_records(cluster, observed, member, observed.committed):
            continue
        detail = f"broker {member} could be elected without every committed record"
        yield properties.ELECTABLE_HOLDS_COMMITTED, observed.partition, detail


def _stale_members(cluster: Cluster, observed: Observed) -> Iterator[Broken]:
    if nodes.has_zookeeper(cluster):
        # ZooKeeper does not store which incarnation of a broker is in the ISR.
        return
    for member, epoch in observed.isr_epochs:
        now = observations.registered_epoch(cluster, member)
        if epoch != now:
            detail = f"broker {member} caught up as epoch {epoch}, but is registered as {now}"
            yield properties.NO_STALE_EPOCH_IN_ISR, observed.partition, detail


def _fallen_marks(old: Broker, new: Broker) -> Iterator[Broken]:
    if old.process is None or old.incarnation != new.incarnation:
        return
    for was in old.process.replicas:
        now = replica_of(new, was.partition)
        if now is None or was.leading is None or now.leading is None:
            continue
        if now.leader_epoch == was.leader_epoch and now.high_watermark < was.high_watermark:
            detail = f"broker {new.id}: {was.high_watermark} to {now.high_watermark}"
            yield properties.HIGH_WATERMARK_STAYS, was.partition, detail


def _forgotten(
    cluster: Cluster, client: Consumer | Producer, broken: properties.Property, fate: str
) -> Iterator[Broken]:
    """Records of a client that are missing on the leader; it must know that it leads."""
    state = partition_of(cluster, client.partition) if client.observed.end else None
    node = knowing_leader(cluster, state) if state is not None else None
    if node is None:
        return
    missing = log.first_missing(log_of(node, client.partition), client.observed)
    if missing is not None:
        words = f"broker {node.id} leads without offset {missing}, {fate}"
        yield broken, client.partition, words


def _mismatches(cluster: Cluster, old: Broker, new: Broker) -> Iterator[Broken]:
    for replica in new.durable.replicas:
        if log_of(old, replica.partition) is replica.log:
            continue
        for other in cluster.brokers:
            if other.id != new.id and not _match(replica.log, log_of(other, replica.partition)):
                detail = f"the logs of brokers {new.id} and {other.id} diverge and agree again"
                yield properties.LOGS_MATCH, replica.partition, detail


def _match(one: log.Log, other: log.Log) -> bool:
    if one.epochs == other.epochs:
        return True
    shared = min(one.end, other.end)
    parted = log.first_difference(one, other)
    later = {parted, *(e.offset for e in (*one.epochs, *other.epochs) if e.offset >= parted)}
    return all(
        log.epoch_at(one, Offset(o)) != log.epoch_at(other, Offset(o)) for o in later if o < shared
    )


def _fallen_epochs(before: Cluster, after: Cluster) -> Iterator[Broken]:
    old, new = truth(before), truth(after)
    if new.controller_epoch < old.controller_epoch:
        detail = f"controller epoch {old.controller_epoch} to {new.controller_epoch}"
        yield properties.EPOCHS_STAY, "", detail
    for was in old.partitions:
        now = registrations.partition(new.partitions, was.name)
        epochs = was.leader_epoch, was.partition_epoch
        if now is not None and (now.leader_epoch, now.partition_epoch) < epochs:
            yield properties.EPOCHS_STAY, was.name, "an epoch of the partition went back"
    for lasting in old.registrations:
        renewed = registrations.registration(new.registrations, lasting.broker)
        if renewed is not None and renewed.epoch < lasting.epoch:
            detail = f"broker {lasting.broker}: {lasting.epoch} to {renewed.epoch}"
            yield properties.EPOCHS_STAY, "", detail
