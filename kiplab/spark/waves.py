"""Blocks over Spark, a wave at a time: finished blocks are handed over at once, to be kept.

Each wave is a Spark job of its own, two of them under way, so that no core waits for the last task
of one; which blocks share a wave, or a task, changes nothing in what they return. `run_blocks` is
one wave of everything.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
import uuid
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, NamedTuple

from .blocks import ANSWER, BlockAnswer, Function, answer_of, arrow_schema, assembled, payload_of
from .running_session import SparkUnavailable, complaint, is_connect, java_gone, java_has_ended
from .session import session

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_AT_ONCE = 2
_POLL_S = 0.2
# Enough tasks per core that the last one to finish keeps few cores waiting.
_TASKS_PER_CORE = 4
_MANY = 1 << 16
"""More numbers than there are cores."""

Dealt = tuple[tuple[tuple[int, bytes], ...], ...]
"""For each task its blocks: number and payload."""


class FinishedWave(NamedTuple):
    """The blocks of one wave, and their rows in the order of the blocks."""

    blocks: Sequence[Any]
    rows: pa.Table


def cores_of(spark: SparkSession) -> int:
    """How many tasks run at once now. Raises SparkUnavailable if Spark has gone away."""
    with explained_failure():
        if is_connect(spark):
            return _cores_behind(spark)
        return int(spark.sparkContext.defaultParallelism)


@functools.cache
def _cores_behind(spark: SparkSession) -> int:
    """A server does not say, but it spreads a range over as many partitions."""
    from pyspark.sql.functions import spark_partition_id

    return spark.range(_MANY).select(spark_partition_id()).distinct().count()


def run_blocks(
    function: Function,
    blocks: Sequence[Any],
    *,
    schema: pa.Schema | str,
    master: str | None = None,
    partitions: int | None = None,
    progress: bool | None = None,
) -> pa.Table:
    """Calls ``function(payload)`` for every block on Spark and returns all rows in block order.

    ``blocks`` are bytes, or anything msgspec can write as JSON, which is then what the function
    gets. ``function`` is importable on the executors and returns a list of dicts with exactly the
    columns of ``schema``: an Arrow schema, or a line like ``"years double, losses bigint"``.
    ``master`` is as for ``session``; ``partitions`` is the number of tasks (default: four per
    core); ``progress`` True or False forces the bar, None shows it in notebooks and terminals (with
    Spark Connect it is filled at the end).

    Raises BlockFailed for the first block that fails, SparkUnavailable if Spark cannot run,
    ValueError for a schema or a number of partitions that makes no sense.
    """
    _check_partitions(partitions)
    if not blocks:
        return arrow_schema(schema).empty_table()
    spark = session(master, app="kiplab blocks")
    columns = arrow_schema(schema)
    with progress_bar(progress, total=len(blocks), unit="block") as report:
        (wave,) = run_waves(
            spark, function, iter([blocks]), schema=columns, partitions=partitions, listener=report
        )
        if report is not None:
            report(len(blocks))
    return wave.rows


def _check_partitions(partitions: int | None) -> None:
    if partitions is not None and partitions < 1:
        raise ValueError(f"partitions is {partitions}; expected 1 or more")


def run_waves(
    spark: SparkSession,
    function: Function,
    waves: Iterator[Sequence[Any]],
    *,
    schema: pa.Schema | str,
    partitions: int | None = None,
    stop: threading.Event | None = None,
    listener: Callable[[float], object] | None = None,
) -> Generator[FinishedWave, None, None]:
    """Works off wave after wave and yields each as soon as it is finished.

    ``function``, ``schema`` and the blocks are as for ``run_blocks``; ``waves`` is asked for the
    next wave when there is room for it, so it may look at how fast the last ones were.
    ``partitions`` is the number of tasks of a wave. ``listener`` is called now and then with the
    number of finished blocks of the waves under way. Once ``stop`` is set, or when the generator is
    closed, what is under way is cancelled.

    Raises BlockFailed for a block that fails, with the block itself as its ``order``;
    SparkUnavailable if Spark cannot go on, ValueError for a schema or a number of partitions
    without sense.
    """
    columns = arrow_schema(schema)
    _check_partitions(partitions)
    over = threading.Event()
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="kiplab wave") as pool:
        running: dict[Future[pa.Table], _WaveJob] = {}
        try:
            while not (stop is not None and stop.is_set()):
                while len(running) < _AT_ONCE and (blocks := next(waves, None)) is not None:
                    tasks = partitions or _TASKS_PER_CORE * cores_of(spark)
                    job = _WaveJob(spark, blocks, tasks, over)
                    running[pool.submit(job.run, function, columns)] = job
                if not running:
                    return
                done, _ = wait(running, _POLL_S, FIRST_COMPLETED)
                for future in done:
                    blocks = running.pop(future).blocks
                    yield FinishedWave(blocks, future.result())
                if listener is not None:
                    listener(sum(job.blocks_done() for job in running.values()))
        finally:
            over.set()
            _cancel(running)


def _cancel(running: dict[Future[Any], _WaveJob]) -> None:
    """Again and again: a job that was just about to start is not there to be cancelled yet."""
    while any(not future.done() for future in running):
        for future, job in running.items():
            if not future.done():
                job.cancel()
        wait(running, _POLL_S)


class _WaveJob:
    """One wave as a Spark job, in a thread of its own."""

    def __init__(
        self, spark: SparkSession, blocks: Sequence[Any], tasks: int, over: threading.Event
    ) -> None:
        self.spark, self.blocks, self.over = spark, blocks, over
        self.tasks = min(tasks, len(blocks))
        self.tag = f"kiplab-{uuid.uuid4().hex}"

    def run(self, function: Function, columns: pa.Schema) -> pa.Table:
        # Dealt like cards, so that no task has more than one block more than another.
        numbered = [(number, payload_of(block)) for number, block in enumerate(self.blocks)]
        dealt = tuple(tuple(numbered[task :: self.tasks]) for task in range(self.tasks))
        if self.over.is_set():
            return columns.empty_table()
        with explained_failure():
            if is_connect(self.spark):
                self.spark.clearTags()
                self.spark.addTag(self.tag)
            else:
                self.spark.sparkContext.setJobGroup(self.tag, "kiplab wave", interruptOnCancel=True)
            # One row a task: Spark then has nothing to shuffle before the work begins.
            tasks = self.spark.range(0, self.tasks, 1, self.tasks)
            work = functools.partial(_work_dealt, function, columns, dealt)
            table = tasks.mapInArrow(work, ANSWER).toArrow()
        answers = (BlockAnswer(**answer) for answer in table.sort_by("block").to_pylist())
        return assembled(answers, columns, self.blocks)

    def cancel(self) -> None:
        """Nothing to cancel if Spark has gone away: the waiting caller gets the reason."""
        with contextlib.suppress(Exception):
            if is_connect(self.spark):
                self.spark.interruptTag(self.tag)
            else:
                self.spark.sparkContext.cancelJobGroup(self.tag)

    def blocks_done(self) -> float:
        """Spark Connect does not say which operation its tasks are of."""
        if is_connect(self.spark):
            return 0.0
        done = completed_tasks(self.spark.sparkContext, self.tag)
        return len(self.blocks) * min(1.0, done / self.tasks)


def _work_dealt(
    function: Function, columns: pa.Schema, dealt: Dealt, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Runs on an executor. A task that has failed does nothing more: its wave is lost anyway."""
    import pyarrow as pa

    schema = arrow_schema(ANSWER)
    for batch in batches:
        for task in batch.column(0).to_pylist():
            for block, payload in dealt[task]:
                answer = answer_of(function, columns, block, payload)
                yield pa.RecordBatch.from_pylist([answer._asdict()], schema=schema)
                if answer.failure is not None:
                    break


