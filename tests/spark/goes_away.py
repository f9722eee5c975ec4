"""A program whose Java is killed in the middle of a study: it prints what it is then told.

`python -m tests.spark.goes_away FOLDER`, in a process of its own, because a process has one Java
for all its life. SPARK_REMOTE says whether that is a Spark Connect server.
"""

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from kiplab.fleet.pipeline.study_plan import FleetOrder, Partial
from kiplab.fleet.pipeline.study_run import RunProgress, run_study
from kiplab.spark import SparkUnavailable
from tests.fleet import coins

PLAN = coins.plan(blocks=40)
_ASKED_AGAIN = 2
"""Times, in which a server that is gone stays gone."""


def throw_slowly(order: FleetOrder) -> list[Partial]:
    """So that something is under way when Java goes."""
    time.sleep(0.2)
    return coins.throw(order)


def java() -> Iterator[int]:
    """The child of this process in which Spark runs, if it still does."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        if name == "java" and int(rest.split()[1]) == os.getpid():
            yield int(path.parent.name)


def killing(now: RunProgress) -> None:
    """Once something is kept."""
    if 0 < now.blocks < now.all_blocks:
        for pid in java():
            os.kill(pid, signal.SIGKILL)


def main(folder: str) -> None:
    """Two attempts: the second finds no Java from the beginning."""
    sys.modules["kiplab.spark.session"].__dict__["_ASKED_AGAIN"] = _ASKED_AGAIN
    for _ in range(2):
        try:
            run_study(PLAN, throw_slowly, folder, resume=True, listener=killing, keep_every_s=1)
        except SparkUnavailable as problem:
            print(problem, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
