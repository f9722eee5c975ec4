"""DeleteRecords: an admin client has a leader forget its oldest records for good (KIP-107).

In come a partition and an offset, or none: then everything that is committed. Judged, in Kafka's
order: is the replica here, does this broker lead, is the offset beyond the high watermark. Out go a
log that begins there and the fact, or the refusal, with which nothing changes. Followers learn the
new start from the answers to their fetches (`fetching.py`). Kafka answers the client when all of
them have; here nobody waits for it. The start is on the disk at once, where Kafka's process writes
it every 60 s.
"""

from __future__ import annotations

from .. import log
from ..errors import KafkaError
from ..facts import Compared, RecordsDeleted, Refused
from ..features import Features
from ..ids import NO_LEADER_EPOCH, Offset
from . import broker_parts
from .broker_parts import Here
from .broker_state import Broker, Replica, replica_of
from .client_reads import not_the_leader, refusal

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
        return broker, (), (_beyond(here, replica, start),)
    mine = broker_parts.log_of(broker, partition)
    kept = log.delete_before(mine, start)
    deleted = RecordsDeleted(
        node=broker.id,
        partition=partition,
        first=mine.start,
        last=Offset(kept.start - 1),
        start=kept.start,
    )
    return broker_parts.with_log(broker, partition, kept), (), (deleted,)


def _beyond(here: Here, replica: Replica, start: Offset) -> Refused:
    """Only what is committed can be deleted."""
    error = KafkaError.OFFSET_OUT_OF_RANGE
    compared = Compared("offset", str(start), f"at most {replica.high_watermark} (high watermark)")
    return refusal(here, replica.partition, DELETE_RECORDS, error, compared=compared)
