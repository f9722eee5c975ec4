"""The kernel over many short schedules from rest to rest, and what is open behind each of them.

For failure biasing, which puts the next failure into one of these windows: between two events that
come by themselves, with whom a failure may hit there.
"""

from collections.abc import Callable

from .isr_digits import contains, size
from .leader_rules import DELAY_TRIES
from .machine_code import inner, root
from .set_events import (
    AT,
    BROKER,
    CUT_OFF,
    KIND,
    OUTAGE_BEGINS,
    RANKS,
    ROW,
    at_rest,
    happen,
    is_at_rest,
    next_event,
    run_until,
)
from .set_words import (
    BOUNCES_WAIT,
    BROKERS,
    COUNTS,
    GUARDS,
    ISR,
    LEVEL,
    NEVER,
    NONE,
    OWNER,
    PENDING,
    PHASE,
    REFUSED,
    REPLICAS,
    RUNNING,
    STATE_WORDS,
    UP,
)

DELAYS = BROKERS * DELAY_TRIES
METRICS = REFUSED - COUNTS + 1
RESTS_AT, WINDOWS = METRICS, METRICS + 1
COUNTED = METRICS + 2
"""Words of a schedule: its metrics, when all is at rest, how many windows there are."""
BEGINS, IN_SYNC, IS_UP, IS_ASKED_FOR, LEADS_THE_STALE, MAY_STOP = range(6)
WINDOW = 6
"""Words of a window: when it begins; then a bit for each broker that is up and in the ISR; that is
up; that is up and about to join the ISR; that leads an ISR in which somebody is not level; that may
be stopped as planned."""
MOST_WINDOWS = 32
"""Behind one schedule, and room for one more; what begins later belongs to the last one."""
_BEGIN = 1


@inner
def _clear(s: list[int], broker_delays: list[int], guards: int) -> None:
    for word in range(STATE_WORDS):
        s[word] = 0
    for word in range(len(broker_delays)):
        broker_delays[word] = 0
    s[GUARDS] = guards


@inner
def _look(s: list[int], w: list[int], windows: list[int], at: int) -> None:
    """Who may be hit as things are: the words of a window but for when it begins."""
    for word in range(IN_SYNC, WINDOW):
        windows[at + word] = 0
    x, stale = s[OWNER], 0
    proposed = s[PENDING + x] if x != NONE else 0
    whole = w[BOUNCES_WAIT] == 0 or size(s[ISR]) == w[REPLICAS]
    for b in range(w[REPLICAS]):
        member = contains(s[ISR], b)
        stale |= int(member and b != x and s[LEVEL + b] == 0)
        if s[UP + b]:
            windows[at + IS_UP] += 1 << b
            windows[at + IN_SYNC] += int(member) << b
            windows[at + IS_ASKED_FOR] += int(not member and contains(proposed, b)) << b
            windows[at + MAY_STOP] += int(whole and s[PHASE + b] == RUNNING) << b
    if stale and x != NONE:
        windows[at + LEADS_THE_STALE] = 1 << x


@inner
def _note_window(
    s: list[int], w: list[int], counts: list[int], windows: list[int], schedule: int, now: int
) -> None:
    """What is so from `now` on; a window ends when somebody else may be hit."""
    many = counts[schedule * COUNTED + WINDOWS]
    at = (schedule * (MOST_WINDOWS + 1) + many) * WINDOW
    _look(s, w, windows, at)
    windows[at + BEGINS] = now
    differs = many == 0
    for word in range(IN_SYNC, WINDOW):
        differs |= windows[at + word] != windows[at - WINDOW + word]
    if differs and many < MOST_WINDOWS:
        counts[schedule * COUNTED + WINDOWS] = many + 1


@inner
def _goes_on(
    s: list[int],
    w: list[int],
    trace: list[int],
    broker_delays: list[int],
    counts: list[int],
    windows: list[int],
    schedule: int,
    since: int,
    until: int,
    kind: int,
    b: int,
) -> int:
    """Everything that comes by itself before an event at `until`, or until all is at rest; when the
    last of it came.
    """
    last = since
    while until < NEVER or not is_at_rest(s, w):
        now, order = next_event(s, w)
        if now >= NEVER or now > until or (now == until and order >= (kind << 40) + b):
            return last
        run_until(s, w, trace, broker_delays, now, order >> 40, (order & ((1 << 40) - 1)) + 1)
        last = now
        if now >= since:
            _note_window(s, w, counts, windows, schedule, now)
    return last


PlayAll = Callable[..., None]


def _made(version: int) -> PlayAll:
    def play_all(
        s: list[int],
        w: list[int],
        trace: list[int],
        broker_delays: list[int],
        rows: list[int],
        delays: list[int],
        cuts: list[int],
        since: list[int],
        guards: int,
        counts: list[int],
        windows: list[int],
    ) -> None:
        for schedule in range(len(since)):
            _clear(s, broker_delays, guards)
            at_rest(s, w, 0, _BEGIN)
            begin, last = since[schedule], 0
            for row in range(cuts[schedule], cuts[schedule + 1]):
                at, kind, b = rows[row * ROW + AT], rows[row * ROW + KIND], rows[row * ROW + BROKER]
                _goes_on(s, w, trace, broker_delays, counts, windows, schedule, begin, at, kind, b)
                if kind >= CUT_OFF and kind != OUTAGE_BEGINS:
                    for n in range(DELAYS):
                        broker_delays[b * DELAYS + n] = delays[row * DELAYS + n]
                happen(s, w, trace, broker_delays, rows, row * ROW)
                if at >= begin:
                    _note_window(s, w, counts, windows, schedule, at)
                last = at
            end = _goes_on(
                s, w, trace, broker_delays, counts, windows, schedule, begin, NEVER, RANKS, 0
            )
            for n in range(METRICS):
                counts[schedule * COUNTED + n] = s[COUNTS + n]
            # The digest of the sources is in the closure: a kernel that is kept is this one.
            counts[schedule * COUNTED + RESTS_AT] = max(end, last) + 0 * version

    return play_all


play_all = root(_made)
