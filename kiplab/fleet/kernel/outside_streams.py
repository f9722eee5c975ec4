"""What comes from outside, drawn: a stream for each kind of event and each broker.

A stream's events have numbers, and every draw is a function of (seed, replication), of the stream
and of that number: of what it is for. Clocks run on whether or not the broker is there to be hit.
"""

from . import set_events as event
from . import set_words as world
from .leader_rules import DELAY_TRIES
from .machine_code import Longs, fast, inner
from .quantile_tables import drawn, philox
from .set_words import BROKERS, NEVER, REPLICAS

(
    CLOCK, CLOCK_OF, STREAM_BROKER, NUMBER, DRAWN, DEPTH, IS_KNOWN, FLUSH_AT, BEAT_AT, EARLY_AT,
    LONGEST,
) = range(11)  # fmt: skip
_WORDS, ROW_AT = 11, 15
DELAYS_AT = ROW_AT + event.ROW
DELAYS = BROKERS * DELAY_TRIES
STREAM = DELAYS_AT + DELAYS
"""Words of a stream. CLOCK is where its table stands, which also is its name in random keys;
of its events NUMBER is the next, DRAWN how many have a time; LONGEST is how long an event of it
lasts at most that meets no other, 0 where that is not known."""
_OF_BROKERS = (
    *(world.CRASHES, world.BOUNCES, world.CUTS),
    *(world.RACK_SHOCKS, world.CLUSTER_SHOCKS, world.EARLY_CRASHES),
)
STREAMS = len(_OF_BROKERS) * BROKERS + 1
Clocks = tuple[Longs, Longs, Longs]
"""The streams, the time of each one's next event, and that of the event after it."""
Draws = tuple[Longs, Longs, int, int]
"""What draws are functions of: the world, its tables, the seed, the replication."""
_DETAILS, _SHARED, _FIRST_DELAYS, _DEEPER = 1, 4, 8, 32
DEPTH_MAX = 8
"""Early crashes after early crashes after ..."""


@inner
def open_streams(clocks: Clocks, draws: Draws) -> int:
    """Every stream of a replica set, with its first event; how many there are."""
    st, times, later = clocks
    w, count = draws[0], 0
    for b in range(w[REPLICAS]):
        for clock in _OF_BROKERS:
            if w[clock] < 0:
                continue
            of = b
            if clock == world.RACK_SHOCKS:
                of = w[world.RACK_OF + b]
            elif clock == world.CLUSTER_SHOCKS:
                of = 0
            _open(st, w, count, clock, of, b)
            count += 1
    if w[world.FAILOVERS] >= 0:
        _open(st, w, count, world.FAILOVERS, 0, 0)
        count += 1
    for i in range(count):
        times[i] = later[i] = 0
        draw_next(clocks, i, draws)
        draw_next(clocks, i, draws)
    return count


@inner
def _open(st: Longs, w: Longs, i: int, clock: int, of: int, b: int) -> None:
    at = i * STREAM
    bound = w[world.BOUNCE_BOUND] if clock == world.BOUNCES else w[world.CRASH_BOUND]
    if clock == world.CUTS:
        bound = 0
    elif clock == world.FAILOVERS:
        bound = w[world.OUTAGE_BOUND]
    st[at + LONGEST] = bound
    st[at + CLOCK], st[at + CLOCK_OF], st[at + STREAM_BROKER] = clock, of, b
    st[at + NUMBER], st[at + DRAWN], st[at + DEPTH], st[at + IS_KNOWN] = -2, 0, 0, 0


@fast
def draw_next(clocks: Clocks, i: int, draws: Draws) -> None:
    """The next event of a stream, and the one after it; an early crash follows another event."""
    st, times, later = clocks
    if st[i * STREAM + CLOCK] == world.EARLY_CRASHES:
        st[i * STREAM + IS_KNOWN] = 0
        times[i] = later[i] = NEVER
    else:
        tick(clocks, i, draws)


@fast
def tick(clocks: Clocks, i: int, draws: Draws) -> None:
    """The next event of a stream that has a clock of its own. Four draws come of one block."""
    st, times, later = clocks
    w, tables, seed, replication = draws
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
    if clock == world.BOUNCES:
        return event.BOUNCE
    if clock == world.CUTS:
        return event.CUT_OFF
    return event.OUTAGE_BEGINS if clock == world.FAILOVERS else event.CRASH


