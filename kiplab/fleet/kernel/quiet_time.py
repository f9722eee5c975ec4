"""Quiet time: over all events that meet no other, in one loop.

While everybody is in sync, an incident that is over before the next event can meet nothing: it
changes who leads, adds to the counters, and that is all. Whether it is over in time is asked first
of the longest that it could take, then of its own draws. Nine events of ten end here, so this loop
is what a partition-year costs: it keeps in variables what it counts, and asks what is seldom so
first.
"""

from . import outside_streams as stream
from . import set_events as event
from . import set_words as world
from .leader_rules import DELAY_TRIES
from .machine_code import Longs, fast, inner
from .outside_streams import Clocks, Draws, draw_next, is_slow, know
from .set_words import NEVER, RETRY_US, SESSION_OVER_US

SKIPPED, LEADER_STOPPED, SEEN = range(3)
QUIET_WORDS = 3
"""What there is to tell of quiet time."""


@fast
def first_two(times: Longs, count: int) -> tuple[int, int, int]:
    """The stream whose event comes first, when, and when the first of the others comes."""
    first, at, other = 0, NEVER, NEVER
    for i in range(count):
        t = times[i]
        other = min(other, max(at, t))
        first = i if t < at else first
        at = min(at, t)
    return first, at, other


@inner
def _is_over_at(st: Longs, w: Longs, i: int, leader: int) -> int:
    """By when everything that follows from an event alone is over, at the latest."""
    row = i * stream.STREAM + stream.ROW_AT
    now, kind, b = st[row + event.AT], st[row + event.KIND], st[row + event.BROKER]
    back = max(st[row + event.READY_IN], st[row + event.LEVEL_IN])
    if kind == event.CRASH:
        gone = max(st[row + event.RESTART], w[SESSION_OVER_US]) + w[RETRY_US]
    else:
        gone = st[row + event.SHUTDOWN] + max(st[row + event.RESTART], w[world.LASTS_ON_US])
    peer = leader if leader != b else 1 if b == 0 else 0
    delays = i * stream.STREAM + stream.DELAYS_AT + peer * DELAY_TRIES
    return now + gone + back + max(st[delays], st[delays + 1])


@inner
def _is_over_in_time(clocks: Clocks, i: int, leader: int, before: int, draws: Draws) -> bool:
    """Whether the event of a stream meets no other, by what is drawn for it."""
    st, times, _ = clocks
    if times[i] >= before or st[i * stream.STREAM + stream.CLOCK] == world.FAILOVERS:
        return times[i] + st[i * stream.STREAM + stream.LONGEST] < before
    know(clocks, i, draws)
    crashes_early = st[i * stream.STREAM + stream.EARLY_AT] < NEVER
    return not crashes_early and _is_over_at(st, draws[0], i, leader) < before


@inner
def quiet_time(
    clocks: Clocks, draws: Draws, quiet: Longs, count: int, horizon: int, leader: int, again: bool
) -> int:
    """Over all events that meet no other, up to the first that may; who leads then.

    `again` is whether a leader that stops is let into the ISR once more somewhere: then it has to
    be so before it is gone.
    """
    st, times, later = clocks
    w = draws[0]
    skipped, stopped, seen, looks = 0, 0, 0, w[world.EARLY_WITHIN] != 0
    look_back, in_time = w[world.LOOK_BACK], w[world.FAST_IN_TIME] != 0
    while True:
        i, now, other = first_two(times, count)
        at = i * stream.STREAM
        b, clock, longest = (
            st[at + stream.STREAM_BROKER],
            st[at + stream.CLOCK],
            st[at + stream.LONGEST],
        )
        if longest == 0:
            break
        stops = clock == world.BOUNCES and b == leader
        if stops and again:
            peer = 1 if leader == 0 else 0
            if not in_time or is_slow(st, i, peer, draws):
                break
        before = min(other, later[i], horizon) - look_back
        crowded = looks or now + longest >= before
        if crowded and not _is_over_in_time(clocks, i, leader, before, draws):
            break
        met = clock != world.FAILOVERS
        skipped += met
        stopped += stops
        seen += 1
        if met and b == leader:
            leader = 1 if b == 0 else 0
        draw_next(clocks, i, draws)
    quiet[SKIPPED], quiet[LEADER_STOPPED], quiet[SEEN] = skipped, stopped, seen
    return leader
