"""With ZooKeeper, too, the kernel does what the engine does, line by line."""

from __future__ import annotations

from functools import lru_cache, partial

import pytest

from kiplab.fleet.agreement.compared_sets import COMPARED_WITH_ZOOKEEPER
from kiplab.fleet.agreement.kernel_run import zookeeper_kernel_run
from kiplab.fleet.agreement.outside_events import KINDS, OutsideSchedule, to_json
from kiplab.fleet.agreement.random_outside import random_schedule
from kiplab.fleet.agreement.trace_lines import Trace
from kiplab.fleet.agreement.zookeeper_run import zookeeper_trace
from kiplab.fleet.kernel.mirrored_guards import MIRRORED

SEED = 6
PAIRS = 600
TOLD = (
    "497.request-broker-epoch",
    "497.leader-epoch",
    "kafka-12670.unclean-by-config",
    "704.leader-recovers",
)
"""Guards that these schedules tell."""
Compared = tuple[OutsideSchedule, str]


@lru_cache(maxsize=1)
def traces() -> tuple[tuple[Compared, Trace], ...]:
    """Random schedules, the feature sets taking turns, and what the kernel makes of each pair."""
    names = list(COMPARED_WITH_ZOOKEEPER)
    pairs = [(random_schedule(SEED, n), names[n % len(names)]) for n in range(PAIRS)]
    return tuple((pair, zookeeper_kernel_run(*pair, compiled=False).trace) for pair in pairs)


def test_random_schedules_have_the_same_traces_with_zookeeper() -> None:
    for (schedule, name), kernel in traces():
        engine = zookeeper_trace(schedule, COMPARED_WITH_ZOOKEEPER[name])
        assert engine == kernel, f"under {name}: {to_json(schedule)}"


def test_the_pairs_meet_every_kind_of_event_and_of_line() -> None:
    events = {event.kind for (schedule, _), _ in traces() for event in schedule.events}
    assert events == set(KINDS)
    lines = {line.what for _, trace in traces() for line in trace}
    assert lines == {"partition", "refused", "lost", "stale join"}


@pytest.mark.parametrize("guard", TOLD)
def test_a_kernel_with_zookeeper_that_forgets_a_guard_is_found_out(guard: str) -> None:
    bit = 1 << MIRRORED.index(guard)
    forgets = partial(zookeeper_kernel_run, compiled=False, without=bit)
    assert any(forgets(*pair).trace != trace for pair, trace in traces())
