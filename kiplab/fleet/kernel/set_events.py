"""What happens next: the events of a replica set in their order.

Events of one moment come in the order of their ranks, and then of the brokers. What is for the
controller waits while there is none, what is for a broker that is cut off until it is reached.
"""

from . import set_words as word
from .broker_rules import (
    beat,
    bounce,
    controller_found,
    controller_lost,
    crash,
    cut,
    expire,
    flush,
    heal,
    leader_recovered,
    ready,
    register,
    start,
    stop,
)
from .leader_rules import check_lag, replicate, traffic
from .machine_code import Longs, inner
from .metadata_rules import alter_partition
from .mirrored_guards import FETCH_EPOCH
from .set_words import size, slot_at, with_member

FLUSH, BEAT, EXPIRY, OUTAGE_BEGINS, OUTAGE_ENDS, HEALS, CUT_OFF, CRASH, BOUNCE = range(9)
STOPS, STARTS, READY, IS_LEVEL, LAG_CHECK, LEADER_RECOVERED, REQUEST_ARRIVES = range(9, 16)
"""Ranks: of what comes at one moment the lower is first."""
RANKS = 16
(
    AT, KIND, BROKER, FATE, SHOCK, RESTART, READY_IN, LEVEL_IN, LAG_PHASE, SHUTDOWN, LASTS, RECOVER,
) = range(12)  # fmt: skip
ROW = 12
"""Words of an event from outside: when, what, of whom, and what follows from it in time."""
_TURNS = 1 << 40
_FIRST_TIMER, _TIMERS = word.EXPIRE_AT, 7


@inner
def next_event(s: Longs, w: Longs) -> tuple[int, int]:
    """When the next event comes by itself, and which: its rank times `_TURNS`, and of whom."""
    best_at, best = word.NEVER, RANKS * _TURNS
    for b in range(w[word.REPLICAS]):
        for timer, rank in (
            (word.EXPIRE_AT, EXPIRY),
            (word.HEAL_AT, HEALS),
            (word.STOP_AT, STOPS),
            (word.START_AT, STARTS),
            (word.READY_AT, READY),
            (word.LEVEL_DUE, IS_LEVEL),
            (word.LAG_AT, LAG_CHECK),
        ):
            at, order = s[timer + b], rank * _TURNS + b
            if rank == EXPIRY and not s[word.WATCHES]:
                continue
            if at < best_at or (at == best_at and order < best):
                best_at, best = at, order
    for at, order in (
        (s[word.OUTAGE] if s[word.OUTAGE] else word.NEVER, OUTAGE_ENDS * _TURNS),
        (s[word.RECOVERED_AT], LEADER_RECOVERED * _TURNS),
    ):
        if at < best_at or (at == best_at and order < best):
            best_at, best = at, order
    for slot in range(word.SLOTS):
        at = s[slot_at(slot) + word.ARRIVES]
        order = REQUEST_ARRIVES * _TURNS + s[slot_at(slot) + word.NAME]
        if at and (at < best_at or (at == best_at and order < best)):
            best_at, best = at, order
    return best_at, best


