"""One random timed schedule around the race of KAFKA-14139, as a play.

A schedule has the faults and their times. The engine decides what follows (heartbeats, sessions,
registration, fetches, elections), so one schedule can be run under any feature set.
"""

import math
from collections.abc import Iterator
from random import Random
from statistics import NormalDist

import msgspec

from ...plays.play import Play, split

LEADER, FOLLOWER = 1, 2
_REQUESTS = f"alter-partition from={LEADER}"
_HEARTBEATS = f"broker-heartbeat from={FOLLOWER} life=2"
_FETCHES = f"fetch from={FOLLOWER} life=2"


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """How the times around the race are drawn. All times are in milliseconds.

    Nobody has published how slow a slow AlterPartition is, so most of these are chosen for
    illustration: wide enough that every order of events turns up. They describe what happens given
    that the follower crashes while the request is under way, and say nothing of how often it does.
    """

    request_median_ms: float = 15_000
    """AlterPartition, from sending to the controller: log-normal. Chosen around the default session
    of 9 s (broker.session.timeout.ms), so that it arrives on either side of each transition. What
    Kafka would send again after 30 s (controller.socket.timeout.ms) is left out."""
    request_sigma: float = 0.8
    """Its spread; 0.8 puts one request in ten below 5 s and one in ten above 42 s. Chosen."""
    crash_within: float = 0.9
    """The follower crashes uniformly in the first part of the flight, up to this share: the window
    that everything here is conditional on."""
    restart_median_ms: float = 6_000
    """From a crash to a process that runs again: log-normal. Chosen for a supervisor that restarts
    processes; a machine that has to boot takes minutes."""
    restart_sigma: float = 0.7
    """Its spread. Chosen."""
    recovery_mean_ms: float = 5_000
    """From the restart until the follower asks to be unfenced, its logs being recovered:
    exponential. Chosen; it grows with the number and the state of the logs."""
    catch_up_mean_ms: float = 15_000
    """From there until its fetches get through: exponential. Chosen, for copying a log."""
    leader_crashes: float = 0.85
    """How often the leader crashes as well. Chosen: without it nothing can be lost."""
    leader_crash_mean_ms: float = 10_000
    """From the request's arrival to the leader's crash: exponential. Chosen: short."""
    tail_lost: float = 0.35
    """How often the follower's crash takes what was not flushed: a loss of power rather than of a
    process. Chosen; a process that dies keeps the page cache."""
    disk_replaced: float = 0.15
    """How often the follower comes back with an empty disk. Chosen."""
    records: int = 100
    """Committed records before the first event. Chosen, for round numbers in the picture."""
    flushed: int = 60
    """How many of them are on disk from the start; Linux writes the rest after about 30 s."""
    produced: int = 20
    """Records written to the leader while the request is under way. Chosen."""
    rest_ms: int = 13_000
    """Calm at the end: a session and a few heartbeats, so that what was lost comes to light."""


def check(window: Window) -> Window:
    """`window` itself. Raises ValueError naming the parameter that makes no sense."""
    for name, value in msgspec.structs.asdict(window).items():
        share = name in _SHARES
        if value < 0 or (share and value > 1) or (value == 0 and name in _ABOVE_ZERO):
            expected = "a share from 0 to 1" if share else "a positive number"
            raise ValueError(f"{name} is {value}; expected {expected}")
    if window.tail_lost + window.disk_replaced > 1:
        raise ValueError("tail_lost and disk_replaced are more than 1 together")
    if window.flushed > window.records:
        raise ValueError(f"flushed is {window.flushed}, more than the {window.records} records")
    return window


_SHARES = ("crash_within", "leader_crashes", "tail_lost", "disk_replaced")
_ABOVE_ZERO = ("records", "produced", "rest_ms")


def schedule(window: Window, seed: int, index: int) -> Play:
    """The play of schedule `index` of `seed`: a function of these three and nothing else.

    When it begins, the follower has just fallen out of the ISR.
    """
    text = f"""\
title    A random schedule around a delayed AlterPartition
kafka    3.5
broker   {LEADER}  epoch=40
broker   {FOLLOWER}  epoch=41
topic    orders  replicas=1,2  isr=1  leader=1  leader-epoch=5  partition-epoch=10  \
log={window.records}@5  flushed={window.flushed}
given    next-metadata-offset=56
timed
"""
    lines = _lines(_events(window, seed, index), window.rest_ms)
    return split(text + "\n".join(lines), f"schedule {seed}/{index}")


Timed = tuple[int, str]
"""(milliseconds since the start, the line of the play that says what happens then)."""


def _events(window: Window, seed: int, index: int) -> list[Timed]:
    """What goes wrong, and when. Every draw is made whether it is used or not, in a fixed order."""
    draw = _Draws(seed, index)
    arrives = draw.log_normal(window.request_median_ms, window.request_sigma)
    crash = 1 + draw.up_to(window.crash_within * arrives)
    start = crash + draw.log_normal(window.restart_median_ms, window.restart_sigma)
    recovered = start + draw.exponential(window.recovery_mean_ms)
    caught_up = recovered + draw.exponential(window.catch_up_mean_ms)
    disk = _disk(window, draw.uniform())
    produce = draw.up_to(arrives)
    leader_crashes = draw.uniform() < window.leader_crashes
    leader_crash = arrives + draw.exponential(window.leader_crash_mean_ms)
    leader_start = leader_crash + draw.log_normal(window.restart_median_ms, window.restart_sigma)
    leader = [(leader_crash, f"crash {LEADER}"), (leader_start, f"start {LEADER}")]
    return [
        *((0, f"hold {messages}") for messages in (_REQUESTS, _HEARTBEATS, _FETCHES)),
        (produce, f"produce orders-0 count={window.produced}"),
        (crash, f"crash {FOLLOWER} disk={disk}"),
        (start, f"start {FOLLOWER}"),
        (recovered, f"release {_HEARTBEATS}"),
        (caught_up, f"release {_FETCHES}"),
        (arrives, f"release {_REQUESTS}"),
        *(leader if leader_crashes else ()),
    ]


def _disk(window: Window, drawn: float) -> str:
    if drawn < window.disk_replaced:
        return "replaced"
    return "tail-lost" if drawn < window.disk_replaced + window.tail_lost else "kept"


def _lines(events: list[Timed], rest_ms: int) -> Iterator[str]:
    """The events in the order of their times, with the time that passes between them."""
    now = 0
    for at, line in sorted(events, key=lambda event: event[0]):
        if at > now:
            yield f"advance {at - now}ms"
        yield line
        now = at
    yield f"advance {rest_ms}ms"


class _Draws:
    """Uniform numbers of (seed, index), one after the other, through inverse distributions.

    So a parameter moved by a little moves every schedule by a little, and nothing depends on how
    a Python release happens to draw from a distribution.
    """

    def __init__(self, seed: int, index: int) -> None:
        self._random = Random(f"kiplab schedule {seed} {index}")

    def uniform(self) -> float:
        """Above 0 and below 1."""
        return max(self._random.random(), 1e-12)

    def up_to(self, ms: float) -> int:
        """Any time below `ms`."""
        return int(self.uniform() * ms)

    def exponential(self, mean_ms: float) -> int:
        """At least 1 ms."""
        return 1 + round(-mean_ms * math.log(self.uniform()))

    def log_normal(self, median_ms: float, sigma: float) -> int:
        """At least 1 ms."""
        return 1 + round(median_ms * math.exp(sigma * _NORMAL.inv_cdf(self.uniform())))


_NORMAL = NormalDist()
