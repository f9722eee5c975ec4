"""How fast the fleet's kernel lives through years, and how much faster than Python.

    python tests/bench/fleet_kernel.py

Processor time of this process, the best of five, on one core. The base case of two replicas is
written here as a loop over a heap. That does less (no epochs, no logs, no other feature set), as
one would write it down for this question; that its events a year are the kernel's stands beside.
"""

import sys
import time
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from math import log
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[2]))

REPEAT = 5
YEAR = 365 * 86_400.0
Run = Callable[[int], int]
"""Of years: how many events from outside they had."""


class Pair:
    """Two replicas, and what becomes of them."""

    def __init__(self) -> None:
        self.random = Random(1)
        self.up, self.incarnation, self.isr = [True, True], [0, 0], {0, 1}
        self.fenced = [False, False]
        self.leader: int | None = 0
        self.events = self.stale = 0

    def exponential(self, mean: float) -> float:
        return -mean * log(1 - self.random.random())

    def next_event(self, a_year: float) -> float:
        self.events += 1
        return self.exponential(YEAR / a_year)

    def leave(self, b: int) -> None:
        self.isr.discard(b) if len(self.isr) > 1 else None
        if self.leader == b:
            left = [c for c in self.isr if c != b and self.up[c] and not self.fenced[c]]
            self.leader = left[0] if left else None

    def crash(self, b: int) -> float | None:
        """When it is noticed, if the broker was there."""
        if not self.up[b]:
            return None
        self.up[b] = False
        self.incarnation[b] += 1
        return self.random.uniform(7, 9)

    def unfence(self, b: int) -> None:
        self.fenced[b] = False
        if self.leader is None and b in self.isr:
            self.leader = b

    def request(self) -> float:
        slow = self.random.random() < 0.001
        return self.exponential(30 if slow else 0.01)

    def accepted(self, b: int, incarnation: int) -> None:
        self.isr.add(b)
        self.stale += incarnation != self.incarnation[b]


def with_a_heap(years: int) -> int:
    """One loop over a heap of (time, order, what, broker, incarnation)."""
    pair, order = Pair(), count()
    heap: list[tuple[float, int, str, int, int]] = []
    now, end = 0.0, years * YEAR

    def plan(after: float, what: str, b: int, incarnation: int = 0) -> None:
        heappush(heap, (now + after, next(order), what, b, incarnation))

    for b in (0, 1):
        plan(pair.exponential(YEAR), "crash", b)
        plan(pair.exponential(YEAR / 12), "bounce", b)
    plan(pair.exponential(YEAR / 4), "outage", 0)
    outage_until = 0.0
    while now < end:
        now, _, what, b, incarnation = heappop(heap)
        if what == "crash":
            noticed = pair.crash(b)
            if noticed is not None:
                plan(noticed, "fence", b, pair.incarnation[b])
                plan(300 * pair.random.lognormvariate(0, 0.5), "start", b, pair.incarnation[b])
            plan(pair.next_event(1), "crash", b)
        elif what == "bounce":
            if pair.up[b] and len(pair.isr) == 2:
                led = pair.leader == b
                pair.leave(b)
                plan(3.0 if led else 0.0, "stop", b, pair.incarnation[b])
            plan(pair.next_event(12), "bounce", b)
        elif what == "outage":
            outage_until = now + pair.random.uniform(2, 30)
            plan(pair.next_event(4), "outage", 0)
        elif incarnation != pair.incarnation[b] and what != "arrives":
            continue
        elif what == "fence":
            pair.fenced[b] = True
            pair.leave(b)
        elif what == "stop":
            pair.crash(b)
            pair.fenced[b] = True
            plan(pair.exponential(120), "start", b, pair.incarnation[b])
        elif what == "start":
            pair.up[b] = pair.fenced[b] = True
            plan(1.0, "unfence", b, incarnation)
            plan(pair.exponential(180), "level", b, incarnation)
        elif what == "unfence":
            pair.unfence(b)
        elif what == "level" and b not in pair.isr:
            plan(max(outage_until - now, 0) + pair.request(), "arrives", b, incarnation)
        elif what == "arrives":
            pair.accepted(b, incarnation)
    return pair.events


def kernel(*features: str, compiled: bool = True) -> Run:
    """The kernel over the same, under these feature sets."""
    from kiplab.fleet.kernel.simulation import simulate
    from kiplab.fleet.kernel.world import YEAR as YEAR_US
    from kiplab.fleet.kernel.world import World

    def run(years: int) -> int:
        each = max(1, years // 100)
        counts = simulate(
            World(),
            seed=1,
            first=0,
            last=each,
            horizon_us=years // each * YEAR_US,
            feature_sets=features,
            compiled=compiled,
        )
        return counts.events

    return run


def measured(name: str, run: Run, years: int) -> float:
    """Partition-years a second of processor time, the best of five; printed with their events."""
    took = []
    for _ in range(REPEAT):
        started = time.process_time()
        events = run(years)
        took.append(time.process_time() - started)
    rate = years / min(took)
    print(
        f"{name:<36}{rate:>12,.0f} partition-years/s {events / min(took) / 1e6:>8.2f} M events/s"
        f" {events / years:>6.1f} events a year"
    )
    return rate


def main() -> None:
    started = time.process_time()
    kernel("none")(1)
    print(f"kernel, first call in this process: {time.process_time() - started:.1f} s\n")
    none = measured("kernel, none", kernel("none"), 100_000)
    measured("kernel, 841+903 (as Kafka 3.5)", kernel("841+903"), 100_000)
    measured("kernel, elr (as Kafka 4.3)", kernel("elr"), 100_000)
    measured("kernel, four sets at once", kernel("none", "841", "903", "841+903"), 50_000)
    loop = measured("a loop over a heap in Python", with_a_heap, 2_000)
    slow = measured("the kernel's source without numba", kernel("none", compiled=False), 100)
    print(f"\nkernel : loop in Python = {none / loop:,.0f} : 1    target >= 15 : 1")
    print(f"kernel : its source in Python = {none / slow:,.0f} : 1")


if __name__ == "__main__":
    main()
