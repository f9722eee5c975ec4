"""Writes of clients and operators to a leader's log: records, ends of transactions, deletions.

A leader with too few replicas in sync refuses a producer's records; else it appends them. The input
is the number of records, and whether the producer wants them committed (acks=all). Before anything
is written it is judged whether the leader recovers (KIP-704, unbuilt), then the size of the
committed ISR. The output is a longer log, and a high watermark that may have moved; or an error,
and nothing is written.

The commit of the records is not awaited here; `clients/producer.py` does that, and there
NOT_ENOUGH_REPLICAS_AFTER_APPEND occurs. A play's plain line goes only to a broker that leads; a
producer's request goes to its supposed leader, and may get NOT_LEADER_OR_FOLLOWER.

Source: ReplicaManager.appendRecords and Partition.appendRecordsToLeader (3.5.0, 3.9.0-rc3).

Transactions, as far as an unclean election affects them. The input is the commit or abort of a
log's open transaction, from a coordinator (which is no node here) or from a recovering leader. That
this broker leads, and that one is open, was judged before. Nothing is refused: WriteTxnMarkers is
none of the requests that a recovering leader refuses under KIP-704. The output is the broker with
one more record in its log, a high watermark that may have moved, and facts. Without an open
transaction the broker stays the same object. One is open at a time, of one producer; there are no
producer ids, epochs or timeouts.

DeleteRecords: an admin client has a leader delete its oldest records for good (KIP-107).

The input is a partition and an offset, or none for every committed record. Checks are in Kafka's
order: is the replica here, does this broker lead, is the offset beyond the high watermark. The
output is a log that begins there and the fact, or the refusal, which changes nothing. Followers
learn the new start from the answers to their fetches (`fetching.py`). Kafka answers the client when
all of them have it; here that is not awaited. The start is on the disk at once, where Kafka's
process writes it every 60 s.
"""

from .. import log
from ..errors import KafkaError
from ..facts import (
    Appended,
    Compared,
    Fact,
    RecordsDeleted,
    Refused,
    TransactionBegun,
    TransactionEnded,
)
from ..features import Features
from ..ids import NO_LEADER_EPOCH, Offset
from . import broker_parts
from .broker_parts import Here, fenced_refuses
from .broker_state import Broker, Replica, log_of, replica_of
from .client_reads import not_the_leader
from .recovering import leader_refuses
from .remote_replicas import move_high_watermark, wanted_in_sync

PRODUCE = "produce"


def produce(
    broker: Broker,
    partition: str,
    count: int,
    features: Features,
    now_ms: int | None,
    *,
    acks_all: bool,
    transaction: bool = False,
) -> broker_parts.BrokerEffect:
    """Append `count` records to the log of `partition`, which `broker` leads; perhaps to the
    transaction that is open there, or that they begin.

    Source: Partition.appendRecordsToLeader (3.5.0, 3.9.0-rc3).
    """
    replica = replica_of(broker, partition)
    assert replica is not None, f"broker {broker.id} has no {partition}"
    here = broker_parts.here(broker, features, now_ms)
    refused = fenced_refuses(here, PRODUCE, partition) or leader_refuses(here, replica, PRODUCE)
    if refused is None and acks_all:
        refused = _too_few_in_sync(here, replica)
    if refused is not None:
        return broker, (), (refused,)
    mine = log_of(broker, partition)
    longer = log.append(mine, replica.leader_epoch, count, transaction=transaction)
    broker = broker_parts.with_log(broker, partition, longer)
    replica, facts = move_high_watermark(here, replica, longer)
    appended = Appended(broker.id, partition, first=mine.end, last=Offset(longer.end - 1))
    begins = transaction and log.open_transaction(mine) is None
    begun = (TransactionBegun(broker.id, partition, mine.end),) if begins else ()
    return broker_parts.with_replica(broker, replica), (), (*begun, appended, *facts)


