"""What happens next: the events of a replica set in their order.

Events of one moment come in the order of their ranks, and then of the brokers. What is for the
controller waits while there is none, what is for a broker that is cut off until it is reached.
"""

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
from .isr_digits import size, with_member
from .leader_rules import check_lag, replicate, traffic
from .machine_code import inner
from .metadata_rules import alter_partition
from .mirrored_guards import FETCH_EPOCH, LEADERS_WRITE
from .set_words import (
    ARRIVES,
    BROKERS,
    CATCH_UP_US,
    CHECKPOINT,
    COMMITTED,
    CONTACT,
    CUT,
    EPOCH,
    EXPIRE_AT,
    FAR,
    FAR_EPOCH,
    FAR_LIFE,
    FENCED,
    FLUSHED,
    GUARDS,
    HEAL_AT,
    HIGH_WATERMARK,
    IN_FLIGHT,
    ISR,
    KNOWN_MARK,
    LAG_AT,
    LAG_PERIOD_US,
    LEADER,
    LEADER_EPOCH,
    LEADS,
    LEAVES_SINCE,
    LEVEL,
    LEVEL_AT,
    LEVEL_DUE,
    LIFE,
    LOG,
    MODE,
    NAME,
    NEVER,
    NEXT_EPOCH,
    NONE,
    OFFLINE_SINCE,
    OUTAGE,
    OWNER,
    PARTED,
    PARTITION_EPOCH,
    PENDING,
    PHASE,
    READY_AT,
    READY_US,
    RECOVER_US,
    RECOVERED_AT,
    RECOVERING,
    RECOVERING_SINCE,
    REG_EPOCH,
    REPLICAS,
    RESTART_US,
    RUNNING,
    SEEN_LEADER_EPOCH,
    SEEN_PARTITION_EPOCH,
    SENDER,
    SHUTDOWN_US,
    SLOTS,
    START_AT,
    STEPS,
    STOP_AT,
    TRIES,
    TURN,
    UNDER_SINCE,
    UP,
    WATCHES,
    WRITTEN,
    slot_at,
)
from .zookeeper_rules import process_registers

FLUSH, BEAT, EXPIRY, OUTAGE_BEGINS, OUTAGE_ENDS, HEALS, CUT_OFF, CRASH, BOUNCE = range(9)
STOPS, STARTS, READY, IS_LEVEL, LAG_CHECK, LEADER_RECOVERED, REQUEST_ARRIVES = range(9, 16)
"""Ranks: of what comes at one moment the lower is first."""
AT_ONCE = -1
"""The rank of what is written by who waits for it."""
RANKS = 16
(
    AT, KIND, BROKER, RESTART, READY_IN, LEVEL_IN, LAG_PHASE, FATE, SHOCK, SHUTDOWN, LASTS, RECOVER,
) = range(12)  # fmt: skip
ROW = 12
"""Words of an event from outside: when, what, of whom, and what follows from it in time."""
_TURNS = 1 << 40
_FIRST_TIMER, _TIMERS = EXPIRE_AT, 7


@inner
def next_event(s: list[int], w: list[int]) -> tuple[int, int]:
    """When the next event comes by itself, and which: its rank times `_TURNS`, and of whom."""
    best_at, best = NEVER, RANKS * _TURNS
    for b in range(w[REPLICAS]):
        for timer, rank in (
            (EXPIRE_AT, EXPIRY),
            (HEAL_AT, HEALS),
            (STOP_AT, STOPS),
            (START_AT, STARTS),
            (READY_AT, READY),
            (LEVEL_DUE, IS_LEVEL),
            (LAG_AT, LAG_CHECK),
        ):
            at, order = s[timer + b], rank * _TURNS + b
            if rank == EXPIRY and not s[WATCHES]:
                continue
            if at < best_at or (at == best_at and order < best):
                best_at, best = at, order
    for at, order in (
        (s[OUTAGE] if s[OUTAGE] else NEVER, OUTAGE_ENDS * _TURNS),
        (s[RECOVERED_AT], LEADER_RECOVERED * _TURNS),
    ):
        if at < best_at or (at == best_at and order < best):
            best_at, best = at, order
    asked = (AT_ONCE if s[GUARDS] & LEADERS_WRITE else REQUEST_ARRIVES) * _TURNS
    for slot in range(SLOTS):
        at, order = s[slot_at(slot) + ARRIVES], asked + s[slot_at(slot) + NAME]
        if at and (at < best_at or (at == best_at and order < best)):
            best_at, best = at, order
    return best_at, best


