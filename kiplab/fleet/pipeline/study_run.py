"""Running a study: the blocks that are missing, on Spark or here, kept wave by wave."""

import functools
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import msgspec

from ...spark import BlockFailed, run_blocks_plainly, session
from ...spark.blocks import Function
from ...spark.waves import FinishedWave, cores_of, progress_bar, run_waves
from .study_folder import KeptBlocks, opened
from .study_plan import FleetOrder, StudyPlan, WorkBlock, partials_schema, worked_off

_FIRST_PER_CORE = 2
_BAR = (
    "{percentage:3.0f}% |{bar}| {n_fmt} of {total_fmt} partition-years,"
    " {rate_fmt}, {remaining} left"
)


class RunProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How many blocks are kept, and partition-years so far: those of blocks under way count along.

    `years_before` were there when the run began, `seconds` ago.
    """

    blocks: int
    years: float
    all_blocks: int
    all_years: float
    years_before: float
    seconds: float

    @property
    def years_per_second(self) -> float:
        """What this run has done, without what was there before."""
        return (self.years - self.years_before) / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """At the pace so far; None while there is no pace yet."""
        pace = self.years_per_second
        return (self.all_years - self.years) / pace if pace > 0 else None


RunListener = Callable[[RunProgress], object]


class StudyOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """`blocks` of `all_blocks` are `kept`; `blocks_before` were there before this run."""

    kept: KeptBlocks
    blocks: int
    all_blocks: int
    blocks_before: int

    @property
    def finished(self) -> bool:
        """False when it was stopped: run it again with resume."""
        return self.blocks == self.all_blocks


def run_study(
    plan: StudyPlan,
    work_block: WorkBlock,
    folder: str | Path | None,
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
    """Work out what of `plan` is not in `folder` yet, and keep it there; without one, in memory.

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
        there = KeptBlocks() if folder is None else opened(folder, plan, resume=resume)
        kept = there if isinstance(there, KeptBlocks) else stack.enter_context(there)
        run = _Run(plan, kept, keep_every_s, [] if listener is None else [listener])
        look = {"total": run.all_years, "initial": run.years_done, "bar_format": _BAR}
        unit = {"unit": " partition-years", "unit_scale": True}
        if run.missing:
            bar = stack.enter_context(progress_bar(progress, **look, **unit))
            if bar is not None:
                run.listeners.append(lambda now: bar(now.years))
            work = functools.partial(worked_off, work_block)
            try:
                if spark:
                    waves, every_s = run.on_spark(work, master, partitions, stop), 0.0
                else:
                    waves, every_s = run.here(work, stop), keep_every_s
                run.keep_all(stack.enter_context(closing(waves)), every_s)
            except KeyboardInterrupt:
                stop.set()
        done, every = run.before + run.finished, run.all_blocks
        return StudyOutcome(kept=kept, blocks=done, all_blocks=every, blocks_before=run.before)


class _Run:
    """The missing blocks of a study, dealt out in waves that take about as long as each other."""

    def __init__(
        self, plan: StudyPlan, kept: KeptBlocks, keep_every_s: float, listeners: list[RunListener]
    ) -> None:
        self.kept, self.listeners, self.keep_every_s = kept, listeners, keep_every_s
        orders = plan.orders
        self.missing = [order for order in orders if order.key not in kept.done]
        self.years = {
            load.scenario.scenario_id: load.years * load.block_replications
            for load in plan.workloads
        }
        """The partition-years of one block, by scenario."""
        self.all_blocks, self.all_years = len(orders), self._years_of(orders)
        self.before = self.all_blocks - len(self.missing)
        self.years_done = self.years_before = self.all_years - self._years_of(self.missing)
        self.dealt = self.finished = 0
        self.started = time.monotonic()

    def _years_of(self, orders: Sequence[FleetOrder]) -> float:
        return sum(self.years[order.key[0]] for order in orders)

    def on_spark(
        self, work: Function, master: str | None, partitions: int | None, stop: threading.Event
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

    def here(self, work: Function, stop: threading.Event) -> Generator[FinishedWave, None, None]:
        """Each block as a wave of its own."""
        for order in self.missing:
            if stop.is_set():
                return
            yield FinishedWave([order], run_blocks_plainly(work, [order], partials_schema()))

    def _waves(self, least: Callable[[], int]) -> Iterator[list[FleetOrder]]:
        while self.dealt < len(self.missing):
            pace = self.finished / max(time.monotonic() - self.started, 1e-3)
            size = max(least(), round(pace * self.keep_every_s))
            wave = self.missing[self.dealt : self.dealt + size]
            self.dealt += len(wave)
            yield wave

    def keep_all(self, waves: Iterator[FinishedWave], every_s: float) -> None:
        """However it ends, what is finished is kept. Raises BlockFailed as `run_study`."""
        self._tell(0)
        began, pending = time.monotonic(), list[FinishedWave]()
        try:
            for wave in waves:
                pending.append(wave)
                if time.monotonic() - began >= every_s:
                    self._keep(pending)
                    began = time.monotonic()
                else:
                    self._tell(len(pending))
        except BlockFailed as failed:
            # It is called by its scenario and its number there.
            scenario, block = failed.order.key
            reason = f"scenario {scenario}: {failed.reason}"
            raise BlockFailed(block, reason, failed.order) from None
        finally:
            self._keep(pending)

    def _keep(self, pending: list[FinishedWave]) -> None:
        import pyarrow as pa

        if pending:
            waves = [*pending]
            pending.clear()
            self.kept.keep(pa.concat_tables([wave.rows for wave in waves]))
            orders = [order for wave in waves for order in wave.blocks]
            self.finished += len(orders)
            self.years_done += self._years_of(orders)
            self._tell(0)

    def _tell(self, under_way: float) -> None:
        """Blocks under way count as much as the average."""
        left = len(self.missing) - self.finished
        average = (self.all_years - self.years_done) / left if left else 0.0
        now = RunProgress(
            blocks=self.before + self.finished,
            years=self.years_done + under_way * average,
            all_blocks=self.all_blocks,
            all_years=self.all_years,
            years_before=self.years_before,
            seconds=time.monotonic() - self.started,
        )
        for listener in self.listeners:
            listener(now)
