"""What the kernel tells of random schedules, beside what the engine does with the same ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial

from ...protocol.features import Features
from ..agreement.compared_sets import COMPARED
from ..agreement.engine_run import engine_trace
from ..agreement.kernel_run import kernel_trace
from ..agreement.outside_events import OutsideSchedule
from ..agreement.random_outside import random_schedule
from ..agreement.trace_lines import NOBODY, Trace
from ..kernel.mirrored_guards import MIRRORED, ONE_INCARNATION
from .refereed import Certain, Claim, Referee

_TOLD = {"stale join": "stale_join", "lost": "committed_loss", "refused": "refused"}
_REGISTERS = MIRRORED[ONE_INCARNATION.bit_length() - 1]


Tellings = Callable[[], Counter[str]]


def engine_claims(effort: float, seed: int) -> Iterator[Claim]:
    """Schedules in proportion to `effort`; the same number of each, or it is a disagreement."""
    pairs = max(1, round(300 * effort))
    for features in ("none", "841+903", "841+903+704"):
        kernel, engine = _told_of(seed, pairs, COMPARED[features])
        for metric in (*_TOLD.values(), "offline"):
            yield Claim(
                metric=metric,
                features=features,
                referee=Referee.ENGINE,
                regime=f"{pairs} random schedules, counted in both",
                ours=partial(_certain, kernel, metric),
                theirs=partial(_certain, engine, metric),
            )


def _told_of(seed: int, pairs: int, rules: Features) -> tuple[Tellings, Tellings]:
    """By the kernel and by the engine, each when it is first asked."""

    def schedules() -> Iterator[OutsideSchedule]:
        return (random_schedule(seed, number) for number in range(pairs))

    @cache
    def kernel() -> Counter[str]:
        # Uncompiled it is the same, and there is no second kernel to compile.
        return _counted(kernel_trace(s, rules, compiled=False) for s in schedules())

    @cache
    def engine() -> Counter[str]:
        return _counted(engine_trace(s, rules) for s in schedules())

    return kernel, engine


def _certain(told: Tellings, metric: str) -> Certain:
    return Certain(told()[metric])


def _counted(traces: Iterable[Trace]) -> Counter[str]:
    """Refusals of brokers that register are none of AlterPartition, and not counted."""
    found: Counter[str] = Counter()
    for trace in traces:
        offline = False
        for told in trace:
            if told.partition is not None:
                found["offline"] += told.partition.leader == NOBODY and not offline
                offline = told.partition.leader == NOBODY
            elif told.guard != _REGISTERS:
                found[_TOLD[told.what]] += 1
    return found
