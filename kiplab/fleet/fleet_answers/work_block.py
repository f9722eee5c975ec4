"""`work_block`: the result of a block of replications, by any method.

It is a pure function of the order, without its number: executors and the process of the caller get
the same result. For counts a replication's weight is its count: sum, squares and largest then show
how much replications differ.
"""

import os
import sys
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from ..estimators.forced_outages import outage_block
from ..estimators.forced_windows import forced_block, forced_exposure
from ..kernel.machine_code import has_compiler
from ..kernel.simulation import Counts, simulate
from ..parameters.as_world import as_world, horizon_us
from ..parameters.meaningful_sets import OF_966, kips_of
from ..parameters.years import MICROSECONDS_PER_YEAR
from ..pipeline.study_plan import FORCED, FleetOrder, Partial, code_version
from ..statistics.block_means import Weights
from .forced_scenarios import can_force_outages, can_force_windows, forced_metrics

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
        kips = kips_of(features)
        if can_force_outages(scenario):
            # No other KIP has a say in outages.
            weights |= outages(kips & OF_966)
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
