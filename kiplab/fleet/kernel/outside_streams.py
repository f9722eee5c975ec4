"""What comes from outside, drawn: a stream for each kind of event and each broker.

A stream's events have numbers, and every draw is a function of (seed, replication), of the stream
and of that number: of what it is for. Clocks run on whether or not the broker is there to be hit.
"""

from .leader_rules import DELAY_TRIES
from .machine_code import fast, inner
from .philox import philox
from .quantile_tables import drawn
from .set_events import (
    AT,
    BOUNCE,
    BROKER,
    CRASH,
    CUT_OFF,
    FATE,
    KIND,
    LAG_PHASE,
    LASTS,
    LEVEL_IN,
    OUTAGE_BEGINS,
    READY_IN,
    RECOVER,
    RESTART,
    ROW,
    SHOCK,
    SHUTDOWN,
)
from .set_words import BROKERS, NEVER, REPLICAS
from .world_words import (
    BEAT_AGE,
    BOUNCE_BOUND,
    BOUNCES,
    CATCHING_UP,
    CLEAN_RESTART,
    CLUSTER_SHOCKS,
    CRASH_BOUND,
    CRASH_RESTART,
    CRASHES,
    CUT_LASTS,
    CUTS,
    DISK_LOST_BELOW,
    EARLY_CRASHES,
    EARLY_WITHIN,
    FAILOVERS,
    FAST_REQUEST,
    FLUSH_AGE,
    GETTING_READY,
    LEADER_RECOVERY,
    LOOK_PHASE,
    OUTAGE_BOUND,
    OUTAGE_LASTS,
    RACK_OF,
    RACK_SHOCKS,
    SHOCK_FATE_SHARED,
    SHOCK_LOST_BELOW,
    SLOW_BELOW,
    SLOW_REQUEST,
    STOPPING,
    TAIL_LOST_BELOW,
)

(
    CLOCK, CLOCK_OF, STREAM_BROKER, NUMBER, DRAWN, DEPTH, IS_KNOWN, FLUSH_AT, BEAT_AT, EARLY_AT,
    LONGEST,
) = range(11)  # fmt: skip
_WORDS, ROW_AT = 11, 15
DELAYS_AT = ROW_AT + ROW
DELAYS = BROKERS * DELAY_TRIES
STREAM = DELAYS_AT + DELAYS
"""Words of a stream. CLOCK is where its table stands, which also is its name in random keys;
of its events NUMBER is the next, DRAWN how many have a time; LONGEST is how long an event of it
lasts at most that meets no other, 0 where that is not known."""
STREAMS = 6 * BROKERS + 1
_DETAILS, _SHARED, _FIRST_DELAYS, _DEEPER = 1, 4, 8, 32
DEPTH_MAX = 8
"""Early crashes after early crashes after ..."""


@inner
def open_streams(
    st: list[int],
    times: list[int],
    later: list[int],
    w: list[int],
    tables: list[int],
    seed: int,
    replication: int,
) -> int:
    """Every stream of a replica set, with its first event; how many there are."""
    count = 0
    for b in range(w[REPLICAS]):
        for clock in (CRASHES, BOUNCES, CUTS, RACK_SHOCKS, CLUSTER_SHOCKS, EARLY_CRASHES):
            if w[clock] < 0:
                continue
            of = b
            if clock == RACK_SHOCKS:
                of = w[RACK_OF + b]
            elif clock == CLUSTER_SHOCKS:
                of = 0
            _open(st, w, count, clock, of, b)
            count += 1
    if w[FAILOVERS] >= 0:
        _open(st, w, count, FAILOVERS, 0, 0)
        count += 1
    for i in range(count):
        times[i] = later[i] = 0
        draw_next(st, times, later, i, w, tables, seed, replication)
        draw_next(st, times, later, i, w, tables, seed, replication)
    return count


