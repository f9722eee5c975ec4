"""Many questions, one search each: in this process, in others on this machine, or on Spark.

An answer depends on its question alone. A process of its own reads questions from its input and
writes answers, line by line, until the input ends.
(Not `multiprocessing`: that runs the user's script again in every process, unless the script is
written for it.)
"""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from threading import Lock, local
from typing import Any

import msgspec

from ..levels.level_table import ExploreError, quoted
from ..search.explore_play import explore_play
from ..search.explored import Explored
from ..search.limits import ceiling_mb, check_limits
from ..search.question import Question
from ..search.shared_memory import SharedMemory

LOOK_EVERY_S = 0.1
LEAST_MB = 250
"""The memory that a process needs: half of it is Python and the compiled search."""
MaybeExplored = Explored | None
"""None where the search was cancelled before, or its process was killed."""


DoneCallback = Callable[[int, int], object] | None
"""Is given how many of how many are done."""
MayCancel = Callable[[], bool] | None


def answers(
    questions: Sequence[Question],
    *,
    processes: int,
    progress: DoneCallback = None,
    cancel: MayCancel = None,
) -> list[MaybeExplored]:
    """The answers, in the order of the questions.

    `processes` 1 means this very process. `cancel` is asked ten times a second, or at every look of
    a search in this process.
    """
    wanted = min(processes, len(questions))
    if wanted <= 1:
        return _one_by_one(questions, progress, cancel)
    return _spread(questions, wanted, progress, cancel)


def processes_and_memory(processes: int | None, memory_mb: int, count: int) -> tuple[int, int]:
    """(how many processes for `count` questions, MB for each), all together within `memory_mb`.

    `processes` None means one per core, as far as each has room to work in. Raises ExploreError
    for a number of processes that cannot be.
    """
    check_limits(None, None, memory_mb)
    if processes is not None and not (type(processes) is int and processes >= 1):
        raise ExploreError(
            f"processes is {quoted(processes)}; expected a whole number, 1 or more, or None for one"
            " per core"
        )
    room = ceiling_mb(memory_mb)
    wanted = processes or min(os.cpu_count() or 1, max(room // LEAST_MB, 1))
    wanted = max(min(wanted, count), 1)
    return wanted, max(room // wanted, 1)


def _one_by_one(
    questions: Sequence[Question], report: DoneCallback, cancel: MayCancel
) -> list[MaybeExplored]:
    explored: list[MaybeExplored] = []
    memory = SharedMemory()
    for question in questions:
        stopped = cancel is not None and cancel()
        explored.append(None if stopped else explore_play(question, cancel=cancel, memory=memory))
        if report is not None and not stopped:
            report(len(explored), len(questions))
    return explored


def _spread(
    questions: Sequence[Question], wanted: int, report: DoneCallback, cancel: MayCancel
) -> list[MaybeExplored]:
    payloads = [msgspec.json.encode(question) for question in questions]
    crew = _Crew()
    with ThreadPoolExecutor(wanted) as pool:
        try:
            futures = [pool.submit(crew.answer, payload) for payload in payloads]
            _watch(futures, report, cancel)
        finally:
            # Searches that still run are not needed: all done, cancelled, or interrupted.
            crew.dismiss()
    crew.close()
    return [future.result() for future in futures]


def _watch(futures: list[Future[MaybeExplored]], report: DoneCallback, cancel: MayCancel) -> None:
    left = set(futures)
    while left and not (cancel is not None and cancel()):
        done, left = wait(left, LOOK_EVERY_S, FIRST_COMPLETED)
        if done and report is not None:
            report(len(futures) - len(left), len(futures))


Worker = subprocess.Popen[bytes]


class _Crew:
    """A process for each thread that asks, from its first question on; a killed one is replaced."""

    def __init__(self) -> None:
        self._mine, self._all = local(), list[Worker]()
        self._over, self._changing = False, Lock()

    def _hire(self) -> Worker | None:
        with self._changing:
            if self._over:
                return None
            worker = _worker()
            self._all.append(worker)
            return worker

    def answer(self, payload: bytes) -> MaybeExplored:
        """What this thread's process says to a question."""
        worker = getattr(self._mine, "worker", None) or self._hire()
        line = b"" if worker is None else _said(worker, payload)
        alive = line.endswith(b"\n")
        self._mine.worker = worker if alive else None
        return msgspec.json.decode(line, type=Explored) if alive else None

    def dismiss(self) -> None:
        """End them all; a waiting caller gets no answer."""
        with self._changing:
            self._over = True
        for worker in self._all:
            worker.kill()
            worker.wait()

    def close(self) -> None:
        """Close their pipes, when no caller waits any more."""
        for pipe in (pipe for w in self._all for pipe in (w.stdin, w.stdout) if pipe is not None):
            # Output for a process that is gone is dropped.
            with suppress(OSError):
                pipe.close()


def _worker() -> Worker:
    return subprocess.Popen(
        [sys.executable, "-m", "kiplab.explore.matrix.processes"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        # A keyboard's interrupt is for the process that asks; it ends this one.
        start_new_session=True,
    )


def _said(worker: Worker, payload: bytes) -> bytes:
    assert worker.stdin is not None
    assert worker.stdout is not None
    try:
        worker.stdin.write(payload + b"\n")
        worker.stdin.flush()
        return worker.stdout.readline()
    except OSError:
        return b""


def work_off(payload: bytes, memory: SharedMemory | None = None) -> bytes:
    """The search for a question, from JSON to JSON, on one line each.

    Raises as `explore_play`, and msgspec.ValidationError for what is no Question.
    """
    question = msgspec.json.decode(payload, type=Question)
    return msgspec.json.encode(explore_play(question, memory=memory))


def main() -> None:
    """Work off what comes in, until nothing more does."""
    memory = SharedMemory()
    for payload in sys.stdin.buffer:
        sys.stdout.buffer.write(work_off(payload, memory) + b"\n")
        sys.stdout.buffer.flush()


# --- what will be long, and Spark -----------------------------------------------------------------


def announce(
    what: str, questions: Sequence[Question], crew: int, say: Callable[[str], object] | None
) -> None:
    """Say what is to be expected where searches, `crew` of them at a time, will be long.

    What is wrong with the first question is raised here, before it travels.
    """
    predicted = explore_play(questions[0], cancel=lambda: True).predicted
    if predicted and say is not None:
        many = f"{len(questions)} {what}, {crew} at a time"
        say(f"{many}; where nothing breaks, for each: {predicted}")


def on_spark(questions: Sequence[Question], *, master: str | None = None) -> list[Explored]:
    """The answers, one question a task. Raises SparkUnavailable without Spark."""
    from ...spark import run_blocks

    blocks, many = [msgspec.json.encode(question) for question in questions], len(questions)
    schema = "explored binary"
    table = run_blocks(task, blocks, schema=schema, master=master, partitions=max(many, 1))
    return [msgspec.json.decode(row, type=Explored) for row in table["explored"].to_pylist()]


def task(payload: bytes) -> list[dict[str, Any]]:
    """One question as a block of kiplab.spark: a row with its answer."""
    return [{"explored": work_off(payload)}]


if __name__ == "__main__":
    main()
