"""A broker's handling of a controller's three requests: LeaderAndIsr, UpdateMetadata, StopReplica.

The input is a request that has waited in a controller's queue, perhaps since another incarnation of
this broker. Checks are in Kafka's order: the broker epoch in it, from 2.2 on (is it meant for this
incarnation?), the controller epoch (has a later controller sent requests since?), and then the
leader epoch of each partition, one by one. A request that fails one of the first two changes
nothing. LeaderAndIsr makes leaders and followers (`leader.play`). A follower whose leader is not in
its metadata gets its replica and no more, not even the leader epoch. The first accepted
LeaderAndIsr starts the task that checkpoints high watermarks, and that writes at once.
UpdateMetadata replaces the live brokers, and the state of the partitions that it names. StopReplica
stops the fetcher, and may delete the log. The output is the broker, the answer, and facts.
"""

from msgspec.structs import replace

from .. import ids
from ..errors import KafkaError
from ..facts import Compared, Fact, Refused, compare
from ..features import Features
from ..messages import (
    KINDS,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    MetadataUpdate,
    PartitionStatus,
    Response,
    Send,
    StopReplicaItem,
    StopReplicaRequest,
    StopReplicaResponse,
    UpdateMetadataRequest,
    UpdateMetadataResponse,
)
from ..messages.api_message import ControlRequest
from ..registrations import LeaderRecoveryState, PartitionRegistration, Registration, registration
from ..replica import alter_partition_manager, broker_parts, disk, leader
from ..replica.broker_state import Broker, Lifecycle, Replica, log_of, replica_of
from ..zookeeper_facts import ReplicaStopped

LEADER_DURING_DELETE = ids.BrokerId(-2)
"""The leader of a partition that is being deleted (LeaderAndIsr.LeaderDuringDelete)."""
_ALIVE = ids.Incarnation(0)
"""UpdateMetadata says that a broker lives, and nothing of its process."""


def leader_and_isr(
    broker: Broker, request: LeaderAndIsrRequest, features: Features, now_ms: int | None
) -> broker_parts.BrokerEffect:
    """Lead and follow as the controller says.

    Source: KafkaApis.handleLeaderAndIsrRequest and ReplicaManager.becomeLeaderOrFollower (2.1.1,
    2.2.2, 2.6.3, 2.8.2, 3.4.1).
    """
    refused = _refused_whole(broker, request, features)
    if refused is not None:
        all_alike = tuple(PartitionStatus(p.name, refused.error) for p in request.partitions)
        reply = LeaderAndIsrResponse(error=refused.error, partitions=all_alike)
        return broker, (_to(request, reply),), (refused,)
    broker = _obeys(broker, request)
    statuses: list[PartitionStatus] = []
    facts: list[Fact] = []
    for state in request.partitions:
        broker, error, more_facts = _told(broker, state, request, features, now_ms)
        statuses.append(PartitionStatus(state.name, error))
        facts += more_facts
    if not broker_parts.process_of(broker).checkpoints:
        # The task that writes high watermarks starts now, by a first round.
        broker, _, lost = disk.checkpoint(broker_parts.with_process(broker, checkpoints=True))
        facts += lost
    reply = LeaderAndIsrResponse(partitions=tuple(statuses))
    return broker, (_to(request, reply),), tuple(facts)


def update_metadata(
    broker: Broker, request: UpdateMetadataRequest, features: Features, _now_ms: int | None
) -> broker_parts.BrokerEffect:
    """Know who lives, and what the request says of the partitions in it.

    No leader epoch is compared: what comes later counts. Who is the controller, a process learns
    here alone.

    Source: KafkaApis.handleUpdateMetadataRequest, ReplicaManager.maybeUpdateMetadataCache and
    MetadataCache.updateMetadata (2.1.1, 2.2.2, 2.6.3; 2.8.2 and 3.4.1 ZkMetadataCache).
    """
    refused = _refused_whole(broker, request, features)
    if refused is not None:
        return broker, (_to(request, UpdateMetadataResponse(error=refused.error)),), (refused,)
    broker = _obeys(broker, request)
    image = _image(broker_parts.process_of(broker).image, request)
    controller = ids.controller_on(request.controller)
    informed = broker_parts.with_process(broker, image=image, controller=controller)
    broker, sends, facts = alter_partition_manager.send_unsent(informed, features)
    return broker, (_to(request, UpdateMetadataResponse()), *sends), facts


