"""The broker's answers to a client that reads: records, the end of an epoch, the ends of the log.

The input is a request to one broker about one partition, under the client's leader epoch. Checks
are in Kafka's order: whether the replica is here, whether that epoch is an earlier one, whether it
is a later one, whether this broker leads, whether it recovers (KIP-704, unbuilt); then the checks
of this request alone (an offset beyond the log, a high watermark below the leader's own epoch). All
but the last also judge a follower's fetch (`fetching.py`).
The output is the answer, or the refusal as a fact: an earlier epoch means that the client's
metadata is old, a later one that the broker's is. Nothing is sent, and reading leaves the broker
the same object. A consumer that was sent to a follower (KIP-392) is judged by the epoch alone
there, and gets the records that the follower knows to be committed.
"""

import msgspec

from .. import log
from ..errors import KafkaError
from ..facts import Compared, Refused
from ..features import Features
from ..ids import NO_LEADER_EPOCH, BrokerId, LeaderEpoch, Offset
from . import broker_parts
from .broker_parts import Here, fenced_refuses
from .broker_state import Broker, Replica, log_of, replica_of
from .recovering import follower_refuses, leader_refuses
from .remote_replicas import leading_of

CONSUMER_FETCH = "consumer-fetch"
END_OF_EPOCH = "offsets-for-leader-epoch"
LIST_OFFSETS = "list-offsets"


class Asked(msgspec.Struct, frozen=True):
    """A client's request: the broker, the partition, the leader epoch."""

    here: Here
    replica: Replica | None
    log: log.Log
    partition: str
    leader_epoch: LeaderEpoch
    barred: Refused | None
    """Why this broker, if it follows, would answer no consumer."""
    read_committed: bool
    """isolation.level: whether what is in an open transaction is for later, if at all."""


class Records(msgspec.Struct, frozen=True):
    """A consumer's records: `records` begin at its position; without epochs there is nothing."""

    records: log.Log
    high_watermark: Offset
    last_stable: Offset | None = None
    """Up to where a consumer may read that reads only what is committed; None for others."""
    aborted: tuple[tuple[Offset, Offset], ...] = ()
    """The records that such a consumer skips."""


def question(
    broker: Broker,
    partition: str,
    leader_epoch: LeaderEpoch,
    features: Features,
    now_ms: int | None,
    *,
    read_committed: bool = False,
) -> Asked:
    """One request at a running broker. Source: ReplicaManager.getPartitionOrError (3.5.0)."""
    here = broker_parts.here(broker, features, now_ms)
    return Asked(
        here,
        replica_of(broker, partition),
        log_of(broker, partition),
        partition,
        leader_epoch,
        follower_refuses(broker, here, partition, CONSUMER_FETCH),
        read_committed,
    )


