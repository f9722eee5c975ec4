"""The life of a replica set: from event to event, and over quiet time in one step.

What may meet something else goes through the rules, event by event, for each feature set; whatever
meets nothing is passed over (`quiet_time`). Both ways give the same numbers.
"""

from collections.abc import Callable

from .machine_code import fast, inner, root
from .metadata_rules import account
from .mirrored_guards import NOT_LEAVING, SKIPS_LEAVING
from .outside_streams import (
    BEAT_AT,
    CLOCK,
    DELAYS,
    DELAYS_AT,
    FLUSH_AT,
    IS_KNOWN,
    ROW_AT,
    STREAM,
    STREAM_BROKER,
    crash_early,
    draw_next,
    know,
    open_streams,
    rank_of,
)
from .quiet_time import LEADER_STOPPED, SEEN, SKIPPED, first_two, quiet_time
from .scheduled import FIRST_MOMENT
from .set_events import (
    AT,
    BEAT,
    BROKER,
    FLUSH,
    KIND,
    OUTAGE_BEGINS,
    RANKS,
    at_rest,
    happen,
    is_at_rest,
    run_until,
)
from .set_words import (
    CHECKS,
    COUNTS,
    EXPANSIONS,
    GUARDS,
    INCIDENTS,
    LEADER,
    NEVER,
    REFUSED,
    STATE_WORDS,
    TRACE,
)
from .world_words import EARLY_CRASHES, EARLY_WITHIN, LOOK_BACK

METRICS, COUNTED = REFUSED - COUNTS + 1, CHECKS - COUNTS + 1
"""Numbers in a row of the table: the metrics, and behind them STEPS and CHECKS."""
_NO_EVENT = -1


@inner
def know_all(
    st: list[int],
    times: list[int],
    count: int,
    w: list[int],
    tables: list[int],
    seed: int,
    replication: int,
) -> None:
    """What follows from the next event of each stream of which a part may come first."""
    soon = first_two(times, count)[1] + w[LOOK_BACK]
    for j in range(count):
        if times[j] <= soon:
            know(st, times, j, w, tables, seed, replication)


@inner
def next_part(st: list[int], times: list[int], count: int) -> tuple[int, int, int]:
    """The stream, the time and the rank of what comes first: an event, or what precedes one."""
    best, best_at, best_rank, best_b = _NO_EVENT, NEVER, RANKS, 0
    for i in range(count):
        at = i * STREAM
        if not st[at + IS_KNOWN]:
            continue
        b = st[at + STREAM_BROKER]
        for part in range(3):
            when, rank = times[i], rank_of(st[at + CLOCK])
            if part == 0:
                when, rank = st[at + FLUSH_AT], FLUSH
            elif part == 1:
                when, rank = st[at + BEAT_AT], BEAT
            earlier = when < best_at or (when == best_at and rank < best_rank)
            if earlier or (when == best_at and rank == best_rank and b < best_b):
                best, best_at, best_rank, best_b = i, when, rank, b
    return best, best_at, best_rank


@inner
def _rejoins(on: int) -> bool:
    """Whether a leader that is about to stop is let into the ISR once more: before KIP-841."""
    return on & (SKIPS_LEAVING | NOT_LEAVING) == 0


@inner
def _add_quiet(states: list[list[int]], sets: int, quiet: list[int], leader: int) -> None:
    """What the incidents of quiet time come to."""
    for v in range(sets):
        s = states[v]
        s[INCIDENTS] += quiet[SKIPPED]
        s[EXPANSIONS] += quiet[SKIPPED]
        s[LEADER] = leader
        if _rejoins(s[GUARDS]):
            s[EXPANSIONS] += quiet[LEADER_STOPPED]


@inner
def _leads_everywhere(states: list[list[int]], sets: int) -> int:
    """The leader in all feature sets; -1 where they differ."""
    leader = states[0][LEADER]
    for v in range(1, sets):
        if states[v][LEADER] != leader:
            return _NO_EVENT
    return leader


@inner
def _any_rejoins(states: list[list[int]], sets: int) -> bool:
    rejoins = 0
    for v in range(sets):
        rejoins += _rejoins(states[v][GUARDS])
    return rejoins != 0


@inner
def _all_rest(states: list[list[int]], sets: int, w: list[int]) -> bool:
    at_rest_in = 0
    for v in range(sets):
        at_rest_in += is_at_rest(states[v], w)
    return at_rest_in == sets


@inner
def _run_all(
    states: list[list[int]],
    sets: int,
    w: list[int],
    trace: list[int],
    broker_delays: list[int],
    at: int,
    rank: int,
    b: int,
) -> None:
    for v in range(sets):
        run_until(states[v], w, trace, broker_delays, at, rank, b)


@inner
def _happen_all(
    states: list[list[int]],
    sets: int,
    w: list[int],
    trace: list[int],
    broker_delays: list[int],
    rows: list[int],
    row: int,
) -> None:
    for v in range(sets):
        happen(states[v], w, trace, broker_delays, rows, row)


