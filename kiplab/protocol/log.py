"""A replica's log: offsets, the leader epochs of its records, and the flushed part.

Records have no payload here. A leader epoch has one leader, and a leader appends in order, so the
pair (offset, leader epoch) names a record; the log is its leader-epoch cache plus an end.
The input is a log and an operation: append records under an epoch, append fetched records, begin an
epoch, truncate at an offset, flush. Only the start and end of an epoch are judged; the caller
decides whether a record may be appended or cut. The output is the log afterwards: the same object
where nothing changed. An epoch is noted when it begins, so it may be at the end without a record;
the next epoch that begins there replaces it, as in Kafka's cache.
Two logs have the same record at an offset exactly if both have the same epoch there. All questions
about loss and divergence reduce to that. Records below `start` were deleted on purpose: a log
without them has lost nothing. A log has one open transaction at a time. The start of its records,
records of others between them, and the marker that ends it are noted by offset, so that a log that
is cut has the notes of that time, and one without a transaction has none.
"""

from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

import msgspec

from .ids import NO_LEADER_EPOCH, LeaderEpoch, Offset


class EpochStart(NamedTuple):
    """From `offset` on, until the next entry, records were written under `epoch`."""

    epoch: LeaderEpoch
    offset: Offset


class TransactionStep(StrEnum):
    """The beginning at an offset of a log that transactions write to."""

    WRITES = "writes"
    """Records of the open transaction, which is open from the first of them on."""
    OTHERS = "others"
    """Records of producers without one, in between."""
    COMMITS = "commits"
    """One record, the marker: what the transaction wrote counts."""
    ABORTS = "aborts"
    """One record, the marker: readers of committed records skip what the transaction wrote."""


class TransactionNote(NamedTuple):
    """From `offset` on, until the next note, records are of this step."""

    offset: Offset
    step: TransactionStep


class Log(msgspec.Struct, frozen=True, cache_hash=True):
    """`end` is the log end offset (LEO): the offset of the next record.

    `flushed` is the first offset that is not yet safe from a power loss. The last of `epochs` may
    start at `end`: a new leader notes its epoch before it writes. `start` is the log start offset:
    what lay below it was deleted.
    """

    epochs: tuple[EpochStart, ...] = ()
    end: Offset = Offset(0)
    flushed: Offset = Offset(0)
    start: Offset = Offset(0)
    transactions: tuple[TransactionNote, ...] = ()


EMPTY = Log()


def append(log: Log, epoch: LeaderEpoch, count: int, *, transaction: bool = False) -> Log:
    """`count` records more, written under `epoch`, not flushed yet; perhaps in the transaction that
    is open or begins with them.

    Source: UnifiedLog.appendAsLeader (3.5.0).
    """
    noted = assign_epoch_start(log, epoch)
    steps = _noted(log, transaction) if transaction or log.transactions else ()
    return Log(noted.epochs, Offset(log.end + count), log.flushed, log.start, steps)


def _noted(log: Log, transaction: bool) -> tuple[TransactionNote, ...]:
    writes = bool(log.transactions) and log.transactions[-1].step is TransactionStep.WRITES
    if writes is transaction:
        return log.transactions
    step = TransactionStep.WRITES if transaction else TransactionStep.OTHERS
    return (*log.transactions, TransactionNote(log.end, step))


def end_transaction(log: Log, epoch: LeaderEpoch, *, commits: bool) -> Log:
    """The marker that ends the open transaction, written under `epoch`: one record.

    Source: UnifiedLog.appendAsLeader and ProducerAppendInfo.appendEndTxnMarker (3.5.0).
    """
    longer = append(log, epoch, 1, transaction=True)
    step = TransactionStep.COMMITS if commits else TransactionStep.ABORTS
    steps = (*log.transactions, TransactionNote(log.end, step))
    return Log(longer.epochs, longer.end, longer.flushed, longer.start, steps)


def assign_epoch_start(log: Log, epoch: LeaderEpoch) -> Log:
    """Note that `epoch` begins at the log's end, unless it or a later one is already there.

    Source: UnifiedLog.maybeAssignEpochStartOffset and LeaderEpochFileCache.assign (3.5.0).
    """
    if log.epochs and log.epochs[-1].epoch >= epoch:
        return log
    # An epoch that ended without a record leaves no trace in Kafka's cache either.
    kept = tuple(e for e in log.epochs if e.offset < log.end)
    starts = (*kept, EpochStart(epoch, log.end))
    return Log(starts, log.end, log.flushed, log.start, log.transactions)


def flush(log: Log) -> Log:
    """Everything is safe from a power loss. Source: UnifiedLog.flush (3.5.0)."""
    if log.flushed == log.end:
        return log
    return Log(log.epochs, log.end, log.end, log.start, log.transactions)