@contextlib.contextmanager
def explained_failure() -> Iterator[None]:
    """Turns an exception of Spark in the body into a sentence. Raises SparkUnavailable."""
    try:
        yield
    except Exception as error:
        if java_has_ended():
            raise java_gone() from None
        raise SparkUnavailable(
            f"Spark gave up before all blocks were done: {complaint(error)}.", _mend(str(error))
        ) from None


def _mend(report: str) -> str:
    if "No module named" in report:
        return (
            "Install it for the Python of the executors: the README lists what they need, under"
            ' "On your cluster".'
        )
    return (
        "Check that it still runs, and that the executors have memory left and can import the"
        " function."
    )


@contextlib.contextmanager
def progress_bar(shown: bool | None, **options: Any) -> Iterator[Callable[[float], object] | None]:
    """A bar of tqdm's on stderr or in the notebook while the body runs; `options` are tqdm's.

    Yields what sets its count, None where it is not `shown`: by default there has to be a terminal
    or a notebook. The count never falls: what is under way is a guess, and a task may be retried.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if not (sys.stderr.isatty() or hasattr(shell, "kernel") if shown is None else shown):
        yield None
        return
    from tqdm.auto import tqdm

    with tqdm(**options) as bar:
        yield lambda done: bar.update(max(0, type(bar.total)(done) - bar.n))


def completed_tasks(context: SparkContext, group: str) -> int:
    """How many tasks of a job group are done, in all its jobs; none where Spark has gone away."""
    with contextlib.suppress(Exception):  # The waiting caller of the job gets the reason.
        tracker = context.statusTracker()
        jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
        stages = {stage for job in jobs if job for stage in job.stageIds}
        infos = [tracker.getStageInfo(stage) for stage in stages]
        return sum(info.numCompletedTasks for info in infos if info)
    return 0