def not_the_leader(
    here: Here, replica: Replica | None, partition: str, leader_epoch: LeaderEpoch, request: str
) -> Refused | None:
    """Why a request that only the leader of this epoch may answer is refused, in Kafka's order.

    Source: Partition.getLocalLog and checkCurrentLeaderEpoch (3.2.0, 3.5.0, 3.9.0-rc3); KIP-320.
    """
    fenced = fenced_refuses(here, request, partition)
    if fenced is not None or replica is None:
        return fenced or here.refusal(partition, request, KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
    epoch = replica.leader_epoch
    compared = Compared("leader epoch", str(leader_epoch), str(epoch))
    # KIP-320, Motivation (Inadequate Replica Fencing), and Partition.checkCurrentLeaderEpoch
    # (3.2.0 to 3.9.0-rc3): fetches and OffsetsForLeaderEpoch name the leader epoch that the sender
    # follows, and a consumer that is behind is fenced. -1 asks for no check.
    if (
        leader_epoch != NO_LEADER_EPOCH
        and leader_epoch < epoch
        and "320.fenced-fetch" in here.active
    ):
        error = KafkaError.FENCED_LEADER_EPOCH
        return here.refusal(partition, request, error, "320.fenced-fetch", compared)
    # KIP-320, OffsetsForLeaderEpochRequest, and Partition.checkCurrentLeaderEpoch (3.2.0 to
    # 3.9.0-rc3): a later epoch than the leader's own means that the leader is behind; it cannot
    # vouch for its log and has the sender come again.
    if leader_epoch > epoch and "320.unknown-fetch" in here.active:
        error = KafkaError.UNKNOWN_LEADER_EPOCH
        return here.refusal(partition, request, error, "320.unknown-fetch", compared)
    if replica.leading is None:
        return here.refusal(partition, request, KafkaError.NOT_LEADER_OR_FOLLOWER)
    return leader_refuses(here, replica, request)


def consumer_fetch(
    read: Asked, offset: Offset, *, from_follower: bool = False
) -> Refused | Records:
    """Everything from `offset` up to the high watermark; beyond it, nothing, and that is no error.

    Only before the log's start and beyond its end is the offset out of range. A follower answers
    consumers that its leader has sent to it, up to its own high watermark.

    Source: Partition.fetchRecords and readRecords, UnifiedLog.read (3.5.0).
    """
    wrong, replica = _wrong(read, CONSUMER_FETCH), read.replica
    follows = replica is not None and replica.leading is None
    if wrong is not None and wrong.guard is None and follows:
        wrong = read.barred or (None if from_follower else wrong)
    if wrong is not None:
        return wrong
    if offset > read.log.end or offset < read.log.start:
        beyond = offset > read.log.end
        bound = f"at most {read.log.end}" if beyond else f"at least {read.log.start}"
        compared = Compared("offset", str(offset), bound)
        error = KafkaError.OFFSET_OUT_OF_RANGE
        return read.here.refusal(read.partition, CONSUMER_FETCH, error, None, compared)
    assert replica is not None, "else it was refused"
    mark = replica.high_watermark
    if not read.read_committed:
        return Records(log.records_from(log.up_to(read.log, mark), offset), mark)
    # What ends before the first transaction does that has not.
    stable = log.last_stable_offset(read.log, mark)
    visible = log.up_to(read.log, stable)
    ended = ((max(first, offset), end) for first, end in log.aborted(visible) if end > offset)
    gaps = tuple((Offset(first), end) for first, end in ended)
    return Records(log.records_from(visible, offset), mark, stable, gaps)


def prefers(read: Asked, nearest: BrokerId, offset: Offset) -> bool:
    """Whether a leader sends a consumer to the replica that is nearest to it (KIP-392).

    That has to be in the ISR and to have the offset, as far as the leader knows.

    Source: ReplicaManager.findPreferredReadReplica (3.5.0).
    """
    leading = read.replica.leading if read.replica is not None else None
    if leading is None or nearest not in leading.isr_state.isr:
        return False
    return any(r.broker == nearest and r.end >= offset for r in leading.remotes)


def end_of_epoch(read: Asked, epoch: LeaderEpoch) -> Refused | log.EpochStart | None:
    """OffsetsForLeaderEpoch: where `epoch` ends in the leader's log; None when it cannot tell.

    Source: Partition.lastOffsetForLeaderEpoch (3.5.0); KIP-101, KIP-320.
    """
    wrong = _wrong(read, END_OF_EPOCH)
    return wrong if wrong is not None else log.end_of_epoch(read.log, epoch)


def list_offset(read: Asked, *, latest: bool) -> Refused | Offset:
    """ListOffsets: where the log begins, or the high watermark; the last stable offset for readers
    of committed records.

    KIP-207: a new leader does not tell the latest offset before its high watermark has reached
    the start of its epoch; a client could see it go back.

    Source: Partition.fetchOffsetForTimestamp (3.5.0); KIP-207.
    """
    wrong, replica = _wrong(read, LIST_OFFSETS), read.replica
    if wrong is not None:
        return wrong
    if not latest:
        return read.log.start
    assert replica is not None, "else it was refused"
    mark, start = replica.high_watermark, leading_of(replica).start_offset
    if start > mark:
        error = KafkaError.OFFSET_NOT_AVAILABLE
        compared = Compared("high watermark", f"at least {start}", str(mark))
        return read.here.refusal(read.partition, LIST_OFFSETS, error, None, compared)
    return log.last_stable_offset(read.log, mark) if read.read_committed else mark


def _wrong(read: Asked, request: str) -> Refused | None:
    return not_the_leader(read.here, read.replica, read.partition, read.leader_epoch, request)
