"""How long a Lab takes to show another step, and to open; prints numbers, judges nothing.

    python tests/bench/repaint.py

The runs have six brokers and three partitions, and 200 or 500 steps of about seven events each.
"""

from __future__ import annotations

import gc
import resource
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median, quantiles
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

STEPS, LONG, MANY = 200, 500, 1000


def main() -> None:
    from tests.figures.long_runs import long_play

    print(f"Python {sys.version.split()[0]}; milliseconds: median, 95th of 100\n")
    repaint(long_play(STEPS))
    whole_lab(long_play(STEPS))
    opening(long_play(LONG))


def repaint(play: Any) -> None:
    """The picture alone: rows of the step, their drawing, what plotly makes of it, the message."""
    from kiplab.figures.timeline.under_way import drawing_so_far
    from kiplab.rows.rows_of_stage import rows_of, rows_until
    from kiplab.widgets.elements.kinds import PlotlyPicture
    from kiplab.widgets.history_tree.bench import open_bench

    bench = open_bench(play)
    whole = rows_of(bench.whole)
    picture = PlotlyPicture(drawing_so_far(whole, whole, width=840))

    def step(at: int) -> None:
        now = rows_until(whole, bench.stops[at].stage)
        picture.paint(drawing_so_far(now, whole, width=840))

    took = _each(step, range(bench.last + 1))
    _say(f"picture of a step, {len(bench.whole.events)} events", took, "p95 < 80 ms")


def whole_lab(play: Any) -> None:
    """`Lab.seek`, with everything around the picture; then as often as a long evening has steps."""
    import kiplab

    lab = kiplab.Lab(play)
    there = list(range(lab.bench.last + 1))
    took = _each(lab.seek, there)
    _say(f"Lab.seek, {STEPS} steps", took, "p95 < 80 ms")
    before = _resident()
    for n in range(MANY):
        lab.seek(there[n % len(there)])
    gc.collect()
    grown = (_resident() - before) / 1e6
    print(f"{f'memory grown over {MANY:,} steps':<42}{grown:>8.1f} MB   stable")


def opening(play: Any) -> None:
    """From a play to its picture, and from a play to a Lab."""
    import kiplab

    def picture(_: int) -> None:
        kiplab.run(play).timeline()

    def lab(_: int) -> None:
        kiplab.Lab(play)

    _say(f"run, rows and figure, {LONG} steps", _each(picture, range(5)), "< 1,500 ms")
    _say(f"opening a Lab, {LONG} steps", _each(lab, range(3)), "< 1,500 ms")


def _each(work: Callable[[int], None], numbers: Iterable[int]) -> list[float]:
    took = []
    for number in numbers:
        started = time.perf_counter()
        work(number)
        took.append((time.perf_counter() - started) * 1000)
    return took


def _resident() -> float:
    """Bytes of memory in use; where that cannot be asked, the most there ever were."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
    return float(pages * resource.getpagesize())


def _say(what: str, took: list[float], target: str) -> None:
    p95 = quantiles(took, n=20)[-1]
    print(f"{what:<42}{median(took):>8.1f} {p95:>8.1f} ms   target {target}")


if __name__ == "__main__":
    main()
