"""`make bench`: prints what is fast and how fast. Numbers from one run, on a machine that is noisy.

python tests/bench/run.py            everything but Spark
python tests/bench/run.py --spark    also the schedules on Spark
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kiplab.engine.cluster import Cluster
    from kiplab.engine.moves import Move

REPEAT = 7


def main() -> None:
    print(f"Python {sys.version.split()[0]}, {REPEAT} repeats, median (best)\n")
    imports()
    steps()
    figures()
    if "--spark" in sys.argv:
        spark()


def imports() -> None:
    """In fresh interpreters, timed inside them: their own start is no part of it."""
    for name, limit in (("kiplab.engine.step", 60), ("kiplab.plays.runner", None), ("kiplab", 150)):
        took = [_import_time(name) for _ in range(REPEAT)]
        _say(f"import {name}", took, "ms", 1000, f"target < {limit} ms" if limit else "")


def _import_time(name: str) -> float:
    code = f"from time import perf_counter as now; t = now(); import {name}; print(now() - t)"
    command = [sys.executable, "-c", code]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def steps() -> None:
    """Moves a second through `step`, events and properties included."""
    from kiplab.engine.step import step
    from kiplab.plays.library import load
    from kiplab.plays.runner import run_play
    from kiplab.protocol.features import parse_features

    for release in ("3.4", "3.5"):
        stage = run_play(load("kafka-14139"), parse_features(release))
        moves = [s.move for s in stage.history.steps]

        def again(start: Cluster = stage.history.start, moves: list[Move] = moves) -> None:
            for _ in range(100):
                cluster = start
                for move in moves:
                    cluster = step(cluster, move).cluster

        rates = [100 * len(moves) / _timed(again) for _ in range(REPEAT)]
        text = f"{median(rates):>10,.0f} moves/s ({max(rates):,.0f})"
        print(f"{f'step, kafka-14139 on {release}':<42}{text}  target >= 30,000")


def figures() -> None:
    """From two finished runs to the twin figure, and its page without plotly.js."""
    try:
        import kiplab
        from kiplab.figures.timeline.whole_runs import twin
        from kiplab.pages.page import page
    except ImportError as problem:
        print(f"figures: skipped, {problem.name} is missing")
        return
    one, other = kiplab.run("kafka-14139", kafka="3.4"), kiplab.run("kafka-14139", kafka="3.5")
    twin(one.rows(), other.rows())
    took = [_timed(lambda: twin(one.rows(), other.rows())) for _ in range(REPEAT)]
    _say("twin figure, rows and drawing", took, "ms", 1000, "target < 150 ms")
    size = len(page([one.rows(), other.rows()], include_plotlyjs=False).encode())
    print(f"{'twin page without plotly.js':<42}{size / 1000:>10.1f} KB  target < 150 KB")


def spark() -> None:
    """The schedules of lab 04, Spark's start included."""
    import kiplab

    started = time.perf_counter()
    result = kiplab.fleet.schedules(500, progress=False)
    took = time.perf_counter() - started
    print(f"{'500 schedules x 4 feature sets':<42}{took:>10.1f} s  target < 20 s")
    print(result)


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _say(what: str, took: list[float], unit: str, factor: float, target: str) -> None:
    text = f"{median(took) * factor:>10.1f} {unit} ({min(took) * factor:.1f})"
    print(f"{what:<42}{text}  {target}")


if __name__ == "__main__":
    main()
