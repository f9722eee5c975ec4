"""A broker process: start, registration, heartbeats, metadata, shutdown, crash.

Source: kafka.server.BrokerLifecycleManager, kafka.server.metadata.BrokerMetadataPublisher.
"""

from __future__ import annotations

from msgspec.structs import replace

from ..errors import KafkaError
from ..facts import Destroyed, Fact, LifecycleChanged, Registered
from ..features import Features
from ..ids import CONTROLLER, NO_BROKER_EPOCH, Offset
from ..messages import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    MetadataUpdate,
    Send,
)
from ..registrations import PartitionRegistration, partition, registration
from ..replica import broker_parts, log
from ..replica.broker_state import (
    Broker,
    Durable,
    DurableReplica,
    Lifecycle,
    Loss,
    Timers,
    Volatile,
    replica_of,
)
from ..replica.fetching import make_follower
from ..replica.leader import make_leader

HEARTBEAT_MS = 2_000
"""broker.heartbeat.interval.ms"""
LAG_CHECK_MS = 15_000
"""Half of replica.lag.time.max.ms."""
CHECKPOINT_MS = 5_000
"""replica.high.watermark.checkpoint.interval.ms"""
FLUSH_MS = 30_000
"""What a Linux page cache keeps dirty pages for by default; Kafka itself does not force it."""


def start(broker: Broker, now_ms: int | None) -> broker_parts.Effect:
    """A new process: a new incarnation, nothing in memory, and a wish to be registered."""
    born = Volatile(timers=_first_timers(now_ms))
    loaded = tuple(_with_log(r, log.truncate(r.log, r.log.end)) for r in broker.durable.replicas)
    broker = _with_durable(broker, loaded)
    broker = replace(broker, incarnation=broker.incarnation + 1, process=born)
    fact = LifecycleChanged(node=broker.id, state=Lifecycle.STARTING)
    sends = register(broker)[1]
    return broker, sends, (fact,)


def register(broker: Broker) -> broker_parts.Effect:
    """Ask for a broker epoch."""
    request = BrokerRegistrationRequest(broker=broker.id, incarnation=broker.incarnation)
    return broker, (Send(CONTROLLER, request),), ()


def registered(
    broker: Broker, response: BrokerRegistrationResponse, features: Features, now_ms: int | None
) -> broker_parts.Effect:
    """A refused registration is simply tried again later; a broker never gives up on it."""
    process = broker_parts.process_of(broker)
    if response.error is not KafkaError.NONE:
        return broker, (), ()
    fact = Registered(node=broker.id, epoch=response.broker_epoch)
    broker = replace(broker, process=replace(process, epoch=response.broker_epoch))
    if process.published:
        # The answer to a registration sent twice: the process is further already.
        return broker, (), (fact,)
    broker, facts = _publish_first(broker, features, now_ms)
    return broker, (), (fact, *facts)


def metadata_arrived(
    broker: Broker, update: MetadataUpdate, features: Features, now_ms: int | None
) -> broker_parts.Effect:
    """Replicate more of the metadata log and play the replicas that it changed."""
    process = broker_parts.process_of(broker)
    known = process.image
    if known is not None and known.offset >= update.offset:
        return broker, (), ()
    broker = replace(broker, process=replace(process, image=update))
    if not process.published:
        broker, facts = _publish_first(broker, features, now_ms)
        return broker, (), facts
    changed = [
        p
        for p in update.partitions
        if known is None or _epoch_of(known, p.name) != p.partition_epoch
    ]
    broker, facts = _apply(broker, changed, features, now_ms)
    return broker, (), facts


def _epoch_of(image: MetadataUpdate, name: str) -> int | None:
    found = partition(image.partitions, name)
    return None if found is None else found.partition_epoch


def _publish_first(
    broker: Broker, features: Features, now_ms: int | None
) -> tuple[Broker, tuple[Fact, ...]]:
    """A process plays no replica before it has replicated the metadata up to its registration.

    Otherwise a leader that lost its log could lead on under its old epoch.
    """
    process = broker_parts.process_of(broker)
    image = process.image
    if image is None or process.epoch == NO_BROKER_EPOCH:
        return broker, ()
    mine = registration(image.registrations, broker.id)
    if mine is None or mine.epoch != process.epoch:
        return broker, ()
    ready = replace(process, published=True, lifecycle=Lifecycle.RECOVERY)
    fact = LifecycleChanged(node=broker.id, state=Lifecycle.RECOVERY)
    broker, facts = _apply(replace(broker, process=ready), image.partitions, features, now_ms)
    return broker, (fact, *facts)


def _apply(
    broker: Broker,
    partitions: tuple[PartitionRegistration, ...] | list[PartitionRegistration],
    features: Features,
    now_ms: int | None,
) -> tuple[Broker, tuple[Fact, ...]]:
    facts: list[Fact] = []
    for state in partitions:
        local = replica_of(broker, state.name)
        older = local is not None and state.partition_epoch < local.partition_epoch
        if broker.id not in state.replicas or older:
            continue
        broker, found = _play(broker, state, features, now_ms)
        facts += found
    return broker, tuple(facts)


def _play(
    broker: Broker, state: PartitionRegistration, features: Features, now_ms: int | None
) -> tuple[Broker, tuple[Fact, ...]]:
    local = replica_of(broker, state.name)
    if state.leader != broker.id:
        follower, facts = make_follower(broker, local, state)
        return broker_parts.with_replica(broker, follower), facts
    mine = log.assign_epoch_start(broker_parts.log_of(broker, state.name), state.leader_epoch)
    broker = broker_parts.with_log(broker, state.name, mine)
    here = broker_parts.here(broker, features, now_ms)
    checkpoint = broker_parts.checkpoint_of(broker, state.name)
    leader, facts = make_leader(here, local, mine, checkpoint, state)
    return broker_parts.with_replica(broker, leader), facts


