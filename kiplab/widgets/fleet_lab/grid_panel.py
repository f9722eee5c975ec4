"""The same question over the whole range of two parameters, on Spark, at the press of a button."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from ...extras import MissingExtraError, install
from ...figures.how_often.fleet_words import number_words, plot_table_html, set_words
from ...fleet.fleet_answers.fleet_answer import FleetAnswer
from ...fleet.parameters.fleet_study import FleetStudy, written
from ...fleet.parameters.parameter_checks import ParameterError
from ...fleet.pipeline.study_folder import StudyFolderError
from ...fleet.pipeline.study_run import RunProgress
from ...machine import LackingError
from ..elements.kinds import Text
from ..elements.labelled import button, column, dropdown, offer, row, watch, words
from ..markup import muted, note
from .fleet_question import DIALS, grid_table

_RUN = "Run the whole grid on Spark"
_YEARS = {"100 thousand": 1e5, "1 million": 1e6, "10 million": 1e7}
_POINTS = 4
_LOOK_S = 0.5
_FOLDER = "fleet-grids"
_HOW = (
    "Every pair of values, under every set of KIPs above. It runs beside the notebook; what is done"
    " is kept in a folder, and the same grid goes on from there."
)
_NO_PACKAGE = f"Spark's Python package is missing; {install('fleet')} mends it"
_PROBLEMS = (ParameterError, StudyFolderError, LackingError, MissingExtraError)

StudyOver = Callable[[str, str, int], FleetStudy]
"""The study over two parameters, the first one across, the second one down; so many values each."""


class GridPanel:
    """`study_over` makes the study, `looked_at` says which metric; `run` is the last grid.

    Without Spark the button is off and says what is missing.
    """

    def __init__(self, study_over: StudyOver, looked_at: Callable[[], str]) -> None:
        self._study_over, self._looked_at = study_over, looked_at
        self.run: GridRun | None = None
        self._sides: dict[str, str] = {}
        self.across = dropdown("Across", [(name, name) for name in DIALS])
        self.down = dropdown("down", [(name, name) for name in DIALS])
        self.down.value = "slow_alter_partition_s"
        self.years = dropdown("partition-years in all", _YEARS.items())
        self.years.value = 1e6
        self.folder = Text(description="kept below", value=_FOLDER)
        self.start = button(_RUN, self.begin, _RUN)
        self.start.button_style = "primary"
        self.cancel = button("Cancel", self.stop, "Stop; what is done is kept")
        self.seen_under = dropdown("Seen under", ())
        self.seen_under.layout.display = "none"
        watch(self.seen_under, "value", lambda _: self.show_metric())
        self.status, self.table = words(muted(_HOW)), words("", overflow="auto")
        asks = row([self.across, self.down, self.years, self.folder], flex_flow="row wrap")
        buttons = row([self.start, self.cancel, self.seen_under], flex_flow="row wrap")
        self.box = column([asks, buttons, self.status, self.table])
        self._offer()

    def stop(self) -> None:
        """Ask the run to end; finished blocks are kept."""
        if self.run is not None:
            self.run.stop.set()
            self._tell()

    def wait(self) -> None:
        """Wait for the end, and show it: for scripts, which have no event loop."""
        if self.run is not None:
            self.run.thread.join()
            self._tell()

    def begin(self, *, spark: bool = True) -> None:
        """Begin, or go on with what was stopped; without `spark` in this process."""
        try:
            study = self._study_over(self.across.value, self.down.value, _POINTS)
        except ParameterError as problem:
            self.status.value = note(f"{problem}.", alarm=True)
            return
        self.table.value, self.seen_under.layout.display = "", "none"
        # The menus may say something else by the time that the answer comes.
        self._sides = {"across": self.across.value, "down": self.down.value}
        self.run = GridRun(study, self._place(study), self.years.value, spark=spark)
        self._look(self.run)

    def _place(self, study: FleetStudy) -> Path:
        """The same grid has the same folder, another one another."""
        digits = sha256(written(study).encode()).hexdigest()[:8]
        name = f"{self.down.value}-by-{self.across.value}-{digits}"
        return Path(self.folder.value or _FOLDER) / name

    def _look(self, run: GridRun) -> None:
        self._tell()
        # A script waits by itself.
        with suppress(RuntimeError):
            if run.running:
                asyncio.get_running_loop().call_later(_LOOK_S, self._look, run)

    # --- what is shown --------------------------------------------------------------------------

    def _offer(self) -> None:
        running = self.run is not None and self.run.running
        missing = _NO_PACKAGE if find_spec("pyspark") is None else None
        offer(self.start, "a grid is running" if running else missing, _RUN)
        offer(self.cancel, None if running else "nothing runs", "Stop; what is done is kept")
        if missing:
            self.status.value = note(f"{_NO_PACKAGE}.")

    def _tell(self) -> None:
        assert self.run is not None
        self._offer()
        run = self.run
        if run.running:
            stopping = "Stopping: what is done is kept."
            self.status.value = note(stopping if run.stop.is_set() else _so_far(run.progress))
        elif (problem := run.problem) is not None:
            told = (
                f"The grid ended with {type(problem).__name__}: {problem}. What was done is kept."
            )
            text = str(problem) if isinstance(problem, _PROBLEMS) else told
            self.status.value = note(text, alarm=True)
        elif run.answer is not None:
            self._show_answer(run)

    def _show_answer(self, run: GridRun) -> None:
        assert run.answer is not None
        years = number_words(run.answer.partition_years, 3)
        kept = f"{years} partition-years, kept in {run.folder}"
        ended = f"Done: {kept}." if run.answer.finished else f"Stopped: {kept}. Run it to go on."
        self.status.value = note(f"{ended} kiplab fleet report {run.folder} makes a page of it.")
        sets = run.answer.study.feature_sets
        self.seen_under.options = tuple((set_words(name), name) for name in sets)
        self.seen_under.layout.display = ""
        self.show_metric()

    def show_metric(self) -> None:
        if self.run is None or self.run.answer is None or self.seen_under.value is None:
            return
        table = grid_table(self.run.answer, self._looked_at(), self.seen_under.value, **self._sides)
        self.table.value = plot_table_html(table)


def _so_far(now: RunProgress | None) -> str:
    if now is None:
        return "Spark starts."
    share = f"{100 * now.years / now.all_years:.0f} %" if now.all_years else "0 %"
    pace = f"{number_words(now.years_per_second)} partition-years a second"
    left = "" if now.seconds_left is None else f", about {now.seconds_left:.0f} s left"
    return f"{share} of {number_words(now.all_years, 3)} partition-years, {pace}{left}."


class GridRun:
    """`progress` is the last report, `answer` and `problem` how it ended, each None until then.
    It goes on in `thread`, until `stop` is set at most; what is done is kept.

    A folder that holds a part of this study is gone on with.
    """

    def __init__(self, study: FleetStudy, folder: Path, years: float, *, spark: bool) -> None:
        self.study, self.folder = study, folder
        self.progress: RunProgress | None = None
        self.answer: FleetAnswer | None = None
        self.problem: BaseException | None = None
        self.stop = threading.Event()
        self._years, self._spark = years, spark
        self.thread = threading.Thread(target=self._work, name="kiplab grid", daemon=True)
        self.thread.start()

    @property
    def running(self) -> bool:
        return self.thread.is_alive()

    def _work(self) -> None:
        try:
            from ...fleet.fleet_answers.fleet_run import run

            self.answer = run(
                self.study,
                self.folder,
                years=self._years,
                resume=self.folder.exists(),
                progress=False,
                heard=self._heard,
                stop=self.stop,
                spark=self._spark,
            )
        except BaseException as problem:
            self.problem = problem

    def _heard(self, now: RunProgress) -> None:
        self.progress = now
