"""Replication: the follower fetches, the leader answers, the follower appends or truncates.

The input is a round of the fetcher threads, a Fetch, or its answer.
The leader judges a Fetch in this order: the leader epoch, leadership, whether the sender is a
replica at all, the offset and the last epoch against the log (out of range, or the offset at which
the two logs diverge), and last, only where the follower's state would change, the sender's broker
epoch. It reads, then notes how far the follower is (`leader.follower_fetched`), which may propose
it, and then may commit records: so the answer has the earlier high watermark. The follower takes an
answer only if it still follows under that leader epoch and its log ends where it fetched from. The
output is Fetches, answers, an AlterPartition request, and facts; without news a node stays the same
object. Epochs in fetches are KIP-320's and KIP-903's, truncation on fetch KIP-595's.
"""

from functools import partial

from msgspec.structs import replace

from .. import log
from ..errors import KafkaError
from ..facts import Appended, Compared, EpochDropped, Fact, RecordsDeleted, Refused, Truncated
from ..features import Features
from ..ids import NO_BROKER_EPOCH, NO_LEADER, NO_LEADER_EPOCH, LeaderEpoch, Offset, epoch_in_version
from ..messages import FetchRequest, FetchResponse, Send
from ..registrations import registration
from . import alter_partition_manager, broker_parts
from .broker_parts import Here
from .broker_state import Broker, Replica, log_of, replica_of
from .client_reads import not_the_leader
from .isr_proposals import propose_expand
from .leader import commits_more, follower_fetched
from .remote_replicas import leading_of, remote_of

KIND = "fetch"
FETCH_WAIT_MS = 500
"""replica.fetch.wait.max.ms: how long a fetch of a caught-up follower rests at the leader."""
FETCH_BACKOFF_MS = 1_000
"""replica.fetch.backoff.ms: how long a follower leaves a partition alone that it was refused."""


def fetch(broker: Broker, features: Features) -> broker_parts.BrokerEffect:
    """One round of the fetcher threads: every followed partition asks for what comes next, but for
    those whose fetcher was stopped.

    Source: AbstractFetcherThread.doWork and RemoteLeaderEndPoint.buildFetch (3.5.0, 3.9.0-rc3);
    KIP-903, Proposed Design.
    """
    process = broker_parts.process_of(broker)
    sends = tuple(
        Send(r.leader, _request(broker, r, features))
        for r in process.replicas
        if r.leading is None and r.leader != NO_LEADER and r.partition not in process.stopped
    )
    return broker, sends, ()


def _request(broker: Broker, replica: Replica, features: Features) -> FetchRequest:
    mine = log_of(broker, replica.partition)
    return FetchRequest(
        version=features.fetch_version(),
        partition=replica.partition,
        replica=broker.id,
        # KIP-903, Proposed Design, The new behaviors, 1 (Follower): the epoch that its registration
        # was answered with.
        replica_epoch=broker_parts.process_of(broker).epoch,
        leader_epoch=replica.leader_epoch,
        offset=mine.end,
        last_fetched_epoch=log.latest_epoch(mine),
    )


def serve_fetch(
    broker: Broker, request: FetchRequest, features: Features, now_ms: int | None
) -> broker_parts.BrokerEffect:
    """The leader's side: check, read, then note how far the follower is.

    The answer carries the high watermark of before the fetch was noted.

    Source: ReplicaManager.readFromLocalLog (3.5.0; from 3.6.0 on readFromLog) and
    Partition.fetchRecords (3.5.0, 3.9.0-rc3; for the stale fetch Replica.updateFetchStateOrThrow,
    3.7.0); KIP-320, KIP-595.
    """
    here = broker_parts.here(broker, features, now_ms)
    replica = replica_of(broker, request.partition)
    mine = log_of(broker, request.partition)
    reply, refused, counts = read(here, replica, mine, request)
    if replica is None or not counts:
        return broker, (reply,), refused
    noted, fact = follower_fetched(here, replica, mine, request, request.replica_epoch)
    broker, sends, facts = go_on(here, broker, replica, noted, request, features)
    return broker, (reply, *sends), (fact, *facts)


def read(
    here: Here, replica: Replica | None, mine: log.Log, request: FetchRequest
) -> tuple[Send, tuple[Fact, ...], bool]:
    """The leader's answer, its refusal if any, and whether it will note the fetch.

    It does not note a refused fetch, nor one after which the logs diverge. Nothing changes yet.

    Source: Partition.fetchRecords up to readFromLocalLog (3.5.0, 3.9.0-rc3).
    """
    refused = _refusal(here, replica, request)
    if refused is not None or replica is None:
        error = refused.error if refused else KafkaError.UNKNOWN_TOPIC_OR_PARTITION
        return _failed(request, error), (refused,) if refused else (), False
    answer = partial(
        FetchResponse,
        partition=request.partition,
        leader_epoch=replica.leader_epoch,
        log_start_offset=mine.start,
    )
    beyond = _out_of_range(here, mine, request)
    if beyond is not None:
        # With what the follower's ListOffsets will hear: both ends of the log.
        ends = log.EpochStart(NO_LEADER_EPOCH, mine.end)
        reply = answer(error=KafkaError.OFFSET_OUT_OF_RANGE, diverging=ends)
        return Send(request.replica, reply), (beyond,), False
    diverging = _diverging(here, mine, request)
    if diverging is not None:
        # Where the logs diverge, the follower's state is not touched, so its epoch is not checked.
        reply = answer(high_watermark=replica.high_watermark, diverging=diverging)
        return Send(request.replica, reply), (), False
    stale = _stale(here, request)
    if stale is not None:
        return _failed(request, stale.error), (stale,), False
    records = log.records_from(mine, request.offset)
    reply = answer(records=records, high_watermark=replica.high_watermark)
    return Send(request.replica, reply), (), True


