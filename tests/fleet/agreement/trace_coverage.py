"""What traces have met: guards that refused and their errors, losses, and kinds of transitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from kiplab.fleet.agreement.kernel_run import (
    FIRST_LEADER_EPOCH,
    FIRST_PARTITION_EPOCH,
    NOBODY,
    OutsideSchedule,
    Trace,
    TracedState,
)
from kiplab.protocol.guards import GUARDS

_STEPS = {
    "grows": (
        *("stays", "stays, recovery ends", "changes"),
        # An ISR that was empty.
        *("comes", "comes, recovery begins", "comes, still recovering"),
    ),
    "shrinks": (
        *("stays", "begins a new epoch", "changes", "goes"),
        *("goes, still recovering",),
    ),
    "stays": (
        *("goes", "comes", "begins a new epoch", "stays, recovery ends"),
        *("goes, still recovering", "comes, still recovering"),
        *("begins a new epoch, still recovering",),
        # Only the ELR is another one.
        "stays",
    ),
    "is another": (
        *("changes", "comes, recovery begins", "changes, recovery begins"),
        *("comes, still recovering", "changes, still recovering"),
    ),
}
TRANSITIONS = frozenset(f"ISR {isr}, leader {led}" for isr, each in _STEPS.items() for led in each)
"""Every way in which one state of the partition can follow another; a comparison meets them all."""


class TraceCoverage(msgspec.Struct, frozen=True):
    """How often each was met. `lines` are losses and stale joins."""

    guards: Counter[str]
    errors: Counter[str]
    transitions: Counter[str]
    lines: Counter[str]

    def add(self, other: TraceCoverage) -> None:
        """Count what the other one has met, too."""
        for name in self.__struct_fields__:
            getattr(self, name).update(getattr(other, name))

    @property
    def sentence(self) -> str:
        """All of it, the most frequent first."""
        parts = ((name, getattr(self, name)) for name in self.__struct_fields__)
        return "; ".join(f"{name}: {_listed(met)}" for name, met in parts)


def _listed(met: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in met.most_common()) or "none"


def covered(runs: Iterable[tuple[OutsideSchedule, Trace]]) -> TraceCoverage:
    """What these traces have met, each beside the schedule that it is of."""
    coverage = TraceCoverage(Counter(), Counter(), Counter(), Counter())
    for schedule, trace in runs:
        coverage.transitions.update(transitions(schedule, trace))
        for line in trace:
            if line.what == "refused":
                coverage.guards[line.guard] += 1
                coverage.errors[_error(line.guard)] += 1
            elif line.partition is None:
                coverage.lines[line.what] += 1
    return coverage


def _error(guard: str) -> str:
    error = GUARDS[guard].error
    return "no error" if error is None else error.name


def transitions(schedule: OutsideSchedule, trace: Trace) -> Iterator[str]:
    """The kind of each change: ``"ISR shrinks, leader changes"``."""
    everybody = tuple(range(1, schedule.replicas + 1))
    before = TracedState(schedule.leader, FIRST_LEADER_EPOCH, FIRST_PARTITION_EPOCH, everybody)
    for line in trace:
        if line.partition is not None:
            yield _kind(before, line.partition)
            before = line.partition


def _kind(before: TracedState, after: TracedState) -> str:
    recovery = ""
    if before.recovering != after.recovering:
        recovery = ", recovery begins" if after.recovering else ", recovery ends"
    elif after.recovering and before.leader_epoch != after.leader_epoch:
        recovery = ", still recovering"
    return f"ISR {_isr(before, after)}, leader {_leader(before, after)}{recovery}"


def _isr(before: TracedState, after: TracedState) -> str:
    was, now = set(before.isr), set(after.isr)
    if was == now:
        return "stays"
    if now < was:
        return "shrinks"
    return "grows" if now > was else "is another"


def _leader(before: TracedState, after: TracedState) -> str:
    if before.leader == after.leader:
        return "stays" if before.leader_epoch == after.leader_epoch else "begins a new epoch"
    if after.leader == NOBODY:
        return "goes"
    return "comes" if before.leader == NOBODY else "changes"
