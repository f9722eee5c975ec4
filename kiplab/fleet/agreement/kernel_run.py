"""A schedule, and its trace through the kernel.

A schedule has outside events of a replica set, and the times that everything after them takes, in
whole milliseconds, the engine's clock. It has none of Kafka's reactions: the same one goes through
the engine and through the kernel, under any feature set. A trace has the changes of the partition,
line by line.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, Literal

import msgspec

from ...protocol.features import Features
from ...protocol.kraft.broker_lifecycle import HEARTBEAT_MS
from ...protocol.kraft.sessions import SESSION_TIMEOUT_MS
from ...protocol.replica.broker_state import LAG_CHECK_MS
from ...protocol.replica.remote_replicas import LAG_TIME_MAX_MS
from ..kernel import set_events, set_words
from ..kernel.leader_rules import DELAY_TRIES
from ..kernel.machine_code import as_words, plain, words
from ..kernel.metadata_rules import account
from ..kernel.mirrored_guards import MIRRORED, guard_bits
from ..kernel.outside_streams import DELAYS
from ..kernel.set_words import BROKERS, members_of
from ..kernel.simulation import METRIC_NAMES
from ..kernel.simulation_loop import play_out

_as_python = cache(plain)
LINES_MAX = 1_000
RETRY_MS = HEARTBEAT_MS
FIRST_LEADER_EPOCH, FIRST_PARTITION_EPOCH = 5, 10


OutsideKind = Literal["flush", "beat", "outage", "cut", "crash", "bounce"]
KINDS: dict[OutsideKind, int] = {
    "flush": set_events.FLUSH,
    "beat": set_events.BEAT,
    "outage": set_events.OUTAGE_BEGINS,
    "cut": set_events.CUT_OFF,
    "crash": set_events.CRASH,
    "bounce": set_events.BOUNCE,
}
"""The rank of each kind: at one moment the lower comes first."""
Fate = Literal["kept", "tail-lost", "replaced"]
FATES: dict[Fate, int] = {"kept": 0, "tail-lost": 1, "replaced": 2}
TIMES = ("restart", "ready", "level", "lag_phase", "shutdown", "lasts", "recover")
"""Of an event, in the order of the kernel's rows, where they stand from RESTART on."""


class Outside(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One event from outside. Times are milliseconds; brokers are counted from 1.

    After a crash, a bounce or a cut: `restart` is from the end of the process to the next one,
    `ready` and `level` from its registration (or the end of the cut) until it asks to be let in and
    until it has caught up; `lag_phase` is from the event to the leader's next look at who lags;
    `delays` are how long AlterPartition requests on account of this broker take, the first, the
    second, ... (the last one serves on), asked by whichever leader; or `delays_by` has them leader
    by leader.
    """

    at: int
    kind: OutsideKind
    broker: int = 1
    fate: Fate = "kept"
    shock: bool = False
    restart: int = 1
    ready: int = 1
    level: int = 1
    lag_phase: int = 0
    shutdown: int = 1
    lasts: int = 1
    recover: int = 1
    delays: tuple[int, ...] = (1,)
    delays_by: tuple[tuple[int, ...], ...] = ()

    def delay(self, leader: int, tried: int) -> int:
        """How long the request of a leader (from 1) takes that has tried so often before."""
        delays = self.delays_by[leader - 1] if self.delays_by else self.delays
        return delays[min(tried, len(delays) - 1, DELAY_TRIES - 1)]

    @property
    def order(self) -> tuple[int, int, int]:
        """By time, by kind, by broker."""
        return self.at, KINDS[self.kind], self.broker


class OutsideSchedule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything that comes from outside, in order, until `end`, to brokers 1, 2, ...

    `patience` is how long a broker waits to be let go before it stops all the same.
    """

    replicas: int = 2
    min_insync: int = 1
    unclean: bool = False
    bounces_wait: bool = False
    leader: int = 1
    patience: int = 300_000
    end: int
    events: tuple[Outside, ...]


def ordered(schedule: OutsideSchedule) -> OutsideSchedule:
    """With the events in their order."""
    events = tuple(sorted(schedule.events, key=lambda event: event.order))
    return msgspec.structs.replace(schedule, events=events)


def row_of(event: Outside) -> list[int]:
    """As the kernel takes it: microseconds, brokers from 0."""
    times = (1000 * getattr(event, name) for name in TIMES)
    what = (KINDS[event.kind], event.broker - 1, FATES[event.fate], int(event.shock))
    return [event.at * 1000, *what, *times]


def delays_of(event: Outside) -> list[int]:
    """For the kernel: for every leader the delays of its requests on account of this broker."""
    leaders = range(1, 1 + (len(event.delays_by) or BROKERS))
    each = [event.delay(x, tried) * 1000 for x in leaders for tried in range(DELAY_TRIES)]
    return each + [0] * (BROKERS * DELAY_TRIES - len(each))


NOBODY = 0


class TracedState(msgspec.Struct, frozen=True):
    """A state of the partition at the controller; leader 0 means no leader, last_known 0 none."""

    leader: int
    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]
    recovering: bool = False
    elr: tuple[int, ...] = ()
    last_known: int = NOBODY


class TraceLine(msgspec.Struct, frozen=True):
    """When (ms) and what: ``"partition"``, ``"refused"``, ``"lost"`` or ``"stale join"``.

    `broker` is refused, leads without committed records, or joins; `guard` refuses; `cause` is the
    metric that counts a loss; `partition` is the new state.
    """

    at: int
    what: str
    broker: int = NOBODY
    guard: str = ""
    cause: str = ""
    partition: TracedState | None = None


Trace = tuple[TraceLine, ...]


# --- through the kernel ---------------------------------------------------------------------------


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
    run: Any = play_out if compiled else _as_python(play_out)
    run(*made, schedule.leader - 1, schedule.end * 1000)
    if made[0][set_words.CHECKS]:
        raise EndlessTraceError(f"the schedule has more than {LINES_MAX} lines")
    state = _listed(made[0])
    plain(account)(state, w, schedule.end * 1000)
    counted = state[set_words.COUNTS : set_words.COUNTS + len(METRIC_NAMES)]
    counts = dict(zip(METRIC_NAMES, counted, strict=True))
    return KernelRun(tuple(_lines(_listed(made[2]))), counts)


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
