"""A broker in KRaft: start, registration, heartbeats, metadata, controlled shutdown.

The input is a start, an answer of the controller, an image of the metadata, or a timer. A process
asks for a broker epoch until it gets one. It plays no replica before it has replicated the metadata
up to its own registration. From then on each image is compared with the one before, and each
partition whose partition epoch changed makes it leader or follower (`leader.play`). An image that
is not newer than the known one is dropped.
A replica that is in another log directory than the metadata has is reported to the controller.
Heartbeats report its progress and its wishes. An answer with an error changes nothing: the next
heartbeat tries again, and the process neither registers anew nor fences itself.
The output is registrations, assignments and heartbeats for the controller, and facts about the
state of the process. A stop or a crash is the same under every control plane, and is in
`replica/disk.py`. Where nothing changes, the broker stays the same object.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from .. import messages
from ..errors import KafkaError
from ..facts import Fact, LifecycleChanged, Registered, ReplicaDeleted
from ..features import Features
from ..ids import CONTROLLER, NO_BROKER_EPOCH, UNKNOWN_METADATA_OFFSET, Incarnation
from ..registrations import PartitionRegistration, directory_of, registration
from ..replica import broker_parts, broker_state, disk
from ..replica.leader import play

HEARTBEAT_MS = 2_000
"""broker.heartbeat.interval.ms"""


def start(broker: broker_state.Broker, now_ms: int | None) -> broker_parts.BrokerEffect:
    """A new process: a new incarnation, nothing in memory, and a wish to be registered.

    Source: BrokerServer.startup, BrokerLifecycleManager.start and LogLoader.load (3.5.0);
    LogManager.readBrokerEpochFromCleanShutdownFiles (4.3.1), before the file is deleted.
    """
    previous = broker.durable.clean_epoch
    born = broker_state.Volatile(timers=broker_state.first_timers(now_ms), previous_epoch=previous)
    next_incarnation = Incarnation(broker.incarnation + 1)
    broker = replace(disk.load(broker), incarnation=next_incarnation, process=born)
    if previous != NO_BROKER_EPOCH:
        broker = replace(broker, durable=replace(broker.durable, clean_epoch=NO_BROKER_EPOCH))
    broker = _beating(broker, now_ms, HEARTBEAT_MS)
    fact = LifecycleChanged(broker.id, broker_state.Lifecycle.STARTING)
    return broker, register(broker)[1], (fact,)


def register(broker: broker_state.Broker) -> broker_parts.BrokerEffect:
    """Ask for a broker epoch.

    Source: BrokerLifecycleManager.sendBrokerRegistration (3.5.0, 3.9.0-rc3); KIP-631, Broker
    Registration.
    """
    request = messages.BrokerRegistrationRequest(
        broker=broker.id,
        incarnation=broker.incarnation,
        previous_epoch=broker_parts.process_of(broker).previous_epoch,
        log_dirs=broker.durable.directories,
    )
    return broker, (messages.Send(CONTROLLER, request),), ()


def registered(
    broker: broker_state.Broker,
    response: messages.BrokerRegistrationResponse,
    features: Features,
    now_ms: int | None,
) -> broker_parts.BrokerEffect:
    """A refused registration is simply tried again later; a broker never gives up on it.

    Source: BrokerLifecycleManager.BrokerRegistrationResponseHandler (3.5.0).
    """
    if response.error is not KafkaError.NONE:
        return broker, (), ()
    fact = Registered(broker.id, response.broker_epoch)
    # A process with an epoch asks for none: what it knew of the last one has served.
    known = {"epoch": response.broker_epoch, "previous_epoch": NO_BROKER_EPOCH}
    broker = broker_parts.with_process(broker, **known)
    if broker_parts.process_of(broker).published:
        # The answer to a registration sent twice: the process is further already.
        return broker, (), (fact,)
    broker, sends, facts = _publish_first(broker, features, now_ms)
    return broker, sends, (fact, *facts)


def metadata_arrived(
    broker: broker_state.Broker,
    update: messages.MetadataUpdate,
    features: Features,
    now_ms: int | None,
) -> broker_parts.BrokerEffect:
    """Replicate more of the metadata log and play the replicas that it changed.

    Source: BrokerMetadataPublisher.onMetadataUpdate and ReplicaManager.applyDelta (3.5.0).
    """
    process = broker_parts.process_of(broker)
    known_image = process.image
    if known_image is not None and known_image.offset >= update.offset:
        return broker, (), ()
    broker = replace(broker, process=replace(process, image=update))
    if not process.published:
        return _publish_first(broker, features, now_ms)
    replicated = () if known_image is None else known_image.partitions
    epochs = {p.name: p.partition_epoch for p in replicated}
    changed = [p for p in update.partitions if epochs.get(p.name) != p.partition_epoch]
    broker, deleted = _without_deleted(broker, update)
    broker, facts = _apply(broker, changed, features, now_ms)
    sends = _assignments(broker, changed, features)
    return _configured(broker, update), sends, (*deleted, *facts)


def _without_deleted(
    broker: broker_state.Broker, update: messages.MetadataUpdate
) -> tuple[broker_state.Broker, tuple[Fact, ...]]:
    """A replica of a deleted partition is stopped, and its log deleted. A process that starts finds
    such a log on its disk, and deletes it as well.

    Source: ReplicaManager.applyDelta and stopPartitions (3.5.0, 4.3.1); LogManager.loadLog and
    isStrayKraftReplica (4.3.1), BrokerMetadataPublisher.findStrayPartitions before (3.5.0).
    """
    known = {p.name for p in update.partitions}
    gone = [r.partition for r in broker.durable.replicas if r.partition not in known]
    if not gone:
        return broker, ()
    kept = tuple(r for r in broker.durable.replicas if r.partition in known)
    played = tuple(r for r in broker_parts.process_of(broker).replicas if r.partition in known)
    broker = replace(broker, durable=replace(broker.durable, replicas=kept))
    facts = tuple(ReplicaDeleted(broker.id, name) for name in gone)
    return broker_parts.with_process(broker, replicas=played), facts


def _configured(
    broker: broker_state.Broker, update: messages.MetadataUpdate
) -> broker_state.Broker:
    """The settings of topics reach the logs after the partitions have changed.

    Source: BrokerMetadataPublisher.onMetadataUpdate (4.3.1).
    """
    for state in update.partitions:
        replica = broker_state.replica_of(broker, state.name)
        if replica is not None and replica.min_insync_replicas != state.min_insync_replicas:
            changed = replace(replica, min_insync_replicas=state.min_insync_replicas)
            broker = broker_parts.with_replica(broker, changed)
    return broker


def _publish_first(
    broker: broker_state.Broker, features: Features, now_ms: int | None
) -> broker_parts.BrokerEffect:
    """A process plays no replica before it has replicated the metadata up to its registration.

    Otherwise a leader that lost its log could lead on under its old epoch.
    """
    process = broker_parts.process_of(broker)
    image = process.image
    if image is None or process.epoch == NO_BROKER_EPOCH:
        return broker, (), ()
    mine = registration(image.registrations, broker.id)
    if mine is None or mine.epoch != process.epoch:
        return broker, (), ()
    recovery = broker_state.Lifecycle.RECOVERY
    broker = replace(broker, process=replace(process, published=True, lifecycle=recovery))
    broker, deleted = _without_deleted(broker, image)
    broker, facts = _apply(broker, image.partitions, features, now_ms)
    sends = _assignments(broker, image.partitions, features)
    return broker, sends, (LifecycleChanged(broker.id, recovery), *deleted, *facts)


def _assignments(
    broker: broker_state.Broker, changed: Iterable[PartitionRegistration], features: Features
) -> tuple[messages.Send, ...]:
    """Tell the controller of replicas that are in another log directory than the metadata has.

    Source: ReplicaManager.maybeUpdateTopicAssignment and AssignmentsManager (4.3.1).
    """
    in_metadata = {s.name: directory_of(s, broker.id) for s in changed if broker.id in s.replicas}
    moved = tuple(
        messages.AssignedReplica(kept.partition, kept.directory)
        for kept in broker.durable.replicas
        if in_metadata.get(kept.partition, kept.directory) != kept.directory
    )
    if not moved or not features.assigns_directories():
        return ()
    epoch = broker_parts.process_of(broker).epoch
    request = messages.AssignReplicasToDirsRequest(
        broker=broker.id, broker_epoch=epoch, items=moved
    )
    return (messages.Send(CONTROLLER, request),)


def _apply(
    broker: broker_state.Broker,
    partitions: tuple[PartitionRegistration, ...] | list[PartitionRegistration],
    features: Features,
    now_ms: int | None,
) -> tuple[broker_state.Broker, tuple[Fact, ...]]:
    facts: list[Fact] = []
    for state in partitions:
        local = broker_state.replica_of(broker, state.name)
        older = local is not None and state.partition_epoch < local.partition_epoch
        if broker.id not in state.replicas or older:
            continue
        if local is not None and local.min_insync_replicas != state.min_insync_replicas:
            # Its log has the earlier setting until `_configured`.
            state = replace(state, min_insync_replicas=local.min_insync_replicas)
        broker, more_facts = play(broker, state, features, now_ms)
        facts += more_facts
    return broker, tuple(facts)


def heartbeat(broker: broker_state.Broker, now_ms: int | None) -> broker_parts.BrokerEffect:
    """Report to the controller; a process without a broker epoch tries to register instead.

    Source: BrokerLifecycleManager.CommunicationEvent and sendBrokerHeartbeat (3.5.0).
    """
    broker = _beating(broker, now_ms, HEARTBEAT_MS)
    process = broker_parts.process_of(broker)
    if process.epoch == NO_BROKER_EPOCH:
        return register(broker)
    request = messages.BrokerHeartbeatRequest(
        broker=broker.id,
        broker_epoch=process.epoch,
        metadata_offset=process.image.offset if process.image else UNKNOWN_METADATA_OFFSET,
        want_fence=not process.ready_to_unfence,
        want_shut_down=process.lifecycle is broker_state.Lifecycle.PENDING_CONTROLLED_SHUTDOWN,
    )
    return broker, (messages.Send(CONTROLLER, request),), ()


def _beating(
    broker: broker_state.Broker, now_ms: int | None, after_ms: int = 0
) -> broker_state.Broker:
    """The next heartbeat is due then; without a clock nothing ever is."""
    timers = broker_parts.process_of(broker).timers
    if now_ms is None or timers.heartbeat == now_ms + after_ms:
        return broker
    return broker_parts.with_process(broker, timers=replace(timers, heartbeat=now_ms + after_ms))


def heartbeat_answered(
    broker: broker_state.Broker,
    response: messages.BrokerHeartbeatResponse,
    features: Features,
) -> broker_parts.BrokerEffect:
    """Errors are retried; the broker neither re-registers nor fences itself.

    Source: BrokerLifecycleManager.BrokerHeartbeatResponseHandler (3.5.0).
    """
    process = broker_parts.process_of(broker)
    if response.error is not KafkaError.NONE:
        return broker, (), ()
    if response.should_shut_down:
        return disk.stop_cleanly(broker, notes_epoch=features.has_elr)
    if not response.is_fenced and process.lifecycle is broker_state.Lifecycle.RECOVERY:
        running = broker_state.Lifecycle.RUNNING
        fact = LifecycleChanged(broker.id, running)
        return broker_parts.with_process(broker, lifecycle=running), (), (fact,)
    return broker, (), ()


def finish_recovery(broker: broker_state.Broker, now_ms: int | None) -> broker_parts.BrokerEffect:
    """Logs are recovered: the next heartbeat, due at once, asks for the broker to be unfenced.

    Source: BrokerLifecycleManager.setReadyToUnfence (3.5.0).
    """
    return _beating(broker_parts.with_process(broker, ready_to_unfence=True), now_ms), (), ()


def begin_shutdown(
    broker: broker_state.Broker, features: Features, now_ms: int | None
) -> broker_parts.BrokerEffect:
    """Controlled shutdown: the next heartbeat, due at once, asks for the broker to be let go.

    Outside RUNNING it stops without asking.

    Source: BrokerLifecycleManager.beginControlledShutdown (3.5.0).
    """
    if broker_parts.process_of(broker).lifecycle is not broker_state.Lifecycle.RUNNING:
        return disk.stop_cleanly(broker, notes_epoch=features.has_elr)
    leaving = broker_state.Lifecycle.PENDING_CONTROLLED_SHUTDOWN
    fact = LifecycleChanged(broker.id, leaving)
    return _beating(broker_parts.with_process(broker, lifecycle=leaving), now_ms), (), (fact,)
