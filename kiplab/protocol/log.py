"""A replica's log: offsets, the leader epochs they were written under, what has been flushed.

Records have no payload here. A leader epoch has one leader, and a leader appends in order, so the
pair (offset, leader epoch) names a record; the log is its leader-epoch cache plus an end.
In comes a log and what is done to it: records appended under an epoch, fetched records laid behind
it, an epoch that begins, an offset to cut at, a flush. Nothing is judged but where an epoch begins
and ends; whether a record may be appended or cut is for the caller to know. Out goes the log after
it: the same object where nothing changed. An epoch is noted when it begins, so it may stand at the
end without a record; it gives way to the next one that begins there, as in Kafka's cache.
Two logs hold the same record at an offset exactly if both have the same epoch there: all questions
about loss and divergence come down to that. Records below `start` were deleted on purpose: a log
that lacks them has lost nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from .ids import NO_LEADER_EPOCH, LeaderEpoch, Offset


class EpochStart(NamedTuple):
    """From `offset` on, until the next entry, records were written under `epoch`."""

    epoch: LeaderEpoch
    offset: Offset


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


EMPTY = Log()


def append(log: Log, epoch: LeaderEpoch, count: int) -> Log:
    """`count` records more, written under `epoch`, not flushed yet.

    Source: UnifiedLog.appendAsLeader (3.5.0).
    """
    noted = assign_epoch_start(log, epoch)
    return Log(noted.epochs, Offset(log.end + count), log.flushed, log.start)


def assign_epoch_start(log: Log, epoch: LeaderEpoch) -> Log:
    """Note that `epoch` begins at the log's end, unless it or a later one is already there.

    Source: UnifiedLog.maybeAssignEpochStartOffset and LeaderEpochFileCache.assign (3.5.0).
    """
    if log.epochs and log.epochs[-1].epoch >= epoch:
        return log
    # An epoch that ended without a record leaves no trace in Kafka's cache either.
    kept = tuple(e for e in log.epochs if e.offset < log.end)
    return Log((*kept, EpochStart(epoch, log.end)), log.end, log.flushed, log.start)


def flush(log: Log) -> Log:
    """Everything is safe from a power loss.

    Source: UnifiedLog.flush (3.5.0).
    """
    return log if log.flushed == log.end else Log(log.epochs, log.end, log.end, log.start)


def truncate(log: Log, offset: Offset) -> Log:
    """Only what lies below `offset` stays; the same log if nothing lies above.

    An epoch noted at the end, without a record, goes whatever the offset is: truncateFromEnd, which
    a start calls as well, removes entries at the end too.

    Source: UnifiedLog.truncateTo, LogLoader.load and LeaderEpochFileCache.truncateFromEnd (3.5.0).
    """
    end = Offset(min(offset, log.end))
    kept = tuple(e for e in log.epochs if e.offset < end)
    if end == log.end and len(kept) == len(log.epochs):
        return log
    return Log(kept, end, Offset(min(log.flushed, end)), Offset(min(log.start, end)))


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
    return Log((*first, *later), log.end, Offset(max(log.flushed, start)), start)


def start_anew(start: Offset) -> Log:
    """A log without a record, the first of which will be at `start`.

    Source: UnifiedLog.truncateFullyAndStartAt (3.5.0).
    """
    return Log((), start, start, start)


def up_to(log: Log, end: Offset) -> Log:
    """The records below `end`, as somebody who has only these would know them; all flushed.

    Source: none; it stands for what a reader may see of a log, and for what an observer knows.
    """
    cut = truncate(log, end)
    return Log(cut.epochs, cut.end, cut.end, cut.start)


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
    """The leader epoch the record at `offset` was written under.

    Source: LeaderEpochFileCache.epochForOffset (3.5.0).
    """
    found = NO_LEADER_EPOCH
    for entry in log.epochs:
        if entry.offset > offset:
            break
        found = entry.epoch
    return found


def end_of_epoch(log: Log, epoch: LeaderEpoch) -> EpochStart | None:
    """Where `epoch` ends in this log, as (the epoch found, its end offset).

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
    """What a fetch at `offset` reads: a log whose first epoch entry starts at `offset`.

    Source: UnifiedLog.read (3.5.0).
    """
    if offset >= log.end:
        return Log((), log.end, log.end)
    later = tuple(e for e in log.epochs if offset < e.offset < log.end)
    return Log((EpochStart(epoch_at(log, offset), offset), *later), log.end, log.end)


def extend(log: Log, records: Log) -> Log:
    """`log` with fetched `records` appended; they begin where `log` ends.

    Source: UnifiedLog.appendAsFollower (3.5.0).
    """
    if records.end <= log.end:
        return log
    noted = log.epochs
    for entry in records.epochs:
        # LeaderEpochFileCache.assign: an epoch noted at the end had no record, and gives way.
        kept = tuple(e for e in noted if e.offset < entry.offset)
        noted = kept if kept and kept[-1].epoch == entry.epoch else (*kept, entry)
    return Log(noted, records.end, log.flushed, log.start)


def overlaid(known: Log, records: Log) -> Log:
    """`known` with `records` laid over it; epoch -1 stands where neither has any.

    Source: none; it stands for an application that remembers all it has read.
    """
    first, end = records.epochs[0].offset, records.end
    before = [e for e in known.epochs if e.offset < first]
    if known.end < first:
        before.append(EpochStart(NO_LEADER_EPOCH, known.end))
    after = [e for e in known.epochs if e.offset > end]
    if end < known.end:
        after.insert(0, EpochStart(epoch_at(known, end), end))
    joined: list[EpochStart] = []
    for entry in (*before, *records.epochs, *after):
        if not joined or joined[-1].epoch != entry.epoch:
            joined.append(entry)
    longest = Offset(max(known.end, end))
    return Log(tuple(joined), longest, longest, Offset(min(known.start, first)))


def first_difference(one: Log, other: Log) -> Offset:
    """The first offset at which the two do not hold the same record.

    Where one is a prefix of the other, that is the end of the shorter. Below the later of their
    starts one of them has nothing that could differ.

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
    """Whether `log` has every record of `committed` that nobody has deleted.

    Source: none; it stands for an observer who asks whether a record was lost.
    """
    if log.end < committed.end:
        return committed.start == committed.end
    return first_difference(log, committed) >= committed.end


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
        found = (o for o in starts if o >= log.end or epoch_at(log, Offset(o)) != epoch)
        missing = next(found, log.end if log.end < end else None)
        if missing is not None:
            return Offset(missing)
    return None
