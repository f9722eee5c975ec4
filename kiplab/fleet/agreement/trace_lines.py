"""A trace: the changes of the partition, line by line, and the counts that they add up to."""

from collections import Counter
from itertools import pairwise

import msgspec

from ..kernel.mirrored_guards import MIRRORED, ONE_INCARNATION
from .outside_events import OutsideSchedule

NOBODY = 0
_US = 1_000
_REGISTERS = MIRRORED[ONE_INCARNATION.bit_length() - 1]
_LINES = {"stale join": "stale_join", "lost": "committed_loss", "refused": "refused"}


class TracedState(msgspec.Struct, frozen=True):
    """A state of the partition at the controller; leader 0 means no leader."""

    leader: int
    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]
    recovering: bool = False


class TraceLine(msgspec.Struct, frozen=True):
    """When (ms) and what: ``"partition"``, ``"refused"``, ``"lost"`` or ``"stale join"``.

    `broker` is refused, leads without committed records, or joins; `guard` refuses; `cause` is the
    metric that counts a loss; `partition` is the new state.
    """

    at: int
    what: str
    broker: int = NOBODY
    guard: str = ""
    cause: str = ""
    partition: TracedState | None = None


Trace = tuple[TraceLine, ...]
Since = tuple[int, TracedState]
"""Since when (ms) the partition is so."""


def trace_counts(trace: Trace, schedule: OutsideSchedule) -> Counter[str]:
    """By metric, over the whole schedule; times are microseconds.

    Refusals of brokers that register are none of AlterPartition, and not counted.
    """
    counts: Counter[str] = Counter()
    for line in trace:
        if line.partition is None and line.guard != _REGISTERS:
            counts[_LINES[line.what]] += 1
        counts[line.cause] += line.cause != ""
    counts.update(_of_states(_states(trace, schedule), schedule))
    return +counts


def _states(trace: Trace, schedule: OutsideSchedule) -> list[Since]:
    """From the first moment to the last, which repeats the last state."""
    everybody = tuple(range(1, schedule.replicas + 1))
    states = [(0, TracedState(schedule.leader, 0, 0, everybody))]
    states += [(line.at, line.partition) for line in trace if line.partition is not None]
    return [*states, (schedule.end, states[-1][1])]


def _of_states(states: list[Since], schedule: OutsideSchedule) -> Counter[str]:
    counts: Counter[str] = Counter()
    for (since, state), (until, after) in pairwise(states):
        us = (until - since) * _US
        counts["offline_us"] += us * (state.leader == NOBODY)
        counts["under_min_us"] += us * (len(state.isr) < schedule.min_insync)
        counts["recovery_us"] += us * state.recovering
        counts["offline"] += state.leader != NOBODY == after.leader
        counts["expansions"] += len(after.isr) > len(state.isr)
    return counts