@inner
def _one_part(
    states: list[list[int]],
    sets: int,
    w: list[int],
    trace: list[int],
    broker_delays: list[int],
    st: list[int],
    part: list[int],
    i: int,
    at: int,
    rank: int,
) -> bool:
    """Let an event happen, or what precedes one; whether it was the event itself."""
    stream = i * STREAM
    b = st[stream + STREAM_BROKER]
    _run_all(states, sets, w, trace, broker_delays, at, rank, b)
    if rank in (FLUSH, BEAT):
        part[AT], part[KIND], part[BROKER] = at, rank, b
        st[stream + (FLUSH_AT if rank == FLUSH else BEAT_AT)] = NEVER
        _happen_all(states, sets, w, trace, broker_delays, part, 0)
        return False
    if rank != OUTAGE_BEGINS:
        for n in range(DELAYS):
            broker_delays[b * DELAYS + n] = st[stream + DELAYS_AT + n]
    _happen_all(states, sets, w, trace, broker_delays, st, stream + ROW_AT)
    return True


@inner
def _begin(states: list[list[int]], sets: int) -> None:
    for v in range(sets):
        s = states[v]
        for word in range(STATE_WORDS):
            if word != GUARDS and word != TRACE:
                s[word] = 0


@fast
def consume(
    st: list[int],
    times: list[int],
    later: list[int],
    i: int,
    count: int,
    w: list[int],
    tables: list[int],
    seed: int,
    replication: int,
) -> None:
    """The event of a stream has been; its next one, and an early crash, are planned."""
    if w[EARLY_WITHIN] == 0:
        draw_next(st, times, later, i, w, tables, seed, replication)
    elif st[i * STREAM + CLOCK] == EARLY_CRASHES:
        draw_next(st, times, later, i, w, tables, seed, replication)
        crash_early(st, times, i, count)
    else:
        crash_early(st, times, i, count)
        draw_next(st, times, later, i, w, tables, seed, replication)


@inner
def _life(
    states: list[list[int]],
    sets: int,
    w: list[int],
    tables: list[int],
    st: list[int],
    times: list[int],
    later: list[int],
    broker_delays: list[int],
    part: list[int],
    quiet: list[int],
    trace: list[int],
    seed: int,
    replication: int,
    horizon: int,
    skips: bool,
) -> int:
    """One replication, in all feature sets; how many events came from outside."""
    count = open_streams(st, times, later, w, tables, seed, replication)
    _begin(states, sets)
    is_quiet, last, events, again = True, 0, 0, _any_rejoins(states, sets)
    while True:
        leader = _leads_everywhere(states, sets)
        if is_quiet and skips and leader != _NO_EVENT:
            leader = quiet_time(
                w, tables, st, times, later, quiet, count, horizon, leader, again, seed, replication
            )
            _add_quiet(states, sets, quiet, leader)
            events += quiet[SEEN]
        first = first_two(times, count)[1]
        if first >= horizon:
            break
        know_all(st, times, count, w, tables, seed, replication)
        j, at, rank = next_part(st, times, count)
        if is_quiet:
            for v in range(sets):
                at_rest(states[v], w, states[v][LEADER], max(at, FIRST_MOMENT))
            is_quiet = False
        elif first - w[LOOK_BACK] > last:
            _run_all(states, sets, w, trace, broker_delays, first - w[LOOK_BACK], 0, 0)
            last = first - w[LOOK_BACK]
            if skips and _all_rest(states, sets, w):
                is_quiet = True
                continue
        last = at
        if _one_part(states, sets, w, trace, broker_delays, st, part, j, at, rank):
            consume(st, times, later, j, count, w, tables, seed, replication)
            events += 1
    if not is_quiet:
        _run_all(states, sets, w, trace, broker_delays, horizon, RANKS, 0)
        for v in range(sets):
            account(states[v], w, horizon)
    return events


Live = Callable[..., int]


def _made(version: int) -> Live:
    def live(
        states: list[list[int]],
        sets: int,
        w: list[int],
        tables: list[int],
        st: list[int],
        times: list[int],
        later: list[int],
        broker_delays: list[int],
        part: list[int],
        quiet: list[int],
        trace: list[int],
        table: list[int],
        seed: int,
        first: int,
        last: int,
        horizon: int,
        skips: int,
    ) -> int:
        events, at = 0, 0
        for replication in range(first, last):
            events += _life(
                states,
                sets,
                w,
                tables,
                st,
                times,
                later,
                broker_delays,
                part,
                quiet,
                trace,
                seed,
                replication,
                horizon,
                skips != 0,
            )
            for v in range(sets):
                for n in range(COUNTED):
                    table[at + n] = states[v][COUNTS + n]
                at += COUNTED
        # The digest of the sources is in the closure: a kernel that is kept is this one.
        return events + 0 * version

    return live


live = root(_made)
