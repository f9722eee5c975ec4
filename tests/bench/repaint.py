"""How long a Lab takes for a press, for another step, and to open; prints numbers, judges nothing.

    python tests/bench/repaint.py [--beside CHECKOUT]

The runs have six brokers and three partitions, and 200 or 500 steps of about seven events each.
Presses are messages of a page (Crash, Step, a typed line, a turn of the slider, Undo), timed from
the message to the patch that answers it. With another checkout of kiplab both are pressed in turn,
each in a process of its own: that one first, this one second. Only presses are measured then.
"""

import gc
import json
import os
import resource
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

HERE = Path(__file__).resolve().parents[2]
# A checkout beside this one goes first, by PYTHONPATH.
sys.path.append(str(HERE))

STEPS, LONG, MANY, EVENTS = 200, 500, 1000, 29
"""A run of EVENTS steps has about 200 events."""
ROUNDS, PRESSED = 42, ("kafka-14139", str(EVENTS))
TYPED = "fail-over"


def main() -> None:
    parser = ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--beside", type=Path, help="another checkout of kiplab")
    parser.add_argument("--press", help="answer each line of the input with a round of presses")
    asked = parser.parse_args()
    if asked.press:
        answer_rounds(asked.press)
        return
    print(f"Python {sys.version.split()[0]}; milliseconds: median, 95th of 100\n")
    for play in PRESSED:
        presses(play, [*([asked.beside.resolve()] if asked.beside else []), HERE])
    if not asked.beside:
        steps_and_opening()


def steps_and_opening() -> None:
    from tests.figures.long_runs import long_play

    repaint(long_play(STEPS))
    whole_lab(long_play(STEPS))
    opening(long_play(LONG))


# --- presses --------------------------------------------------------------------------------------


def presses(play: str, roots: list[Path]) -> None:
    """Rounds of presses in each checkout by turns; the first round of each warms up."""
    workers = [_worker(play, root) for root in roots]
    took: list[dict[str, list[float]]] = [{} for _ in roots]
    for number in range(ROUNDS + 1):
        for worker, times in zip(workers, took, strict=True):
            worker.stdin.write("\n")
            worker.stdin.flush()
            for what, milliseconds in json.loads(worker.stdout.readline()):
                if number:
                    times.setdefault(what, []).append(milliseconds)
    for worker in workers:
        worker.stdin.close()
        worker.wait()
    for times in took:
        times["any of these"] = [one for each in times.values() for one in each]
    for what in took[-1]:
        _say_beside(f"{play}: {what}", [times[what] for times in took])


def _worker(play: str, root: Path) -> Any:
    command = [sys.executable, __file__, "--press", play]
    path = {**os.environ, "PYTHONPATH": str(root)}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=path)


def answer_rounds(play: str) -> None:
    """One round of presses for each line that comes, its times as JSON."""
    import kiplab
    from tests.figures.long_runs import long_play

    lab = kiplab.Lab(long_play(int(play)) if play.isdigit() else play)
    lab.box.send = lambda *_, **__: None
    for _ in sys.stdin:
        print(json.dumps([(what, _timed(press)) for what, press in _round(lab)]), flush=True)


def _round(lab: Any) -> Iterator[tuple[str, Callable[[], None]]]:
    """Named presses, back at the play's start in the end."""

    def part(label: str) -> Any:
        return next(p for p in _parts(lab.box.root) if getattr(p, "description", "") == label)

    def hear(label: str, name: str, value: Any = None) -> Callable[[], None]:
        message = {"part": part(label).id, "name": name, "value": value, "by": "1"}
        # Its name in earlier checkouts comes second.
        receive = getattr(lab.box, "_receive", None) or lab.box._hear
        return lambda: receive(lab.box, message, [])

    hear("Any other line", "value", TYPED)()
    yield "slider", hear("step", "value", 1)
    yield "Step", hear("Step", "press")
    yield "slider", hear("step", "value", 1)
    yield "Crash", hear("Crash", "press")
    yield "typed line", hear("Do it", "press")
    yield "Undo", hear("Undo", "press")
    yield "Undo", hear("Undo", "press")
    yield "slider", hear("step", "value", 0)


def _parts(part: Any) -> Iterator[Any]:
    yield part
    for child in getattr(part, "children", ()):
        yield from _parts(child)


def _timed(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def _say_beside(what: str, took: list[list[float]]) -> None:
    numbers = " |".join(f"{median(t):>8.1f} {quantiles(t, n=20)[-1]:>8.1f}" for t in took)
    times = f"   {median(took[0]) / median(took[-1]):.1f} times faster" if len(took) > 1 else ""
    print(f"{what:<42}{numbers} ms{times}   ({len(took[0])} presses)", flush=True)


# --- steps and opening ----------------------------------------------------------------------------


def repaint(play: Any) -> None:
    """The picture alone: rows of the step, their drawing, what plotly makes of it, the message."""
    from kiplab.figures.timeline.whole_runs import drawing_so_far
    from kiplab.rows.rows_of_stage import rows_of, rows_until
    from kiplab.widgets.elements.kinds import PlotlyPicture
    from kiplab.widgets.history_tree.playback import open_playback

    bench = open_playback(play)
    whole = rows_of(bench.whole)
    picture = PlotlyPicture(drawing_so_far(whole, whole, width=840))

    def step(at: int) -> None:
        now = rows_until(whole, bench.frames[at].stage)
        picture.drawing = drawing_so_far(now, whole, width=840)

    took = _each(step, range(bench.last + 1))
    _say(f"picture of a step, {len(bench.whole.events)} events", took, "p95 < 80 ms")


def whole_lab(play: Any) -> None:
    """`Lab.seek`, with everything around the picture; then as often as a long evening has steps."""
    import kiplab

    lab = kiplab.Lab(play)
    there = list(range(lab.playback.last + 1))
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
    return [_timed(partial(work, number)) for number in numbers]


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
