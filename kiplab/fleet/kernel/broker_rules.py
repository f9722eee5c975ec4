"""What becomes of a broker: crash, stop, start, registration, fencing, a cut, another controller.

Each rule is one event, at one moment. `plan` of a broker is what it will do next by itself: times
in the state, NEVER where there is nothing. Sources and clauses stand with the engine's rules.
"""

from .isr_digits import size
from .leader_rules import propose, serves
from .log_prefixes import cut_log
from .machine_code import inner
from .metadata_rules import gone, inform, leave_isr, unfence
from .mirrored_guards import CONTROLLER_OF_4_0, LEADER_RECOVERS, ONE_INCARNATION
from .set_words import (
    BOUNCES_WAIT,
    CATCH_UP_US,
    CHECKPOINT,
    CONTACT,
    CUT,
    DOWN,
    EPOCH,
    EXPIRE_AT,
    FENCED,
    FLUSHED,
    GIVES_UP_AT,
    GUARDS,
    HEAL_AT,
    IN_FLIGHT,
    INCIDENTS,
    ISR,
    KNOWN_MARK,
    LEADER,
    LEADS,
    LEAVES_SINCE,
    LEAVING,
    LEVEL,
    LEVEL_DUE,
    LIFE,
    LOG,
    MODE,
    NEVER,
    NEXT_EPOCH,
    NONE,
    OUTAGE,
    OWNER,
    PATIENCE_US,
    PENDING,
    PHASE,
    READY_AT,
    READY_US,
    RECOVERED_AT,
    RECOVERING,
    RECOVERY,
    REG_EPOCH,
    REPLICAS,
    REPORT,
    RESTART_US,
    RETRY_US,
    RUNNING,
    SESSION_OVER_US,
    SHOCKED,
    SHUTDOWN_US,
    SHUTTING_DOWN,
    START_AT,
    STARTING,
    STOP_AT,
    TOLD_REFUSED,
    TOOK_EFFECT,
    TURN,
    UP,
    WATCHES,
    tell,
)
from .zookeeper_rules import (
    begins_to_go,
    is_cut_off,
    linked_again,
    may_go,
    stops_unseen,
    take_over,
)

KEPT, TAIL_LOST, DISK_LOST = 0, 1, 2
"""What a crash leaves of the log: everything, what had been flushed, nothing."""


@inner
def _is_heard(s: list[int], w: list[int], b: int) -> bool:
    """Whether a running broker reaches whoever keeps its session."""
    kept = s[OUTAGE] == 0 or w[MODE] != 0
    return s[UP + b] != 0 and s[PHASE + b] == RUNNING and s[CUT + b] == 0 and kept


@inner
def _goes_silent(s: list[int], w: list[int], b: int, now: int) -> None:
    """Nothing more is heard of a broker: its session ends by itself."""
    if s[FENCED + b] == 0 and (s[OUTAGE] == 0 or w[MODE]):
        s[EXPIRE_AT + b] = max(now, s[CONTACT + b] + w[SESSION_OVER_US])


@inner
def _contact(s: list[int], w: list[int], b: int, now: int) -> None:
    s[CONTACT + b], s[REPORT + b], s[EXPIRE_AT + b] = now, s[TURN], NEVER
    _watch(s, w, now)


@inner
def _watch(s: list[int], w: list[int], now: int) -> None:
    """A controller that hears of somebody looks for those of whom it has not heard."""
    if s[WATCHES]:
        return
    s[WATCHES] = 1
    for b in range(w[REPLICAS]):
        s[EXPIRE_AT + b] = max(s[EXPIRE_AT + b], now)


@inner
def beat(s: list[int], w: list[int], b: int, now: int) -> None:
    """A heartbeat; the process has written its checkpoint of late, too."""
    if s[UP + b] and s[PHASE + b] >= RECOVERY:
        s[CHECKPOINT + b] = s[KNOWN_MARK + b]
    if _is_heard(s, w, b):
        _contact(s, w, b, now)


@inner
def all_beat(s: list[int], w: list[int], now: int) -> None:
    """Everybody who runs is heard of."""
    for b in range(w[REPLICAS]):
        if _is_heard(s, w, b):
            _contact(s, w, b, now)


@inner
def flush(s: list[int], b: int) -> None:
    """The log of a process is on disk."""
    if s[UP + b]:
        s[FLUSHED + b] = s[LOG + b]


@inner
def _process_ends(s: list[int], b: int, start_at: int) -> None:
    s[UP + b], s[PHASE + b], s[LEVEL + b] = 0, DOWN, 0
    s[LEADS + b] = s[PENDING + b] = s[IN_FLIGHT + b] = 0
    s[STOP_AT + b] = s[READY_AT + b] = s[LEVEL_DUE + b] = NEVER
    s[START_AT + b] = start_at
    if s[OWNER] == b:
        s[OWNER] = NONE