@inner
def _open(st: list[int], w: list[int], i: int, clock: int, of: int, b: int) -> None:
    at = i * STREAM
    bound = w[BOUNCE_BOUND] if clock == BOUNCES else w[CRASH_BOUND]
    if clock == CUTS:
        bound = 0
    elif clock == FAILOVERS:
        bound = w[OUTAGE_BOUND]
    st[at + LONGEST] = bound
    st[at + CLOCK], st[at + CLOCK_OF], st[at + STREAM_BROKER] = clock, of, b
    st[at + NUMBER], st[at + DRAWN], st[at + DEPTH], st[at + IS_KNOWN] = -2, 0, 0, 0


@fast
def draw_next(
    st: list[int],
    times: list[int],
    later: list[int],
    i: int,
    w: list[int],
    tables: list[int],
    seed: int,
    replication: int,
) -> None:
    """The next event of a stream, and when the one after it comes; an early crash comes only after
    another event.
    """
    if st[i * STREAM + CLOCK] == EARLY_CRASHES:
        st[i * STREAM + IS_KNOWN] = 0
        times[i] = later[i] = NEVER
    else:
        tick(st, times, later, i, w, tables, seed, replication)


@fast
def tick(
    st: list[int],
    times: list[int],
    later: list[int],
    i: int,
    w: list[int],
    tables: list[int],
    seed: int,
    replication: int,
) -> None:
    """The next event of a stream that has a clock of its own. Four draws come of one block."""
    at = i * STREAM
    st[at + IS_KNOWN] = 0
    st[at + NUMBER] += 1
    times[i] = later[i]
    clock, drawn_so_far = st[at + CLOCK], st[at + DRAWN]
    if drawn_so_far & 3 == 0:
        block = philox(seed, replication, drawn_so_far >> 2, 0, st[at + CLOCK_OF], clock)
        st[at + _WORDS], st[at + _WORDS + 1] = block[0], block[1]
        st[at + _WORDS + 2], st[at + _WORDS + 3] = block[2], block[3]
    later[i] += 1 + drawn(tables, w[clock], st[at + _WORDS + (drawn_so_far & 3)])
    st[at + DRAWN] = drawn_so_far + 1


@fast
def rank_of(clock: int) -> int:
    """What kind of event a stream brings."""
    if clock == BOUNCES:
        return BOUNCE
    if clock == CUTS:
        return CUT_OFF
    return OUTAGE_BEGINS if clock == FAILOVERS else CRASH


@inner
def know(
    st: list[int],
    times: list[int],
    i: int,
    w: list[int],
    tables: list[int],
    seed: int,
    replication: int,
) -> None:
    """Everything that follows from the next event of a stream, drawn once."""
    at = i * STREAM
    if st[at + IS_KNOWN]:
        return
    st[at + IS_KNOWN] = 1
    clock, b, number = st[at + CLOCK], st[at + STREAM_BROKER], st[at + NUMBER]
    rank, row, now = rank_of(clock), at + ROW_AT, times[i]
    part = _DETAILS + _DEEPER * st[at + DEPTH]
    one = philox(seed, replication, number, part, b, clock)
    two = philox(seed, replication, number, part + 1, b, clock)
    three = philox(seed, replication, number, part + 2, b, clock)
    st[row + AT], st[row + KIND], st[row + BROKER] = now, rank, b
    again = CLEAN_RESTART if rank == BOUNCE else CRASH_RESTART
    st[row + RESTART] = 1 + drawn(tables, w[again], one[0])
    st[row + READY_IN] = 1 + drawn(tables, w[GETTING_READY], one[1])
    st[row + LEVEL_IN] = 1 + drawn(tables, w[CATCHING_UP], one[2])
    st[row + LAG_PHASE] = drawn(tables, w[LOOK_PHASE], one[3])
    st[row + SHOCK] = 1 if clock in (RACK_SHOCKS, CLUSTER_SHOCKS) else 0
    st[row + FATE] = 0
    if rank == CRASH:
        fate = two[0]
        if st[row + SHOCK] and w[SHOCK_FATE_SHARED]:
            fate = philox(seed, replication, number, _SHARED, st[at + CLOCK_OF], clock)[0]
        st[row + FATE] = _fate(w, st[row + SHOCK] != 0, fate)
    st[row + SHUTDOWN] = 1 + drawn(tables, w[STOPPING], two[1])
    lasts = OUTAGE_LASTS if rank == OUTAGE_BEGINS else CUT_LASTS
    st[row + LASTS] = 1 + drawn(tables, w[lasts], two[2])
    st[row + RECOVER] = 1 + drawn(tables, w[LEADER_RECOVERY], two[3])
    st[at + FLUSH_AT] = st[at + BEAT_AT] = NEVER
    if rank in (CRASH, CUT_OFF):
        st[at + BEAT_AT] = now - drawn(tables, w[BEAT_AGE], three[0])
    if st[row + FATE] == 1:
        st[at + FLUSH_AT] = now - drawn(tables, w[FLUSH_AGE], three[1])
    st[at + EARLY_AT] = _early(st, at, w, tables, three[3])
    _know_delays(st, at, w, tables, seed, replication)


