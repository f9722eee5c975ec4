"""`run`: a study of fleets on Spark or in this process, kept in a folder, with its answer."""

import functools
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from ...extras import needed_by
from ..kernel.simulation import simulate
from ..kernel.world import World
from ..parameters.fleet_study import FleetStudy, read_study, study_from, written
from ..parameters.scenario import Scenario
from ..pipeline import study_folder, study_plan
from ..pipeline.study_folder import StudyFolderError
from ..pipeline.study_plan import FORCED, METHODS, NAIVE, StudyPlan, Workload
from ..pipeline.study_run import RunProgress, run_study
from .counted_metrics import COUNTED, WHAT_FOR, can_force
from .fleet_answer import FleetAnswer, answer_of
from .work_block import checked_block, forced_load, naive_load, replications

YEARS = 1e6
"""Partition-years of a study by default, over all its scenarios together."""
STUDY_FILE = "study.toml"
"""In the folder of an answer, beside a folder for each method."""
_FEW_BLOCKS = 400
"""Forced samples take milliseconds: so many blocks are done before Spark has dealt them out."""


def run(
    study: str | Path | FleetStudy,
    folder: str | Path | None = None,
    *,
    years: float | None = None,
    method: str | None = None,
    seed: int = 0,
    master: str | None = None,
    spark: bool = True,
    resume: bool = False,
    progress: bool | None = None,
    heard: Callable[[RunProgress], object] | None = None,
    stop: threading.Event | None = None,
) -> FleetAnswer:
    """Live through `years` partition-years of a fleet, and say how often what happens.

    `study` is a preset's name, a TOML file, or a study. `years` are shared out over its scenarios
    (a million in all by default). With `method` None the kernel samples as things come, and forced
    windows and outages add what is too rare for that, where they can; ``"naive"`` and ``"forced"``
    are one of them.

    `folder` keeps everything, so that `resume` goes on where it was stopped, killed, or for longer;
    without one nothing is kept. `master`, `spark`, `progress`, `heard` and `stop` are as for
    `pipeline.study_run`. The numbers depend on study, years and seed alone; a study
    that goes on for longer keeps the size of its blocks, and lives through whole ones.

    Raises ParameterError for what is wrong with the study, StudyFolderError and StudyNotKeptError
    for the folder, ValueError for the rest of what was given, SparkUnavailable without Spark,
    MissingExtraError without numpy, scipy or pyarrow, BlockFailed for a block that fails.
    """
    demand_packages()
    began = time.monotonic()
    read = study if isinstance(study, FleetStudy) else read_study(study)
    each = _checked_years(read, YEARS if years is None else years) / len(read.scenarios)
    methods, path = _methods(read, method), None if folder is None else Path(folder)
    with ExitStack() as stack:
        if path is not None:
            differs = functools.partial(_differences, path, read, seed)
            content = written(read).encode()
            begun = study_folder.begun(path, STUDY_FILE, content, differs, resume=resume)
            stack.enter_context(begun)
        _start(master, spark=spark)
        sizes = {} if path is None else _kept_sizes(path / NAIVE)
        plans = plans_of(read, methods, lambda point: naive_load(point, each, sizes), seed)
        how: Any = {"spark": spark, "resume": resume, "master": master, "stop": stop}
        answer = worked_out(read, plans, path, {"progress": progress, "listener": heard}, **how)
    return msgspec.structs.replace(answer, seconds=time.monotonic() - began)


def answer_in(folder: str | Path) -> FleetAnswer:
    """What a folder holds, finished or not, added up in this process.

    Raises StudyFolderError where it holds no study, or a damaged one, MissingExtraError without
    pyarrow and scipy.
    """
    demand_packages()
    folder = Path(folder)
    study, methods = _study_in(folder), _kept_methods(folder)
    summary = [
        row
        for name in methods
        for row in study_plan.summarise(study_folder.partials_in(folder / name), name)
    ]
    known = {scenario.scenario_id for scenario in study.scenarios}
    # A parameter that is new since makes other scenarios of the same file.
    if any(row.scenario_id not in known or row.metric not in COUNTED for row in summary):
        raise StudyFolderError(
            f"{folder} holds partials that are none of its study: another version of kiplab made"
            f" them, or {STUDY_FILE} was changed.",
            "Read it with that version, or put the file back as it was.",
        )
    return answer_of(study, summary)


def demand_packages() -> None:
    """Raises MissingExtraError without numba, pyarrow or scipy."""
    with needed_by("a study of fleets"):
        import numba  # noqa: F401
        import pyarrow  # noqa: F401
        import scipy  # noqa: F401