def stop_replica(
    broker: Broker, request: StopReplicaRequest, features: Features, _now_ms: int | None
) -> broker_parts.BrokerEffect:
    """Fetch no more; with `delete` be rid of the replica and its log.

    Source: KafkaApis.handleStopReplicaRequest and ReplicaManager.stopReplicas (2.1.1, 2.2.2, 2.6.3,
    2.8.2, 3.4.1).
    """
    refused = _refused_whole(broker, request, features)
    if refused is not None:
        # Only where it throws does the answer name the partitions.
        threw = refused.error is KafkaError.UNKNOWN_SERVER_ERROR
        named = tuple(PartitionStatus(i.partition, refused.error) for i in request.items)
        reply = StopReplicaResponse(error=refused.error, partitions=named if threw else ())
        return broker, (_to(request, reply),), (refused,)
    broker = _obeys(broker, request)
    statuses: list[PartitionStatus] = []
    facts: list[Fact] = []
    for item in request.items:
        barred = _fenced(broker, item, request, features)
        if barred is None:
            broker, more_facts = _stopped(broker, item)
            facts += more_facts
        else:
            facts.append(barred)
        error = barred.error if barred is not None else KafkaError.NONE
        statuses.append(PartitionStatus(item.partition, error))
    return broker, (_to(request, StopReplicaResponse(partitions=tuple(statuses))),), tuple(facts)


# --- the whole request ---------------------------------------------------------------------------


def _refused_whole(broker: Broker, request: ControlRequest, features: Features) -> Refused | None:
    """The broker epoch first, then the controller epoch."""
    active = features.active(broker.id)
    return _other_incarnation(broker, request, active) or _old_controller(broker, request, active)


def _other_incarnation(
    broker: Broker, request: ControlRequest, active: frozenset[str]
) -> Refused | None:
    mine, named = broker_parts.process_of(broker).epoch, request.epoch_on_wire
    # KIP-380, Proposed Changes, Broker Rejects Control Requests Applied to Former Generations: what
    # names an earlier generation than its own was meant for an earlier incarnation of it.
    guard = "380.control-request-epoch"
    if guard not in active or named in (ids.NO_BROKER_EPOCH, mine):
        return None
    compared = compare("broker epoch", named, mine)
    if named < mine:
        return _refusal(broker, request, KafkaError.STALE_BROKER_EPOCH, guard, compared)
    # KAFKA-9839, "Broker should accept control requests with newer broker epoch": one whose session
    # has expired may be asked under its new generation before it knows of that. Up to 2.5.0 it
    # throws an IllegalStateException, and nobody asks again.
    if "kafka-9839.newer-epoch" in active:
        return None
    return _refusal(broker, request, KafkaError.UNKNOWN_SERVER_ERROR, None, compared)


def _old_controller(
    broker: Broker, request: ControlRequest, active: frozenset[str]
) -> Refused | None:
    epoch = broker_parts.process_of(broker).controller_epoch
    if epoch is None or request.controller_epoch >= epoch:
        return None
    # ZooKeeper mode has always refused a deposed controller: ReplicaManager.becomeLeaderOrFollower,
    # stopReplicas and maybeUpdateMetadataCache (2.1.1, 3.4.1).
    guard = "zookeeper.controller-epoch"
    if guard not in active:
        return None
    compared = compare("controller epoch", request.controller_epoch, epoch)
    return _refusal(broker, request, KafkaError.STALE_CONTROLLER_EPOCH, guard, compared)


def _obeys(broker: Broker, request: ControlRequest) -> Broker:
    """From now on an earlier controller than this one is refused."""
    if broker_parts.process_of(broker).controller_epoch == request.controller_epoch:
        return broker
    return broker_parts.with_process(broker, controller_epoch=request.controller_epoch)


def _refusal(
    broker: Broker,
    request: ControlRequest,
    error: KafkaError,
    guard: str | None,
    *compared: Compared,
    partition: str | None = None,
) -> Refused:
    return Refused(broker.id, KINDS[type(request)], error, guard, compared, partition)


