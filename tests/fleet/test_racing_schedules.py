"""Schedules of the race: kernel and engine do the same, and it comes to a loss often enough."""

from collections import Counter
from functools import cache
from itertools import pairwise, product

import pytest

from kiplab.fleet.agreement.engine_run import EngineRun
from kiplab.fleet.agreement.kernel_run import (
    NOBODY,
    KernelRun,
    OutsideSchedule,
    Trace,
    TracedState,
    kernel_run,
)
from kiplab.fleet.kernel.mirrored_guards import MIRRORED, ONE_INCARNATION
from tests.fleet.agreement.random_outside import racing_schedule, random_schedule
from tests.fleet.agreement.trace_comparison import COMPARED, to_json

SEED, SCHEDULES = 6, 40
RACES = [racing_schedule(SEED, number) for number in range(SCHEDULES)]
MIXED = [random_schedule(SEED, number) for number in range(SCHEDULES)]
COUNTED_IN_TRACES = {
    *("stale_join", "committed_loss", "race_loss", "last_replica_loss", "unclean_loss", "refused"),
    *("offline", "expansions", "offline_us", "under_min_us", "recovery_us"),
}
SETS = ("none", "841", "903", "841+903", "no-elr", "elr")
LINES = {"stale join": "stale_join", "lost": "committed_loss", "refused": "refused"}
REGISTERS = MIRRORED[ONE_INCARNATION.bit_length() - 1]
"""Refusals of brokers that register are none of AlterPartition, and not counted."""


def trace_counts(trace: Trace, schedule: OutsideSchedule) -> Counter[str]:
    """What a trace adds up to, by metric; times are microseconds."""
    counts = Counter(line.cause for line in trace if line.cause)
    told = [line for line in trace if line.partition is None and line.guard != REGISTERS]
    counts.update(LINES[line.what] for line in told)
    first = TracedState(schedule.leader, 0, 0, tuple(range(1, schedule.replicas + 1)))
    states = [(0, first), *((line.at, line.partition) for line in trace if line.partition)]
    for (since, state), (until, after) in pairwise([*states, (schedule.end, states[-1][1])]):
        us = 1_000 * (until - since)
        counts["offline_us"] += us * (state.leader == NOBODY)
        counts["under_min_us"] += us * (len(state.isr) < schedule.min_insync)
        counts["recovery_us"] += us * state.recovering
        counts["offline"] += state.leader != NOBODY == after.leader
        # Who is elected of an empty ISR was not taken back by a leader.
        counts["expansions"] += len(after.isr) > len(state.isr) > 0
    return counts


@cache
def by_kernel(features: str, number: int, *, race: bool) -> KernelRun:
    schedule = (RACES if race else MIXED)[number]
    return kernel_run(schedule, COMPARED[features], compiled=False)


@pytest.mark.parametrize("features", SETS)
def test_races_have_the_same_traces_and_their_losses_the_same_causes(features: str) -> None:
    for number, schedule in enumerate(RACES):
        kernel = by_kernel(features, number, race=True).trace
        assert EngineRun(schedule, COMPARED[features]).run() == kernel, to_json(schedule)


def test_a_race_loses_records_unless_both_kips_are_there() -> None:
    lost: Counter[str] = Counter()
    for features in ("none", "841+903"):
        for number in range(SCHEDULES):
            lost[features] += by_kernel(features, number, race=True).counts["race_loss"]
    assert lost["none"] >= SCHEDULES // 10
    assert lost["841+903"] == 0


def test_everything_that_is_counted_happens() -> None:
    runs = product(SETS, range(SCHEDULES), (True, False))
    counts = (by_kernel(features, number, race=race).counts for features, number, race in runs)
    happened = {name for each in counts for name, count in each.items() if count}
    assert happened >= COUNTED_IN_TRACES


@pytest.mark.parametrize("features", SETS)
def test_what_is_counted_of_a_trace_is_what_the_kernel_counts(features: str) -> None:
    for number in range(SCHEDULES):
        for race, schedule in ((True, RACES[number]), (False, MIXED[number])):
            run = by_kernel(features, number, race=race)
            told = trace_counts(run.trace, schedule)
            counted = {name: count for name, count in run.counts.items() if name != "incidents"}
            assert {name: told[name] for name in counted} == counted, to_json(schedule)
