"""How fast the explorer is: the engine's own search, and its compiled twin, in CPU time.

python tests/bench/explore.py
"""

from __future__ import annotations

import time
from statistics import median

from kiplab.engine.cluster import Cluster
from kiplab.engine.setup import cluster_of
from kiplab.explore.compiled.search import Compiled
from kiplab.explore.compiled.search import search as compiled_search
from kiplab.explore.levels import find
from kiplab.explore.quick import Quick
from kiplab.explore.search import Outcome, search
from kiplab.plays.header import setup_of
from kiplab.plays.library import load
from kiplab.protocol.features import parse_features

REPEAT = 3
LEVEL = find("partition")


def main() -> None:
    features = parse_features("3.5", on=("497.pending-outlives-metadata",))
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


def step(start: Cluster, bounds: dict[str, int]) -> Outcome:
    return search(Quick(LEVEL, start, bounds), ())


def compiled(start: Cluster, bounds: dict[str, int]) -> Outcome:
    return compiled_search(Compiled(LEVEL, start, bounds), ())


def rate(name: str, run: object, start: Cluster, bounds: dict[str, int]) -> float:
    """Distinct states a second; prints them."""
    rates = []
    for _ in range(REPEAT):
        began = time.process_time()
        found = run(start, bounds)  # type: ignore[operator]
        rates.append(found.states / (time.process_time() - began))
    words = LEVEL.in_words(bounds)
    print(f"{name:<10}{found.states:>10,} states ({words})")
    print(f"{'':<10}{max(rates):,.0f} states/s, median {median(rates):,.0f}")
    return max(rates)


if __name__ == "__main__":
    main()
