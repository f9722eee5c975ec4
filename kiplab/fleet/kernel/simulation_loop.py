"""The life of a replica set: from event to event, and over quiet time in one step.

What may meet something else goes through the rules, event by event, for each feature set; whatever
meets nothing is passed over (`quiet_time`). Both ways give the same numbers.
"""

from collections.abc import Callable

from . import outside_streams as stream
from . import set_events as event
from . import set_words as word
from .machine_code import Longs, fast, inner, root
from .metadata_rules import account
from .mirrored_guards import NOT_LEAVING, SKIPS_LEAVING
from .outside_streams import Clocks, Draws, crash_early, draw_next, know, open_streams, rank_of
from .quiet_time import LEADER_STOPPED, SEEN, SKIPPED, first_two, quiet_time
from .set_events import at_rest, happen, is_at_rest, run_until

METRICS, COUNTED = word.REFUSED - word.COUNTS + 1, word.CHECKS - word.COUNTS + 1
"""Numbers in a row of the table: the metrics, and behind them STEPS and CHECKS."""
States = list[Longs]
"""The state of each feature set."""
Scratch = tuple[Longs, Longs, Longs, Longs]
"""What is written to: delays of each broker, one event, quiet time, a trace."""
_NO_EVENT = -1
FIRST_MOMENT = 1
"""Logs begin to be written then; 0 is the end of an empty one. Of brokers was heard at 0."""


@inner
def know_all(clocks: Clocks, count: int, draws: Draws) -> None:
    """What follows from the next event of each stream of which a part may come first."""
    times = clocks[1]
    soon = first_two(times, count)[1] + draws[0][word.LOOK_BACK]
    for j in range(count):
        if times[j] <= soon:
            know(clocks, j, draws)


@inner
def next_part(st: Longs, times: Longs, count: int) -> tuple[int, int, int]:
    """The stream, the time and the rank of what comes first: an event, or what precedes one."""
    best, best_at, best_rank, best_b = _NO_EVENT, word.NEVER, event.RANKS, 0
    for i in range(count):
        at = i * stream.STREAM
        if not st[at + stream.IS_KNOWN]:
            continue
        b = st[at + stream.STREAM_BROKER]
        for part in range(3):
            when, rank = times[i], rank_of(st[at + stream.CLOCK])
            if part == 0:
                when, rank = st[at + stream.FLUSH_AT], event.FLUSH
            elif part == 1:
                when, rank = st[at + stream.BEAT_AT], event.BEAT
            earlier = when < best_at or (when == best_at and rank < best_rank)
            if earlier or (when == best_at and rank == best_rank and b < best_b):
                best, best_at, best_rank, best_b = i, when, rank, b
    return best, best_at, best_rank


@inner
def _rejoins(on: int) -> bool:
    """Whether a leader that is about to stop is let into the ISR once more: before KIP-841."""
    return on & (SKIPS_LEAVING | NOT_LEAVING) == 0


@inner
def _add_quiet(states: States, quiet: Longs, leader: int) -> None:
    """What the incidents of quiet time come to."""
    for s in states:
        s[word.INCIDENTS] += quiet[SKIPPED]
        s[word.EXPANSIONS] += quiet[SKIPPED]
        s[word.LEADER] = leader
        if _rejoins(s[word.GUARDS]):
            s[word.EXPANSIONS] += quiet[LEADER_STOPPED]


@inner
def _leads_everywhere(states: States) -> int:
    """The leader in all feature sets; -1 where they differ."""
    leader = states[0][word.LEADER]
    for s in states:
        if s[word.LEADER] != leader:
            return _NO_EVENT
    return leader


@inner
def _any_rejoins(states: States) -> bool:
    rejoins = 0
    for s in states:
        rejoins += _rejoins(s[word.GUARDS])
    return rejoins != 0


@inner
def _all_rest(states: States, w: Longs) -> bool:
    at_rest_in = 0
    for s in states:
        at_rest_in += is_at_rest(s, w)
    return at_rest_in == len(states)


@inner
def _run_all(states: States, w: Longs, scratch: Scratch, at: int, rank: int, b: int) -> None:
    for s in states:
        run_until(s, w, scratch[3], scratch[0], at, rank, b)


@inner
def _happen_all(states: States, w: Longs, scratch: Scratch, rows: Longs, row: int) -> None:
    for s in states:
        happen(s, w, scratch[3], scratch[0], rows, row)


@inner
def _learn(broker_delays: Longs, b: int, delays: Longs, at: int) -> None:
    """Delays of the requests on account of one broker: by leader, then by try."""
    for n in range(stream.DELAYS):
        broker_delays[b * stream.DELAYS + n] = delays[at + n]