def heartbeat(broker: Broker, now_ms: int | None) -> broker_parts.Effect:
    """Report to the controller; a process without a broker epoch tries to register instead."""
    process = broker_parts.process_of(broker)
    if now_ms is not None:
        timers = replace(process.timers, heartbeat=now_ms + HEARTBEAT_MS)
        process = replace(process, timers=timers)
        broker = replace(broker, process=process)
    if process.epoch == NO_BROKER_EPOCH:
        return register(broker)
    request = BrokerHeartbeatRequest(
        broker=broker.id,
        broker_epoch=process.epoch,
        metadata_offset=process.image.offset if process.image else -1,
        want_fence=not process.ready_to_unfence,
        want_shut_down=process.lifecycle is Lifecycle.PENDING_CONTROLLED_SHUTDOWN,
    )
    return broker, (Send(CONTROLLER, request),), ()


def heartbeat_answered(broker: Broker, response: BrokerHeartbeatResponse) -> broker_parts.Effect:
    """Errors are retried; the broker neither re-registers nor fences itself."""
    process = broker_parts.process_of(broker)
    if response.error is not KafkaError.NONE:
        return broker, (), ()
    if response.should_shut_down:
        return stop_cleanly(broker)
    if not response.is_fenced and process.lifecycle is Lifecycle.RECOVERY:
        running = replace(process, lifecycle=Lifecycle.RUNNING)
        fact = LifecycleChanged(node=broker.id, state=Lifecycle.RUNNING)
        return replace(broker, process=running), (), (fact,)
    return broker, (), ()


def finish_recovery(broker: Broker, now_ms: int | None) -> broker_parts.Effect:
    """Logs are recovered: the next heartbeat, due at once, asks for the broker to be unfenced."""
    process = replace(broker_parts.process_of(broker), ready_to_unfence=True)
    if now_ms is not None:
        process = replace(process, timers=replace(process.timers, heartbeat=now_ms))
    return replace(broker, process=process), (), ()


def begin_shutdown(broker: Broker, now_ms: int | None) -> broker_parts.Effect:
    """Controlled shutdown: the next heartbeat, due at once, asks for the broker to be let go.

    Outside RUNNING it stops without asking.
    """
    process = broker_parts.process_of(broker)
    if process.lifecycle is not Lifecycle.RUNNING:
        return stop_cleanly(broker)
    leaving = Lifecycle.PENDING_CONTROLLED_SHUTDOWN
    fact = LifecycleChanged(node=broker.id, state=leaving)
    process = replace(process, lifecycle=leaving)
    if now_ms is not None:
        process = replace(process, timers=replace(process.timers, heartbeat=now_ms))
    return replace(broker, process=process), (), (fact,)


def stop_cleanly(broker: Broker) -> broker_parts.Effect:
    """Flush, checkpoint, exit."""
    broker = checkpoint(flush(broker)[0])[0]
    return replace(broker, process=None), (), (LifecycleChanged(node=broker.id, state="STOPPED"),)


def flush(broker: Broker) -> broker_parts.Effect:
    """The operating system writes the page cache to disk."""
    flushed = tuple(_with_log(r, log.flush(r.log)) for r in broker.durable.replicas)
    return _with_durable(broker, flushed), (), ()


def checkpoint(broker: Broker) -> broker_parts.Effect:
    """The process writes its high watermarks to disk."""
    process = broker_parts.process_of(broker)
    marks = {r.partition: r.high_watermark for r in process.replicas}
    written = tuple(
        replace(r, checkpoint=marks.get(r.partition, r.checkpoint))
        if marks.get(r.partition, r.checkpoint) != r.checkpoint
        else r
        for r in broker.durable.replicas
    )
    return _with_durable(broker, written), (), ()


def crash(broker: Broker, loss: Loss) -> broker_parts.Effect:
    """The process is gone, and with it whatever `loss` says."""
    facts: list[Fact] = [LifecycleChanged(node=broker.id, state="CRASHED")]
    kept: list[DurableReplica] = []
    for replica in broker.durable.replicas:
        left = _after_loss(replica, loss)
        kept.append(left)
        if left.log.end < replica.log.end:
            facts.append(
                Destroyed(
                    node=broker.id,
                    partition=replica.partition,
                    first=left.log.end,
                    last=Offset(replica.log.end - 1),
                )
            )
    durable = Durable(tuple(kept))
    return replace(broker, durable=durable, process=None), (), tuple(facts)


def _after_loss(replica: DurableReplica, loss: Loss) -> DurableReplica:
    if loss is Loss.NOTHING:
        return replica
    if loss is Loss.DISK:
        return DurableReplica(replica.partition)
    left = log.truncate(replica.log, replica.log.flushed)
    return replace(replica, log=left, checkpoint=Offset(min(replica.checkpoint, left.end)))


def _with_log(replica: DurableReplica, found: log.Log) -> DurableReplica:
    return replica if found is replica.log else replace(replica, log=found)


def _with_durable(broker: Broker, replicas: tuple[DurableReplica, ...]) -> Broker:
    same = all(a is b for a, b in zip(replicas, broker.durable.replicas, strict=True))
    return broker if same else replace(broker, durable=Durable(replicas))


def _first_timers(now_ms: int | None) -> Timers:
    if now_ms is None:
        return Timers()
    return Timers(
        heartbeat=now_ms + HEARTBEAT_MS,
        fetch=now_ms,
        lag_check=now_ms + LAG_CHECK_MS,
        retry=now_ms,
        checkpoint=now_ms + CHECKPOINT_MS,
        flush=now_ms + FLUSH_MS,
    )
