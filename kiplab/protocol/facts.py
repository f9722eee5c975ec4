"""Facts: a rule's reports of its actions, as plain values. Other rooms render them.

Every fact is about one move. `Refused` names the guard and both sides of the failed comparison, so
that an explanation need not reconstruct them.
"""

import operator
from enum import StrEnum
from functools import reduce
from typing import TYPE_CHECKING

import msgspec

from . import zookeeper_facts
from .errors import KafkaError
from .ids import BrokerEpoch, BrokerId, ControllerEpoch, LeaderEpoch, Offset, PartitionEpoch
from .registrations import LeaderRecoveryState, PartitionRegistration
from .zookeeper_facts import AnyFact


class Compared(msgspec.Struct, frozen=True):
    """One comparison: what the request said and what the receiver held."""

    name: str
    requested: str
    held: str


def compare(name: str, requested: object, held: object) -> Compared:
    """Both sides as text; None is ``"none"``."""
    return Compared(name, str(requested), "none" if held is None else str(held))


def differing(name: str, requested: object, own: object) -> Compared | None:
    """Both sides, where they are not the same."""
    return None if requested == own else compare(name, requested, own)


class Refused(AnyFact, frozen=True, tag="refused"):
    """A request, or one partition of it, was answered with an error.

    `guard` is the first check that failed, None where the check cannot be switched off.
    """

    node: BrokerId
    request: str
    error: KafkaError
    guard: str | None
    compared: tuple[Compared, ...] = ()
    partition: str | None = None

    def in_words(self) -> str:
        """The comparison, ``"leader epoch: 4, here 5"``; the error where there was none."""
        words = [f"{c.name}: {c.requested}, here {c.held}" for c in self.compared]
        return "; ".join(words) or self.error.name


class PartitionFact(AnyFact, frozen=True):
    """A node's report of a partition."""

    node: BrokerId
    partition: str


class ConsumerFact(AnyFact, frozen=True):
    """An exchange between a consumer and its broker."""

    node: BrokerId
    consumer: str
    partition: str


class NotProposed(PartitionFact, frozen=True, tag="not-proposed", kw_only=True):
    """A leader did not propose a caught-up follower; `guard` says why."""

    follower: BrokerId
    guard: str
    compared: tuple[Compared, ...] = ()


class IsrProposed(PartitionFact, frozen=True, tag="isr-proposed", kw_only=True):
    """A leader asked for a new ISR; until it is decided `maximal` is the set that counts."""

    isr: tuple[BrokerId, ...]
    maximal: tuple[BrokerId, ...]


class IsrReverted(PartitionFact, frozen=True, tag="isr-reverted", kw_only=True):
    """A leader gave its proposal up and went back to the committed ISR."""

    isr: tuple[BrokerId, ...]
    error: KafkaError


class IsrStuck(PartitionFact, frozen=True, tag="isr-stuck"):
    """The proposal was refused, and the leader waits with it for newer metadata."""

    error: KafkaError


class RecordWritten(AnyFact, frozen=True, tag="record"):
    """The controller appended a metadata record."""

    offset: int
    record: str
    text: str
    version: int


class IsrChanged(AnyFact, frozen=True, tag="isr-changed"):
    """The committed ISR is another one; `partition_epoch` is the new one."""

    partition: str
    before: tuple[BrokerId, ...]
    after: tuple[BrokerId, ...]
    partition_epoch: PartitionEpoch


class ElrChanged(AnyFact, frozen=True, tag="elr-changed"):
    """The eligible leader replicas are others (KIP-966)."""

    partition: str
    before: tuple[BrokerId, ...]
    after: tuple[BrokerId, ...]


class LastKnownLeaderChanged(AnyFact, frozen=True, tag="last-known-leader-changed"):
    """Another last known leader is noted, or none any more (KIP-966)."""

    partition: str
    before: tuple[BrokerId, ...]
    after: tuple[BrokerId, ...]


class RecoveryStateChanged(AnyFact, frozen=True, tag="recovery-state-changed"):
    """The committed leader recovery state is another one (KIP-704)."""

    partition: str
    before: LeaderRecoveryState
    after: LeaderRecoveryState


class LeaderElected(AnyFact, frozen=True, tag="leader-elected", kw_only=True):
    """A record set the leader field; `leader` -1 means that the partition is offline.

    `from_elr`: it was an eligible leader replica, and the ISR was empty (KIP-966).
    """

    partition: str
    before: BrokerId
    leader: BrokerId
    leader_epoch: LeaderEpoch
    unclean: bool
    from_elr: bool = False

    @classmethod
    def of(
        cls,
        before: PartitionRegistration,
        after: PartitionRegistration,
        *,
        unclean: bool = False,
        from_elr: bool = False,
    ) -> "LeaderElected":
        """That `after` names a leader, or none where there was one."""
        return cls(
            partition=after.name,
            before=before.leader,
            leader=after.leader,
            leader_epoch=after.leader_epoch,
            unclean=unclean,
            from_elr=from_elr,
        )


