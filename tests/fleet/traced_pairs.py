"""Pairs of schedule and feature set with the kernel's trace, and whether a trace tells a guard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from kiplab.fleet.agreement.compared_sets import COMPARED_IN
from kiplab.fleet.agreement.kernel_run import EndlessTraceError, kernel_trace
from kiplab.fleet.agreement.outside_events import OutsideSchedule
from kiplab.fleet.agreement.trace_lines import Trace
from kiplab.fleet.kernel.mirrored_guards import MIRRORED, guard_bits
from kiplab.protocol.releases import Mode

plainly = partial(kernel_trace, compiled=False)
Compared = tuple[OutsideSchedule, str, Trace]


def traced(
    pairs: Iterable[tuple[OutsideSchedule, str]], mode: Mode = Mode.KRAFT
) -> Iterator[Compared]:
    """Every pair whose trace ends."""
    for schedule, name in pairs:
        try:
            yield schedule, name, plainly(schedule, COMPARED_IN[mode][name])
        except EndlessTraceError:
            continue


def is_told(guard: str, pair: Compared, mode: Mode = Mode.KRAFT) -> bool:
    """Whether the trace, which is the engine's, too, is another one without the guard."""
    schedule, name, trace = pair
    features, bit = COMPARED_IN[mode][name], 1 << MIRRORED.index(guard)
    if not guard_bits(features) & bit:
        return False
    try:
        return plainly(schedule, features, without=bit) != trace
    except EndlessTraceError:
        return True
