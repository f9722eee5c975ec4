"""The ISR that a leader proposes, and its reaction to the answer.

The input is a follower that has fetched, the periodic lag check, or the controller's answer to a
proposal. A leader proposes one ISR at a time. A follower is proposed if it is outside, has reached
the high watermark and the start of this leader epoch, and is eligible (`remote_replicas.py`); a
member is left out if it is not caught up any more. The error of the answer decides whether a
proposal is decided, reverted or stuck; metadata ends it in any case (`leader.make_leader`).
The output is the replica with the proposal in it, an item for the AlterPartition manager, and
facts. A leader without a proposal, or an answer that comes too late, leaves the same object.
"""

from msgspec.structs import replace

from ..errors import KafkaError
from ..facts import Fact, IsrProposed, IsrReverted, IsrStuck, NotProposed
from ..ids import NO_BROKER_EPOCH, BrokerId
from ..log import Log
from ..messages import AlterPartitionItem, AlterPartitionResult, IsrMember
from ..registrations import LeaderRecoveryState, registration
from .broker_parts import Here, ReplicaEffect
from .broker_state import IsrState, Leading, Replica
from .recovering import compared_state, is_recovering, noted
from .remote_replicas import ineligible, is_caught_up, leading_of, move_high_watermark, remote_of


def propose_expand(
    here: Here, replica: Replica, follower: BrokerId, overtaken: Replica | None = None
) -> tuple[Replica, AlterPartitionItem | None, tuple[Fact, ...]]:
    """Ask for `follower` in the ISR when it is caught up, eligible, and outside.

    `overtaken` is what the leader knew when it judged the follower, where it knows more by now
    (`fetches_at_once.py`): that decides, and the proposal is written down from `replica`.

    Source: Partition.maybeExpandIsr, canAddReplicaToIsr, isFollowerInSync and prepareIsrExpand
    (3.5.0).
    """
    leading = leading_of(overtaken or replica)
    state, remote = leading.isr_state, remote_of(leading, follower)
    if state.sent is not None or follower in state.isr or remote.end < replica.high_watermark:
        return replica, None, ()
    # KAFKA-7128, "Follower has to catch up to offset within current leader epoch to join ISR": a
    # new leader's high watermark may lag behind what its predecessor committed, so to have reached
    # it is not enough.
    if "kafka-7128.epoch-start" in here.active and remote.end < leading.start_offset:
        return replica, None, ()
    barred = ineligible(here, remote)
    # KIP-704, Proposed Changes, Topic Partition Leader: no follower joins the ISR before the leader
    # has recovered, so that the ISR has one member for as long as the state is RECOVERING.
    if "704.leader-recovers" in here.active and is_recovering(replica):
        barred = "704.leader-recovers", compared_state()
    if barred is not None:
        guard, compared = barred
        fact = NotProposed(
            here.id, replica.partition, follower=follower, guard=guard, compared=(compared,)
        )
        return replica, None, (fact,)
    return _proposed(here, replica, leading, (*state.isr, follower))


def propose_recovered(here: Here, replica: Replica) -> tuple[Replica, AlterPartitionItem]:
    """Tell the controller at once that the leader, alone in the ISR, has recovered.

    Source: none; Kafka's leader does so with the next ISR that it asks for. KIP-704.
    """
    recovered = LeaderRecoveryState.RECOVERED
    return _asking(here, replica, leading_of(replica), (here.id,), recovered)


def propose_shrink(
    here: Here, replica: Replica, log: Log
) -> tuple[Replica, AlterPartitionItem | None, tuple[Fact, ...]]:
    """Ask for the ISR without every member that has fallen behind.

    Source: Partition.maybeShrinkIsr, getOutOfSyncReplicas and prepareIsrShrink (3.5.0).
    """
    leading = leading_of(replica)
    state = leading.isr_state
    if state.sent is not None:
        return replica, None, ()
    behind = [b for b in state.isr if b != here.id and not is_caught_up(here, leading, b, log.end)]
    if not behind:
        return replica, None, ()
    return _proposed(here, replica, leading, tuple(b for b in state.isr if b not in behind))


def _proposed(
    here: Here, replica: Replica, judged: Leading, isr: tuple[BrokerId, ...]
) -> tuple[Replica, AlterPartitionItem, tuple[Fact, ...]]:
    """Write the proposal down. `judged` is what decided on it: almost always what there is now."""
    # RECOVERED, but for a leader that was answered otherwise or recovers (KIP-704).
    recovery = leading_of(replica).isr_state.recovery
    pending, item = _asking(here, replica, judged, isr, recovery)
    maximal = leading_of(pending).isr_state.maximal
    fact = IsrProposed(here.id, replica.partition, isr=isr, maximal=maximal)
    return pending, item, (fact,)