class BrokerChange(StrEnum):
    """The changes that a metadata record may make to a broker's registration."""

    REGISTERED = "registered"
    UNREGISTERED = "unregistered"
    FENCED = "fenced"
    UNFENCED = "unfenced"
    SHUTTING_DOWN = "shutting-down"


class BrokerChanged(AnyFact, frozen=True, tag="broker-changed"):
    """The controller registered, fenced, unfenced, or noted the shutdown of a broker."""

    broker: BrokerId
    change: BrokerChange
    epoch: BrokerEpoch


class BecameLeader(PartitionFact, frozen=True, tag="became-leader", kw_only=True):
    """A broker learnt from metadata that it leads."""

    leader_epoch: LeaderEpoch
    start_offset: Offset


class RecoveryPhase(StrEnum):
    """The phase of a leader's recovery from an unclean election, as in KIP-704."""

    BEGINS = "begins"
    DONE = "done"
    """The leader has recovered; the controller does not know yet."""
    OVER = "over"
    """The controller has written RECOVERED: the leader serves all requests again."""


class LeaderRecovery(PartitionFact, frozen=True, tag="leader-recovery", kw_only=True):
    """A leader recovers from an unclean election, which no release of Kafka does."""

    leader_epoch: LeaderEpoch
    phase: RecoveryPhase


class BecameFollower(PartitionFact, frozen=True, tag="became-follower", kw_only=True):
    """A broker learnt its leader from metadata."""

    leader: BrokerId
    leader_epoch: LeaderEpoch


class Fetched(PartitionFact, frozen=True, tag="fetched", kw_only=True):
    """A leader learnt by a Fetch that the follower has all records below `offset`."""

    follower: BrokerId
    offset: Offset
    caught_up: bool


class RecordsFact(PartitionFact, frozen=True, kw_only=True):
    """The fate of the records first..last in a replica's log."""

    first: Offset
    last: Offset


class Appended(RecordsFact, frozen=True, tag="appended", kw_only=True):
    """They were written to it."""


class Truncated(RecordsFact, frozen=True, tag="truncated", kw_only=True):
    """A follower threw them away because its leader does not have them."""


class EpochDropped(PartitionFact, frozen=True, tag="epoch-dropped", kw_only=True):
    """A follower forgets that it led in `epoch`, under which it wrote no record."""

    epoch: LeaderEpoch
    end: Offset


class RecordsDeleted(RecordsFact, frozen=True, tag="records-deleted", kw_only=True):
    """A replica's log begins at `start` from now on: first..last were deleted on purpose.

    `last` is one below `first` when there was nothing to delete. `follows` says that its leader's
    log begins there; else a client asked for it.
    """

    start: Offset
    follows: bool = False


class Destroyed(RecordsFact, frozen=True, tag="destroyed", kw_only=True):
    """A crash took them: they were not safe."""


class HighWatermarkMoved(PartitionFact, frozen=True, tag="high-watermark", kw_only=True):
    """The leader committed everything below `after`."""

    before: Offset
    after: Offset


class ControllerResigned(AnyFact, frozen=True, tag="controller-resigned", kw_only=True):
    """The controller of epoch `before` met an exception that it does not expect, and gave up.

    `request` is what it was working on, `last_committed` the offset of the last metadata record
    that stands; the controller of `epoch` takes over.
    """

    request: str
    exception: str
    before: ControllerEpoch
    epoch: ControllerEpoch
    last_committed: int


class PeriodicElections(AnyFact, frozen=True, tag="periodic-elections", kw_only=True):
    """The controller checked partitions without a leader (`unclean`), or not their preferred
    replica, as it does from time to time: it elected in some and left the others as they are.

    No fact where there was no such partition.
    """

    unclean: bool
    elected: tuple[str, ...]
    left: tuple[str, ...]


class TopicConfigured(AnyFact, frozen=True, tag="topic-configured"):
    """A setting of a topic was written down; `heeded` says whether the controller reads it. The
    topic "" stands for all that have no such setting of their own.
    """

    topic: str
    name: str
    value: str
    heeded: bool


class TopicDeleted(AnyFact, frozen=True, tag="topic-deleted"):
    """An operator had a topic deleted, with all of its partitions."""

    topic: str


class ReplicaDeleted(AnyFact, frozen=True, tag="replica-deleted"):
    """A broker has deleted its replica of a partition that is in its metadata no more."""

    node: BrokerId
    partition: str


class Registered(AnyFact, frozen=True, tag="registered"):
    """A broker process learnt its broker epoch."""

    node: BrokerId
    epoch: BrokerEpoch


class LifecycleChanged(AnyFact, frozen=True, tag="lifecycle"):
    """A broker process moved to another lifecycle state."""

    node: BrokerId
    state: str


