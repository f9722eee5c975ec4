"""Running a study: the blocks that are missing, on Spark or here, kept wave by wave."""

import functools
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import msgspec

from ...spark import BlockFailed, run_blocks_plainly, session
from ...spark.waves import FinishedWave, bar_is_visible, cores_of, run_waves
from .run_progress import ProgressBar, RunProgress
from .study_folder import StudyFolder, opened
from .study_plan import StudyPlan, key_of
from .work_orders import FleetOrder, WorkBlock, partials_schema, worked_off

_FIRST_PER_CORE = 2

RunListener = Callable[[RunProgress], object]


class StudyOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended. `finished` is False when it was stopped: run it again with resume."""

    folder: Path
    finished: bool
    blocks: int
    all_blocks: int
    blocks_before: int
    seconds: float


def run_study(
    plan: StudyPlan,
    work_block: WorkBlock,
    folder: str | Path,
    *,
    resume: bool = False,
    master: str | None = None,
    spark: bool = True,
    partitions: int | None = None,
    keep_every_s: float = 15.0,
    progress: bool | None = None,
    listener: RunListener | None = None,
    stop: threading.Event | None = None,
) -> StudyOutcome:
    """Work out what of `plan` is not in `folder` yet, and keep it there.

    `work_block` can be imported on the executors. `master` is as for `kiplab.spark.session`; with
    `spark` False everything runs in this process. `partitions` is the number of tasks of a wave,
    `keep_every_s` about how long a wave takes, and so how much work may be lost: no result depends
    on either. `progress` True or False forces the bar, None shows it in notebooks and
    terminals; `listener` gets the same reports. Ctrl-C, `stop` and a kill end the run early.

    Raises StudyFolderError and StudyNotKeptError for the folder, BlockFailed for a block that
    fails, SparkUnavailable where Spark cannot run, ValueError for a number of partitions below 1.
    What was done before any of these is kept.
    """
    stop = threading.Event() if stop is None else stop
    with ExitStack() as stack:
        kept = stack.enter_context(opened(folder, plan, resume=resume))
        run = _Run(plan, kept, _listeners_of(stack, progress, listener), keep_every_s)
        if run.missing:
            work = functools.partial(worked_off, work_block)
            waves = run.on_spark(work, master, partitions, stop) if spark else run.here(work, stop)
            try:
                run.keep_all(stack.enter_context(closing(waves)))
            except KeyboardInterrupt:
                stop.set()
        return run.outcome()


def _listeners_of(
    stack: ExitStack, progress: bool | None, listener: RunListener | None
) -> list[RunListener]:
    listeners = [] if listener is None else [listener]
    if bar_is_visible() if progress is None else progress:
        listeners.append(stack.enter_context(ProgressBar()))
    return listeners


class _Run:
    """The missing blocks of a study, dealt out in waves that take about as long as each other."""

    def __init__(
        self,
        plan: StudyPlan,
        kept: StudyFolder,
        listeners: Sequence[RunListener],
        keep_every_s: float,
    ) -> None:
        self.kept, self.listeners, self.keep_every_s = kept, listeners, keep_every_s
        self.orders = plan.orders
        self.missing = [order for order in self.orders if key_of(order) not in kept.done]
        self.before = len(self.orders) - len(self.missing)
        self.years = {
            load.scenario.scenario_id: load.years * load.block_replications
            for load in plan.workloads
        }
        """The partition-years of one block, by scenario."""
        self.years_before = sum(
            self.years[key_of(order)[0]] for order in self.orders if key_of(order) in kept.done
        )
        self.all_years = sum(self.years[key_of(order)[0]] for order in self.orders)
        self.years_done = self.years_before
        self.dealt = self.finished = 0
        self.started = time.monotonic()

    def on_spark(
        self,
        work: Callable[[bytes], list[dict[str, Any]]],
        master: str | None,
        partitions: int | None,
        stop: threading.Event,
    ) -> Generator[FinishedWave, None, None]:
        spark = session(master, app="kiplab fleet")
        self.started = time.monotonic()
        return run_waves(
            spark,
            work,
            self._waves(lambda: cores_of(spark) * _FIRST_PER_CORE),
            schema=partials_schema(),
            partitions=partitions,
            stop=stop,
            listener=self._tell,
        )

    def here(
        self, work: Callable[[bytes], list[dict[str, Any]]], stop: threading.Event
    ) -> Generator[FinishedWave, None, None]:
        """However it ends, finished blocks are handed over before."""
        done: list[tuple[FleetOrder, Any]] = []
        began = time.monotonic()
        try:
            for order in self.missing:
                if stop.is_set():
                    break
                done.append((order, run_blocks_plainly(work, [order], partials_schema())))
                self._tell(len(done))
                if time.monotonic() - began >= self.keep_every_s:
                    yield _wave_of(done)
                    done, began = [], time.monotonic()
        except (BlockFailed, KeyboardInterrupt):
            if done:
                yield _wave_of(done)
            raise
        if done:
            yield _wave_of(done)

    def _waves(self, least: Callable[[], int]) -> Iterator[list[FleetOrder]]:
        while self.dealt < len(self.missing):
            pace = self.finished / max(time.monotonic() - self.started, 1e-3)
            size = max(least(), round(pace * self.keep_every_s))
            wave = self.missing[self.dealt : self.dealt + size]
            self.dealt += len(wave)
            yield wave

    def keep_all(self, waves: Iterator[FinishedWave]) -> None:
        self._tell(0)
        for wave in _by_scenario(waves):
            self.kept.keep([key_of(order) for order in wave.blocks], wave.rows)
            self.finished += len(wave.blocks)
            self.years_done += sum(self.years[key_of(order)[0]] for order in wave.blocks)
            self._tell(0)

    def _tell(self, under_way: float) -> None:
        """Blocks under way count as much as the average."""
        left = len(self.missing) - self.finished
        average = (self.all_years - self.years_done) / left if left else 0.0
        now = RunProgress(
            blocks=self.before + self.finished,
            years=self.years_done + under_way * average,
            all_blocks=len(self.orders),
            all_years=self.all_years,
            years_before=self.years_before,
            seconds=time.monotonic() - self.started,
        )
        for listener in self.listeners:
            listener(now)

    def outcome(self) -> StudyOutcome:
        return StudyOutcome(
            folder=self.kept.path,
            finished=self.finished == len(self.missing),
            blocks=self.before + self.finished,
            all_blocks=len(self.orders),
            blocks_before=self.before,
            seconds=time.monotonic() - self.started,
        )


def _wave_of(done: Sequence[tuple[FleetOrder, Any]]) -> FinishedWave:
    import pyarrow as pa

    return FinishedWave([order for order, _ in done], pa.concat_tables([rows for _, rows in done]))


def _by_scenario(waves: Iterator[FinishedWave]) -> Iterator[FinishedWave]:
    """A block that fails is called by its scenario and its number there."""
    try:
        yield from waves
    except BlockFailed as failed:
        scenario, block = key_of(failed.order)
        raise BlockFailed(block, f"scenario {scenario}: {failed.reason}", failed.order) from None