def go_on(
    here: Here,
    broker: Broker,
    before: Replica,
    replica: Replica,
    request: FetchRequest,
    features: Features,
    overtaken: Replica | None = None,
) -> broker_parts.BrokerEffect:
    """The leader's reaction to a fetch that it has noted in `replica`; `before` is from before it.

    A proposal that the AlterPartition manager does not take is withdrawn before the high watermark
    is looked at, so it holds nothing back. For `overtaken` see `isr_proposals.propose_expand`.

    Source: Partition.updateFollowerFetchState after updateFetchState (3.5.0, 3.9.0-rc3).
    """
    mine = log_of(broker, request.partition)
    replica, item, facts = propose_expand(here, replica, request.replica, overtaken)
    sends: tuple[Send, ...] = ()
    if item is not None:
        broker = broker_parts.with_replica(broker, replica)
        broker, sends, withdrawn = alter_partition_manager.submit(broker, item, features)
        facts = (*facts, *withdrawn)
        replica = replica_of(broker, request.partition) or replica
    end = request.offset
    if overtaken is not None:
        end = remote_of(leading_of(replica), request.replica).end
    replica, moved = commits_more(here, before, replica, mine, request.replica, end)
    return broker_parts.with_replica(broker, replica), sends, (*facts, *moved)


def _failed(request: FetchRequest, error: KafkaError) -> Send:
    return Send(request.replica, FetchResponse(partition=request.partition, error=error))


def _out_of_range(here: Here, mine: log.Log, request: FetchRequest) -> Refused | None:
    """An offset before the log's start or beyond its end, or an epoch that the leader's log knows
    nothing of.

    With a known last epoch an offset beyond the end is answered with where the logs diverge.
    """
    error = KafkaError.OFFSET_OUT_OF_RANGE
    epoch = _last_fetched_epoch(here, request)
    if request.offset < mine.start:
        compared = Compared("offset", str(request.offset), f"at least {mine.start}")
    elif epoch == NO_LEADER_EPOCH:
        if request.offset <= mine.end:
            return None
        compared = Compared("offset", str(request.offset), f"at most {mine.end}")
    elif log.end_of_epoch(mine, epoch) is None:
        compared = Compared("last epoch", str(epoch), str(log.latest_epoch(mine)))
    else:
        return None
    return here.refusal(request.partition, KIND, error, None, compared)


def _last_fetched_epoch(here: Here, request: FetchRequest) -> LeaderEpoch:
    """LastFetchedEpoch is on the wire from version 12 on (KIP-595).

    Before there was such a version, a follower asked by OffsetsForLeaderEpoch where its last epoch
    ends, and cut its log, before it fetched (KIP-101, KIP-279). What comes of it is the same: its
    first fetch stands for both here.
    """
    has_field = request.version >= 12 or here.writes_isr
    return _known(request.last_fetched_epoch) if has_field else NO_LEADER_EPOCH


def _known(epoch: LeaderEpoch) -> LeaderEpoch:
    """Whatever is below 0 says "not sent" (FetchRequest.optionalEpoch)."""
    return max(epoch, NO_LEADER_EPOCH)


def _refusal(here: Here, replica: Replica | None, request: FetchRequest) -> Refused | None:
    epoch = _known(request.leader_epoch)
    wrong = not_the_leader(here, replica, request.partition, epoch, KIND)
    if wrong is not None or replica is None:
        return wrong
    if request.replica not in replica.replicas:
        unknown = epoch == NO_LEADER_EPOCH
        error = KafkaError.NOT_LEADER_OR_FOLLOWER if unknown else KafkaError.UNKNOWN_LEADER_EPOCH
        return here.refusal(request.partition, KIND, error)
    return None


def _stale(here: Here, request: FetchRequest) -> Refused | None:
    # KAFKA-15221, "Fix the race between fetch requests from a rebooted follower": what an earlier
    # incarnation of the broker had in its log says nothing of this one, so its state is not
    # touched.
    guard = "kafka-15221.stale-fetch"
    if guard not in here.active:
        return None
    registered = registration(here.registrations, request.replica)
    if registered is None or registered.fenced:
        return None
    if registered.epoch <= request.replica_epoch:
        return None
    epoch = epoch_in_version(request.version, 15, request.replica_epoch)
    if epoch == NO_BROKER_EPOCH:
        return None
    compared = Compared(f"broker {request.replica} epoch", str(epoch), str(registered.epoch))
    error = KafkaError.NOT_LEADER_OR_FOLLOWER
    return here.refusal(request.partition, KIND, error, guard, compared)


