"""How fast the explorer is: the engine's own search, its compiled twin, and TLC beside them.

python tests/bench/explore.py [CHECKOUT]

Rates are in CPU time; the comparison with TLC, on its twin in TLA+, is in wall time. With another
checkout of kiplab (say a worktree of an earlier commit) nothing is run but the engine's own search
and the 64 cells of a matrix, here and there by turns, each in a process of its own.
"""

import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2]))

from kiplab.engine.cluster import Cluster
from kiplab.engine.setup import cluster_of
from kiplab.explore.compiled.compiled_search import PROPERTIES as COMPILED_PROPERTIES
from kiplab.explore.compiled.compiled_search import CompiledModel, search_compiled
from kiplab.explore.levels.all_levels import level_named
from kiplab.explore.search.breadth_first import search
from kiplab.explore.search.memoised_model import MemoisedModel
from kiplab.explore.search_terms import SearchOutcome
from kiplab.plays.header import setup_of
from kiplab.plays.library import load
from kiplab.protocol.features import parse_features

REPEAT = 3
LEVEL = level_named("partition")
PENDING = ("497.pending-outlives-metadata",)
JUDGED = {"writes": 1, "crashes": 1, "fences": 1}
"""The bound of the comparison: 480,334 states, in which nothing is lost."""

SEARCH = """
import json, time, kiplab
def explore(writes):
    return kiplab.explore("isr-two-of-three", kafka="3.5", on="497.pending-outlives-metadata",
                          engine="step", writes=writes, crashes=1)
explore(0)
began = time.process_time()
found = explore(2)
print(json.dumps([found.states, time.process_time() - began]))
"""
MATRIX = """
import json, kiplab
print(json.dumps([len(kiplab.matrix("isr-two-of-three").cells), 0]))
"""

Search = Callable[[Cluster, dict[str, int]], SearchOutcome]


def main(*other: str) -> None:
    if other:
        beside(Path(other[0]).resolve())
        return
    features = parse_features("3.5", on=PENDING)
    start = cluster_of(setup_of(load("isr-two-of-three"), features))
    print(f"three brokers, Kafka {features.label()}, all states, CPU time; best of {REPEAT}\n")
    began = time.process_time()
    compiled(start, {"writes": 0, "crashes": 0, "fences": 0})
    print(f"compiling, or reading what was compiled: {time.process_time() - began:.1f} s\n")
    own = rate("engine", step, start, {"writes": 2, "crashes": 1, "fences": 0})
    for bounds in ((2, 1, 0), (2, 2, 0), (2, 1, 1)):
        named = dict(zip(("writes", "crashes", "fences"), bounds, strict=True))
        best = rate("compiled", compiled, start, named)
        print(f"{'':<10}{best / own:.1f} times the engine's own; target >= 600,000 states/s")
    against_tlc(start)


def beside(other: Path) -> None:
    """The same two jobs in both checkouts: states/s of a search, CPU time of a whole matrix."""
    here = Path(__file__).resolve().parents[2]
    rates: dict[Path, list[float]] = {other: [], here: []}
    cells: dict[Path, list[float]] = {other: [], here: []}
    for _ in range(REPEAT):
        for folder in rates:
            states, seconds, _whole = _in_a_process(SEARCH, folder)
            rates[folder].append(states / seconds)
            *_, whole = _in_a_process(MATRIX, folder)
            cells[folder].append(whole)
            print(f"{rates[folder][-1]:>10,.0f} states/s  64 cells in {whole:.1f} s  {folder}")
    faster, part = median(rates[here]) / median(rates[other]), median(cells[here])
    print(f"\n{faster:.2f} times the states/s; target >= 1.3 times those of 43ae571")
    print(f"{part / median(cells[other]):.2f} of the time for 64 cells; target <= 0.6 of its")


def _in_a_process(code: str, folder: Path) -> tuple[float, float, float]:
    """The two numbers that `code` prints, and the CPU time of the process with its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    states, seconds = json.loads(ran.stdout)
    whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return states, seconds, whole


def against_tlc(start: Cluster) -> None:
    """One run each, one after the other: what else the machine does meets them all."""
    from tests.explore.tlc import LOSS, judge

    lost = COMPILED_PROPERTIES
    gc.disable()
    runs: dict[str, Callable[[], int]] = {
        "engine": lambda: search(MemoisedModel(LEVEL, start, JUDGED), lost).states,
        "compiled": lambda: search_compiled(CompiledModel(LEVEL, start, JUDGED), lost).states,
    }
    print(
        f"\nTLC on two workers, its start included ({LEVEL.in_words(JUDGED)}), wall time, one run"
    )
    with tempfile.TemporaryDirectory() as folder:
        bounds = (JUDGED["writes"], JUDGED["crashes"], JUDGED["fences"])
        tlc, states = _wall(
            lambda: judge(Path(folder), bounds, on=PENDING, asked=LOSS, workers=2).states
        )
    print(f"{'TLC':<10}{states:>10,} states in {tlc:.1f} s")
    for name, run in runs.items():
        took, states = _wall(run)
        print(f"{name:<10}{states:>10,} states in {took:.1f} s, {tlc / took:.1f} times sooner")
    print(f"{'':<10}target >= 3 times sooner")


def _wall(run: Callable[[], int]) -> tuple[float, int]:
    began = time.perf_counter()
    states = run()
    return time.perf_counter() - began, states


def step(start: Cluster, bounds: dict[str, int]) -> SearchOutcome:
    return search(MemoisedModel(LEVEL, start, bounds), ())


def compiled(start: Cluster, bounds: dict[str, int]) -> SearchOutcome:
    return search_compiled(CompiledModel(LEVEL, start, bounds), ())


def rate(name: str, run: Search, start: Cluster, bounds: dict[str, int]) -> float:
    """Distinct states a second; prints them."""
    rates = []
    for _ in range(REPEAT):
        began = time.process_time()
        found = run(start, bounds)
        rates.append(found.states / (time.process_time() - began))
    words = LEVEL.in_words(bounds)
    print(f"{name:<10}{found.states:>10,} states ({words})")
    print(f"{'':<10}{max(rates):,.0f} states/s, median {median(rates):,.0f}")
    return max(rates)


if __name__ == "__main__":
    main(*sys.argv[1:])