def _asking(
    here: Here,
    replica: Replica,
    judged: Leading,
    isr: tuple[BrokerId, ...],
    recovery: LeaderRecoveryState,
) -> tuple[Replica, AlterPartitionItem]:
    leading = leading_of(replica)
    item = AlterPartitionItem(
        partition=replica.partition,
        leader_epoch=replica.leader_epoch,
        partition_epoch=replica.partition_epoch,
        isr=tuple(_member(here, leading, judged, b) for b in isr),
        recovery=recovery,
    )
    state = replace(leading.isr_state, sent=item)
    return replace(replica, leading=replace(leading, isr_state=state)), item


def _member(here: Here, leading: Leading, judged: Leading, broker: BrokerId) -> IsrMember:
    if broker == here.id:
        return IsrMember(broker, here.epoch, here.epoch)
    remote, level = remote_of(leading, broker), remote_of(judged, broker)
    # KIP-903, Rejected Alternatives, "Using the broker epoch from the metadata instead of using the
    # Fetch request": metadata may already name a new incarnation of a broker whose last fetch was
    # the old one's, and the request would pass for a fresh one.
    if "903.epoch-from-metadata" in here.active:
        cached = registration(here.registrations, broker)
        epoch = cached.epoch if cached is not None else NO_BROKER_EPOCH
        return IsrMember(broker, epoch, level.observed)
    epoch = NO_BROKER_EPOCH if remote.epoch is None else remote.epoch
    return IsrMember(broker, epoch, level.observed)


def decided(here: Here, replica: Replica, log: Log, result: AlterPartitionResult) -> ReplicaEffect:
    """The controller accepted the pending proposal.

    An answer of another leader epoch or an older partition epoch is ignored: the proposal stays
    pending until metadata replaces it.

    Source: Partition.handleAlterPartitionUpdate (3.5.0); handleAlterIsrResponse (2.8.2).
    """
    leading = leading_of(replica)
    if result.leader_epoch != replica.leader_epoch:
        return replica, ()
    if result.partition_epoch < replica.partition_epoch:
        return replica, ()
    recovery = LeaderRecoveryState(result.recovery)
    # KIP-704, AlterPartition RPC, Response Schema: the state in the answer makes nobody begin a
    # recovery; only metadata does. It may end one.
    if "704.leader-recovers" in here.active and not is_recovering(replica):
        recovery = LeaderRecoveryState.RECOVERED
    committed = replace(leading, isr_state=IsrState(result.isr, recovery=recovery))
    adopted = replace(replica, partition_epoch=result.partition_epoch, leading=committed)
    over = noted(here, replica, adopted)
    if here.code < (3, 2) and not here.writes_isr:
        # The high watermark is not looked at before the next fetch or append.
        return adopted, over
    moved, facts = move_high_watermark(here, adopted, log)
    return moved, (*over, *facts)


REVERTING = (KafkaError.OPERATION_NOT_ATTEMPTED, KafkaError.INELIGIBLE_REPLICA)

WAITING = (
    KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
    KafkaError.UNKNOWN_TOPIC_ID,
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.INVALID_UPDATE_VERSION,
    KafkaError.INVALID_REQUEST,
    KafkaError.NEW_LEADER_ELECTED,
)


def denied(leader: BrokerId, replica: Replica, error: KafkaError) -> ReplicaEffect:
    """The pending proposal was refused with an error that is not retried.

    The controller refused it or, with OPERATION_NOT_ATTEMPTED, perhaps the leader's own manager.
    With that and INELIGIBLE_REPLICA the leader goes back to the committed ISR; with most other
    errors the proposal stays pending. The high watermark is looked at again with the next append,
    fetch or metadata, not here.

    Source: Partition.handleAlterPartitionError (3.5.0, 3.9.0-rc3); KIP-841, Proposed Changes;
    KIP-903, Proposed Design.
    """
    if error in WAITING:
        return replica, stuck(leader, replica, error)
    return reverted(leader, replica, error)


def reverted(leader: BrokerId, replica: Replica, error: KafkaError) -> ReplicaEffect:
    """The leader goes back to the committed ISR.

    Source: Partition.handleAlterPartitionError (3.5.0); Partition.updateIsr (2.2.2).
    """
    leading = leading_of(replica)
    fact = IsrReverted(leader, replica.partition, isr=leading.isr_state.isr, error=error)
    committed = replace(leading, isr_state=leading.isr_state.committed)
    return replace(replica, leading=committed), (fact,)


def stuck(leader: BrokerId, replica: Replica, error: KafkaError) -> tuple[Fact, ...]:
    """The proposal stays pending until metadata replaces it.

    Source: Partition.handleAlterPartitionError (3.5.0), handleAlterIsrResponse (2.8.2).
    """
    return (IsrStuck(leader, replica.partition, error),)