def _to(request: ControlRequest, reply: Response) -> Send:
    return Send(ids.controller_on(request.controller), reply)


# --- LeaderAndIsr, partition by partition --------------------------------------------------------


def _told(
    broker: Broker,
    state: PartitionRegistration,
    request: LeaderAndIsrRequest,
    features: Features,
    now_ms: int | None,
) -> tuple[Broker, KafkaError, tuple[Fact, ...]]:
    refused = _not_obeyed(broker, state, request, features)
    if refused is not None:
        return broker, refused.error, (refused,)
    # KIP-704, LeaderAndIsr RPC: version 6 is the first that says whether the leader has to recover.
    if request.version < 6:
        state = replace(state, recovery=LeaderRecoveryState.RECOVERED)
    broker, facts = _play(broker, state, request, features, now_ms)
    return broker, KafkaError.NONE, facts


def _not_obeyed(
    broker: Broker, state: PartitionRegistration, request: LeaderAndIsrRequest, features: Features
) -> Refused | None:
    epoch = _leader_epoch(broker, state.name)
    # ZooKeeper mode has always had it that only a higher leader epoch counts:
    # ReplicaManager.becomeLeaderOrFollower (2.1.1, 3.4.1).
    guard = "zookeeper.leader-epoch"
    if state.leader_epoch <= epoch and guard in features.active(broker.id):
        compared = compare("leader epoch", state.leader_epoch, epoch)
        error = KafkaError.STALE_CONTROLLER_EPOCH
        return _refusal(broker, request, error, guard, compared, partition=state.name)
    if broker.id not in state.replicas:
        error = KafkaError.UNKNOWN_TOPIC_OR_PARTITION
        return _refusal(broker, request, error, None, partition=state.name)
    return None


def _leader_epoch(broker: Broker, partition: str) -> ids.LeaderEpoch:
    replica = replica_of(broker, partition)
    return ids.NO_LEADER_EPOCH if replica is None else replica.leader_epoch


def _play(
    broker: Broker,
    state: PartitionRegistration,
    request: LeaderAndIsrRequest,
    features: Features,
    now_ms: int | None,
) -> tuple[Broker, tuple[Fact, ...]]:
    local = replica_of(broker, state.name)
    # KAFKA-13790, in 3.3: what is older than what the replica knows by another way is passed over.
    newer_code = features.code_of(broker.id) >= (3, 3)
    if newer_code and local is not None and state.partition_epoch < local.partition_epoch:
        return broker, ()
    image = broker_parts.process_of(broker).image
    is_alive = image is not None and registration(image.registrations, state.leader) is not None
    if state.leader != broker.id and not is_alive:
        return _replica_alone(broker, state)
    broker = alter_partition_manager.forget(broker, state.name, features)
    broker, facts = leader.play(broker, state, features, now_ms)
    if state.leader == broker.id:
        broker = _appointed(broker, state.name, request.controller_epoch)
        return _fetching(broker, state.name), facts
    if broker_parts.process_of(broker).lifecycle is Lifecycle.PENDING_CONTROLLED_SHUTDOWN:
        return _without_fetcher(broker, state.name, facts, "the broker is shutting down")
    return _fetching(broker, state.name), facts


def _replica_alone(broker: Broker, state: PartitionRegistration) -> tuple[Broker, tuple[Fact, ...]]:
    """Nobody to follow: there is a replica from now on, with its high watermark, and no more.

    So that the high watermark is in the checkpoint (KAFKA-1647). A replica that there is already
    stays as it is, with its fetcher.
    """
    if replica_of(broker, state.name) is not None:
        return broker, ()
    mine = log_of(broker, state.name)
    offset = max(mine.start, min(broker_parts.checkpoint_of(broker, state.name), mine.end))
    alone = Replica(
        partition=state.name,
        leader=ids.NO_LEADER,
        leader_epoch=ids.NO_LEADER_EPOCH,
        partition_epoch=ids.PartitionEpoch(0),
        replicas=(),
        high_watermark=ids.Offset(offset),
        min_insync_replicas=state.min_insync_replicas,
    )
    absent = f"its leader, broker {state.leader}, is not in the metadata of broker {broker.id}"
    reason = "there is no leader" if state.leader == ids.NO_LEADER else absent
    fact = ReplicaStopped(broker.id, state.name, reason)
    return broker_parts.with_replica(broker, alone), (fact,)


