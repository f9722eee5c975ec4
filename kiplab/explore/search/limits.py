"""Limits that stop a search from outside, and its progress reports.

A limit is a time, the memory, a number of states, or a caller who has seen enough.
This is the only file of this room that reads a clock or the machine.
"""

import math
import mmap
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from textwrap import fill
from types import FrameType
from typing import Any, cast

from msgspec.structs import replace

from ...extras import in_a_page
from ..levels.level_table import ExploreError, quoted
from ..search_terms import Halt, HaltReason, Progress

MEMORY_MB = 2_000
"""The memory of a search by default: a kernel on a laptop or on Binder has that much."""
GROWING = 120
"""Bytes a state costs for a moment while the table of known states doubles."""
TELL_EVERY_S = 0.5
WEIGH_EVERY_S = 0.05
"""Between two looks at this process's memory: asking the system costs as much as a state."""
CONTAINERS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
"""Files in which a container (Binder, Docker) has the size of its memory."""


def check_limits(seconds: object, states: object, memory_mb: object) -> None:
    """Raises ExploreError for limits that cannot be meant."""
    number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if seconds is not None and not (number and 0 <= cast("float", seconds) < math.inf):
        raise ExploreError(
            f"seconds is {quoted(seconds)}; expected a number, 0 or more, or None for no limit"
        )
    if states is not None and not (type(states) is int and states >= 0):
        raise ExploreError(
            f"states is {quoted(states)}; expected a whole number, 0 or more, or None for no limit"
        )
    if not (type(memory_mb) is int and memory_mb >= 1):
        raise ExploreError(
            f"the memory limit is {quoted(memory_mb)}; expected a whole number of MB, 1 or more"
        )


class Limits:
    """Asked by the search now and then; says why to stop, or None.

    `memory_mb` is what this process may grow to, in all, and never more than a container has room
    for. `cancel` is asked at every look, and `progress` told at most twice a second.
    """

    def __init__(
        self,
        *,
        seconds: float | None = None,
        states: int | None = None,
        memory_mb: int = MEMORY_MB,
        progress: Callable[[Progress], object] | None = None,
        cancel: Callable[[], bool] | None = None,
    ) -> None:
        self.most_seconds, self.most_states = seconds, states
        self.memory_mb = ceiling_mb(memory_mb)
        self.progress, self.cancel = progress, cancel
        self.began = time.perf_counter()
        self.last_report, self.weighed = 0.0, -math.inf

    @property
    def seconds(self) -> float:
        """Wall time since these limits were made."""
        return time.perf_counter() - self.began

    def __call__(self, now: Progress) -> Halt | None:
        """The search's `stop`."""
        seconds = self.seconds
        if self.progress is not None and seconds - self.last_report >= TELL_EVERY_S:
            self.last_report = seconds
            rate = now.transitions / seconds if seconds else 0.0
            self.progress(replace(now, seconds=seconds, rate=rate))
        if self.cancel is not None and self.cancel():
            return Halt(HaltReason.CANCELLED)
        if self.most_states is not None and now.states >= self.most_states:
            return Halt(HaltReason.STATES, self.most_states)
        if self.most_seconds is not None and seconds >= self.most_seconds:
            return Halt(HaltReason.SECONDS, self.most_seconds)
        if seconds - self.weighed < WEIGH_EVERY_S:
            return None
        self.weighed = seconds
        return self.room(GROWING * now.states)

    def room(self, bytes: int) -> Halt | None:
        """Why so many bytes more are not to be taken, or None."""
        if memory_now() + bytes > self.memory_mb * 1_000_000:
            return Halt(HaltReason.MEMORY, self.memory_mb)
        return None


def ceiling_mb(memory_mb: int) -> int:
    """`memory_mb`, or three quarters of what this container has, if that is less.

    The rest is for other processes: the kernel, JupyterLab, an editor.
    """
    for file in CONTAINERS:
        # No such file, or the word "max": no limit.
        with suppress(OSError, ValueError):
            given = int(file.read_text(encoding="utf-8")) * 3 // 4 // 1_000_000
            memory_mb = min(memory_mb, max(given, 1))
    return memory_mb


def memory_now() -> int:
    """Bytes that this process holds; where the system does not say, the most it ever held; or 0."""
    with suppress(OSError, ValueError, IndexError):
        return int(_STATM.read_text(encoding="utf-8").split()[1]) * mmap.PAGESIZE
    if in_a_page():
        import pyodide_js

        return int(pyodide_js._module.HEAP8.length)
    try:
        import resource
    except ImportError:
        # Windows: nothing is known, and nothing can be limited.
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


_STATM = Path("/proc/self/statm")


# --- an interrupt is a wish to stop: what was found by then is kept -------------------------------

Cancel = Callable[[], bool]
"""Whether the search was cancelled."""


@contextmanager
def interruptible(cancel: Cancel | None = None) -> Iterator[Cancel]:
    """The block is given a `cancel` that also says whether it was interrupted.

    A second interrupt ends the block as any other would be ended. Where interrupts go elsewhere
    (outside the main thread, or where they are ignored) `cancel` is all there is.
    """
    signals: list[int] = []

    def hear(number: int, frame: FrameType | None) -> None:
        if signals:
            signal.default_int_handler(number, frame)
        signals.append(number)

    def stop() -> bool:
        return (cancel is not None and cancel()) or bool(signals)

    before = signal.getsignal(signal.SIGINT)
    try:
        ours = callable(before) and signal.signal(signal.SIGINT, hear) is not None
    except ValueError:
        # Only the main thread may say what an interrupt means.
        ours = False
    try:
        yield stop
    finally:
        if ours:
            signal.signal(signal.SIGINT, before)


# --- what is said to those who did not say how: notes, and in a notebook one line that changes ----

LINE_WIDTH = 78
STOPPING = "interrupt the kernel to stop and keep this"


def say(sentence: str) -> None:
    """A note before the work begins: below a notebook's cell, elsewhere on stderr."""
    text = f"kiplab: {sentence}"
    if in_notebook():
        print(_in_lines(text))
    else:
        print(text, file=sys.stderr)


def _in_lines(text: str) -> str:
    """As a notebook shows it: it would break a line that is too long within a word."""
    return fill(text, LINE_WIDTH, break_long_words=False, break_on_hyphens=False)


def in_notebook() -> bool:
    """Whether a notebook's kernel runs this; without importing anything to find out."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def of_cells(what: str = "cells") -> Callable[[int, int], object] | None:
    """Progress of many searches, in a notebook; None elsewhere."""
    line = Line()
    return (lambda done, of: line.put(f"{done} of {of} {what}")) if in_notebook() else None


class Line:
    """One line of a notebook's output that can be written again."""

    def __init__(self) -> None:
        self._shown: Any = None

    def of_search(self) -> Callable[[Progress], object] | None:
        """Progress of one search, in a notebook; None elsewhere."""
        if not in_notebook():
            return None
        return lambda now: self.put(f"{now.sentence}; {STOPPING}")

    def end(self, text: str) -> None:
        """What stays in the end, if anything was shown."""
        if self._shown is not None:
            self.put(text)

    def put(self, text: str) -> None:
        """Show `text` in the place of what was shown before."""
        from IPython import display

        content = {"text/plain": _in_lines(text)}
        if self._shown is None:
            show: Any = display.display
            self._shown = show(content, raw=True, display_id=True)
        else:
            self._shown.update(content, raw=True)
