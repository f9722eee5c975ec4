"""A grid that runs on Spark beside the notebook: it goes on while other cells do, and can be
stopped.
"""

from __future__ import annotations

import threading
from pathlib import Path

from ...fleet.fleet_answers.fleet_answer import FleetAnswer
from ...fleet.parameters.fleet_study import FleetStudy
from ...fleet.pipeline.run_progress import RunProgress


class GridRun:
    """`progress` is what was heard last, `answer` and `problem` how it ended, each None until then.

    A folder that holds a part of this study is gone on with.
    """

    def __init__(self, study: FleetStudy, folder: Path, years: float, *, spark: bool) -> None:
        self.study, self.folder = study, folder
        self.progress: RunProgress | None = None
        self.answer: FleetAnswer | None = None
        self.problem: BaseException | None = None
        self._stop = threading.Event()
        self._years, self._spark = years, spark
        self._thread = threading.Thread(target=self._work, name="kiplab grid", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether it still goes on."""
        return self._thread.is_alive()

    @property
    def stopping(self) -> bool:
        """Whether it was asked to end."""
        return self._stop.is_set()

    def stop(self) -> None:
        """Ask it to end; what is done is kept."""
        self._stop.set()

    def wait(self, seconds: float | None = None) -> None:
        """Wait for its end."""
        self._thread.join(seconds)

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
                stop=self._stop,
                spark=self._spark,
            )
        except BaseException as problem:
            self.problem = problem

    def _heard(self, now: RunProgress) -> None:
        self.progress = now