def _appointed(broker: Broker, partition: str, by: ids.ControllerEpoch) -> Broker:
    """Whom the leader names when it writes the ISR to ZooKeeper."""
    replica = replica_of(broker, partition)
    if replica is None or replica.leading is None:
        return broker
    leading = replace(replica.leading, controller_epoch=by)
    return broker_parts.with_replica(broker, replace(replica, leading=leading))


def _fetching(broker: Broker, partition: str) -> Broker:
    """A fetcher starts, or none is needed."""
    stopped = broker_parts.process_of(broker).stopped
    if partition not in stopped:
        return broker
    left = tuple(p for p in stopped if p != partition)
    return broker_parts.with_process(broker, stopped=left)


def _without_fetcher(
    broker: Broker, partition: str, facts: tuple[Fact, ...], reason: str
) -> tuple[Broker, tuple[Fact, ...]]:
    fact = ReplicaStopped(broker.id, partition, reason)
    stopped = tuple(sorted({*broker_parts.process_of(broker).stopped, partition}))
    return broker_parts.with_process(broker, stopped=stopped), (*facts, fact)


# --- UpdateMetadata ------------------------------------------------------------------------------


def _image(update: MetadataUpdate | None, request: UpdateMetadataRequest) -> MetadataUpdate:
    alive = tuple(
        Registration(b, ids.NO_BROKER_EPOCH, _ALIVE, fenced=False)
        for b in sorted(request.live_brokers)
    )
    states = {p.name: p for p in update.partitions} if update is not None else {}
    states |= {p.name: p for p in request.partitions}
    left = (states[n] for n in sorted(states) if states[n].leader != LEADER_DURING_DELETE)
    return MetadataUpdate(offset=ids.MetadataOffset(0), registrations=alive, partitions=tuple(left))


# --- StopReplica, replica by replica -------------------------------------------------------------


def _fenced(
    broker: Broker, item: StopReplicaItem, request: StopReplicaRequest, features: Features
) -> Refused | None:
    active, epoch = features.active(broker.id), _leader_epoch(broker, item.partition)
    # KIP-570, StopReplicaRequest: version 3 names the leader epoch, -1 being none and -2 a
    # deletion; what names no higher one is refused.
    guard = "570.stop-replica-epoch"
    if guard not in active or request.version < 3 or not 0 <= item.leader_epoch <= epoch:
        return None
    # KAFKA-13972, "Ensure replica state deleted after reassignment cancellation": the epoch that is
    # held will do.
    if item.leader_epoch == epoch and "kafka-13972.equal-epoch" in active:
        return None
    compared = compare("leader epoch", item.leader_epoch, epoch)
    error = KafkaError.FENCED_LEADER_EPOCH
    return _refusal(broker, request, error, guard, compared, partition=item.partition)


def _stopped(broker: Broker, item: StopReplicaItem) -> tuple[Broker, tuple[Fact, ...]]:
    if item.delete:
        return _deleted(broker, item.partition)
    replica = replica_of(broker, item.partition)
    has_stopped = item.partition in broker_parts.process_of(broker).stopped
    # A leader has no fetcher; it leads on.
    if replica is None or replica.leading is not None or has_stopped:
        return broker, ()
    return _without_fetcher(broker, item.partition, (), "StopReplica")


def _deleted(broker: Broker, partition: str) -> tuple[Broker, tuple[Fact, ...]]:
    """Partition.delete and LogManager.asyncDelete."""
    process, durable = broker_parts.process_of(broker), broker.durable
    kept = tuple(r for r in process.replicas if r.partition != partition)
    logs = tuple(r for r in durable.replicas if r.partition != partition)
    if len(kept) == len(process.replicas) and len(logs) == len(durable.replicas):
        return broker, ()
    broker = broker_parts.with_process(_fetching(broker, partition), replicas=kept)
    fact = ReplicaStopped(broker.id, partition, "StopReplica deletes it")
    return replace(broker, durable=replace(durable, replicas=logs)), (fact,)
