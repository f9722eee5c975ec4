"""What the kernel tells of random schedules, beside what the engine does with the same ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ..agreement.compared_sets import COMPARED
from ..agreement.engine_run import engine_trace
from ..agreement.kernel_run import kernel_trace
from ..agreement.random_outside import random_schedule
from ..agreement.trace_lines import NOBODY, Trace
from ..kernel.mirrored_guards import MIRRORED, ONE_INCARNATION
from .refereed import Certain, Claim, Referee

_TOLD = {"stale join": "stale_join", "lost": "committed_loss", "refused": "refused"}
_REGISTERS = MIRRORED[ONE_INCARNATION.bit_length() - 1]


def engine_claims(effort: float, seed: int) -> Iterator[Claim]:
    """Schedules in proportion to `effort`; the same number of each, or it is a disagreement."""
    pairs = max(1, round(300 * effort))
    for features in ("none", "841+903", "841+903+704"):
        schedules = [random_schedule(seed, number) for number in range(pairs)]
        rules = COMPARED[features]
        # Uncompiled it is the same, and there is no second kernel to compile.
        ours = _counted(kernel_trace(s, rules, compiled=False) for s in schedules)
        theirs = _counted(engine_trace(s, rules) for s in schedules)
        for metric in (*_TOLD.values(), "offline"):
            yield Claim(
                metric=metric,
                features=features,
                referee=Referee.ENGINE,
                regime=f"{pairs} random schedules, counted in both",
                ours=Certain(ours[metric]),
                theirs=Certain(theirs[metric]),
            )


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
