"""Schedules of the race: kernel and engine do the same, and it comes to a loss often enough."""

from collections import Counter
from functools import cache
from itertools import pairwise, product

import pytest

from kiplab.fleet.agreement.kernel_run import KernelRun, kernel_run
from kiplab.fleet.agreement.outside_events import OutsideSchedule
from kiplab.fleet.agreement.trace_lines import NOBODY, Trace, TracedState
from kiplab.fleet.kernel.mirrored_guards import MIRRORED, ONE_INCARNATION
from kiplab.protocol.releases import Mode
from tests.fleet.agreement.compared_sets import COMPARED_IN
from tests.fleet.agreement.random_outside import racing_schedule, random_schedule
from tests.fleet.agreement.trace_comparison import engine_says, to_json

SEED, SCHEDULES = 6, 40
RACES = [racing_schedule(SEED, number) for number in range(SCHEDULES)]
MIXED = [random_schedule(SEED, number) for number in range(SCHEDULES)]
SETS = {Mode.KRAFT: ("none", "841", "903", "841+903"), Mode.ZOOKEEPER: ("none", "704")}
COUNTED_IN_TRACES = {
    *("stale_join", "committed_loss", "race_loss", "last_replica_loss", "unclean_loss", "refused"),
    *("offline", "expansions", "offline_us", "under_min_us", "recovery_us"),
}
POINTS = [(mode, features) for mode, sets in SETS.items() for features in sets]


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
        counts["expansions"] += len(after.isr) > len(state.isr)
    return counts


@cache
def by_kernel(mode: Mode, features: str, number: int, *, race: bool) -> KernelRun:
    schedule = (RACES if race else MIXED)[number]
    return kernel_run(schedule, COMPARED_IN[mode][features], compiled=False)


@pytest.mark.parametrize(("mode", "features"), POINTS)
def test_races_have_the_same_traces_and_their_losses_the_same_causes(
    mode: Mode, features: str
) -> None:
    for number, schedule in enumerate(RACES):
        kernel = by_kernel(mode, features, number, race=True).trace
        assert engine_says(schedule, COMPARED_IN[mode][features]) == kernel, to_json(schedule)


@pytest.mark.parametrize("mode", Mode)
def test_a_race_loses_records_unless_both_kips_are_there(mode: Mode) -> None:
    lost: Counter[str] = Counter()
    for features, number in product(SETS[mode], range(SCHEDULES)):
        lost[features] += by_kernel(mode, features, number, race=True).counts["race_loss"]
    assert lost["none"] >= SCHEDULES // 10
    assert lost["841+903"] == 0


def test_everything_that_is_counted_happens() -> None:
    runs = product(POINTS, range(SCHEDULES), (True, False))
    counts = (by_kernel(*point, number, race=race).counts for point, number, race in runs)
    happened = {name for each in counts for name, count in each.items() if count}
    assert happened >= COUNTED_IN_TRACES


@pytest.mark.parametrize(("mode", "features"), POINTS)
def test_what_is_counted_of_a_trace_is_what_the_kernel_counts(mode: Mode, features: str) -> None:
    for number in range(SCHEDULES):
        for race, schedule in ((True, RACES[number]), (False, MIXED[number])):
            run = by_kernel(mode, features, number, race=race)
            told = trace_counts(run.trace, schedule)
            counted = {name: count for name, count in run.counts.items() if name != "incidents"}
            assert {name: told[name] for name in counted} == counted, to_json(schedule)
