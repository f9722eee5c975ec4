"""Where the engine and the kernel part, in a sentence; and the shortest schedule that shows it."""

import shlex
from collections.abc import Callable, Iterator
from itertools import zip_longest

import msgspec
from msgspec.structs import replace

from kiplab.fleet.agreement.engine_run import EngineRun
from kiplab.fleet.agreement.kernel_run import (
    Outside,
    OutsideSchedule,
    Trace,
    TracedState,
    TraceLine,
    kernel_run,
)
from kiplab.fleet.kernel.mirrored_guards import EVERY_SET, features_of
from kiplab.protocol.features import Features, parse_features

COMPARED: dict[str, Features] = {
    **{name: features_of(name) for name in EVERY_SET},
    "later": parse_features(
        "3.5", off=("631.one-live-incarnation",), on=("kafka-12670", "966", "kafka-15021")
    ),
    "as 3.5": parse_features("3.5"),
}
"""What kernel and engine are compared under: the sets of the fleet, later rules that count for the
high watermark, and 3.5 as it is. Every guard is on in some, and most are off in others.
"""

COMMAND = "tests.fleet.agreement.compare_command"
NO_BEAT = -1
TraceOf = Callable[[OutsideSchedule, Features], Trace]


class TraceParting(msgspec.Struct, frozen=True):
    """The first line of the traces that differs, under the feature set `name` of those that are
    compared; None where one of them has ended.
    """

    schedule: OutsideSchedule
    name: str
    line: int
    engine: TraceLine | None
    kernel: TraceLine | None

    @property
    def sentence(self) -> str:
        """The line of each, and the command that compares them again."""
        says = f"the engine says {_words(self.engine)}, the kernel {_words(self.kernel)}"
        return f"under {self.name} line {self.line + 1} of the traces differs: {says}; {self.again}"

    @property
    def again(self) -> str:
        """The command that compares this schedule once more."""
        schedule, name = shlex.quote(to_json(self.schedule)), shlex.quote(self.name)
        return f"python -m {COMMAND} --set {name} --schedule {schedule}"


def _words(line: TraceLine | None) -> str:
    return "nothing more" if line is None else in_words(line)


def to_json(schedule: OutsideSchedule) -> str:
    """One line."""
    return msgspec.json.encode(schedule).decode()


def in_words(line: TraceLine) -> str:
    """The line for people."""
    return f"{_what(line)} at {line.at} ms"


def _what(line: TraceLine) -> str:
    if line.partition is not None:
        return f"partition {_state(line.partition)}"
    if line.what == "refused":
        return f"broker {line.broker} is refused by {line.guard}"
    if line.what == "lost":
        return f"broker {line.broker} leads without committed records ({line.cause})"
    return f"stale join of broker {line.broker}"


def _state(state: TracedState) -> str:
    """``"epoch 11: leader 2 under 6, ISR 2"``."""
    who = f"leader {state.leader or 'none'} under {state.leader_epoch}"
    isr = ",".join(map(str, state.isr))
    elr = f", ELR {','.join(map(str, state.elr))}" if state.elr else ""
    last = f", last known leader {state.last_known}" if state.last_known else ""
    more = f"{elr}{last}{', recovering' * state.recovering}"
    return f"epoch {state.partition_epoch}: {who}, ISR {isr or 'nobody'}{more}"


def kernel_trace(
    schedule: OutsideSchedule, features: Features, *, compiled: bool = True, without: int = 0
) -> Trace:
    """What the kernel makes of it, as `kernel_run` does."""
    return kernel_run(schedule, features, compiled=compiled, without=without).trace


def parting(
    schedule: OutsideSchedule, name: str, kernel: TraceOf = kernel_trace
) -> TraceParting | None:
    """Where the two part under a set that is compared, or None: every state of the partition, every
    refusal, loss and stale join.

    Raises EndlessTraceError as `kernel_trace` does, before the engine has to do all that.
    """
    features = COMPARED[name]
    theirs = kernel(schedule, features)
    difference = first_difference(EngineRun(schedule, features).run(), theirs)
    return None if difference is None else TraceParting(schedule, name, *difference)


def first_difference(
    ours: Trace, theirs: Trace
) -> tuple[int, TraceLine | None, TraceLine | None] | None:
    """Which line of two traces is the first that differs, and what each of them says there."""
    for line, (one, other) in enumerate(zip_longest(ours, theirs)):
        if one != other:
            return line, one, other
    return None


def shrunk(trace_parting: TraceParting, kernel: TraceOf = kernel_trace) -> TraceParting:
    """A schedule as short as leaving out incidents and making times 1 can make it."""
    tried = True
    while tried:
        tried = False
        for schedule in _smaller(trace_parting.schedule):
            smaller = parting(schedule, trace_parting.name, kernel)
            if smaller is not None:
                trace_parting, tried = smaller, True
                break
    return trace_parting


def _smaller(schedule: OutsideSchedule) -> Iterator[OutsideSchedule]:
    events = schedule.events
    for n, event in enumerate(events):
        gone = {n, _beat_before(events, n)}
        if event.kind != "beat" and len(events) > len(gone - {NO_BEAT}):
            yield replace(schedule, events=tuple(e for k, e in enumerate(events) if k not in gone))
    for n, event in enumerate(events):
        for simpler in _simpler(event):
            yield replace(schedule, events=(*events[:n], simpler, *events[n + 1 :]))


def _beat_before(events: tuple[Outside, ...], n: int) -> int:
    """The heartbeat that an incident needs: it comes and goes with it."""
    if events[n].kind not in ("crash", "cut"):
        return NO_BEAT
    beats = (k for k in range(n) if events[k].kind == "beat")
    return max((k for k in beats if events[k].broker == events[n].broker), default=NO_BEAT)


def _simpler(event: Outside) -> Iterator[Outside]:
    for name in ("restart", "ready", "level", "lag_phase", "shutdown", "lasts", "recover"):
        least = 0 if name == "lag_phase" else 1
        if getattr(event, name) != least:
            yield replace(event, **{name: least})
    if event.fate != "kept":
        yield replace(event, fate="kept")
    if len(event.delays) > 1:
        yield replace(event, delays=event.delays[:1])