@inner
def know(clocks: Clocks, i: int, draws: Draws) -> None:
    """Everything that follows from the next event of a stream, drawn once."""
    st, times, _ = clocks
    w, tables, seed, replication = draws
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
    st[row + event.AT], st[row + event.KIND], st[row + event.BROKER] = now, rank, b
    again = world.CLEAN_RESTART if rank == event.BOUNCE else world.CRASH_RESTART
    st[row + event.RESTART] = 1 + drawn(tables, w[again], one[0])
    st[row + event.READY_IN] = 1 + drawn(tables, w[world.GETTING_READY], one[1])
    st[row + event.LEVEL_IN] = 1 + drawn(tables, w[world.CATCHING_UP], one[2])
    st[row + event.LAG_PHASE] = drawn(tables, w[world.LOOK_PHASE], one[3])
    st[row + event.SHOCK] = 1 if clock in (world.RACK_SHOCKS, world.CLUSTER_SHOCKS) else 0
    st[row + event.FATE] = 0
    if rank == event.CRASH:
        fate = two[0]
        if st[row + event.SHOCK] and w[world.SHOCK_FATE_SHARED]:
            fate = philox(seed, replication, number, _SHARED, st[at + CLOCK_OF], clock)[0]
        st[row + event.FATE] = _fate(w, st[row + event.SHOCK] != 0, fate)
    st[row + event.SHUTDOWN] = 1 + drawn(tables, w[world.STOPPING], two[1])
    lasts = world.OUTAGE_LASTS if rank == event.OUTAGE_BEGINS else world.CUT_LASTS
    st[row + event.LASTS] = 1 + drawn(tables, w[lasts], two[2])
    st[row + event.RECOVER] = 1 + drawn(tables, w[world.LEADER_RECOVERY], two[3])
    st[at + FLUSH_AT] = st[at + BEAT_AT] = NEVER
    if rank in (event.CRASH, event.CUT_OFF):
        st[at + BEAT_AT] = now - drawn(tables, w[world.BEAT_AGE], three[0])
    if st[row + event.FATE] == 1:
        st[at + FLUSH_AT] = now - drawn(tables, w[world.FLUSH_AGE], three[1])
    st[at + EARLY_AT] = _early(st, at, w, tables, three[3])
    _know_delays(st, at, draws)


@inner
def _fate(w: Longs, is_shock: bool, word: int) -> int:
    if is_shock:
        return 1 if word < w[world.SHOCK_LOST_BELOW] else 0
    if word < w[world.DISK_LOST_BELOW]:
        return 2
    return 1 if word < w[world.TAIL_LOST_BELOW] else 0


@inner
def _early(st: Longs, at: int, w: Longs, tables: Longs, word: int) -> int:
    """When the broker crashes again, being just back; NEVER if it does not."""
    row = at + ROW_AT
    may_be = w[world.EARLY_WITHIN] != 0 and st[row + event.KIND] == event.CRASH
    if not may_be or st[at + DEPTH] >= DEPTH_MAX:
        return NEVER
    after = 1 + drawn(tables, w[world.EARLY_CRASHES], word)
    if after > w[world.EARLY_WITHIN]:
        return NEVER
    return st[row + event.AT] + st[row + event.RESTART] + after


@inner
def _know_delays(st: Longs, at: int, draws: Draws) -> None:
    """How long requests on account of this event take, by leader: all partitions share them."""
    w, tables, seed, replication = draws
    clock, b, number = st[at + CLOCK], st[at + STREAM_BROKER], st[at + NUMBER]
    part = _FIRST_DELAYS + _DEEPER * st[at + DEPTH]
    for x in range(w[REPLICAS]):
        which = philox(seed, replication, number, part + 2 * x, b, clock)
        long = philox(seed, replication, number, part + 2 * x + 1, b, clock)
        for n in range(DELAY_TRIES):
            table = world.SLOW_REQUEST if which[n] < w[world.SLOW_BELOW] else world.FAST_REQUEST
            st[at + DELAYS_AT + x * DELAY_TRIES + n] = 1 + drawn(tables, w[table], long[n])


@fast
def is_slow(st: Longs, i: int, x: int, draws: Draws) -> bool:
    """Whether the first request of leader `x` on account of the next event is a slow one."""
    w, _, seed, replication = draws
    at = i * STREAM
    part = _FIRST_DELAYS + _DEEPER * st[at + DEPTH] + 2 * x
    which = philox(seed, replication, st[at + NUMBER], part, st[at + STREAM_BROKER], st[at + CLOCK])
    return which[0] < w[world.SLOW_BELOW]


@inner
def crash_early(st: Longs, times: Longs, i: int, count: int) -> None:
    """Let the early crash that follows from the event of stream `i`, if any, come."""
    at = i * STREAM
    if st[at + EARLY_AT] >= NEVER:
        return
    for j in range(count):
        of = j * STREAM
        is_same = st[of + STREAM_BROKER] == st[at + STREAM_BROKER]
        if is_same and st[of + CLOCK] == world.EARLY_CRASHES:
            times[j] = st[at + EARLY_AT]
            # Named after what it follows from.
            fresh = st[at + NUMBER] * 64 + st[at + CLOCK]
            st[of + DEPTH] = st[at + DEPTH] + 1
            st[of + NUMBER] = st[at + NUMBER] if st[at + CLOCK] == world.EARLY_CRASHES else fresh
            st[of + IS_KNOWN] = 0
