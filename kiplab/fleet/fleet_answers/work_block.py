"""`work_block`: the result of a block of replications, by any method; how many, and how large.

It is a pure function of the order, without its number: executors and the process of the caller get
the same result. For counts a replication's weight is its count: sum, squares and largest then show
how much replications differ.

There are enough blocks that all cores have work to the end, and each is large enough that handing
it over costs little. A trial gives the kernel's speed: it counts its own work, without a clock, so
the same study is cut alike everywhere.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache, partial
from math import ceil
from typing import Any

from ..estimators.forced_outages import outage_block
from ..estimators.forced_windows import BLOCKS, SAMPLES, forced_block, forced_exposure
from ..kernel.machine_code import has_compiler
from ..kernel.simulation import Counts, simulate
from ..parameters import scenario as feature_sets
from ..parameters.scenario import MICROSECONDS_PER_YEAR, Scenario, as_world, horizon_us
from ..pipeline.study_plan import FORCED, FleetOrder, Partial, Workload, code_version
from ..statistics.block_means import Weights
from .counted_metrics import can_force_outages, can_force_windows, forced_metrics, never_in

_TO_GO_WITHOUT = "NUMBA_DISABLE_JIT"
"""numba's own variable; its documentation says what it costs."""


class WrongPlaceError(RuntimeError):
    """An executor has other code than the one that ordered, or cannot compile the kernel."""


def checked_block(code: str, order: FleetOrder) -> Sequence[Partial]:
    """What `work_block` makes of it, where its code is the version `code`, and is compiled.

    Sources that change while a study runs reach the executors that start after that. Without numba
    the numbers are the same, thousands of times later, and nobody would be told why.

    Raises WrongPlaceError otherwise.
    """
    here = code_version()
    if here != code:
        raise WrongPlaceError(
            f"{sys.executable} has another version of kiplab ({here}) than the one that asked"
            f" ({code}); start Spark anew, so that it is sent this one"
        )
    if not has_compiler() and _TO_GO_WITHOUT not in os.environ:
        raise WrongPlaceError(
            f"{sys.executable} has no numba, without which this takes thousands of times as long;"
            f" install it there, or set {_TO_GO_WITHOUT}=1 there to go without"
        )
    return work_block(order)


def work_block(order: FleetOrder) -> list[Partial]:
    """One partial for each feature set and metric.

    Raises ValueError for a method that cannot do this scenario.
    """
    return _forced(order) if order.method == FORCED else _naive(order)


# --- plain sampling -------------------------------------------------------------------------------


def _naive(order: FleetOrder) -> list[Partial]:
    counts = simulate(
        as_world(order.scenario),
        seed=order.study_seed,
        first=order.first,
        last=order.last,
        horizon_us=horizon_us(order.scenario.parameters),
        feature_sets=order.feature_sets,
    )
    scenario_id = order.scenario.scenario_id
    return [
        _counted(order, scenario_id, counts, features, metric)
        for features in order.feature_sets
        for metric in counts.metrics
    ]


def _counted(
    order: FleetOrder, scenario_id: str, counts: Counts, features: str, metric: str
) -> Partial:
    here, first = (counts.of(name, metric) for name in (features, order.feature_sets[0]))
    # Most are 0, and the others sum up to more than a word holds.
    seen: list[int] = here[here > 0].tolist()
    in_both = (here > 0) & (first > 0)
    both: list[list[int]] = [each[in_both].tolist() for each in (here, first)]
    return Partial(
        scenario_id=scenario_id,
        block=order.block,
        features=features,
        metric=metric,
        replications=order.last - order.first,
        exposure_us=counts.exposure_us,
        events=sum(seen),
        clusters_hit=len(seen),
        sum_w=float(sum(seen)),
        sum_w2=float(sum(count * count for count in seen)),
        max_w=float(max(seen, default=0)),
        cross=sum(map(min, *both)),
        checks=counts.checks,
    )


# --- forced windows and outages -------------------------------------------------------------------


