"""Schedules of the race: kernel and engine do the same, and it comes to a loss often enough."""

from collections import Counter
from functools import cache

import pytest

from kiplab.fleet.agreement.engine_run import engine_trace
from kiplab.fleet.agreement.kernel_run import KernelRun, kernel_run
from kiplab.fleet.agreement.racing_outside import racing_schedule
from kiplab.fleet.agreement.random_outside import random_schedule
from kiplab.fleet.agreement.trace_lines import trace_counts
from kiplab.fleet.kernel.feature_sets import COMPARED
from tests.fleet.agreement.trace_comparison import to_json

SEED, SCHEDULES = 6, 40
RACES = [racing_schedule(SEED, number) for number in range(SCHEDULES)]
MIXED = [random_schedule(SEED, number) for number in range(SCHEDULES)]
SETS = ("none", "841", "903", "841+903")


@cache
def by_kernel(features: str, number: int, *, race: bool) -> KernelRun:
    schedule = (RACES if race else MIXED)[number]
    return kernel_run(schedule, COMPARED[features], compiled=False)


@pytest.mark.parametrize("features", SETS)
def test_races_have_the_same_traces_and_their_losses_the_same_causes(features: str) -> None:
    for number, schedule in enumerate(RACES):
        kernel = by_kernel(features, number, race=True).trace
        assert engine_trace(schedule, COMPARED[features]) == kernel, to_json(schedule)


def test_a_race_loses_records_unless_both_kips_are_there() -> None:
    lost: Counter[str] = Counter()
    for features in ("none", "841+903"):
        for number in range(SCHEDULES):
            lost[features] += by_kernel(features, number, race=True).counts["race_loss"]
    assert lost["none"] >= SCHEDULES // 10
    assert lost["841+903"] == 0


@pytest.mark.parametrize("features", SETS)
def test_what_is_counted_of_a_trace_is_what_the_kernel_counts(features: str) -> None:
    for number in range(SCHEDULES):
        for race, schedule in ((True, RACES[number]), (False, MIXED[number])):
            run = by_kernel(features, number, race=race)
            told = trace_counts(run.trace, schedule)
            counted = {name: count for name, count in run.counts.items() if name != "incidents"}
            assert {name: told[name] for name in counted} == counted, to_json(schedule)