@inner
def _one_part(
    states: States, w: Longs, scratch: Scratch, st: Longs, i: int, at: int, rank: int
) -> bool:
    """Let an event happen, or what precedes one; whether it was the event itself."""
    start, (broker_delays, part, _, _) = i * stream.STREAM, scratch
    b = st[start + stream.STREAM_BROKER]
    _run_all(states, w, scratch, at, rank, b)
    if rank in (event.FLUSH, event.BEAT):
        part[event.AT], part[event.KIND], part[event.BROKER] = at, rank, b
        st[start + (stream.FLUSH_AT if rank == event.FLUSH else stream.BEAT_AT)] = word.NEVER
        _happen_all(states, w, scratch, part, 0)
        return False
    if rank != event.OUTAGE_BEGINS:
        _learn(broker_delays, b, st, start + stream.DELAYS_AT)
    _happen_all(states, w, scratch, st, start + stream.ROW_AT)
    return True


@inner
def _begin(states: States) -> None:
    for s in states:
        for at in range(word.STATE_WORDS):
            if at != word.GUARDS and at != word.TRACE:
                s[at] = 0


@fast
def consume(clocks: Clocks, i: int, count: int, draws: Draws) -> None:
    """The event of a stream has been; its next one, and an early crash, are planned."""
    st, times, _ = clocks
    if draws[0][word.EARLY_WITHIN] == 0:
        draw_next(clocks, i, draws)
    elif st[i * stream.STREAM + stream.CLOCK] == word.EARLY_CRASHES:
        draw_next(clocks, i, draws)
        crash_early(st, times, i, count)
    else:
        crash_early(st, times, i, count)
        draw_next(clocks, i, draws)


@inner
def _life(
    states: States, clocks: Clocks, draws: Draws, scratch: Scratch, horizon: int, skips: bool
) -> int:
    """One replication, in all feature sets; how many events came from outside."""
    st, times, _ = clocks
    w, quiet = draws[0], scratch[2]
    count = open_streams(clocks, draws)
    _begin(states)
    is_quiet, last, events, again = True, 0, 0, _any_rejoins(states)
    while True:
        leader = _leads_everywhere(states)
        if is_quiet and skips and leader != _NO_EVENT:
            leader = quiet_time(clocks, draws, quiet, count, horizon, leader, again)
            _add_quiet(states, quiet, leader)
            events += quiet[SEEN]
        first = first_two(times, count)[1]
        if first >= horizon:
            break
        know_all(clocks, count, draws)
        j, at, rank = next_part(st, times, count)
        if is_quiet:
            for s in states:
                at_rest(s, w, s[word.LEADER], max(at, FIRST_MOMENT))
            is_quiet = False
        elif first - w[word.LOOK_BACK] > last:
            _run_all(states, w, scratch, first - w[word.LOOK_BACK], 0, 0)
            last = first - w[word.LOOK_BACK]
            if skips and _all_rest(states, w):
                is_quiet = True
                continue
        last = at
        if _one_part(states, w, scratch, st, j, at, rank):
            consume(clocks, j, count, draws)
            events += 1
    if not is_quiet:
        _run_all(states, w, scratch, horizon, event.RANKS, 0)
        for s in states:
            account(s, w, horizon)
    return events


def _made(version: int) -> Callable[..., int]:
    def live(
        states: States,
        world_words: tuple[Longs, Longs],
        clocks: Clocks,
        scratch: Scratch,
        table: Longs,
        seed: int,
        replications: tuple[int, int],
        horizon: int,
        skips: bool,
    ) -> int:
        events, at = 0, 0
        for replication in range(replications[0], replications[1]):
            draws = (world_words[0], world_words[1], seed, replication)
            events += _life(states, clocks, draws, scratch, horizon, skips)
            for s in states:
                for n in range(COUNTED):
                    table[at + n] = s[word.COUNTS + n]
                at += COUNTED
        # The digest of the sources is in the closure: a kernel that is kept is this one.
        return events + 0 * version

    return live


live = root(_made)


# --- a schedule that is written down --------------------------------------------------------------


def _made_to_play_out(version: int) -> Callable[..., None]:
    def play_out(
        s: Longs,
        w: Longs,
        trace: Longs,
        rows: Longs,
        delays: Longs,
        broker_delays: Longs,
        leader: int,
        end: int,
    ) -> None:
        at_rest(s, w, leader, FIRST_MOMENT)
        for b in range(w[word.REPLICAS]):
            s[word.CONTACT + b] = 0
        for n in range(len(rows) // event.ROW):
            row = n * event.ROW
            at, kind, b = rows[row + event.AT], rows[row + event.KIND], rows[row + event.BROKER]
            run_until(s, w, trace, broker_delays, at, kind, b)
            if kind >= event.CUT_OFF and kind != event.OUTAGE_BEGINS:
                _learn(broker_delays, b, delays, n * stream.DELAYS)
            happen(s, w, trace, broker_delays, rows, row)
        run_until(s, w, trace, broker_delays, end, event.RANKS, 0)
        # The digest of the sources is in the closure: a kernel that is kept is this one.
        s[word.STEPS] += 0 * version

    return play_out


play_out = root(_made_to_play_out)