@inner
def crash(s: list[int], w: list[int], b: int, fate: int, is_shock: bool, now: int) -> None:
    """The process is gone, and with it what `fate` says."""
    if s[UP + b] == 0:
        return
    s[INCIDENTS] += 1
    if fate == TAIL_LOST:
        cut_log(s, b, s[FLUSHED + b])
        s[CHECKPOINT + b] = min(s[CHECKPOINT + b], s[LOG + b])
    elif fate == DISK_LOST:
        cut_log(s, b, 0)
        s[FLUSHED + b] = s[CHECKPOINT + b] = 0
    if fate != KEPT:
        s[SHOCKED + b] = 1 if is_shock else 0
    _process_ends(s, b, now + s[RESTART_US + b])
    _goes_silent(s, w, b, now)


@inner
def _stop(s: list[int], w: list[int], trace: list[int], b: int, now: int) -> None:
    """The controller lets a broker go, or there is none: fenced, flushed, gone."""
    if s[OUTAGE] == 0:
        gone(s, w, trace, b, now)
    s[FLUSHED + b], s[CHECKPOINT + b] = s[LOG + b], s[KNOWN_MARK + b]
    _process_ends(s, b, now + s[RESTART_US + b])
    s[EXPIRE_AT + b] = NEVER
    if s[OUTAGE]:
        stops_unseen(s, w, b, now)


@inner
def _wants_to_stop(s: list[int], w: list[int], trace: list[int], b: int, now: int) -> None:
    if s[LEADER] != b:
        _stop(s, w, trace, b, now)
        return
    if w[MODE]:
        begins_to_go(s, w, trace, b, now)
        return
    s[LEAVING + b] = 1
    leave_isr(s, w, trace, b, now)
    s[LEAVES_SINCE + b] = s[TURN]
    _contact(s, w, b, now)
    s[STOP_AT + b] = now + s[SHUTDOWN_US + b]


@inner
def bounce(s: list[int], w: list[int], trace: list[int], b: int, now: int) -> None:
    """A planned stop, unless the broker is not well, or the partition is not and that counts."""
    if s[OUTAGE] or not _is_heard(s, w, b) or (w[BOUNCES_WAIT] and size(s[ISR]) < w[REPLICAS]):
        return
    s[INCIDENTS] += 1
    s[TOOK_EFFECT] = s[TURN]
    s[PHASE + b], s[GIVES_UP_AT + b] = SHUTTING_DOWN, now + w[PATIENCE_US]
    _wants_to_stop(s, w, trace, b, now)


@inner
def stop(s: list[int], w: list[int], trace: list[int], b: int, now: int) -> None:
    """A broker that is leaving asks again whether it may go."""
    if w[MODE]:
        if may_go(s, w, trace, b, now):
            _stop(s, w, trace, b, now)
        return
    all_beat(s, w, now)
    _watch(s, w, now)
    if s[FENCED + b]:
        _stop(s, w, trace, b, now)
    elif s[LEAVES_SINCE + b] == NONE:
        _wants_to_stop(s, w, trace, b, now)
    elif s[LEADER] != b and _is_granted(s, w, b):
        _stop(s, w, trace, b, now)
    else:
        _contact(s, w, b, now)
        s[STOP_AT + b] = now + w[RETRY_US]
        if now >= s[GIVES_UP_AT + b]:
            _give_up(s, w, b, now)


@inner
def _give_up(s: list[int], w: list[int], b: int, now: int) -> None:
    """A broker that is not let go stops all the same, and its session has to end by itself.

    It waits for five minutes: BrokerServer.shutdown (3.5.2).
    """
    s[FLUSHED + b], s[CHECKPOINT + b] = s[LOG + b], s[KNOWN_MARK + b]
    _process_ends(s, b, now + s[RESTART_US + b])
    s[EXPIRE_AT + b] = now + w[SESSION_OVER_US]


@inner
def _is_granted(s: list[int], w: list[int], b: int) -> bool:
    """Whether every active broker has seen that this one leaves."""
    for c in range(w[REPLICAS]):
        if (
            s[FENCED + c] == 0
            and s[LEAVES_SINCE + c] == NONE
            and s[REPORT + c] <= s[LEAVES_SINCE + b]
        ):
            return False
    return True


@inner
def start(s: list[int], b: int) -> None:
    """A process begins; its log is on disk, and it knows nothing."""
    s[UP + b], s[PHASE + b], s[EPOCH + b] = 1, STARTING, NONE
    s[LIFE + b] += 1
    s[FLUSHED + b] = s[LOG + b]