class Polled(ConsumerFact, frozen=True, tag="polled", kw_only=True):
    """A consumer read offsets first..last; `last` is one below `first` when there was nothing.

    With isolation.level read_committed it reads up to the `last_stable` offset, and skips what
    belongs to `aborted` transactions.
    """

    first: Offset
    last: Offset
    high_watermark: Offset
    last_stable: Offset | None = None
    aborted: int = 0


class TransactionBegun(PartitionFact, frozen=True, tag="transaction-begun"):
    """A producer began a transaction in a log: it is open from `first` on."""

    first: Offset


class TransactionEnded(PartitionFact, frozen=True, tag="transaction-ended", kw_only=True):
    """A marker at offset `marker` ends the transaction that was open from `first` on.

    `recovery` says that a recovering leader wrote it by itself (KIP-704).
    """

    first: Offset
    marker: Offset
    commits: bool
    recovery: bool = False


class PollFailed(ConsumerFact, frozen=True, tag="poll-failed", kw_only=True):
    """A consumer reached no broker: no leader is known (`node` -1), or it does not answer."""

    error: KafkaError


class PositionValidated(ConsumerFact, frozen=True, tag="position-validated", kw_only=True):
    """A new leader's log has everything that a consumer read: `last_epoch` ends at `end` there."""

    position: Offset
    last_epoch: LeaderEpoch
    end: Offset


class PositionTruncated(ConsumerFact, frozen=True, tag="position-truncated", kw_only=True):
    """A consumer found that records it had read are gone, and goes on where the logs diverge."""

    before: Offset
    after: Offset
    last_epoch: LeaderEpoch
    end_epoch: LeaderEpoch


class PositionReset(ConsumerFact, frozen=True, tag="position-reset", kw_only=True):
    """A consumer goes on at the ``earliest`` or the ``latest`` offset."""

    before: Offset
    after: Offset
    to: str


class ConsumerRaised(AnyFact, frozen=True, tag="consumer-raised", kw_only=True):
    """A poll threw: no reset policy says where to go on. `diverging` is where the logs diverge."""

    consumer: str
    partition: str
    exception: str
    position: Offset
    diverging: Offset | None = None


class ReplicaPreferred(ConsumerFact, frozen=True, tag="replica-preferred", kw_only=True):
    """A leader sent a consumer to the replica nearest to it, and gave it no records (KIP-392)."""

    replica: BrokerId


class MetadataRefreshed(ConsumerFact, frozen=True, tag="metadata-refreshed", kw_only=True):
    """A consumer got metadata from broker `node`; `leader` is the leader in it."""

    leader: BrokerId
    leader_epoch: LeaderEpoch
    validating: bool


class BatchFact(AnyFact, frozen=True):
    """The fate of a producer's batch of `count` records before a leader has it."""

    producer: str
    partition: str
    number: int
    count: int


class BatchQueued(BatchFact, frozen=True, tag="batch-queued", kw_only=True):
    """A producer's batch waits until the batch `behind` which it stands is acknowledged."""

    behind: int


class LeaderBatchFact(AnyFact, frozen=True):
    """A leader's result for a producer's batch that it has appended."""

    node: BrokerId
    producer: str
    partition: str
    number: int
    first: Offset
    last: Offset


class BatchWaits(LeaderBatchFact, frozen=True, tag="batch-waits"):
    """A leader has appended a batch, and answers when all in sync have it (acks=all)."""


class BatchAcknowledged(LeaderBatchFact, frozen=True, tag="batch-acknowledged", kw_only=True):
    """A producer's batch was acknowledged: its records have the offsets first..last."""

    acks_all: bool


class BatchRequeued(BatchFact, frozen=True, tag="batch-requeued", kw_only=True):
    """A batch was refused, or got no answer, and will be sent again."""

    error: KafkaError
    asks_who_leads: bool


class BatchFailed(BatchFact, frozen=True, tag="batch-failed", kw_only=True):
    """A producer gives a batch up; whether its records are in a log it cannot know."""

    exception: str


class ProducerInformed(AnyFact, frozen=True, tag="producer-informed", kw_only=True):
    """A producer got metadata from broker `node`; `leader` is the leader in it."""

    node: BrokerId
    producer: str
    partition: str
    leader: BrokerId
    leader_epoch: LeaderEpoch


if TYPE_CHECKING:
    Fact = AnyFact
else:
    # A closed union of every kind, so that a fact can be read back from JSON.
    _WRITTEN = (*vars().values(), *vars(zookeeper_facts).values())
    _CLASSES = (c for c in _WRITTEN if isinstance(c, type) and issubclass(c, AnyFact))
    Fact = reduce(operator.or_, (c for c in _CLASSES if c.__struct_config__.tag))
_OfElr = ElrChanged | LastKnownLeaderChanged
Replayed = BrokerChanged | IsrChanged | _OfElr | LeaderElected | RecoveryStateChanged
"""The changes of a metadata record: these come right after its RecordWritten."""