def _diverging(here: Here, mine: log.Log, request: FetchRequest) -> log.EpochStart | None:
    """Where the follower's log leaves the leader's, or None while they agree (KIP-595)."""
    epoch = _last_fetched_epoch(here, request)
    end = None if epoch == NO_LEADER_EPOCH else log.end_of_epoch(mine, epoch)
    if end is None or (end.epoch >= epoch and end.offset >= request.offset):
        return None
    return end


def fetched(
    broker: Broker, response: FetchResponse, request: FetchRequest, now_ms: int | None
) -> broker_parts.BrokerEffect:
    """The follower's side: append what came, or cut what the leader does not have.

    Of the errors only OFFSET_OUT_OF_RANGE changes a log, and only it names the leader's epoch. With
    a clock every other one keeps the fetchers waiting for a while: of the whole broker here, of the
    partition in Kafka.

    Source: AbstractFetcherThread.processFetchRequest, ReplicaFetcherThread.processPartitionData,
    UnifiedLog.maybeUpdateHighWatermark and AbstractFetcherThread.fetchOffsetAndTruncate (3.5.0);
    KIP-595.
    """
    if response.error and response.error is not KafkaError.OFFSET_OUT_OF_RANGE:
        if now_ms is not None:
            # AbstractFetcherThread.delayPartitions.
            timers = broker_parts.process_of(broker).timers
            delayed = replace(timers, fetch=now_ms + FETCH_BACKOFF_MS)
            broker = broker_parts.with_process(broker, timers=delayed)
        return broker, (), ()
    replica = replica_of(broker, response.partition)
    mine = log_of(broker, response.partition)
    stale = replica is None or replica.leading is not None or request.offset != mine.end
    if replica is None or stale or response.leader_epoch != replica.leader_epoch:
        return broker, (), ()
    if response.error is KafkaError.OFFSET_OUT_OF_RANGE and response.log_start_offset > mine.end:
        return _begun_anew(broker, replica, mine, response.log_start_offset)
    if response.diverging is not None:
        return _truncated(broker, replica, mine, response.diverging)
    longer = log.extend(mine, response.records)
    # A follower takes its leader's word, even where a new leader has not got as far yet.
    high_watermark = Offset(max(longer.start, min(response.high_watermark, longer.end)))
    kept = log.delete_before(longer, Offset(min(response.log_start_offset, high_watermark)))
    broker = broker_parts.with_log(broker, replica.partition, kept)
    if high_watermark != replica.high_watermark:
        broker = broker_parts.with_replica(broker, replace(replica, high_watermark=high_watermark))
    facts: tuple[Fact, ...] = ()
    if longer.end != mine.end:
        last = Offset(longer.end - 1)
        facts = (Appended(broker.id, replica.partition, first=mine.end, last=last),)
    if kept is not longer:
        facts = (*facts, _deleted(broker, replica, mine, kept.start))
    return broker, (), facts


def _deleted(broker: Broker, replica: Replica, mine: log.Log, start: Offset) -> RecordsDeleted:
    return RecordsDeleted(
        broker.id,
        replica.partition,
        first=mine.start,
        last=Offset(min(start, mine.end) - 1),
        start=start,
        follows=True,
    )


def _begun_anew(
    broker: Broker, replica: Replica, mine: log.Log, start: Offset
) -> broker_parts.BrokerEffect:
    """Everything is stale where the leader has deleted more than the follower ever had."""
    broker = broker_parts.with_log(broker, replica.partition, log.start_anew(start))
    broker = broker_parts.with_replica(broker, replace(replica, high_watermark=start))
    return broker, (), (_deleted(broker, replica, mine, start),)


def _truncated(
    broker: Broker, replica: Replica, mine: log.Log, diverging: log.EpochStart
) -> broker_parts.BrokerEffect:
    shorter = log.truncate(mine, _cut(mine, diverging))
    if shorter is mine:
        return broker, (), ()
    offset = Offset(min(replica.high_watermark, shorter.end))
    broker = broker_parts.with_log(broker, replica.partition, shorter)
    broker = broker_parts.with_replica(broker, replace(replica, high_watermark=offset))
    if shorter.end == mine.end:
        dropped = EpochDropped(
            broker.id, replica.partition, epoch=log.latest_epoch(mine), end=mine.end
        )
        return broker, (), (dropped,)
    fact = Truncated(broker.id, replica.partition, first=shorter.end, last=Offset(mine.end - 1))
    return broker, (), (fact,)


def _cut(mine: log.Log, diverging: log.EpochStart) -> Offset:
    """AbstractFetcherThread.getOffsetTruncationState (KIP-101, KIP-279): where both end the epoch.

    A follower that does not know the epoch cuts where the epoch before it ends, and asks again.
    """
    has_epoch = diverging.epoch != NO_LEADER_EPOCH
    own = log.end_of_epoch(mine, diverging.epoch) if has_epoch else None
    if own is None:
        return diverging.offset
    return own.offset if own.epoch != diverging.epoch else min(diverging.offset, own.offset)