@inner
def run_until(
    s: list[int], w: list[int], trace: list[int], delays: list[int], at: int, rank: int, b: int
) -> None:
    """Everything that comes by itself before an event of that rank, of that broker, at `at`."""
    while True:
        now, order = next_event(s, w)
        if now > at or (now == at and order >= rank * _TURNS + b) or now >= NEVER:
            return
        _do(s, w, trace, delays, now, order // _TURNS, order % _TURNS)


@inner
def _do(
    s: list[int], w: list[int], trace: list[int], delays: list[int], now: int, rank: int, of: int
) -> None:
    if _is_put_off(s, w, rank, of):
        return
    s[STEPS] += 1
    s[TURN] += 1
    traffic(s, w, now)
    replicate(s, w, delays, now)
    if rank == EXPIRY:
        expire(s, w, trace, of, now)
    elif rank == OUTAGE_ENDS:
        controller_found(s, w, trace, now)
    elif rank == HEALS:
        heal(s, w, trace, of, now)
    elif rank == STOPS:
        s[STOP_AT + of] = NEVER
        stop(s, w, trace, of, now)
    elif rank == STARTS:
        if s[UP + of] == 0:
            start(s, of)
        if w[MODE]:
            s[START_AT + of], s[READY_AT + of] = NEVER, now + s[READY_US + of]
        else:
            register(s, w, trace, of, now)
    elif rank == READY:
        if w[MODE]:
            process_registers(s, w, trace, of, now)
        else:
            ready(s, w, trace, of, now)
    elif rank == IS_LEVEL:
        s[LEVEL_DUE + of], s[LEVEL + of], s[LAG_AT + of] = NEVER, 1, NEVER
    elif rank == LAG_CHECK:
        s[LAG_AT + of] = NEVER if s[LEVEL + of] else now + w[LAG_PERIOD_US]
        check_lag(s, w, delays, of, now)
    elif rank == LEADER_RECOVERED:
        leader_recovered(s, w, delays, now)
    else:
        alter_partition(s, w, trace, _slot_of(s, of), now)
    replicate(s, w, delays, now)


@inner
def _slot_of(s: list[int], name: int) -> int:
    for slot in range(SLOTS):
        at = slot_at(slot)
        if s[at + ARRIVES] and s[at + NAME] == name:
            return at
    return NONE


@inner
def _is_put_off(s: list[int], w: list[int], rank: int, of: int) -> bool:
    """Whether an event waits for a controller, or for a link; if so it is planned anew."""
    if w[MODE] and rank == STARTS:
        return False
    if w[MODE] and rank == EXPIRY and s[OUTAGE]:
        # ZooKeeper ends the session; the next controller sees that as it takes over.
        s[EXPIRE_AT + of] = s[OUTAGE] + 1
        return True
    if rank == REQUEST_ARRIVES:
        at = _slot_of(s, of)
        until = _waits_until(s, s[at + SENDER])
        if until:
            s[at + ARRIVES] = until
        return until != 0
    if rank == HEALS and s[OUTAGE] and not w[MODE]:
        s[HEAL_AT + of] = s[OUTAGE]
        return True
    timer = STOP_AT if rank == STOPS else START_AT if rank == STARTS else READY_AT
    if rank != STOPS and rank != STARTS and rank != READY:
        return False
    # ZooKeeper is there without a controller, too: who is linked to it is not kept waiting.
    until = _links_again_at(s, of) if w[MODE] else _waits_until(s, of)
    if until:
        s[timer + of] = until
    return until != 0


@inner
def _waits_until(s: list[int], b: int) -> int:
    return s[OUTAGE] if s[OUTAGE] else _links_again_at(s, b)


@inner
def _links_again_at(s: list[int], b: int) -> int:
    return s[HEAL_AT + b] if s[CUT + b] else 0


@inner
def happen(
    s: list[int], w: list[int], trace: list[int], delays: list[int], rows: list[int], row: int
) -> None:
    """An event from outside; what comes by itself before it has been done."""
    now, kind, b = rows[row + AT], rows[row + KIND], rows[row + BROKER]
    s[STEPS] += 1
    s[TURN] += 1
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
def _note(s: list[int], rows: list[int], row: int, b: int, now: int) -> None:
    """What will follow, whether or not the broker is there to be hit."""
    s[RESTART_US + b], s[READY_US + b] = rows[row + RESTART], rows[row + READY_IN]
    s[CATCH_UP_US + b], s[SHUTDOWN_US + b] = rows[row + LEVEL_IN], rows[row + SHUTDOWN]
    s[RECOVER_US + b], s[TRIES + b] = rows[row + RECOVER], 0
    s[LAG_AT + b] = now + rows[row + LAG_PHASE]


@inner
def is_at_rest(s: list[int], w: list[int]) -> bool:
    """Whether nothing is on its way, everybody is in sync, and the next event finds it so."""
    if s[OUTAGE] or s[RECOVERING] or s[LEADER] == NONE or s[OWNER] != s[LEADER]:
        return False
    if size(s[ISR]) < w[REPLICAS] or s[RECOVERED_AT] < NEVER:
        return False
    for b in range(w[REPLICAS]):
        if s[UP + b] == 0 or s[PHASE + b] != RUNNING or s[FENCED + b] or s[CUT + b]:
            return False
        if s[LEVEL + b] == 0 or s[IN_FLIGHT + b] or s[PENDING + b] or s[EXPIRE_AT + b] < NEVER:
            return False
    return not _is_asked(s)


@inner
def _is_asked(s: list[int]) -> bool:
    arrivals = 0
    for slot in range(SLOTS):
        arrivals |= s[slot_at(slot) + ARRIVES]
    return arrivals != 0


@inner
def at_rest(s: list[int], w: list[int], leader: int, now: int) -> None:
    """Everybody is up and in sync, and `leader` leads: whatever came before makes no difference."""
    s[LEADER] = s[OWNER] = leader
    s[LEADS + leader] = 1
    s[ISR] = 0
    for b in range(w[REPLICAS]):
        s[ISR] = with_member(s[ISR], b)
        s[UP + b], s[PHASE + b], s[LEVEL + b], s[FENCED + b] = 1, RUNNING, 1, 0
        s[LEAVES_SINCE + b], s[LIFE + b] = NONE, 1
        s[EPOCH + b] = s[REG_EPOCH + b] = s[FAR_LIFE + b] = b + 1
        s[FAR_EPOCH + b] = b + 1 if s[GUARDS] & FETCH_EPOCH else NONE
        s[LOG + b] = s[FAR + b] = s[KNOWN_MARK + b] = s[FLUSHED + b] = s[CHECKPOINT + b] = now
        s[LEVEL_AT + b] = s[CONTACT + b] = now
        for timer in range(_TIMERS):
            s[_FIRST_TIMER + BROKERS * timer + b] = NEVER
    s[NEXT_EPOCH] = BROKERS + 1
    s[HIGH_WATERMARK] = s[COMMITTED] = s[WRITTEN] = now
    s[OFFLINE_SINCE] = s[RECOVERING_SINCE] = s[UNDER_SINCE] = now
    s[RECOVERED_AT] = NEVER
    s[WATCHES], s[PARTED] = 1, 0
    s[SEEN_LEADER_EPOCH + leader] = s[LEADER_EPOCH]
    s[SEEN_PARTITION_EPOCH + leader] = s[PARTITION_EPOCH]