@inner
def register(s: list[int], w: list[int], trace: list[int], b: int, now: int) -> None:
    """A broker epoch, unless the session of an earlier life lasts; then it asks again.

    With `purge_on_register` it is let in at once, and the earlier life leaves the ISR as if it had
    been fenced: broker_registration._clean_up.
    """
    lasts = s[FENCED + b] == 0 and now < s[CONTACT + b] + w[SESSION_OVER_US]
    if lasts and s[GUARDS] & ONE_INCARNATION:
        tell(s, trace, now, TOLD_REFUSED, ONE_INCARNATION, b, 0, 0)
        s[START_AT + b] = now + w[RETRY_US]
        return
    if s[GUARDS] & CONTROLLER_OF_4_0:
        leave_isr(s, w, trace, b, now)
    s[START_AT + b] = s[EXPIRE_AT + b] = NEVER
    s[EPOCH + b] = s[REG_EPOCH + b] = s[NEXT_EPOCH]
    s[NEXT_EPOCH] += 1
    s[FENCED + b], s[LEAVING + b], s[LEAVES_SINCE + b] = 1, 0, NONE
    s[CONTACT + b], s[REPORT + b] = now, NONE
    _watch(s, w, now)
    s[PHASE + b] = RECOVERY
    s[KNOWN_MARK + b] = min(s[CHECKPOINT + b], s[LOG + b])
    s[READY_AT + b] = now + s[READY_US + b]
    s[LEVEL_DUE + b] = now + s[CATCH_UP_US + b]
    inform(s, w, trace, now)


@inner
def _let_in(s: list[int], w: list[int], trace: list[int], b: int, now: int) -> None:
    """A controller of 4.0 forgets by that how far the metadata of the broker were:
    heartbeats._replayed.
    """
    unfence(s, w, trace, b, now)
    _contact(s, w, b, now)
    if s[GUARDS] & CONTROLLER_OF_4_0:
        s[REPORT + b] = NONE


@inner
def ready(s: list[int], w: list[int], trace: list[int], b: int, now: int) -> None:
    """A broker asks to be let in."""
    s[READY_AT + b] = NEVER
    s[PHASE + b] = RUNNING
    _let_in(s, w, trace, b, now)


@inner
def expire(s: list[int], w: list[int], trace: list[int], b: int, now: int) -> None:
    """A session is over."""
    s[EXPIRE_AT + b] = NEVER
    if s[FENCED + b]:
        return
    all_beat(s, w, now)
    gone(s, w, trace, b, now)


@inner
def cut(s: list[int], w: list[int], b: int, lasts: int, now: int) -> None:
    """A broker reaches nobody, and nobody reaches it; nor do clients."""
    if s[UP + b] == 0 or s[CUT + b]:
        return
    s[INCIDENTS] += 1
    s[TOOK_EFFECT] = s[TURN]
    if w[MODE]:
        is_cut_off(s, b)
    s[CUT + b], s[HEAL_AT + b], s[LEVEL + b] = 1, now + lasts, 0
    s[LEVEL_DUE + b] = NEVER
    _goes_silent(s, w, b, now)


@inner
def heal(s: list[int], w: list[int], trace: list[int], b: int, now: int) -> None:
    """The news of the meantime comes first, then a heartbeat."""
    s[CUT + b], s[HEAL_AT + b] = 0, NEVER
    if s[UP + b] == 0 or s[PHASE + b] < RECOVERY:
        return
    if w[MODE]:
        linked_again(s, w, trace, b, now)
        return
    s[LEVEL_DUE + b] = now + s[CATCH_UP_US + b]
    inform(s, w, trace, now)
    if s[PHASE + b] == RUNNING:
        if s[FENCED + b]:
            _let_in(s, w, trace, b, now)
        else:
            _contact(s, w, b, now)


@inner
def controller_lost(s: list[int], w: list[int], lasts: int, now: int) -> None:
    """Nobody keeps the metadata for a while."""
    if s[OUTAGE]:
        return
    s[OUTAGE] = now + lasts
    if w[MODE]:
        return
    for b in range(w[REPLICAS]):
        s[EXPIRE_AT + b] = NEVER


@inner
def controller_found(s: list[int], w: list[int], trace: list[int], now: int) -> None:
    """Another controller takes everybody for heard of just now; ZooKeeper remembers.

    From 4.0 on it looks for the silent by a clock of its own: contacts.activated.
    """
    s[OUTAGE] = 0
    if w[MODE]:
        take_over(s, w, trace, now)
        return
    s[WATCHES] = 1 if s[GUARDS] & CONTROLLER_OF_4_0 else 0
    for b in range(w[REPLICAS]):
        s[CONTACT + b], s[REPORT + b], s[LEAVES_SINCE + b] = now, NONE, NONE
        silent = s[UP + b] == 0 or s[CUT + b] != 0 or s[PHASE + b] == STARTING
        if silent and s[FENCED + b] == 0:
            s[EXPIRE_AT + b] = now + w[SESSION_OVER_US]
    all_beat(s, w, now)


@inner
def leader_recovered(s: list[int], w: list[int], delays: list[int], now: int) -> None:
    """A leader that recovers is done, and says so; where a request is under way, once more."""
    x = s[OWNER]
    s[RECOVERED_AT] = NEVER
    if x == NONE or s[LEADER] != x or not s[RECOVERING] or not s[GUARDS] & LEADER_RECOVERS:
        return
    if not serves(s) or s[IN_FLIGHT + x]:
        s[RECOVERED_AT] = now + w[RETRY_US]
        return
    propose(s, delays, s[ISR], x, now)
