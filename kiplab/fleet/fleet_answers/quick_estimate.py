"""`estimate`: the answer of a small study in this process, at once.

The kernel samples frequent events, forced samples add those that are too rare for it. The amount of
sampling follows from the study alone, so that the same question has the same answer everywhere.

A web page cannot run the kernel: what it said of the fleets that lab 10 asks about is recorded.
`tests/fleet/fleet_answers/test_recorded_answers.py` writes the file, and holds it to the kernel.
"""

import time
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from ...extras import MissingExtraError
from ...plays.grammar import parse
from ...plays.play import Play
from ..parameters.fleet_study import FleetStudy, read_study
from ..parameters.parameter_checks import values_of
from ..parameters.parameter_table import PARAMETERS
from ..parameters.scenario import Scenario
from ..pipeline.study_plan import METHODS, Workload
from ..statistics.event_rates import EveryRate
from .fleet_answer import FleetAnswer
from .fleet_row import row_of
from .fleet_run import demand_packages, plans_of, worked_out
from .work_block import kernel_work, naive_load

_WORK = 2_000_000
"""Of the kernel, over all scenarios together: about a second."""


def estimate(
    study: str | Path | FleetStudy = "small", *, seed: int = 0, **parameters: Any
) -> FleetAnswer:
    """What happens how often in that fleet, in a second or two once the kernel is compiled.

    `study` is a preset's name, a TOML file, or a study; parameters given by name replace its own,
    and several values of one are a sweep. A grid of many points takes longer.

    Raises ParameterError for what is wrong with the study or a parameter, KeyboardInterrupt after
    Ctrl-C. Without numpy, numba, scipy or pyarrow the fleets of lab 10 have recorded answers; of
    another one it raises MissingExtraError.
    """
    read = study if isinstance(study, FleetStudy) else read_study(study)
    asked = changed(read, parameters)
    try:
        demand_packages()
    except MissingExtraError:
        if seed or (known := recorded_answer(asked)) is None:
            raise
        return known
    began = time.monotonic()
    fleet_study = _short(asked)
    work = _WORK / len(fleet_study.scenarios)
    plans = plans_of(fleet_study, METHODS, lambda point: _one_block(point, work), seed)
    answer = worked_out(fleet_study, plans, None, {"progress": False}, spark=False)
    if not answer.finished:
        raise KeyboardInterrupt
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


def _one_block(scenario: Scenario, work: float) -> Workload:
    """As much of a scenario as that work is."""
    several = max(1, int(work / kernel_work(scenario)))
    load = naive_load(scenario, several * scenario.parameters.horizon_years)
    whole = load.blocks * load.block_replications
    return msgspec.structs.replace(load, blocks=1, block_replications=whole)


# --- what a web page knows ------------------------------------------------------------------------

FILE = files(__package__) / "recorded_answers.json"
STORY = "fleet-story"
"""The name of a play that was a story of a fleet."""


class RecordedRow(msgspec.Struct, frozen=True, array_like=True):
    """What of a row is not known without the kernel; `scenario` is its place in the study."""

    scenario: int
    features: str
    metric: str
    method: str
    events: int
    exposure_us: int
    rate: EveryRate


class RecordedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """`changes` are the values in which the study differs from the small one; the kernel lived
    through `horizon_years` of each replication.
    """

    feature_sets: tuple[str, ...]
    changes: dict[str, tuple[Any, ...]]
    horizon_years: tuple[float, ...]
    partition_years: float
    rows: tuple[RecordedRow, ...]


class RecordedStory(msgspec.Struct, frozen=True, kw_only=True):
    """`play` is the first loss by `cause` in the small fleet with these parameters, as text."""

    cause: str
    parameters: dict[str, Any]
    play: str


class Recordings(msgspec.Struct, frozen=True):
    """All of the file."""

    answers: tuple[RecordedAnswer, ...]
    stories: tuple[RecordedStory, ...]


@cache
def _recordings() -> Recordings:
    return msgspec.json.decode(FILE.read_bytes(), type=Recordings)


def changes_of(study: FleetStudy) -> dict[str, tuple[Any, ...]]:
    """The values in which it differs from the small study."""
    small = dict(read_study("small").values)
    return {name: several for name, several in study.values if several != small[name]}


def recorded_answer(study: FleetStudy) -> FleetAnswer | None:
    """What `estimate` gives for it with seed 0, without the sums; None where nobody asked."""
    asked = (study.feature_sets, changes_of(study))
    known = (one for one in _recordings().answers if (one.feature_sets, one.changes) == asked)
    return next((_answer(study, one) for one in known), None)


def _answer(study: FleetStudy, recorded: RecordedAnswer) -> FleetAnswer:
    values = dict(study.values) | {"horizon_years": recorded.horizon_years}
    lived = msgspec.structs.replace(study, values=tuple(values.items()))
    scenarios = lived.scenarios
    return FleetAnswer(
        study=lived,
        rows=tuple(row_of(lived, scenarios[one.scenario], one, one.rate) for one in recorded.rows),
        summary=(),
        seconds=None,
        partition_years=recorded.partition_years,
    )


def recorded_story(cause: str, parameters: Mapping[str, Any]) -> Play | None:
    """The story that the kernel found; None where nobody asked for it."""
    asked = (cause, dict(parameters))
    known = (one.play for one in _recordings().stories if (one.cause, one.parameters) == asked)
    return next((parse(text, STORY) for text in known), None)