@inner
def run_until(s: Longs, w: Longs, trace: Longs, delays: Longs, at: int, rank: int, b: int) -> None:
    """Everything that comes by itself before an event of that rank, of that broker, at `at`."""
    while True:
        now, order = next_event(s, w)
        if now > at or (now == at and order >= rank * _TURNS + b) or now >= word.NEVER:
            return
        _do(s, w, trace, delays, now, order // _TURNS, order % _TURNS)


@inner
def _do(s: Longs, w: Longs, trace: Longs, delays: Longs, now: int, rank: int, of: int) -> None:
    if _is_put_off(s, rank, of):
        return
    s[word.STEPS] += 1
    s[word.TURN] += 1
    traffic(s, w, now)
    replicate(s, w, delays, now)
    if rank == EXPIRY:
        expire(s, w, trace, of, now)
    elif rank == OUTAGE_ENDS:
        controller_found(s, w, now)
    elif rank == HEALS:
        heal(s, w, trace, of, now)
    elif rank == STOPS:
        s[word.STOP_AT + of] = word.NEVER
        stop(s, w, trace, of, now)
    elif rank == STARTS:
        if s[word.UP + of] == 0:
            start(s, of)
        register(s, w, trace, of, now)
    elif rank == READY:
        ready(s, w, trace, of, now)
    elif rank == IS_LEVEL:
        s[word.LEVEL_DUE + of], s[word.LEVEL + of], s[word.LAG_AT + of] = word.NEVER, 1, word.NEVER
    elif rank == LAG_CHECK:
        s[word.LAG_AT + of] = word.NEVER if s[word.LEVEL + of] else now + w[word.LAG_PERIOD_US]
        check_lag(s, w, delays, of, now)
    elif rank == LEADER_RECOVERED:
        leader_recovered(s, w, delays, now)
    else:
        alter_partition(s, w, trace, _slot_of(s, of), now)
    replicate(s, w, delays, now)


@inner
def _slot_of(s: Longs, name: int) -> int:
    for slot in range(word.SLOTS):
        at = slot_at(slot)
        if s[at + word.ARRIVES] and s[at + word.NAME] == name:
            return at
    return word.NONE


@inner
def _is_put_off(s: Longs, rank: int, of: int) -> bool:
    """Whether an event waits for a controller, or for a link; if so it is planned anew."""
    if rank == REQUEST_ARRIVES:
        at = _slot_of(s, of)
        until = _waits_until(s, s[at + word.SENDER])
        if until:
            s[at + word.ARRIVES] = until
        return until != 0
    if rank == HEALS and s[word.OUTAGE]:
        s[word.HEAL_AT + of] = s[word.OUTAGE]
        return True
    timer = word.STOP_AT if rank == STOPS else word.START_AT if rank == STARTS else word.READY_AT
    if rank != STOPS and rank != STARTS and rank != READY:
        return False
    until = _waits_until(s, of)
    if until:
        s[timer + of] = until
    return until != 0


@inner
def _waits_until(s: Longs, b: int) -> int:
    linked = s[word.HEAL_AT + b] if s[word.CUT + b] else 0
    return s[word.OUTAGE] if s[word.OUTAGE] else linked


@inner
def happen(s: Longs, w: Longs, trace: Longs, delays: Longs, rows: Longs, row: int) -> None:
    """An event from outside; what comes by itself before it has been done."""
    now, kind, b = rows[row + AT], rows[row + KIND], rows[row + BROKER]
    s[word.STEPS] += 1
    s[word.TURN] += 1
    traffic(s, w, now)
    replicate(s, w, delays, now)
    if kind == FLUSH:
        flush(s, b)
    elif kind == BEAT:
        beat(s, w, b, now)
    elif kind == OUTAGE_BEGINS:
        controller_lost(s, w, rows[row + LASTS], now)
    else:
        _note(s, rows, row, b, now)
        if kind == CUT_OFF:
            cut(s, w, b, rows[row + LASTS], now)
        elif kind == CRASH:
            crash(s, w, b, rows[row + FATE], rows[row + SHOCK] != 0, now)
        else:
            bounce(s, w, trace, b, now)
    replicate(s, w, delays, now)


@inner
def _note(s: Longs, rows: Longs, row: int, b: int, now: int) -> None:
    """What will follow, whether or not the broker is there to be hit."""
    s[word.RESTART_US + b], s[word.READY_US + b] = rows[row + RESTART], rows[row + READY_IN]
    s[word.CATCH_UP_US + b], s[word.SHUTDOWN_US + b] = rows[row + LEVEL_IN], rows[row + SHUTDOWN]
    s[word.RECOVER_US + b], s[word.TRIES + b] = rows[row + RECOVER], 0
    s[word.LAG_AT + b] = now + rows[row + LAG_PHASE]


@inner
def is_at_rest(s: Longs, w: Longs) -> bool:
    """Whether nothing is on its way, everybody is in sync, and the next event finds it so."""
    x = s[word.LEADER]
    if s[word.OUTAGE] or s[word.RECOVERING] or x == word.NONE or s[word.OWNER] != x:
        return False
    if size(s[word.ISR]) < w[word.REPLICAS] or s[word.RECOVERED_AT] < word.NEVER:
        return False
    for b in range(w[word.REPLICAS]):
        if s[word.UP + b] == 0 or s[word.PHASE + b] != word.RUNNING or s[word.FENCED + b]:
            return False
        if s[word.CUT + b] or s[word.LEVEL + b] == 0 or s[word.IN_FLIGHT + b]:
            return False
        if s[word.PENDING + b] or s[word.EXPIRE_AT + b] < word.NEVER:
            return False
    asked = 0
    for slot in range(word.SLOTS):
        asked |= s[slot_at(slot) + word.ARRIVES]
    return asked == 0


@inner
def at_rest(s: Longs, w: Longs, leader: int, now: int) -> None:
    """Everybody is up and in sync, and `leader` leads: whatever came before makes no difference."""
    s[word.LEADER] = s[word.OWNER] = leader
    s[word.LEADS + leader] = 1
    s[word.ISR] = 0
    for b in range(w[word.REPLICAS]):
        s[word.ISR] = with_member(s[word.ISR], b)
        s[word.UP + b], s[word.LEVEL + b], s[word.FENCED + b] = 1, 1, 0
        s[word.PHASE + b] = word.RUNNING
        s[word.LEAVES_SINCE + b], s[word.LIFE + b] = word.NONE, 1
        s[word.EPOCH + b] = s[word.REG_EPOCH + b] = s[word.FAR_LIFE + b] = b + 1
        s[word.FAR_EPOCH + b] = b + 1 if s[word.GUARDS] & FETCH_EPOCH else word.NONE
        s[word.LOG + b] = s[word.FAR + b] = s[word.KNOWN_MARK + b] = s[word.FLUSHED + b] = now
        s[word.CHECKPOINT + b] = s[word.LEVEL_AT + b] = s[word.CONTACT + b] = now
        for timer in range(_TIMERS):
            s[_FIRST_TIMER + word.BROKERS * timer + b] = word.NEVER
    s[word.NEXT_EPOCH] = word.BROKERS + 1
    s[word.HIGH_WATERMARK] = s[word.COMMITTED] = s[word.WRITTEN] = now
    s[word.OFFLINE_SINCE] = s[word.RECOVERING_SINCE] = s[word.UNDER_SINCE] = now
    s[word.RECOVERED_AT] = word.NEVER
    s[word.WATCHES], s[word.PARTED] = 1, 0
    s[word.SEEN_LEADER_EPOCH + leader] = s[word.LEADER_EPOCH]
    s[word.SEEN_PARTITION_EPOCH + leader] = s[word.PARTITION_EPOCH]
