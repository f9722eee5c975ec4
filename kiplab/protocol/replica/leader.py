"""The leader of a partition: follower state, the ISR it may propose, the high watermark.

In come metadata that makes this broker lead, a follower's fetch, the periodic look at who lags, and
the controller's word on a proposal. A fetch is noted first; then the follower may be proposed for
the ISR: no proposal is under way, it is outside, it has reached the high watermark and the start of
this leader epoch, and it is eligible (not fenced, not shutting down, one broker epoch in fetch and
metadata); then records may be committed: all below the lowest end among the leader, the larger of
the committed and the proposed ISR, and whoever is level and about to join. A proposal is decided,
reverted or stuck, by the error of its answer; metadata ends it in any case.
Out go the replica, perhaps an item for the AlterPartition manager, and facts. The high watermark
never goes back. A replica about which nothing new is known stays the same object.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from ..errors import KafkaError
from ..facts import (
    BecameLeader,
    Compared,
    Fact,
    Fetched,
    HighWatermarkMoved,
    IsrProposed,
    IsrReverted,
    IsrStuck,
    NotProposed,
)
from ..ids import NO_BROKER_EPOCH, BrokerEpoch, BrokerId, Offset
from ..log import Log
from ..messages import AlterPartitionItem, AlterPartitionResult, FetchRequest, IsrMember
from ..registrations import LeaderRecoveryState, PartitionRegistration, Registration, registration
from ..releases import CodeVersion
from .broker_state import NEVER_MS, UNKNOWN_OFFSET, IsrState, Leading, RemoteReplica, Replica

LAG_TIME_MAX_MS = 30_000
"""replica.lag.time.max.ms"""


class Here(msgspec.Struct, frozen=True):
    """Where a leader rule runs: who it is, what code it has, what it can see, what time it is.

    `now_ms` is None in a run without a clock: then "in time" means "level with the leader".
    """

    id: BrokerId
    epoch: BrokerEpoch
    code: CodeVersion
    active: frozenset[str]
    registrations: tuple[Registration, ...]
    now_ms: int | None

    @property
    def stamp(self) -> int:
        """The time to store; 0 without a clock, so that equal situations stay equal states."""
        return self.now_ms or 0


ReplicaEffect = tuple[Replica, tuple[Fact, ...]]


def make_leader(
    here: Here, replica: Replica | None, log: Log, checkpoint: Offset, state: PartitionRegistration
) -> ReplicaEffect:
    """Lead as the metadata says: the committed ISR is installed, a pending one is forgotten.

    Follower state, the epoch's start offset and the reset of lag times change only with a new
    leader epoch (up to 3.2: with every call). `log` already has the epoch's start noted.

    Source: Partition.makeLeader and updateAssignmentAndIsr (3.5.0, 3.2.0), and
    Replica.resetReplicaState (3.5.0).
    """
    led = replica.leading if replica is not None else None
    new_epoch = replica is None or state.leader_epoch > replica.leader_epoch
    reset = new_epoch or led is None or here.code < (3, 3)
    start = log.end if reset or led is None else led.start_offset
    known = {r.broker: r for r in led.remotes} if led is not None else {}
    remotes = tuple(
        _remote(here, known.get(b), b, state, start, reset) for b in state.replicas if b != here.id
    )
    before = checkpoint if replica is None else replica.high_watermark
    leader = Replica(
        partition=state.name,
        leader=here.id,
        leader_epoch=state.leader_epoch,
        partition_epoch=state.partition_epoch,
        replicas=state.replicas,
        high_watermark=Offset(min(before, log.end)),
        min_insync_replicas=state.min_insync_replicas,
        leading=Leading(start, _isr_state(here, replica, state), remotes),
    )
    facts: list[Fact] = []
    if new_epoch or led is None:
        facts.append(
            BecameLeader(
                node=here.id,
                partition=state.name,
                leader_epoch=state.leader_epoch,
                start_offset=start,
            )
        )
    leader, moved = move_high_watermark(here, leader, log)
    return leader, (*facts, *moved)


def _isr_state(here: Here, replica: Replica | None, state: PartitionRegistration) -> IsrState:
    """The committed ISR; a pending one is forgotten, though its request may still be accepted.

    That is so for metadata of the same partition epoch, too: an answer to AlterPartition often
    tells the leader of its epoch before the metadata does.
    """
    known = replica.leading.isr_state if replica is not None and replica.leading else None
    # KIP-497, Proposed Changes, in an early version of the page: the most conservative ISR counts
    # while an update is pending. That it outlives metadata is our reading of it;
    # Partition.updateAssignmentAndIsr (3.2.0 to 3.9.0-rc3) forgets it.
    if replica is None or known is None or "497.pending-outlives-metadata" not in here.active:
        return _committed(state)
    same = replica.leader_epoch == state.leader_epoch
    return known if same and replica.partition_epoch == state.partition_epoch else _committed(state)


def _committed(state: PartitionRegistration) -> IsrState:
    """Nothing is recovered: makeLeader installs RECOVERED, whatever the metadata says.

    The controller keeps RECOVERING until the leader next changes the ISR, for whatever reason.
    """
    return IsrState(state.isr, recovery=LeaderRecoveryState.RECOVERED)


def _remote(
    here: Here,
    known: RemoteReplica | None,
    broker: BrokerId,
    state: PartitionRegistration,
    start: Offset,
    reset: bool,
) -> RemoteReplica:
    never = 0 if here.now_ms is None else NEVER_MS
    caught_up = here.stamp if broker in state.isr else never
    if known is None:
        # This broker has not led before: nothing is known of the follower, not even its epoch.
        return RemoteReplica(broker, last_fetch_ms=never, last_caught_up_ms=caught_up)
    if not reset:
        return known
    return replace(
        known,
        leader_end_at_last_fetch=start,
        last_fetch_ms=caught_up,
        last_caught_up_ms=caught_up,
    )


def follower_fetched(
    here: Here, replica: Replica, log: Log, request: FetchRequest, sender: BrokerEpoch
) -> tuple[Replica, AlterPartitionItem | None, tuple[Fact, ...]]:
    """Note a follower's fetch; perhaps commit more records; perhaps propose it for the ISR.

    `sender` is the true broker epoch of the fetching process, for the observer only.
    Returns the item for the AlterPartition manager, or None.

    Source: Partition.updateFollowerFetchState (3.5.0, 3.9.0-rc3) and Replica.updateFetchState
    (3.5.0; from 3.7.0 on updateFetchStateOrThrow); KIP-903, Proposed Design.
    """
    leading = _leading(replica)
    remote = _remote_of(leading, request.replica)
    noted = _noted(here, remote, request, log.end, sender)
    replica = _with_remote(replica, leading, noted)
    caught_up = request.offset >= log.end
    facts: list[Fact] = [
        Fetched(
            node=here.id,
            partition=replica.partition,
            follower=request.replica,
            offset=request.offset,
            caught_up=caught_up,
        )
    ]
    replica, item, proposed = propose_expand(here, replica, request.replica)
    facts += proposed
    if noted.end == remote.end:
        # Nothing new on the follower: Kafka does not look at the high watermark again.
        return replica, item, tuple(facts)
    replica, moved = move_high_watermark(here, replica, log)
    return replica, item, (*facts, *moved)


def _noted(
    here: Here, remote: RemoteReplica, request: FetchRequest, end: Offset, sender: BrokerEpoch
) -> RemoteReplica:
    now = here.stamp
    if request.offset >= end:
        caught_up = max(remote.last_caught_up_ms, now)
    elif request.offset >= remote.leader_end_at_last_fetch:
        # It has what the leader had at the fetch before: it was level then.
        caught_up = max(remote.last_caught_up_ms, remote.last_fetch_ms)
    else:
        caught_up = remote.last_caught_up_ms
    seen = end if here.code < (3, 3) else max(end, remote.leader_end_at_last_fetch)
    return RemoteReplica(
        broker=remote.broker,
        end=request.offset,
        leader_end_at_last_fetch=Offset(seen),
        last_fetch_ms=now,
        last_caught_up_ms=caught_up,
        # KIP-903, Proposed Design, The new behaviors, 2 (Leader): the epoch is kept as the last
        # fetch had it. Below version 15 the field does not exist and reads as -1.
        epoch=request.replica_epoch if request.version >= 15 else NO_BROKER_EPOCH,
        observed=sender,
    )


def propose_expand(
    here: Here, replica: Replica, follower: BrokerId
) -> tuple[Replica, AlterPartitionItem | None, tuple[Fact, ...]]:
    """Ask for `follower` in the ISR when it is caught up, eligible, and outside.

    Source: Partition.maybeExpandIsr, canAddReplicaToIsr and isFollowerInSync (3.5.0).
    """
    leading = _leading(replica)
    state, remote = leading.isr_state, _remote_of(leading, follower)
    if state.sent is not None or follower in state.isr or remote.end < replica.high_watermark:
        return replica, None, ()
    # KAFKA-7128, "Follower has to catch up to offset within current leader epoch to join ISR": a
    # new leader's high watermark may lag behind what its predecessor committed, so to have reached
    # it is not enough.
    if "kafka-7128.epoch-start" in here.active and remote.end < leading.start_offset:
        return replica, None, ()
    barred = ineligible(here, remote)
    if barred is not None:
        guard, compared = barred
        fact = NotProposed(
            node=here.id,
            partition=replica.partition,
            follower=follower,
            guard=guard,
            compared=(compared,),
        )
        return replica, None, (fact,)
    return _proposed(here, replica, leading, (*state.isr, follower))


def propose_shrink(
    here: Here, replica: Replica, log: Log
) -> tuple[Replica, AlterPartitionItem | None, tuple[Fact, ...]]:
    """Ask for the ISR without every member that has fallen behind.

    Source: Partition.maybeShrinkIsr and getOutOfSyncReplicas (3.5.0).
    """
    leading = _leading(replica)
    state = leading.isr_state
    if state.sent is not None:
        return replica, None, ()
    behind = [b for b in state.isr if b != here.id and not _is_caught_up(here, leading, b, log.end)]
    if not behind:
        return replica, None, ()
    return _proposed(here, replica, leading, tuple(b for b in state.isr if b not in behind))


def ineligible(here: Here, remote: RemoteReplica) -> tuple[str, Compared] | None:
    """The guard that bars a follower from being proposed, or None.

    Source: Partition.isReplicaIsrEligible and isBrokerEpochIsrEligible (3.5.0, 3.9.0-rc3);
    KIP-841, Proposed Changes; KIP-903, Proposed Design.
    """
    cached = registration(here.registrations, remote.broker)
    name = f"broker {remote.broker}"
    # KIP-841, Proposed Changes: the leader takes only active replicas for eligible, neither fenced
    # nor shutting down, as far as its metadata knows.
    if cached is not None and cached.fenced and "841.leader-skips-fenced" in here.active:
        return "841.leader-skips-fenced", Compared(name, "caught up", "fenced")
    leaving = cached is not None and cached.in_controlled_shutdown
    # KIP-841, Proposed Changes, has the controlled shutdown written to the metadata log for this
    # check. Version 6 of the page, a draft, named the fenced alone here.
    if leaving and "841.leader-skips-shutting-down" in here.active:
        return "841.leader-skips-shutting-down", Compared(name, "caught up", "shutting down")
    # KIP-903, Proposed Design, The new behaviors, 2 (Leader), its "precautions check": a follower
    # is proposed only when its last fetch and the metadata name one broker epoch. Who takes the
    # epoch from the metadata (a rejected alternative, see `_member`) has nothing to compare.
    if "903.leader-epoch" not in here.active or "903.epoch-from-metadata" in here.active:
        return None
    alive = cached.epoch if cached is not None and not cached.fenced else None
    if alive is None or remote.epoch is None:
        held = "none" if alive is None else str(alive)
        return "903.leader-epoch", Compared(f"{name} epoch", str(remote.epoch), held)
    if remote.epoch not in (NO_BROKER_EPOCH, alive):
        return "903.leader-epoch", Compared(f"{name} epoch", str(remote.epoch), str(alive))
    return None


def move_high_watermark(here: Here, replica: Replica, log: Log) -> ReplicaEffect:
    """Commit what every replica that counts has. A high watermark never goes back.

    Source: Partition.maybeIncrementLeaderHW (3.5.0, 3.6.0, 3.7.0, 3.9.0-rc3); KIP-966, Additional
    High Watermark advancement requirement.
    """
    leading = _leading(replica)
    state = leading.isr_state
    # KIP-966, Additional High Watermark advancement requirement (KAFKA-15583, "Enforce HWM advance
    # only if partition is not under-min-ISR"): who has left a full ISR has everything that was
    # committed since.
    too_few = len(state.isr) < wanted_in_sync(here, replica)
    if "966.committed-with-min-isr" in here.active and too_few:
        return replica, ()
    # KIP-497, Proposed Changes, in an early version of the page (4; 5 has other words), and
    # PendingExpandIsr.maximalIsr (3.2.0 to 3.9.0-rc3; KIP-497's own code, 2.7.0, has it too): while
    # an ISR is pending, the most conservative one counts, as either may turn out to hold.
    counted = state.maximal if "497.maximal-isr" in here.active else state.isr
    lowest = log.end
    for remote in leading.remotes:
        if remote.end < lowest and (
            remote.broker in counted or _waited_for(here, leading, remote, log.end)
        ):
            lowest = remote.end
    if lowest <= replica.high_watermark:
        return replica, ()
    fact = HighWatermarkMoved(
        node=here.id, partition=replica.partition, before=replica.high_watermark, after=lowest
    )
    return replace(replica, high_watermark=lowest), (fact,)


def wanted_in_sync(here: Here, replica: Replica) -> int:
    """min.insync.replicas; from 3.7 on never more than there are replicas.

    Source: Partition.effectiveMinIsr (3.7.0); KAFKA-15583.
    """
    wanted = replica.min_insync_replicas
    # KIP-966, Additional High Watermark advancement requirement, came with it (KAFKA-15583): else a
    # partition with fewer replicas would never commit again.
    newer = here.code >= (3, 7) or "966.committed-with-min-isr" in here.active
    return min(wanted, len(replica.replicas)) if newer else wanted


def decided(here: Here, replica: Replica, log: Log, result: AlterPartitionResult) -> ReplicaEffect:
    """The controller accepted the pending proposal.

    An answer of another leader epoch or an older partition epoch is ignored: the proposal stays
    pending until metadata replaces it.

    Source: Partition.handleAlterPartitionUpdate (3.5.0).
    """
    leading = _leading(replica)
    if result.leader_epoch != replica.leader_epoch:
        return replica, ()
    if result.partition_epoch < replica.partition_epoch:
        return replica, ()
    committed = replace(
        leading, isr_state=IsrState(result.isr, recovery=LeaderRecoveryState(result.recovery))
    )
    adopted = replace(replica, partition_epoch=result.partition_epoch, leading=committed)
    return move_high_watermark(here, adopted, log)


REVERTING = (KafkaError.OPERATION_NOT_ATTEMPTED, KafkaError.INELIGIBLE_REPLICA)
WAITING = (
    KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
    KafkaError.UNKNOWN_TOPIC_ID,
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.INVALID_UPDATE_VERSION,
    KafkaError.INVALID_REQUEST,
    KafkaError.NEW_LEADER_ELECTED,
)


def denied(here: Here, replica: Replica, error: KafkaError) -> ReplicaEffect:
    """The controller refused the pending proposal with an error that is not retried.

    With INELIGIBLE_REPLICA the leader goes back to the committed ISR; with most other errors the
    proposal stays pending. The high watermark is looked at again with the next append, fetch or
    metadata, not here.

    Source: Partition.handleAlterPartitionError (3.5.0, 3.9.0-rc3); KIP-841, Proposed Changes;
    KIP-903, Proposed Design.
    """
    leading = _leading(replica)
    name = replica.partition
    if error in WAITING:
        return replica, (IsrStuck(node=here.id, partition=name, error=error),)
    isr = leading.isr_state.isr
    reverted = replace(replica, leading=replace(leading, isr_state=leading.isr_state.committed))
    fact = IsrReverted(node=here.id, partition=name, isr=isr, error=error)
    return reverted, (fact,)


def _proposed(
    here: Here, replica: Replica, leading: Leading, isr: tuple[BrokerId, ...]
) -> tuple[Replica, AlterPartitionItem, tuple[Fact, ...]]:
    item = AlterPartitionItem(
        partition=replica.partition,
        leader_epoch=replica.leader_epoch,
        partition_epoch=replica.partition_epoch,
        isr=tuple(_member(here, leading, b) for b in isr),
        recovery=LeaderRecoveryState.RECOVERED,
    )
    state = replace(leading.isr_state, sent=item)
    pending = replace(replica, leading=replace(leading, isr_state=state))
    fact = IsrProposed(node=here.id, partition=replica.partition, isr=isr, maximal=state.maximal)
    return pending, item, (fact,)


def _member(here: Here, leading: Leading, broker: BrokerId) -> IsrMember:
    if broker == here.id:
        return IsrMember(broker, here.epoch, here.epoch)
    remote = _remote_of(leading, broker)
    # KIP-903, Rejected Alternatives, "Using the broker epoch from the metadata instead of using the
    # Fetch request": metadata may already name a new life of a broker whose last fetch was the old
    # one's, and the request would pass for a fresh one.
    if "903.epoch-from-metadata" in here.active:
        cached = registration(here.registrations, broker)
        epoch = cached.epoch if cached is not None else NO_BROKER_EPOCH
        return IsrMember(broker, epoch, remote.observed)
    epoch = NO_BROKER_EPOCH if remote.epoch is None else remote.epoch
    return IsrMember(broker, epoch, remote.observed)


def _is_caught_up(here: Here, leading: Leading, broker: BrokerId, end: Offset) -> bool:
    remote = _remote_of(leading, broker)
    if remote.end == end:
        return True
    return here.now_ms is not None and here.now_ms - remote.last_caught_up_ms <= LAG_TIME_MAX_MS


def _waited_for(here: Here, leading: Leading, remote: RemoteReplica, end: Offset) -> bool:
    """Whether the high watermark waits for a follower outside the ISR that is about to join."""
    if not _is_caught_up(here, leading, remote.broker, end):
        return False
    # KAFKA-15021, "Skip leader epoch bump on ISR shrink": a broker that shuts down fetches no more
    # and may not join, yet is level for replica.lag.time.max.ms; nobody waits for it.
    if "kafka-15021.committed-without-ineligible" not in here.active:
        return True
    return ineligible(here, remote) is None


def _leading(replica: Replica) -> Leading:
    assert replica.leading is not None, f"{replica.partition} is not led here"
    return replica.leading


def _remote_of(leading: Leading, broker: BrokerId) -> RemoteReplica:
    for remote in leading.remotes:
        if remote.broker == broker:
            return remote
    return RemoteReplica(broker, UNKNOWN_OFFSET)


def _with_remote(replica: Replica, leading: Leading, noted: RemoteReplica) -> Replica:
    if noted in leading.remotes:
        return replica
    remotes = tuple(noted if r.broker == noted.broker else r for r in leading.remotes)
    return replace(replica, leading=replace(leading, remotes=remotes))
