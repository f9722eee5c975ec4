"""`run`: a study of fleets on Spark or in this process, kept in a folder, with its answer."""

import functools
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from ...extras import needed_by
from ..kernel.simulation import simulate
from ..kernel.world import World
from ..parameters.fleet_study import FleetStudy, read_study
from ..pipeline.code_version import code_version
from ..pipeline.folder_errors import StudyFolderError
from ..pipeline.run_progress import RunProgress
from ..pipeline.study_folder import partials_in
from ..pipeline.study_plan import StudyPlan
from ..pipeline.study_run import run_study
from ..pipeline.study_summary import SummaryRow, summarise
from ..pipeline.work_orders import FORCED, METHODS, NAIVE
from .answer_folder import STUDY_FILE, begin_folder, kept_methods, kept_sizes, study_in
from .block_sizes import forced_load, naive_load, replications
from .counted_metrics import COUNTED
from .fleet_answer import FleetAnswer, answer_of
from .forced_scenarios import WHAT_FOR, forced_scenarios
from .work_block import checked_block, work_block

YEARS = 1e6
"""Partition-years of a study by default, over all its scenarios together."""
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
    with needed_by("a study of fleets"):
        import numba  # noqa: F401
        import pyarrow  # noqa: F401
        import scipy  # noqa: F401
    began = time.monotonic()
    read = study if isinstance(study, FleetStudy) else read_study(study)
    years = _checked_years(read, YEARS if years is None else years)
    how = {"resume": resume, "master": master, "stop": stop}
    bar = {"progress": progress, "listener": heard}
    with ExitStack() as stack:
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "study"
        path = Path(folder)
        methods = _methods(read, method)
        begin_folder(path, read, seed=seed, resume=resume)
        _start(master, spark=spark)
        plans = {name: _plan(read, name, path, years, seed) for name in methods}
        # Once one of them was stopped the others do not begin.
        finished = all(
            _is_run(plan, path / name, bar, spark=spark, **how) for name, plan in plans.items()
        )
        answer = _answer(path)
    seconds = time.monotonic() - began
    return msgspec.structs.replace(answer, seconds=seconds, finished=finished)


def answer_in(folder: str | Path) -> FleetAnswer:
    """What a folder holds, finished or not, added up in this process.

    Raises StudyFolderError where it holds no study, or a damaged one, MissingExtraError without
    pyarrow and scipy.
    """
    with needed_by("a study of fleets"):
        import pyarrow  # noqa: F401
        import scipy  # noqa: F401
    return _answer(Path(folder))


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
    if method == FORCED and not forced_scenarios(study):
        raise ValueError(
            f"nothing can be forced in this study: {WHAT_FOR}; leave the method out for the rest"
        )
    if method is not None:
        return (method,)
    return (NAIVE, FORCED) if forced_scenarios(study) else (NAIVE,)


def _plan(study: FleetStudy, method: str, folder: Path, years: float, seed: int) -> StudyPlan:
    if method == FORCED:
        loads = tuple(map(forced_load, forced_scenarios(study)))
    else:
        each, sizes = years / len(study.scenarios), kept_sizes(folder / method)
        loads = tuple(naive_load(scenario, each, sizes) for scenario in study.scenarios)
    return StudyPlan(
        workloads=loads,
        feature_sets=study.feature_sets,
        study_seed=seed,
        code=code_version(work_block.__module__),
        method=method,
    )


# --- running --------------------------------------------------------------------------------------


def _is_run(plan: StudyPlan, folder: Path, bar: dict[str, Any], *, spark: bool, **how: Any) -> bool:
    few = plan.method == FORCED and len(plan.orders) <= _FEW_BLOCKS
    shown = {"progress": False} if few else bar
    work = functools.partial(checked_block, plan.code)
    return run_study(plan, work, folder, spark=spark and not few, **shown, **how).finished


def _start(master: str | None, *, spark: bool) -> None:
    """Java starts beside the kernel's compiler: this machine's executors then find it compiled."""
    from ...spark import session

    with ThreadPoolExecutor(1, thread_name_prefix="kiplab kernel") as pool:
        compiled = pool.submit(compile_kernel)
        if spark:
            session(master, app="kiplab fleet")
        compiled.result()


def compile_kernel() -> None:
    """Have the kernel compiled, and kept beside its sources where that can be."""
    simulate(World(), seed=0, first=0, last=1, horizon_us=1, feature_sets=("none",))


# --- the answer -----------------------------------------------------------------------------------


def _answer(folder: Path) -> FleetAnswer:
    study = study_in(folder)
    kept = [(method, partials_in(folder / method)) for method in kept_methods(folder)]
    summary = [row for method, partials in kept for row in summarise(partials, method)]
    _check_known(folder, study, summary)
    return answer_of(study, summary)


def _check_known(folder: Path, study: FleetStudy, summary: list[SummaryRow]) -> None:
    """A parameter that is new since makes other scenarios of the same file."""
    scenario_ids = {scenario.scenario_id for scenario in study.scenarios}
    if any(row.scenario_id not in scenario_ids or row.metric not in COUNTED for row in summary):
        raise StudyFolderError(
            f"{folder} holds partials that are none of its study: another version of kiplab made"
            f" them, or {STUDY_FILE} was changed.",
            "Read it with that version, or put the file back as it was.",
        )
