"""Quiet time: over all events that meet no other, in one loop.

While everybody is in sync, an incident that is over before the next event can meet nothing: it
changes who leads, adds to the counters, and that is all. Whether it is over in time is asked first
of the longest that it could take, then of its own draws. Nine events of ten end here, so this loop
is what a partition-year costs: it keeps in variables what it counts, and asks what is seldom so
first.
"""

from .leader_rules import DELAY_TRIES
from .machine_code import fast, inner
from .outside_streams import (
    CLOCK,
    DELAYS_AT,
    EARLY_AT,
    LONGEST,
    ROW_AT,
    STREAM,
    STREAM_BROKER,
    draw_next,
    is_slow,
    know,
)
from .set_events import AT, BROKER, CRASH, KIND, LEVEL_IN, READY_IN, RESTART, SHUTDOWN
from .set_words import NEVER, RETRY_US, SESSION_OVER_US
from .world_words import BOUNCES, EARLY_WITHIN, FAILOVERS, FAST_IN_TIME, LOOK_BACK

SKIPPED, LEADER_STOPPED, SEEN = range(3)
QUIET_WORDS = 3
"""What there is to tell of quiet time."""


@fast
def first_two(times: list[int], count: int) -> tuple[int, int, int]:
    """The stream whose event comes first, when, and when the first of the others comes."""
    first, at, other = 0, NEVER, NEVER
    for i in range(count):
        t = times[i]
        other = min(other, max(at, t))
        first = i if t < at else first
        at = min(at, t)
    return first, at, other


@inner
def _is_over_at(st: list[int], w: list[int], i: int, leader: int) -> int:
    """By when everything that follows from an event alone is over, at the latest."""
    row = i * STREAM + ROW_AT
    now, kind, b = st[row + AT], st[row + KIND], st[row + BROKER]
    back = max(st[row + READY_IN], st[row + LEVEL_IN])
    if kind == CRASH:
        gone = max(st[row + RESTART], w[SESSION_OVER_US]) + w[RETRY_US]
    else:
        gone = st[row + SHUTDOWN] + st[row + RESTART]
    peer = leader if leader != b else 1 if b == 0 else 0
    delays = i * STREAM + DELAYS_AT + peer * DELAY_TRIES
    return now + gone + back + max(st[delays], st[delays + 1])


@inner
def _is_over_in_time(
    st: list[int],
    times: list[int],
    i: int,
    leader: int,
    before: int,
    w: list[int],
    tables: list[int],
    seed: int,
    replication: int,
) -> bool:
    """Whether the event of a stream meets no other, by what is drawn for it."""
    if times[i] >= before or st[i * STREAM + CLOCK] == FAILOVERS:
        return times[i] + st[i * STREAM + LONGEST] < before
    know(st, times, i, w, tables, seed, replication)
    return st[i * STREAM + EARLY_AT] >= NEVER and _is_over_at(st, w, i, leader) < before


@inner
def quiet_time(
    w: list[int],
    tables: list[int],
    st: list[int],
    times: list[int],
    later: list[int],
    quiet: list[int],
    count: int,
    horizon: int,
    leader: int,
    again: bool,
    seed: int,
    replication: int,
) -> int:
    """Over all events that meet no other, up to the first that may; who leads then.

    `again` is whether a leader that stops is let into the ISR once more somewhere: then it has to
    be so before it is gone.
    """
    skipped, stopped, seen, looks = 0, 0, 0, w[EARLY_WITHIN] != 0
    look_back, in_time = w[LOOK_BACK], w[FAST_IN_TIME] != 0
    while True:
        i, now, other = first_two(times, count)
        at = i * STREAM
        longest, b, clock = st[at + LONGEST], st[at + STREAM_BROKER], st[at + CLOCK]
        if longest == 0:
            break
        stops = clock == BOUNCES and b == leader
        if stops and again:
            peer = 1 if leader == 0 else 0
            if not in_time or is_slow(st, i, w, peer, seed, replication):
                break
        before = min(other, later[i], horizon) - look_back
        crowded = looks or now + longest >= before
        if crowded and not _is_over_in_time(
            st, times, i, leader, before, w, tables, seed, replication
        ):
            break
        met = clock != FAILOVERS
        skipped += met
        stopped += stops
        seen += 1
        if met and b == leader:
            leader = 1 if b == 0 else 0
        draw_next(st, times, later, i, w, tables, seed, replication)
    quiet[SKIPPED], quiet[LEADER_STOPPED], quiet[SEEN] = skipped, stopped, seen
    return leader
