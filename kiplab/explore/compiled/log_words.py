"""A log in 52 bits: protocol/log.py, function by function. Leader epoch 0 stands for -1."""

from . import word_layout as at
from .words import Ints, inner


@inner
def end_of(log: int) -> int:
    """The offset of the next record."""
    return log & at.FOUR


@inner
def epoch_of(log: int, entry: int) -> int:
    """The leader epoch of an entry, 0 when there are not so many."""
    return (log >> (at.FIRST_ENTRY + at.ENTRY_BITS * entry)) & at.FOUR if entry < at.ENTRIES else 0


@inner
def start_of(log: int, entry: int) -> int:
    """Where an entry's epoch starts."""
    return (log >> (at.FIRST_ENTRY + at.ENTRY_BITS * entry + 4)) & at.FOUR


@inner
def size_of(log: int) -> int:
    """How many entries there are."""
    size = 0
    while epoch_of(log, size) != 0:
        size += 1
    return size


@inner
def latest_epoch(log: int) -> int:
    """latest_epoch."""
    size = size_of(log)
    return epoch_of(log, size - 1) if size > 0 else 0


@inner
def kept_below(log: int, offset: int, end: int) -> int:
    """The entries that start below `offset`, with another end."""
    size = size_of(log)
    while size > 0 and start_of(log, size - 1) >= offset:
        size -= 1
    entries = log & (((1 << (at.ENTRY_BITS * size)) - 1) << at.FIRST_ENTRY)
    return entries | end


@inner
def with_entry(log: int, epoch: int, start: int, out: Ints) -> int:
    """One entry more."""
    size = size_of(log)
    if size == at.ENTRIES:
        out[at.OVERFLOW] = 1
        return log
    return log | ((epoch | (start << 4)) << (at.FIRST_ENTRY + at.ENTRY_BITS * size))


@inner
def noted(log: int, epoch: int, out: Ints) -> int:
    """assign_epoch_start."""
    if latest_epoch(log) >= epoch:
        return log
    end = end_of(log)
    return with_entry(kept_below(log, end, end), epoch, end, out)


@inner
def appended(log: int, epoch: int, out: Ints) -> int:
    """append of one record."""
    if end_of(log) == at.MOST_OFFSET:
        out[at.OVERFLOW] = 1
        return log
    return noted(log, epoch, out) + 1


@inner
def truncated(log: int, offset: int) -> int:
    """truncate, and up_to."""
    cut = min(offset, end_of(log))
    return kept_below(log, cut, cut)


@inner
def epoch_at(log: int, offset: int) -> int:
    """epoch_at."""
    found, entry = 0, 0
    while epoch_of(log, entry) != 0 and start_of(log, entry) <= offset:
        found = epoch_of(log, entry)
        entry += 1
    return found


@inner
def end_of_epoch(log: int, epoch: int) -> int:
    """end_of_epoch, as epoch * 16 + offset, or -1."""
    if latest_epoch(log) == epoch:
        return epoch * 16 + end_of(log)
    floor = epoch
    for entry in range(size_of(log)):
        if epoch_of(log, entry) > epoch:
            return floor * 16 + start_of(log, entry)
        floor = epoch_of(log, entry)
    return -1


@inner
def copied(log: int, theirs: int, out: Ints) -> int:
    """extend(log, records_from(theirs, end of log))."""
    first, end = end_of(log), end_of(theirs)
    if first >= end:
        return log
    longer = _extended(log, epoch_at(theirs, first), first, out)
    for entry in range(size_of(theirs)):
        start = start_of(theirs, entry)
        if first < start < end:
            longer = _extended(longer, epoch_of(theirs, entry), start, out)
    return (longer & ~at.FOUR) | end


@inner
def _extended(log: int, epoch: int, start: int, out: Ints) -> int:
    kept = kept_below(log, start, end_of(log))
    return kept if latest_epoch(kept) == epoch else with_entry(kept, epoch, start, out)


@inner
def holds(log: int, committed: int) -> bool:
    """holds."""
    end = end_of(committed)
    if end_of(log) < end:
        return False
    if log >> at.FIRST_ENTRY == committed >> at.FIRST_ENTRY:
        return True
    offset = 0
    while offset < end and epoch_at(log, offset) == epoch_at(committed, offset):
        offset += 1
    return offset == end