def truncate(log: Log, offset: Offset) -> Log:
    """Only what lies below `offset` stays; the same log if nothing lies above.

    An epoch noted at the end, without a record, goes at any offset: truncateFromEnd, which
    a start calls as well, removes entries at the end too.

    Source: UnifiedLog.truncateTo, LogLoader.load and LeaderEpochFileCache.truncateFromEnd (3.5.0).
    """
    end = Offset(min(offset, log.end))
    kept = tuple(e for e in log.epochs if e.offset < end)
    if end == log.end and len(kept) == len(log.epochs):
        return log
    steps = log.transactions and tuple(t for t in log.transactions if t.offset < end)
    return Log(kept, end, Offset(min(log.flushed, end)), Offset(min(log.start, end)), steps)


def delete_before(log: Log, start: Offset) -> Log:
    """The log begins at `start`; the same log if it begins there already, or later.

    The epoch of the first record that stays is noted there, as is the last one of a log that has no
    record left.

    Source: UnifiedLog.maybeIncrementLogStartOffset and LeaderEpochFileCache.truncateFromStart
    (3.5.0).
    """
    if start <= log.start:
        return log
    later = tuple(e for e in log.epochs if e.offset > start)
    before = tuple(e for e in log.epochs if e.offset <= start)
    first = (EpochStart(before[-1].epoch, start),) if before else ()
    flushed = Offset(max(log.flushed, start))
    return Log((*first, *later), log.end, flushed, start, log.transactions)


def start_anew(start: Offset) -> Log:
    """An empty log from `start` on. Source: UnifiedLog.truncateFullyAndStartAt (3.5.0)."""
    return Log((), start, start, start)


def up_to(log: Log, end: Offset) -> Log:
    """A log with only the records below `end`, all flushed.

    Source: none; it stands for what a reader may see of a log, and for what an observer knows.
    """
    cut = truncate(log, end)
    return Log(cut.epochs, cut.end, cut.end, cut.start, cut.transactions)


def latest_epoch(log: Log) -> LeaderEpoch:
    """The last epoch noted, or NO_LEADER_EPOCH: LastFetchedEpoch of a follower's Fetch.

    It may be one that this broker led in without writing a record.

    Source: UnifiedLog.latestEpoch (3.5.0).
    """
    return log.epochs[-1].epoch if log.epochs else NO_LEADER_EPOCH


def last_epoch(log: Log) -> LeaderEpoch:
    """Epoch of the last record, or NO_LEADER_EPOCH in an empty log.

    Source: CompletedFetch.nextFetchedRecord (3.5.0), which reads it off the last batch.
    """
    return epoch_at(log, Offset(log.end - 1)) if log.end else NO_LEADER_EPOCH


def epoch_at(log: Log, offset: Offset) -> LeaderEpoch:
    """The leader epoch at `offset`. Source: LeaderEpochFileCache.epochForOffset (3.5.0)."""
    leader_epoch = NO_LEADER_EPOCH
    for entry in log.epochs:
        if entry.offset > offset:
            break
        leader_epoch = entry.epoch
    return leader_epoch


def end_of_epoch(log: Log, epoch: LeaderEpoch) -> EpochStart | None:
    """The end of `epoch` in this log, as (the epoch found, its end offset).

    That is the largest epoch not above the one asked for, and the start of the next. None when the
    log knows no epoch above `epoch` and `epoch` itself neither.

    Source: LeaderEpochFileCache.endOffsetFor (3.5.0); KIP-101, KIP-279.
    """
    if log.epochs and log.epochs[-1].epoch == epoch:
        return EpochStart(epoch, log.end)
    higher = next((e for e in log.epochs if e.epoch > epoch), None)
    if higher is None:
        return None
    floor = [e.epoch for e in log.epochs if e.epoch <= epoch]
    return EpochStart(floor[-1] if floor else epoch, higher.offset)


def records_from(log: Log, offset: Offset) -> Log:
    """The result of a fetch at `offset`: a log whose first epoch entry starts at `offset`.

    Source: UnifiedLog.read (3.5.0).
    """
    if offset >= log.end:
        return Log((), log.end, log.end)
    later = tuple(e for e in log.epochs if offset < e.offset < log.end)
    starts = (EpochStart(epoch_at(log, offset), offset), *later)
    steps = log.transactions and tuple(t for t in log.transactions if t.offset >= offset)
    return Log(starts, log.end, log.end, transactions=steps)


def extend(log: Log, records: Log) -> Log:
    """`log` and fetched `records` after it. Source: UnifiedLog.appendAsFollower (3.5.0)."""
    if records.end <= log.end:
        return log
    noted = log.epochs
    for entry in records.epochs:
        # LeaderEpochFileCache.assign: an epoch noted at the end had no record, and gives way.
        kept = tuple(e for e in noted if e.offset < entry.offset)
        noted = kept if kept and kept[-1].epoch == entry.epoch else (*kept, entry)
    steps = log.transactions + records.transactions
    return Log(noted, records.end, log.flushed, log.start, steps)


