"""The number of blocks of a study, and their sizes.

There are enough that all cores have work to the end, and each is large enough that handing it over
costs little. A trial gives the kernel's speed: it counts its own work, without a clock, so the same
study is cut alike everywhere.
"""

from collections.abc import Mapping
from functools import lru_cache
from math import ceil

from ..estimators.forced_windows import BLOCKS, SAMPLES, forced_exposure
from ..kernel.simulation import simulate
from ..parameters.as_world import as_world, horizon_us
from ..parameters.meaningful_sets import NONE_OF_THEM
from ..parameters.scenario import Scenario
from ..parameters.years import MICROSECONDS_PER_YEAR
from ..pipeline.study_plan import Workload
from .counted_metrics import never_in

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
    wanted = 1 if never_in(scenario, NONE_OF_THEM, "incidents") else wanted
    size = (sizes or {}).get(scenario.scenario_id) or _size(scenario, wanted)
    return Workload(
        scenario=scenario, block_replications=size, blocks=ceil(wanted / size), years=each
    )


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
    counts = simulate(
        as_world(scenario),
        seed=0,
        first=0,
        last=1,
        horizon_us=trial,
        feature_sets=scenario.feature_sets,
    )
    steps = counts.steps + _STEPS_OF_AN_EVENT * counts.events
    return max(1.0, steps * horizon / trial)


def forced_load(scenario: Scenario) -> Workload:
    """The blocks of forced samples: the same for any number of years."""
    years = forced_exposure(scenario.parameters, SAMPLES) / SAMPLES
    return Workload(scenario=scenario, block_replications=SAMPLES, blocks=BLOCKS, years=years)
