"""A schedule: outside events of a replica set, and the times that everything after them takes.

Times are whole milliseconds, the engine's clock. A schedule has none of Kafka's reactions: the same
one goes through the engine and through the kernel, under any feature set.
"""

from typing import Literal

import msgspec

from ..kernel import set_events
from ..kernel.leader_rules import DELAY_TRIES
from ..kernel.set_words import BROKERS

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
    times = (event.restart, event.ready, event.level, event.lag_phase)
    row = [
        event.at * 1000,
        KINDS[event.kind],
        event.broker - 1,
        *(ms * 1000 for ms in times),
        FATES[event.fate],
        int(event.shock),
        event.shutdown * 1000,
        event.lasts * 1000,
        event.recover * 1000,
    ]
    assert len(row) == set_events.ROW
    return row


def delays_of(event: Outside) -> list[int]:
    """For the kernel: for every leader the delays of its requests on account of this broker."""
    leaders = range(1, 1 + (len(event.delays_by) or BROKERS))
    each = [event.delay(x, tried) * 1000 for x in leaders for tried in range(DELAY_TRIES)]
    return each + [0] * (BROKERS * DELAY_TRIES - len(each))