def asked_to_produce(
    broker: Broker,
    partition: str,
    count: int,
    features: Features,
    now_ms: int | None,
    *,
    acks_all: bool,
) -> broker_parts.BrokerEffect:
    """As `produce`, of whomever a producer takes for the leader: who does not lead refuses.

    Source: ReplicaManager.appendToLocalLog and Partition.appendRecordsToLeader (3.5.0).
    """
    here = broker_parts.here(broker, features, now_ms)
    wrong = not_the_leader(here, replica_of(broker, partition), partition, NO_LEADER_EPOCH, PRODUCE)
    if wrong is not None:
        return broker, (), (wrong,)
    return produce(broker, partition, count, features, now_ms, acks_all=acks_all)


def _too_few_in_sync(here: Here, replica: Replica) -> Refused | None:
    """The committed ISR counts, not the one that the leader has asked for."""
    assert replica.leading is not None, f"{replica.partition} is not led here"
    wanted, in_sync = wanted_in_sync(here, replica), len(replica.leading.isr_state.isr)
    if in_sync >= wanted:
        return None
    minimum = f"at least {wanted} (min.insync.replicas)"
    compared = Compared("size of the ISR", minimum, str(in_sync))
    error = KafkaError.NOT_ENOUGH_REPLICAS
    return here.refusal(replica.partition, PRODUCE, error, None, compared)


def end_transaction(
    broker: Broker,
    partition: str,
    features: Features,
    now_ms: int | None,
    *,
    commits: bool,
    recovery: bool = False,
) -> broker_parts.BrokerEffect:
    """Write the marker behind everything that there is, under the current leader epoch.

    Source: KafkaApis.handleWriteTxnMarkersRequest (3.5.0); KIP-98.
    """
    mine = log_of(broker, partition)
    first, replica = log.open_transaction(mine), replica_of(broker, partition)
    if first is None or replica is None:
        return broker, (), ()
    longer = log.end_transaction(mine, replica.leader_epoch, commits=commits)
    broker = broker_parts.with_log(broker, partition, longer)
    here = broker_parts.here(broker, features, now_ms)
    replica, moved = move_high_watermark(here, replica, longer)
    ended = TransactionEnded(
        broker.id, partition, first=first, marker=mine.end, commits=commits, recovery=recovery
    )
    facts: tuple[Fact, ...] = (ended, *moved)
    return broker_parts.with_replica(broker, replica), (), facts


def abort_what_is_open(
    broker: Broker, partition: str, features: Features, now_ms: int | None
) -> broker_parts.BrokerEffect:
    """A recovering leader ends open transactions. Source: none; KIP-704 as it is written."""
    here = broker_parts.here(broker, features, now_ms)
    # KIP-704, Proposed Changes, Topic Partition Leader: one use of the state is to abort all
    # pending transactions, whose end may have been lost with the records.
    if "704.aborts-transactions" not in here.active:
        return broker, (), ()
    return end_transaction(broker, partition, features, now_ms, commits=False, recovery=True)


DELETE_RECORDS = "delete-records"


def delete_records(
    broker: Broker, partition: str, before: Offset | None, features: Features, now_ms: int | None
) -> broker_parts.BrokerEffect:
    """The leader's log begins at `before`; None is Kafka's -1, the high watermark.

    Source: Partition.deleteRecordsOnLeader and UnifiedLog.maybeIncrementLogStartOffset (3.5.0,
    3.9.0-rc3).
    """
    here = broker_parts.here(broker, features, now_ms)
    replica = replica_of(broker, partition)
    wrong = not_the_leader(here, replica, partition, NO_LEADER_EPOCH, DELETE_RECORDS)
    if wrong is not None or replica is None:
        return broker, (), (wrong,) if wrong is not None else ()
    start = replica.high_watermark if before is None else before
    if start > replica.high_watermark:
        # Only what is committed can be deleted.
        bound = f"at most {replica.high_watermark} (high watermark)"
        compared, error = Compared("offset", str(start), bound), KafkaError.OFFSET_OUT_OF_RANGE
        return broker, (), (here.refusal(partition, DELETE_RECORDS, error, None, compared),)
    mine = log_of(broker, partition)
    kept = log.delete_before(mine, start)
    deleted = RecordsDeleted(
        broker.id, partition, first=mine.start, last=Offset(kept.start - 1), start=kept.start
    )
    return broker_parts.with_log(broker, partition, kept), (), (deleted,)
