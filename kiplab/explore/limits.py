"""What stops a search from outside: time, memory, a number of states, somebody who has seen enough.

The only file of this room that looks at a clock or at the machine.
"""

from __future__ import annotations

import mmap
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from .search import Progress

MEMORY_MB = 2_000
"""What a search may take by default: a kernel on a laptop or on Binder has that much."""
GROWING = 120
"""Bytes a state costs for a moment while the table of known states doubles."""
TELL_EVERY_S = 0.5


class Told(msgspec.Struct, frozen=True):
    """What a progress callback is given: counts, and states and transitions a second so far."""

    states: int
    transitions: int
    depth: int
    frontier: int
    seconds: float
    rate: float


class Limits:
    """Asked by the search now and then; says why to stop, or nothing.

    `memory_mb` is what this process may grow to, in all. `cancel` is asked at every look, and
    `progress` told at most twice a second.
    """

    def __init__(
        self,
        *,
        seconds: float | None = None,
        states: int | None = None,
        memory_mb: int = MEMORY_MB,
        progress: Callable[[Told], object] | None = None,
        cancel: Callable[[], bool] | None = None,
    ) -> None:
        self.most_seconds, self.most_states, self.memory_mb = seconds, states, memory_mb
        self.progress, self.cancel = progress, cancel
        self.began = time.perf_counter()
        self.told = 0.0

    @property
    def seconds(self) -> float:
        """Wall time since these limits were made."""
        return time.perf_counter() - self.began

    def __call__(self, now: Progress) -> str:
        """The search's `stop`."""
        seconds = self.seconds
        if self.progress is not None and seconds - self.told >= TELL_EVERY_S:
            self.told = seconds
            self.progress(told(now, seconds))
        if self.cancel is not None and self.cancel():
            return "it was cancelled"
        if self.most_states is not None and now.states >= self.most_states:
            return f"it was to look at {self.most_states:,} states at most"
        if self.most_seconds is not None and seconds >= self.most_seconds:
            return f"it was to take {self.most_seconds:g} s at most"
        return self.room(GROWING * now.states)

    def room(self, bytes: int) -> str:
        """Why so many bytes more are not to be taken, or nothing."""
        if memory_now() + bytes > self.memory_mb * 1_000_000:
            return f"the next states would have taken it over {self.memory_mb:,} MB of memory"
        return ""


def told(now: Progress, seconds: float) -> Told:
    """Progress with the time that it took."""
    rate = now.transitions / seconds if seconds else 0.0
    return Told(now.states, now.transitions, now.depth, now.frontier, seconds, rate)


def memory_now() -> int:
    """Bytes that this process holds; where the system does not say, the most it ever held; or 0."""
    try:
        return int(_STATM.read_text().split()[1]) * mmap.PAGESIZE
    except (OSError, ValueError, IndexError):
        return _most_ever()


def _most_ever() -> int:
    try:
        import resource
    except ImportError:
        # Windows and browsers: nothing is known, and nothing can be limited.
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


_STATM = Path("/proc/self/statm")