_MARKERS = (TransactionStep.COMMITS, TransactionStep.ABORTS)


def open_transaction(log: Log) -> Offset | None:
    """The open transaction's first offset. Source: ProducerStateManager.ongoingTxns (3.5.0)."""
    first: Offset | None = None
    for offset, step in log.transactions:
        if step in _MARKERS:
            first = None
        elif first is None and step is TransactionStep.WRITES:
            first = offset
    return first


def last_stable_offset(log: Log, high_watermark: Offset) -> Offset:
    """Below it every transaction has ended, and its marker is committed.

    Source: ProducerStateManager.firstUnstableOffset and UnifiedLog.fetchLastStableOffsetMetadata
    (3.5.0).
    """
    if not log.transactions:
        return high_watermark
    first = open_transaction(up_to(log, high_watermark))
    return high_watermark if first is None else first


def aborted(log: Log) -> tuple[tuple[Offset, Offset], ...]:
    """Aborted transactions, with their markers: (first, one beyond the last), in order.

    Source: UnifiedLog.collectAbortedTransactions (3.5.0), as a consumer makes use of it.
    """
    spans: list[tuple[Offset, Offset]] = []
    mine: list[tuple[Offset, Offset]] = []
    ends = (*(t.offset for t in log.transactions[1:]), log.end)
    for (offset, step), end in zip(log.transactions, ends, strict=False):
        if step is TransactionStep.WRITES:
            mine.append((offset, end))
        elif step in _MARKERS:
            marker = (offset, Offset(offset + 1))
            spans += [*mine, marker] if step is TransactionStep.ABORTS else []
            mine = []
    return tuple(spans)


def without(records: Log, gaps: tuple[tuple[Offset, Offset], ...]) -> Log:
    """`records` with epoch -1 in the gaps.

    Source: CompletedFetch.nextFetchedRecord (3.5.0), which skips what was aborted.
    """
    for first, end in gaps:
        records = overlaid(records, Log((EpochStart(NO_LEADER_EPOCH, first),), end, end))
    return records


def overlaid(log: Log, records: Log) -> Log:
    """`known` with `records` laid over it; epoch -1 where neither has any.

    Source: none; it stands for an application that remembers all it has read.
    """
    first, end = records.epochs[0].offset, records.end
    before = [e for e in log.epochs if e.offset < first]
    if log.end < first:
        before.append(EpochStart(NO_LEADER_EPOCH, log.end))
    after = [e for e in log.epochs if e.offset > end]
    if end < log.end:
        after.insert(0, EpochStart(epoch_at(log, end), end))
    joined: list[EpochStart] = []
    for entry in (*before, *records.epochs, *after):
        if not joined or joined[-1].epoch != entry.epoch:
            joined.append(entry)
    longest = Offset(max(log.end, end))
    return Log(tuple(joined), longest, longest, Offset(min(log.start, first)))


@lru_cache(maxsize=4096)
def first_difference(one: Log, other: Log) -> Offset:
    """The first offset at which the two do not hold the same record.

    If one is a prefix of the other, that is the end of the shorter. Below the later of their
    starts one of them has no records to compare.

    Source: none; it stands for an observer who lays two logs side by side.
    """
    first = max(one.start, other.start)
    shared = Offset(max(min(one.end, other.end), first))
    if one.epochs == other.epochs:
        return shared
    starts = {e.offset for e in (*one.epochs, *other.epochs) if first < e.offset < shared}
    ranges = (first, *sorted(starts)) if first < shared else ()
    return next((Offset(o) for o in ranges if epoch_at(one, o) != epoch_at(other, o)), shared)


def holds(log: Log, committed: Log) -> bool:
    """Whether `log` has every record of `committed` that was not deleted.

    Source: none; it stands for an observer who asks whether a record was lost.
    """
    if log.end < committed.end:
        return committed.start == committed.end
    # Mostly there was one epoch, and it is the same.
    return log.epochs == committed.epochs or first_difference(log, committed) >= committed.end


def first_missing(log: Log, read: Log) -> Offset | None:
    """The first record of `read` that `log` does not hold and never deleted; epoch -1 in `read` is
    no record.

    Source: none; it stands for an observer who asks whether a record that was read is still there.
    """
    ends = (*(e.offset for e in read.epochs[1:]), read.end)
    for (epoch, start), end in zip(read.epochs, ends, strict=False):
        start = Offset(max(start, log.start, read.start))
        if epoch == NO_LEADER_EPOCH or start >= end:
            continue
        starts = (start, *(e.offset for e in log.epochs if start < e.offset < end))
        offsets = (o for o in starts if o >= log.end or epoch_at(log, Offset(o)) != epoch)
        missing = next(offsets, log.end if log.end < end else None)
        if missing is not None:
            return Offset(missing)
    return None
