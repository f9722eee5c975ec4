"""What words hold, as compiled functions read and write it: fields, requests in flight, logs.

A log is 52 bits: protocol/log.py, function by function. Leader epoch 0 stands for -1.
"""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

from . import word_layout as at

# --- compiling ------------------------------------------------------------------------------------
# numba keys its cache on the source file of a function alone: not on globals, and not on functions
# that it calls. So what varies from search to search is an argument everywhere; and only roots are
# cached, which carry a digest of this whole room in their closure.

_Function = TypeVar("_Function", bound=Callable[..., Any])
_NJIT: Any = numba.njit
_OPTIONS = {"_nrt": False, "error_model": "numpy"}
"""Nothing here makes an array; counting references to those given took a third of the time."""


def inner(function: _Function) -> _Function:
    """Compiled into whatever root calls it."""
    return cast(_Function, _NJIT(**_OPTIONS)(function))


def root(function: _Function) -> _Function:
    """Compiled on its first call, and read from disk in later processes where that can be kept."""
    try:
        return cast(_Function, _NJIT(cache=True, **_OPTIONS)(function))
    except RuntimeError:
        # Neither beside the sources nor in the user's cache may anything be written.
        return inner(function)


def digest() -> int:
    """A number for the sources of this room: another one for any change."""
    here = Path(__file__).parent
    text = b"".join(path.read_bytes() for path in sorted(here.glob("*.py")))
    return int.from_bytes(sha256(text).digest()[:7], "big")


Ints = npt.NDArray[np.int64]
get, put = inner(at.get), inner(at.put)


@inner
def has(members: int, broker: int) -> bool:
    """Whether a set has a broker."""
    return (members >> broker) & 1 == 1


@inner
def place_of_other(broker: int, other: int) -> int:
    """Where `other` stands in the tables of `broker`."""
    return (other - broker + at.BROKERS - 1) % at.BROKERS


@inner
def incarnations_at(incarnations: int, place: int) -> int:
    """One of two incarnations."""
    return (incarnations >> (3 * place)) & at.THREE


# --- requests -------------------------------------------------------------------------------------


@inner
def request(words: Ints, number: int) -> int:
    """A request in flight, 0 when there are not so many."""
    return get(words, at.IN_FLIGHT, number // 2, number % 2)


@inner
def put_request(words: Ints, number: int, value: int) -> None:
    """Write the place of one request."""
    put(words, at.IN_FLIGHT, number // 2, value, number % 2)


@inner
def has_request(words: Ints, sender: int, incarnation: int) -> bool:
    """Whether a request of this incarnation of a broker is in flight."""
    wanted = (sender << 3) | incarnation
    found = False
    for number in range(at.REQUESTS):
        found = found or request(words, number) >> at.R_LIFE == wanted
    return found


@inner
def send(words: Ints, value: int, out: Ints) -> None:
    """One request more, in its place."""
    carried = value
    for number in range(at.REQUESTS):
        held = request(words, number)
        if held == 0 or carried < held:
            put_request(words, number, carried)
            carried = held
            if held == 0:
                return
    out[at.OVERFLOW] = 1


@inner
def take(words: Ints, number: int) -> None:
    """One request less."""
    for place in range(number, at.REQUESTS - 1):
        put_request(words, place, request(words, place + 1))
    put_request(words, at.REQUESTS - 1, 0)


# --- logs -----------------------------------------------------------------------------------------


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
    size, end = size_of(log), end_of(log)
    if size > 0 and epoch_of(log, size - 1) >= epoch:
        return log
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
def latest_epoch(log: int) -> int:
    """latest_epoch."""
    size = size_of(log)
    return epoch_of(log, size - 1) if size > 0 else 0


@inner
def end_of_epoch(log: int, epoch: int) -> int:
    """end_of_epoch, as epoch * 16 + offset, or -1."""
    size = size_of(log)
    if size > 0 and epoch_of(log, size - 1) == epoch:
        return epoch * 16 + end_of(log)
    floor = epoch
    for entry in range(size):
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
    size = size_of(kept)
    if size > 0 and epoch_of(kept, size - 1) == epoch:
        return kept
    return with_entry(kept, epoch, start, out)


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