@inner
def _fate(w: list[int], is_shock: bool, word: int) -> int:
    if is_shock:
        return 1 if word < w[SHOCK_LOST_BELOW] else 0
    if word < w[DISK_LOST_BELOW]:
        return 2
    return 1 if word < w[TAIL_LOST_BELOW] else 0


@inner
def _early(st: list[int], at: int, w: list[int], tables: list[int], word: int) -> int:
    """When the broker crashes again, being just back; NEVER if it does not."""
    row = at + ROW_AT
    if w[EARLY_WITHIN] == 0 or st[row + KIND] != CRASH or st[at + DEPTH] >= DEPTH_MAX:
        return NEVER
    after = 1 + drawn(tables, w[EARLY_CRASHES], word)
    if after > w[EARLY_WITHIN]:
        return NEVER
    return st[row + AT] + st[row + RESTART] + after


@inner
def _know_delays(
    st: list[int], at: int, w: list[int], tables: list[int], seed: int, replication: int
) -> None:
    """How long requests on account of this event take, for every leader: all its partitions share
    them.
    """
    clock, b, number = st[at + CLOCK], st[at + STREAM_BROKER], st[at + NUMBER]
    part = _FIRST_DELAYS + _DEEPER * st[at + DEPTH]
    for x in range(w[REPLICAS]):
        which = philox(seed, replication, number, part + 2 * x, b, clock)
        long = philox(seed, replication, number, part + 2 * x + 1, b, clock)
        for n in range(DELAY_TRIES):
            table = SLOW_REQUEST if which[n] < w[SLOW_BELOW] else FAST_REQUEST
            st[at + DELAYS_AT + x * DELAY_TRIES + n] = 1 + drawn(tables, w[table], long[n])


@fast
def is_slow(st: list[int], i: int, w: list[int], x: int, seed: int, replication: int) -> bool:
    """Whether the first request of leader `x` on account of the next event is a slow one."""
    at = i * STREAM
    part = _FIRST_DELAYS + _DEEPER * st[at + DEPTH] + 2 * x
    which = philox(seed, replication, st[at + NUMBER], part, st[at + STREAM_BROKER], st[at + CLOCK])
    return which[0] < w[SLOW_BELOW]


@inner
def crash_early(st: list[int], times: list[int], i: int, count: int) -> None:
    """Let the early crash that follows from the event of stream `i`, if any, come."""
    at = i * STREAM
    if st[at + EARLY_AT] >= NEVER:
        return
    for j in range(count):
        of = j * STREAM
        if st[of + CLOCK] == EARLY_CRASHES and st[of + STREAM_BROKER] == st[at + STREAM_BROKER]:
            times[j] = st[at + EARLY_AT]
            # Named after what it follows from.
            parent = st[at + NUMBER] if st[at + CLOCK] == EARLY_CRASHES else 0
            fresh = st[at + NUMBER] * 64 + st[at + CLOCK]
            st[of + DEPTH] = st[at + DEPTH] + 1
            st[of + NUMBER] = parent if st[at + CLOCK] == EARLY_CRASHES else fresh
            st[of + IS_KNOWN] = 0
