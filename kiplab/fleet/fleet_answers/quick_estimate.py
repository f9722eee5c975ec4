"""`estimate`: the answer of a small study in this process, at once.

The kernel samples frequent events, forced samples add those that are too rare for it. The amount of
sampling follows from the study alone, so that the same question has the same answer everywhere.
"""

import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ...extras import needed_by
from ..parameters.fleet_study import FleetStudy, read_study
from ..parameters.parameter_table import PARAMETERS
from ..parameters.scenario import Scenario
from ..parameters.swept_values import values_of
from ..pipeline.study_plan import Workload
from ..pipeline.study_summary import SummaryRow, summarise
from ..pipeline.work_orders import FORCED, NAIVE, Partial, partials_schema
from .block_sizes import forced_load, kernel_work, naive_load
from .fleet_answer import FleetAnswer, answer_of
from .forced_scenarios import can_force
from .work_block import work_block

_WORK = 2_000_000
"""Of the kernel, over all scenarios together: about a second."""


def estimate(
    study: str | Path | FleetStudy = "small", *, seed: int = 0, **parameters: Any
) -> FleetAnswer:
    """What happens how often in that fleet, in a second or two once the kernel is compiled.

    `study` is a preset's name, a TOML file, or a study; parameters given by name replace its own,
    and several values of one are a sweep. A grid of many points takes longer.

    Raises ParameterError for what is wrong with the study or a parameter, MissingExtraError without
    numpy, numba, scipy or pyarrow.
    """
    with needed_by("an estimate of a fleet"):
        import numba  # noqa: F401
        import pyarrow  # noqa: F401
        import scipy  # noqa: F401
    began = time.monotonic()
    read = study if isinstance(study, FleetStudy) else read_study(study)
    fleet_study = _short(changed(read, parameters))
    answer = answer_of(fleet_study, _summary(fleet_study, seed))
    return msgspec.structs.replace(answer, seconds=time.monotonic() - began)


def changed(study: FleetStudy, parameters: Mapping[str, Any]) -> FleetStudy:
    """The study with some parameters replaced, by one value or by several.

    Raises ParameterError for a name or a value that there is not.
    """
    new = {name: values_of(name, value) for name, value in parameters.items()}
    old = dict(study.values)
    values = tuple((name, new.get(name, old[name])) for name in PARAMETERS)
    fleet_study = msgspec.structs.replace(study, values=values)
    _ = fleet_study.scenarios
    return fleet_study


def _short(study: FleetStudy) -> FleetStudy:
    """Replications so short that there is time for one of each scenario at least."""
    points = study.scenarios
    share = _WORK / len(points) / max(map(kernel_work, points))
    if share >= 1:
        return study
    horizons = dict(study.values)["horizon_years"]
    least = PARAMETERS["horizon_years"].low
    return changed(study, {"horizon_years": [max(least, share * years) for years in horizons]})


def _summary(study: FleetStudy, seed: int) -> tuple[SummaryRow, ...]:
    points = study.scenarios
    naive = (naive_load(point, _years(point, len(points))) for point in points)
    forced = (forced_load(point) for point in points if can_force(point))
    return _summed(NAIVE, naive, seed) + _summed(FORCED, forced, seed)


def _years(scenario: Scenario, points: int) -> float:
    """As much as is lived through in its share of the time."""
    several = max(1, int(_WORK / points / kernel_work(scenario)))
    return several * scenario.parameters.horizon_years


def _summed(method: str, loads: Iterable[Workload], seed: int) -> tuple[SummaryRow, ...]:
    import pyarrow as pa

    partials = [
        msgspec.structs.asdict(partial)
        for load in loads
        for partial in _partials(method, load, seed)
    ]
    return summarise(pa.Table.from_pylist(partials, schema=partials_schema()), method)


def _partials(method: str, load: Workload, seed: int) -> Iterator[Partial]:
    """Plain sampling in one block, of which nothing is kept."""
    if method == NAIVE:
        whole = load.blocks * load.block_replications
        load = msgspec.structs.replace(load, blocks=1, block_replications=whole)
    for order in load.orders(
        study_seed=seed, feature_sets=load.scenario.feature_sets, method=method
    ):
        yield from work_block(order)
