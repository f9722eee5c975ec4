"""A progress bar for one Spark job, on classic sessions and on Spark Connect."""

import contextlib
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .running_session import is_connect

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import DataFrame, SparkSession

_POLL_S = 0.2
Report = Callable[[float], None]


@contextlib.contextmanager
def watch(
    spark: "SparkSession", orders: "DataFrame", *, blocks: int, tasks: int, show: bool | None
) -> Iterator[None]:
    """Shows a bar while the body runs the job that spreads ``orders`` over ``tasks`` tasks.

    The bar counts ``blocks``. It ends full if the body succeeds, and where it stood if not.
    ``show`` None means: in a notebook or a terminal only.
    """
    if not (somebody_looks() if show is None else show):
        yield
        return
    from tqdm.auto import tqdm

    with tqdm(total=blocks, unit="block") as bar:
        report = _reporter(bar)
        if is_connect(spark):
            following = _following_connect(spark, report)
        else:
            spreading = orders.rdd.getNumPartitions()
            following = _following_classic(spark.sparkContext, spreading, tasks, report)
        with following:
            yield
        report(1.0)


def somebody_looks() -> bool:
    """Whether there is a terminal or a notebook that a bar would be seen in."""
    return sys.stderr.isatty() or _in_notebook()


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return hasattr(shell, "kernel")


def _reporter(bar: Any) -> Report:
    def report(share: float) -> None:
        """Never back: a task that is tried again has been counted already."""
        bar.update(max(0, int(share * bar.total) - bar.n))

    return report


@contextlib.contextmanager
def _following_classic(
    context: "SparkContext", spreading: int, tasks: int, report: Report
) -> Iterator[None]:
    """Polls the status tracker; ``spreading`` tasks only deal the orders out and do not count."""
    group = uuid.uuid4().hex
    over = threading.Event()

    def poll() -> None:
        while not over.wait(_POLL_S):
            done = completed_tasks(context, group) - spreading
            report(min(1.0, max(0, done) / tasks))

    poller = threading.Thread(target=poll, daemon=True)
    context.setJobGroup(group, "kiplab blocks")
    poller.start()
    try:
        yield
    finally:
        over.set()
        poller.join()
        with contextlib.suppress(Exception):  # Where Spark has gone away, its properties have too.
            # None, which takes the property away, is missing from PySpark's annotation.
            context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]


def completed_tasks(context: "SparkContext", group: str) -> int:
    """How many tasks of a job group are done, in all its jobs; none where Spark has gone away."""
    with contextlib.suppress(Exception):  # Whoever waits for the job is told why.
        tracker = context.statusTracker()
        jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
        stages = {stage for job in jobs if job for stage in job.stageIds}
        infos = [tracker.getStageInfo(stage) for stage in stages]
        return sum(info.numCompletedTasks for info in infos if info)
    return 0


@contextlib.contextmanager
def _following_connect(spark: Any, report: Report) -> Iterator[None]:
    """The server reports by itself. Its short stage that deals the orders out counts along."""

    def handle(stages: Any, **_: Any) -> None:
        known = list(stages or ())
        total = sum(stage.num_tasks for stage in known)
        if total:
            report(sum(stage.num_completed_tasks for stage in known) / total)

    spark.registerProgressHandler(handle)
    try:
        yield
    finally:
        spark.removeProgressHandler(handle)
