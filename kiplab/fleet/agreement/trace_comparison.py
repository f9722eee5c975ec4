"""Where the engine and the kernel part, in a sentence; and the shortest schedule that shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest

import msgspec
from msgspec.structs import replace

from ...protocol.features import Features
from .engine_run import engine_trace
from .kernel_run import TraceLine, kernel_trace
from .outside_events import Outside, OutsideSchedule, to_json

Kernel = Callable[[OutsideSchedule, Features], tuple[TraceLine, ...]]


class TraceParting(msgspec.Struct, frozen=True):
    """The first line of the traces that differs; None where one of them has ended."""

    schedule: OutsideSchedule
    features: Features
    line: int
    engine: TraceLine | None
    kernel: TraceLine | None

    @property
    def sentence(self) -> str:
        """What each of them says, and the schedule to try again."""
        says = f"the engine says {_said(self.engine)}, the kernel {_said(self.kernel)}"
        return (
            f"under {self.features.label()} line {self.line + 1} of the traces differs: {says};"
            f" the schedule is {to_json(self.schedule)}"
        )


def _said(told: TraceLine | None) -> str:
    return "nothing more" if told is None else f"{told.what} ({told.detail}) at {told.at} ms"


def parting(
    schedule: OutsideSchedule, features: Features, kernel: Kernel = kernel_trace
) -> TraceParting | None:
    """Where the two part, or None: every state of the partition, refusal, loss and stale join.

    Raises EndlessTraceError as `kernel_trace` does, before the engine has to do all that.
    """
    theirs = kernel(schedule, features)
    both = zip_longest(engine_trace(schedule, features), theirs)
    for line, (one, other) in enumerate(both):
        if one != other:
            return TraceParting(schedule, features, line, one, other)
    return None


def shrunk(found: TraceParting, kernel: Kernel = kernel_trace) -> TraceParting:
    """A schedule as short as leaving out events and making times 1 can make it."""
    tried = True
    while tried:
        tried = False
        for schedule in _smaller(found.schedule):
            smaller = parting(schedule, found.features, kernel)
            if smaller is not None:
                found, tried = smaller, True
                break
    return found


def _smaller(schedule: OutsideSchedule) -> Iterator[OutsideSchedule]:
    events = schedule.events
    for n in range(len(events)):
        yield replace(schedule, events=(*events[:n], *events[n + 1 :]))
    for n, event in enumerate(events):
        for simpler in _simpler(event):
            yield replace(schedule, events=(*events[:n], simpler, *events[n + 1 :]))


def _simpler(event: Outside) -> Iterator[Outside]:
    for name in ("restart", "ready", "level", "lag_phase", "shutdown", "lasts", "recover"):
        least = 0 if name == "lag_phase" else 1
        if getattr(event, name) != least:
            yield replace(event, **{name: least})
    if event.fate != "kept":
        yield replace(event, fate="kept")
    if len(event.delays) > 1:
        yield replace(event, delays=event.delays[:1])


def covered(traces: Iterable[tuple[TraceLine, ...]]) -> Counter[str]:
    """What of Kafka was met: guards that refused, kinds of changes, losses, stale joins."""
    met: Counter[str] = Counter()
    for trace in traces:
        for told in trace:
            met[_kind(told)] += 1
    return met


def _kind(told: TraceLine) -> str:
    if told.what == "refused":
        return told.detail.rpartition(" ")[2]
    if told.what != "partition":
        return told.what
    state = "offline" if "leader none" in told.detail else "led"
    return f"{state}, recovering" if told.detail.endswith("recovering") else state
