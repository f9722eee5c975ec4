"""The start of leading or following a partition, and the effect of a follower's fetch on a leader.

The input is a partition from a control plane, in any form (an image of the metadata, a LeaderAndIsr
request). `play` applies it; whether it is too old was judged before. A leader notes in its log
where its epoch begins, and leads; every other replica follows. With a new leader epoch the leader
knows only the ids of its followers; the committed ISR is the metadata's, and its own proposal is
dropped. Or the input is the fetch of a follower. It is noted first. Then the follower may be
proposed for the ISR (`isr_proposals.py`), and the AlterPartition manager takes the proposal or does
not. Only then may records be committed (`remote_replicas.py`). The output is the broker or its
replica, and facts. A replica without news stays the same object.
"""

from msgspec.structs import replace

from .. import log as logs
from ..facts import BecameFollower, BecameLeader, Fact, Fetched
from ..features import Features
from ..ids import BrokerEpoch, BrokerId, Offset, epoch_in_version
from ..messages import FetchRequest
from ..registrations import PartitionRegistration
from . import broker_parts
from .broker_parts import Here, ReplicaEffect
from .broker_state import (
    NEVER_MS,
    Broker,
    IsrState,
    Leading,
    RemoteReplica,
    Replica,
    log_of,
    replica_of,
)
from .recovering import noted, recovery_at_leader
from .remote_replicas import leading_of, move_high_watermark, remote_of, with_remote


def play(
    broker: Broker, state: PartitionRegistration, features: Features, now_ms: int | None
) -> tuple[Broker, tuple[Fact, ...]]:
    """Lead the partition if `state` names this broker, follow its leader if not.

    Source: ReplicaManager.applyLocalLeadersDelta and applyLocalFollowersDelta (3.5.0).
    """
    local = replica_of(broker, state.name)
    if state.leader != broker.id:
        follower, facts = make_follower(broker, local, state)
        return broker_parts.with_replica(broker, follower), facts
    mine = logs.assign_epoch_start(log_of(broker, state.name), state.leader_epoch)
    broker = broker_parts.with_log(broker, state.name, mine)
    here = broker_parts.here(broker, features, now_ms)
    checkpoint = broker_parts.checkpoint_of(broker, state.name)
    leader, facts = make_leader(here, local, mine, checkpoint, state)
    return broker_parts.with_replica(broker, leader), facts


def make_follower(
    me: Broker, replica: Replica | None, state: PartitionRegistration
) -> tuple[Replica, tuple[Fact, ...]]:
    """Follow as the metadata says; nothing a leader kept is kept.

    Source: Partition.makeFollower and ReplicaManager.applyLocalFollowersDelta (3.5.0).
    """
    before = (
        broker_parts.checkpoint_of(me, state.name) if replica is None else replica.high_watermark
    )
    mine = log_of(me, state.name)
    follower = _played(state, max(mine.start, min(before, mine.end)))
    same_leader_epoch = replica is not None and replica.leader_epoch == state.leader_epoch
    if same_leader_epoch and replica is not None and replica.leading is None:
        return follower, ()
    fact = BecameFollower(me.id, state.name, leader=state.leader, leader_epoch=state.leader_epoch)
    return follower, (fact,)


