"""Pairs of schedule and feature set with the kernel's trace, and what tests ask of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import pytest

from kiplab.fleet.agreement import compare_command
from kiplab.fleet.agreement.compared_sets import COMPARED_IN
from kiplab.fleet.agreement.kernel_run import EndlessTraceError, kernel_trace
from kiplab.fleet.agreement.outside_events import OutsideSchedule, to_json
from kiplab.fleet.agreement.trace_comparison import TraceOf, TraceParting
from kiplab.fleet.agreement.trace_coverage import TraceCoverage
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


def check_transitions(met: TraceCoverage, known: frozenset[str]) -> None:
    """All that are known were met, and no other."""
    never, new = known - set(met.transitions), set(met.transitions) - known
    assert not never, f"add schedules to MADE, or draw some, that come to {sorted(never)}"
    assert not new, f"say in trace_coverage.py that there is {sorted(new)}"
    assert {"lost", "stale join"} == set(met.lines)


def check_repeated(
    short: TraceParting,
    kernel: TraceOf,
    arguments: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The command that a difference names finds it again, and names itself."""
    assert short.sentence.startswith(f"under {short.name} line ")
    assert short.again in short.sentence
    assert " ".join(arguments) in short.again
    monkeypatch.setattr(compare_command, "kernel_trace", kernel)
    given = [*arguments, "--set", short.name, "--schedule", to_json(short.schedule)]
    assert compare_command.main(given) == 1
    assert short.again in capsys.readouterr().err
