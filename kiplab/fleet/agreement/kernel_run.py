"""A schedule through the kernel: its trace."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec

from ...protocol.features import Features
from ...protocol.kraft.broker_lifecycle import HEARTBEAT_MS
from ...protocol.kraft.sessions import SESSION_TIMEOUT_MS
from ...protocol.replica.broker_state import LAG_CHECK_MS
from ...protocol.replica.remote_replicas import LAG_TIME_MAX_MS
from ..kernel import set_words
from ..kernel.isr_digits import members_of
from ..kernel.machine_code import as_words, plain, words
from ..kernel.metadata_rules import account
from ..kernel.mirrored_guards import MIRRORED, guard_bits
from ..kernel.scheduled import DELAYS, play_out
from ..kernel.simulation import METRIC_NAMES
from .outside_events import OutsideSchedule, delays_of, row_of
from .trace_lines import Trace, TracedState, TraceLine

LINES_MAX = 1_000
RETRY_MS = HEARTBEAT_MS
FIRST_LEADER_EPOCH, FIRST_PARTITION_EPOCH = 5, 10


class EndlessTraceError(RuntimeError):
    """A leader asks again and again for what the controller refuses, every millisecond."""


class KernelRun(msgspec.Struct, frozen=True):
    """What the kernel makes of a schedule; `counts` is by metric."""

    trace: Trace
    counts: dict[str, int]


def kernel_run(
    schedule: OutsideSchedule, features: Features, *, compiled: bool = True, without: int = 0
) -> KernelRun:
    """The trace, and what was counted. `without` are bits of guards that it is to forget.

    Raises EndlessTraceError for more than LINES_MAX lines.
    """
    w = world_of(schedule)
    s, trace = words(set_words.STATE_WORDS), words(1 + LINES_MAX * set_words.TOLD_WORDS)
    rows = [n for event in schedule.events for n in row_of(event)]
    delays = [n for event in schedule.events for n in delays_of(event)]
    s[set_words.GUARDS], s[set_words.TRACE] = guard_bits(features) & ~without, 1
    s[set_words.LEADER_EPOCH] = FIRST_LEADER_EPOCH
    s[set_words.PARTITION_EPOCH] = FIRST_PARTITION_EPOCH
    broker_delays = words(set_words.BROKERS * DELAYS)
    arguments = (s, w, trace, rows, delays, broker_delays)
    made = [as_words(numbers) if compiled else _listed(numbers) for numbers in arguments]
    run: Any = play_out if compiled else _plainly()
    run(*made, schedule.leader - 1, schedule.end * 1000)
    if made[0][set_words.CHECKS]:
        raise EndlessTraceError(f"the schedule has more than {LINES_MAX} lines")
    state = _listed(made[0])
    plain(account)(state, w, schedule.end * 1000)
    counted = state[set_words.COUNTS : set_words.COUNTS + len(METRIC_NAMES)]
    counts = dict(zip(METRIC_NAMES, counted, strict=True))
    return KernelRun(tuple(_lines(_listed(made[2]))), counts)


@lru_cache(maxsize=1)
def _plainly() -> Any:
    return plain(play_out)


def world_of(schedule: OutsideSchedule) -> list[int]:
    """The kernel's constants, with the engine's periods."""
    w = [0] * set_words.WORLD_WORDS
    w[set_words.REPLICAS], w[set_words.MIN_INSYNC] = schedule.replicas, schedule.min_insync
    w[set_words.UNCLEAN_ALLOWED] = schedule.unclean
    w[set_words.BOUNCES_WAIT] = schedule.bounces_wait
    w[set_words.SESSION_OVER_US] = (SESSION_TIMEOUT_MS + 1) * 1000
    w[set_words.LAG_US], w[set_words.LAG_PERIOD_US] = LAG_TIME_MAX_MS * 1000, LAG_CHECK_MS * 1000
    w[set_words.RETRY_US], w[set_words.PATIENCE_US] = RETRY_MS * 1000, schedule.patience * 1000
    return w


def _lines(trace: list[int]) -> Iterator[TraceLine]:
    for line in range(trace[0]):
        at, what, a, b, c, d = trace[
            1 + line * set_words.TOLD_WORDS : 1 + (line + 1) * set_words.TOLD_WORDS
        ]
        ms = at // 1000
        if what == set_words.TOLD_STATE:
            yield TraceLine(ms, "partition", partition=_state(a + 1, b, c, d))
        elif what == set_words.TOLD_REFUSED:
            yield TraceLine(ms, "refused", b + 1, MIRRORED[a.bit_length() - 1])
        elif what == set_words.TOLD_LOST:
            yield TraceLine(ms, "lost", a + 1, cause=METRIC_NAMES[b - set_words.COUNTS])
        else:
            yield TraceLine(ms, "stale join", a + 1)


def _state(leader: int, leader_epoch: int, partition_epoch: int, more: int) -> TracedState:
    """`more` is recovery, ISR, ELR and last known leader behind one another."""
    isr = more >> 1 & (1 << 3 * set_words.BROKERS) - 1
    elr = more >> 1 + 3 * set_words.BROKERS
    return TracedState(
        *(leader, leader_epoch, partition_epoch),
        isr=tuple(m + 1 for m in members_of(isr)),
        recovering=bool(more & 1),
        elr=tuple(b + 1 for b in range(set_words.BROKERS) if elr >> b & 1),
        last_known=elr >> set_words.BROKERS,
    )


def _listed(numbers: Any) -> list[int]:
    return [int(n) for n in numbers]