def _forced(order: FleetOrder) -> list[Partial]:
    metrics = forced_metrics(order.scenario)
    if not metrics:
        raise ValueError(f"nothing can be forced in scenario {order.scenario.scenario_id}")
    scenario, samples = order.scenario, order.last - order.first
    p = scenario.parameters
    us = round(forced_exposure(p, samples) * MICROSECONDS_PER_YEAR)
    # By which every estimator draws a block of samples.
    numbers: Any = {"seed": order.study_seed, "block": order.first // samples, "samples": samples}
    outages = cache(partial(outage_block, p, **numbers))
    partials, nothing = [], Weights(samples=samples, total=0.0, squares=0.0, largest=0.0)
    for features in order.feature_sets:
        weights = dict.fromkeys(metrics, nothing)
        kips = feature_sets.kips_of(features)
        if can_force_outages(scenario):
            # No other KIP has a say in outages.
            weights |= outages(kips & feature_sets.OF_966)
        if can_force_windows(scenario):
            weights |= forced_block(p, kips, **numbers)
        partials += [_weighed(order, features, metric, weights[metric], us) for metric in metrics]
    return partials


def _weighed(
    order: FleetOrder, features: str, metric: str, weights: Weights, exposure_us: int
) -> Partial:
    return Partial(
        scenario_id=order.scenario.scenario_id,
        block=order.block,
        features=features,
        metric=metric,
        replications=weights.samples,
        exposure_us=exposure_us,
        # Every sample is one, and an event of its weight, where any weight is left.
        events=weights.samples if weights.total else 0,
        sum_w=weights.total,
        sum_w2=weights.squares,
        max_w=weights.largest,
    )


# --- how many blocks, and how large ---------------------------------------------------------------

_BLOCKS = 40
"""Of a scenario or more, as long as each is small."""
_MOST_WORK = 10_000_000
"""Of one block: some seconds of the kernel."""
_TRIAL_US = 2 * MICROSECONDS_PER_YEAR
_STEPS_OF_AN_EVENT = 0.5
"""What quiet time passes over costs about so much of a step."""
_MOST_REPLICATIONS = 1 << 32


def naive_load(
    scenario: Scenario, years: float, sizes: Mapping[str, int] | None = None
) -> Workload:
    """So many partition-years or a little more, or one replication where nothing ever happens;
    `sizes` are those of blocks that are there already.

    Raises ValueError for more than the kernel can number.
    """
    wanted, each = replications(scenario, years), _years_of_one(scenario)
    wanted = 1 if never_in(scenario, feature_sets.NONE_OF_THEM, "incidents") else wanted
    size = (sizes or {}).get(scenario.scenario_id) or _size(scenario, wanted)
    blocks = ceil(wanted / size)
    return Workload(scenario=scenario, block_replications=size, blocks=blocks, years=each)


def replications(scenario: Scenario, years: float) -> int:
    """How many make up so many partition-years. Raises ValueError for more than can be numbered."""
    each = _years_of_one(scenario)
    wanted = max(1, ceil(years / each - 1e-9))
    if wanted >= _MOST_REPLICATIONS:
        most = f"{_MOST_REPLICATIONS * each:.1g} of one scenario"
        raise ValueError(f"{years:g} partition-years are too many; expected less than {most}")
    return wanted


def _years_of_one(scenario: Scenario) -> float:
    return horizon_us(scenario.parameters) / MICROSECONDS_PER_YEAR


def _size(scenario: Scenario, wanted: int) -> int:
    few = max(1, wanted // _BLOCKS)
    return few if few == 1 else max(1, min(few, int(_MOST_WORK / kernel_work(scenario))))


@lru_cache(maxsize=256)
def kernel_work(scenario: Scenario) -> float:
    """About how many steps the kernel makes in one replication, under all its feature sets."""
    horizon = horizon_us(scenario.parameters)
    trial = min(horizon, _TRIAL_US)
    one: Any = {"seed": 0, "first": 0, "last": 1, "feature_sets": scenario.feature_sets}
    counts = simulate(as_world(scenario), horizon_us=trial, **one)
    steps = counts.steps + _STEPS_OF_AN_EVENT * counts.events
    return max(1.0, steps * horizon / trial)


def forced_load(scenario: Scenario) -> Workload:
    """The blocks of forced samples: the same for any number of years."""
    years = forced_exposure(scenario.parameters, SAMPLES) / SAMPLES
    return Workload(scenario=scenario, block_replications=SAMPLES, blocks=BLOCKS, years=years)