def make_leader(
    here: Here,
    replica: Replica | None,
    log: logs.Log,
    checkpoint: Offset,
    state: PartitionRegistration,
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
    remotes = tuple(
        _remote(here, led, b, state, start, reset) for b in state.replicas if b != here.id
    )
    before = checkpoint if replica is None else replica.high_watermark
    leading = Leading(start, _isr_state(here, replica, state), remotes)
    leader = _played(state, max(log.start, min(before, log.end)), leading)
    begins = BecameLeader(here.id, state.name, leader_epoch=state.leader_epoch, start_offset=start)
    facts: tuple[Fact, ...] = (begins,) if new_epoch or led is None else ()
    recovery = noted(here, replica, leader)
    leader, moved = move_high_watermark(here, leader, log)
    return leader, (*facts, *recovery, *moved)


def _played(
    state: PartitionRegistration, high_watermark: int, leading: Leading | None = None
) -> Replica:
    return Replica(
        partition=state.name,
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        partition_epoch=state.partition_epoch,
        replicas=state.replicas,
        high_watermark=Offset(high_watermark),
        min_insync_replicas=state.min_insync_replicas,
        leading=leading,
    )


def _isr_state(here: Here, replica: Replica | None, state: PartitionRegistration) -> IsrState:
    """The committed ISR; a pending one is forgotten, though its request may still be accepted.

    That is so for metadata of the same partition epoch, too: an answer to AlterPartition often
    tells the leader of its epoch before the metadata does.
    """
    held = replica.leading.isr_state if replica is not None and replica.leading else None
    # KIP-497, Proposed Changes, in an early version of the page: the most conservative ISR counts
    # while an update is pending. That it outlives metadata is our reading of it;
    # Partition.updateAssignmentAndIsr (3.2.0 to 3.9.0-rc3) forgets it.
    committed = IsrState(state.isr, recovery=recovery_at_leader(here, state))
    if replica is None or held is None or "497.pending-outlives-metadata" not in here.active:
        return committed
    same = replica.leader_epoch == state.leader_epoch
    return held if same and replica.partition_epoch == state.partition_epoch else committed


def _remote(
    here: Here,
    led: Leading | None,
    broker: BrokerId,
    state: PartitionRegistration,
    start: Offset,
    reset: bool,
) -> RemoteReplica:
    never = 0 if here.now_ms is None else NEVER_MS
    caught_up = here.stamp if reset and broker in state.isr else never
    if led is None:
        # This broker has not led before: nothing is known of the follower, not even its epoch.
        return RemoteReplica(broker, last_fetch_ms=never, last_caught_up_ms=caught_up)
    replica = next((r for r in led.remotes if r.broker == broker), None)
    remote = replica or RemoteReplica(broker, last_fetch_ms=never, last_caught_up_ms=never)
    if not reset:
        return remote
    return replace(
        remote, leader_end_at_last_fetch=start, last_fetch_ms=caught_up, last_caught_up_ms=caught_up
    )


def follower_fetched(
    here: Here, replica: Replica, log: logs.Log, request: FetchRequest, sender: BrokerEpoch
) -> tuple[Replica, Fetched]:
    """Note a follower's fetch. Whether it is proposed for the ISR is looked at next.

    `sender` is the true broker epoch of the fetching process, for the observer only.

    Source: Partition.updateFollowerFetchState (3.5.0, 3.9.0-rc3) and Replica.updateFetchState
    (3.5.0; from 3.7.0 on updateFetchStateOrThrow); KIP-903, Proposed Design.
    """
    leading = leading_of(replica)
    remote = remote_of(leading, request.replica)
    noted = _noted(here, remote, request, log.end, sender)
    caught_up = request.offset >= log.end
    fetched = Fetched(
        here.id,
        replica.partition,
        follower=request.replica,
        offset=request.offset,
        caught_up=caught_up,
    )
    return with_remote(replica, leading, noted), fetched


def commits_more(
    here: Here, before: Replica, replica: Replica, log: logs.Log, follower: BrokerId, end: Offset
) -> ReplicaEffect:
    """Perhaps commit more records: `replica` is the leader's after the fetch, `before` before it.

    `end` is how far the follower is, as `replica` has it.

    Source: Partition.updateFollowerFetchState (3.5.0, 3.9.0-rc3).
    """
    if remote_of(leading_of(before), follower).end == end:
        # Nothing new on the follower: Kafka does not look at the high watermark again.
        return replica, ()
    return move_high_watermark(here, replica, log)


def _noted(
    here: Here, remote: RemoteReplica, request: FetchRequest, end: Offset, sender: BrokerEpoch
) -> RemoteReplica:
    now = here.stamp
    if request.offset >= end:
        caught_up = max(remote.last_caught_up_ms, now)
    elif request.offset >= remote.leader_end_at_last_fetch:
        # It has what the leader had at the fetch before: it had caught up then.
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
        epoch=epoch_in_version(request.version, 15, request.replica_epoch),
        observed=sender,
    )