# --- what is asked --------------------------------------------------------------------------------


def _checked_years(study: FleetStudy, years: float) -> float:
    if not 0 < years < float("inf"):
        raise ValueError(f"years is {years:g}; expected partition-years, more than 0")
    for scenario in study.scenarios:
        replications(scenario, years / len(study.scenarios))
    return years


def _methods(study: FleetStudy, method: str | None) -> tuple[str, ...]:
    """Raises ValueError for a method that is none, or that can do nothing here."""
    if method == "biased":
        raise ValueError("method 'biased' is gone; leave it out for naive, and forced where it can")
    if method is not None and method not in METHODS:
        raise ValueError(f"there is no method {method!r}; there are {', '.join(METHODS)}")
    if method == FORCED and not any(map(can_force, study.scenarios)):
        problem = f"nothing can be forced in this study: {WHAT_FOR}"
        raise ValueError(f"{problem}; leave the method out for the rest")
    return METHODS if method is None else (method,)


def plans_of(
    study: FleetStudy, methods: Iterable[str], naive: Callable[[Scenario], Workload], seed: int
) -> list[StudyPlan]:
    """A plan for each way of sampling that has any work; `naive` gives a scenario's plain one."""
    loads = {
        NAIVE: tuple(map(naive, study.scenarios)),
        FORCED: tuple(map(forced_load, filter(can_force, study.scenarios))),
    }
    about: dict[str, Any] = {"feature_sets": study.feature_sets, "study_seed": seed}
    return [
        StudyPlan(workloads=loads[method], code=study_plan.code_version(), method=method, **about)
        for method in methods
        if loads[method]
    ]


# --- the folder of an answer ----------------------------------------------------------------------


def _differences(folder: Path, study: FleetStudy, seed: int) -> list[str]:
    """The differing keys, by their names in the file; what a study is about may change."""
    there = _study_in(folder)
    values = dict(there.values)
    names = [name for name, several in study.values if values[name] != several]
    names += ["feature_sets"] * (there.feature_sets != study.feature_sets)
    kept = (study_folder.identity_in(folder / method) for method in _kept_methods(folder))
    return names + ["the seed"] * bool({one["study_seed"] for one in kept} - {seed})


def _study_in(folder: Path) -> FleetStudy:
    """What a folder says of its study must read back: a parameter that is new since has its
    default.
    """
    file = folder / STUDY_FILE
    return study_folder.read_as(file, lambda content: study_from(content.decode(), str(file)))


def _kept_methods(folder: Path) -> tuple[str, ...]:
    return tuple(method for method in METHODS if (folder / method / study_folder.STUDY).exists())


def _kept_sizes(folder: Path) -> dict[str, int]:
    """Replications of a block by scenario, where a folder of one way of sampling has blocks."""
    if not (folder / study_folder.STUDY).exists():
        return {}
    scenarios = study_folder.identity_in(folder).get("scenarios", {})
    return {name: int(sizes["block_replications"]) for name, sizes in scenarios.items()}


# --- running --------------------------------------------------------------------------------------


def worked_out(
    study: FleetStudy,
    plans: Iterable[StudyPlan],
    folder: Path | None,
    bar: dict[str, Any],
    *,
    spark: bool,
    **how: Any,
) -> FleetAnswer:
    """The answer of plans that are worked off one after the other, until one is stopped.

    `bar` and `how` are as for `run_study`. Raises what that raises.
    """
    summary: list[study_plan.SummaryRow] = []
    finished = True
    for plan in plans:
        few = plan.method == FORCED and len(plan.orders) <= _FEW_BLOCKS
        shown = {"progress": False} if few else bar
        work = functools.partial(checked_block, plan.code)
        place = None if folder is None else folder / plan.method
        done = run_study(plan, work, place, spark=spark and not few, **shown, **how)
        summary += study_plan.summarise(done.kept.partials(), plan.method) if folder is None else ()
        if not (finished := done.finished):
            break
    answer = answer_of(study, summary) if folder is None else answer_in(folder)
    return msgspec.structs.replace(answer, finished=finished)


def _start(master: str | None, *, spark: bool) -> None:
    """Java starts beside the kernel's compiler: this machine's executors then find it compiled."""
    from ...spark import session

    with ThreadPoolExecutor(1, thread_name_prefix="kiplab kernel") as pool:
        once: Any = {"seed": 0, "first": 0, "last": 1, "horizon_us": 1, "feature_sets": ("none",)}
        compiled = pool.submit(simulate, World(), **once)
        if spark:
            session(master, app="kiplab fleet")
        compiled.result()
