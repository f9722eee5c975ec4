"""Schedules of the race: kernel and engine do the same, and it comes to a loss often enough."""

from collections import Counter
from functools import cache
from itertools import product

import pytest

from kiplab.fleet.agreement.compared_sets import COMPARED_IN
from kiplab.fleet.agreement.kernel_run import KernelRun, kernel_run
from kiplab.fleet.agreement.racing_outside import racing_schedule
from kiplab.fleet.agreement.random_outside import random_schedule
from kiplab.fleet.agreement.trace_lines import trace_counts
from kiplab.protocol.releases import Mode
from tests.fleet.agreement.trace_comparison import engine_says, to_json

SEED, SCHEDULES = 6, 40
RACES = [racing_schedule(SEED, number) for number in range(SCHEDULES)]
MIXED = [random_schedule(SEED, number) for number in range(SCHEDULES)]
SETS = {Mode.KRAFT: ("none", "841", "903", "841+903"), Mode.ZOOKEEPER: ("none", "704")}
POINTS = [(mode, features) for mode, sets in SETS.items() for features in sets]


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


@pytest.mark.parametrize(("mode", "features"), POINTS)
def test_what_is_counted_of_a_trace_is_what_the_kernel_counts(mode: Mode, features: str) -> None:
    for number in range(SCHEDULES):
        for race, schedule in ((True, RACES[number]), (False, MIXED[number])):
            run = by_kernel(mode, features, number, race=race)
            told = trace_counts(run.trace, schedule)
            counted = {name: count for name, count in run.counts.items() if name != "incidents"}
            assert {name: told[name] for name in counted} == counted, to_json(schedule)
