"""A study of fleets on Spark beside the bare kernel, on one core and on two.

python tests/bench/spark_overhead.py [seconds [rounds]]

The same blocks each time, `seconds` (60) of work for two cores. The bare kernel works them off in
processes of its own, one or two beside each other; Spark in a session that is there already, with
everything that a study keeps on disk. By turns, because the machine does not stay as fast as it is.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from kiplab.fleet.kernel.simulation import simulate
from kiplab.fleet.parameters.as_world import as_world, horizon_us
from kiplab.fleet.parameters.fleet_study import read_study
from kiplab.fleet.parameters.scenario import Scenario
from kiplab.fleet.pipeline import FleetOrder, Partial, StudyPlan, Workload, run_study
from kiplab.spark import session

HERE = Path(__file__).resolve()
BLOCKS_PER_CORE = 12
_BARE, _SPARK = "bare", "spark"


def main() -> None:
    if sys.argv[1:2] in ([_BARE], [_SPARK]):
        (_bare if sys.argv[1] == _BARE else _on_spark)(*map(int, sys.argv[2:]))
        return
    seconds = float(sys.argv[1]) if sys.argv[1:] else 60.0
    rounds = int(sys.argv[2]) if sys.argv[2:] else 3
    size = _replications_of_a_block(seconds / BLOCKS_PER_CORE)
    took: dict[tuple[str, int], list[float]] = {}
    for _ in range(rounds):
        for cores in (1, 2):
            took.setdefault((_BARE, cores), []).append(_two_or_one(cores, size))
            took.setdefault((_SPARK, cores), []).append(_told(_started(_SPARK, cores, size)))
    years = BLOCKS_PER_CORE * size * _plan(1, 1).workloads[0].years
    rates = {(how, cores): cores * years / median(took[how, cores]) for how, cores in took}
    for (how, cores), rate in rates.items():
        name = f"{'Spark' if how == _SPARK else 'the bare kernel'} on {cores}"
        print(f"{name:<20}{rate:>12,.0f} partition-years a second")
    for cores in (1, 2):
        more = rates[_BARE, cores] / rates[_SPARK, cores] - 1
        print(f"Spark takes {more:+.1%} over the bare kernel on {cores}")
    bare, spark = (rates[how, 2] / rates[how, 1] for how in (_BARE, _SPARK))
    print(f"from one core to two: Spark {spark:.2f} times, two bare kernels {bare:.2f} times")


def _plan(blocks: int, size: int) -> StudyPlan[Scenario]:
    scenario = read_study("small").scenarios[0]
    load = Workload(
        scenario=scenario,
        block_replications=size,
        blocks=blocks,
        years=scenario.parameters.horizon_years,
    )
    return StudyPlan(
        workloads=(load,), feature_sets=scenario.feature_sets, study_seed=0, code="bench"
    )


def count(order: FleetOrder[Scenario]) -> list[Partial]:
    """What the kernel counts in a block, and no more."""
    counts = simulate(
        as_world(order.scenario),
        seed=order.study_seed,
        first=order.first,
        last=order.last,
        horizon_us=horizon_us(order.scenario.parameters),
        feature_sets=order.feature_sets,
    )
    return [
        Partial(
            scenario_id=order.scenario.scenario_id,
            block=order.block,
            features=features,
            metric=metric,
            replications=order.last - order.first,
            exposure_us=counts.exposure_us,
            events=counts.total(features, metric),
            checks=counts.checks,
        )
        for features in order.feature_sets
        for metric in counts.metrics
    ]


def _replications_of_a_block(seconds: float) -> int:
    """As many as take so long on one core, read off a trial that is not over at once."""
    few, took = 20, 0.0
    while took < 1:
        few *= 2
        (order,) = _plan(1, few).orders
        count(order)
        began = time.perf_counter()
        count(order)
        took = time.perf_counter() - began
    return max(1, round(few * seconds / took))


# --- what is timed ------------------------------------------------------------------------------


def _two_or_one(cores: int, size: int) -> float:
    """Until the last of them is done."""
    return max([_told(one) for one in [_started(_BARE, core, size) for core in range(cores)]])


def _started(how: str, number: int, size: int) -> subprocess.Popen[str]:
    command = [sys.executable, str(HERE), how, str(number), str(size)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _told(process: subprocess.Popen[str]) -> float:
    said, _ = process.communicate()
    if process.returncode:
        sys.exit(process.returncode)
    return float(said.split()[-1])


def _bare(core: int, size: int) -> None:
    orders = _plan(2 * BLOCKS_PER_CORE, size).orders[core::2]
    count(_plan(1, 1).orders[0])
    began = time.perf_counter()
    for order in orders:
        count(order)
    print(time.perf_counter() - began)


def _on_spark(cores: int, size: int) -> None:
    with session(f"local[{cores}]", app="kiplab bench"), tempfile.TemporaryDirectory() as folder:
        first = _plan(4 * cores, 1)
        run_study(first, count, f"{folder}/warm", progress=False)
        plan = _plan(cores * BLOCKS_PER_CORE, size)
        began = time.perf_counter()
        run_study(plan, count, f"{folder}/study", progress=False)
        print(time.perf_counter() - began)


if __name__ == "__main__":
    main()
