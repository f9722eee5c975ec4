"""What becomes of a broker: crash, stop, start, registration, fencing, a cut, another controller.

Each rule is one event, at one moment. `plan` of a broker is what it will do next by itself: times
in the state, NEVER where there is nothing. Sources and clauses stand with the engine's rules.
"""

from . import metadata_rules
from . import set_words as word
from .leader_rules import cut_log, is_reached, propose, serves
from .machine_code import Longs, inner
from .metadata_rules import change, gone, inform, leave_isr, unfence
from .mirrored_guards import CODE_OF_4_0, LEADER_RECOVERS, ONE_INCARNATION, STRIKES_UNCLEAN
from .set_words import contains, size, tell, without

KEPT, TAIL_LOST, DISK_LOST = 0, 1, 2
"""What a crash leaves of the log: everything, what had been flushed, nothing."""


@inner
def _is_heard(s: Longs, b: int) -> bool:
    """Whether a running broker reaches whoever keeps its session."""
    runs = s[word.UP + b] != 0 and s[word.PHASE + b] == word.RUNNING
    return runs and s[word.CUT + b] == 0 and s[word.OUTAGE] == 0


@inner
def _goes_silent(s: Longs, w: Longs, b: int, now: int) -> None:
    """Nothing more is heard of a broker: its session ends by itself."""
    if s[word.FENCED + b] == 0 and s[word.OUTAGE] == 0:
        s[word.EXPIRE_AT + b] = max(now, s[word.CONTACT + b] + w[word.SESSION_OVER_US])


@inner
def _contact(s: Longs, w: Longs, b: int, now: int) -> None:
    s[word.CONTACT + b], s[word.REPORT + b], s[word.EXPIRE_AT + b] = now, s[word.TURN], word.NEVER
    _watch(s, w, now)


@inner
def _watch(s: Longs, w: Longs, now: int) -> None:
    """A controller that hears of somebody looks for those of whom it has not heard."""
    if s[word.WATCHES]:
        return
    s[word.WATCHES] = 1
    for b in range(w[word.REPLICAS]):
        s[word.EXPIRE_AT + b] = max(s[word.EXPIRE_AT + b], now)


@inner
def beat(s: Longs, w: Longs, b: int, now: int) -> None:
    """A heartbeat; the process has written its checkpoint of late, too."""
    if s[word.UP + b] and s[word.PHASE + b] >= word.RECOVERY:
        s[word.CHECKPOINT + b] = s[word.KNOWN_MARK + b]
    if _is_heard(s, b):
        _contact(s, w, b, now)


@inner
def all_beat(s: Longs, w: Longs, now: int) -> None:
    """Everybody who runs is heard of."""
    for b in range(w[word.REPLICAS]):
        if _is_heard(s, b):
            _contact(s, w, b, now)


@inner
def flush(s: Longs, b: int) -> None:
    """The log of a process is on disk."""
    if s[word.UP + b]:
        s[word.FLUSHED + b] = s[word.LOG + b]


@inner
def _process_ends(s: Longs, b: int, start_at: int) -> None:
    s[word.UP + b], s[word.PHASE + b], s[word.LEVEL + b] = 0, word.DOWN, 0
    s[word.LEADS + b] = s[word.PENDING + b] = s[word.IN_FLIGHT + b] = 0
    s[word.STOP_AT + b] = s[word.READY_AT + b] = s[word.LEVEL_DUE + b] = word.NEVER
    s[word.START_AT + b] = start_at
    if s[word.OWNER] == b:
        s[word.OWNER] = word.NONE


@inner
def crash(s: Longs, w: Longs, b: int, fate: int, is_shock: bool, now: int) -> None:
    """The process is gone, and with it what `fate` says."""
    if s[word.UP + b] == 0:
        return
    s[word.INCIDENTS] += 1
    s[word.IN_ORDER + b] = 0
    if fate == TAIL_LOST:
        cut_log(s, b, s[word.FLUSHED + b])
        s[word.CHECKPOINT + b] = min(s[word.CHECKPOINT + b], s[word.LOG + b])
    elif fate == DISK_LOST:
        cut_log(s, b, 0)
        s[word.FLUSHED + b] = s[word.CHECKPOINT + b] = 0
    if fate != KEPT:
        s[word.SHOCKED + b] = 1 if is_shock else 0
    _process_ends(s, b, now + s[word.RESTART_US + b])
    _goes_silent(s, w, b, now)


@inner
def _stop(s: Longs, w: Longs, trace: Longs, b: int, now: int) -> None:
    """The controller lets a broker go: fenced, flushed, gone."""
    gone(s, w, trace, b, now)
    s[word.CONTACT + b] = now
    _ends_in_order(s, b, now, word.NEVER)


@inner
def _ends_in_order(s: Longs, b: int, now: int, expire_at: int) -> None:
    """A process that stops flushes its log, and writes its checkpoint."""
    s[word.IN_ORDER + b] = 1
    s[word.FLUSHED + b], s[word.CHECKPOINT + b] = s[word.LOG + b], s[word.KNOWN_MARK + b]
    _process_ends(s, b, now + s[word.RESTART_US + b])
    s[word.EXPIRE_AT + b] = expire_at


@inner
def _wants_to_stop(s: Longs, w: Longs, trace: Longs, b: int, now: int) -> None:
    if s[word.LEADER] != b:
        _stop(s, w, trace, b, now)
        return
    s[word.LEAVING + b] = 1
    leave_isr(s, w, trace, b, now)
    s[word.LEAVES_SINCE + b] = s[word.TURN]
    _contact(s, w, b, now)
    s[word.STOP_AT + b] = now + s[word.SHUTDOWN_US + b]


@inner
def _lacks_replica(s: Longs, w: Longs) -> bool:
    """Whether a replica is out of the ISR, or its broker is down or fenced."""
    missing = size(s[word.ISR]) < w[word.REPLICAS]
    for x in range(w[word.REPLICAS]):
        missing = missing or s[word.UP + x] == 0 or s[word.FENCED + x] != 0
    return missing


@inner
def bounce(s: Longs, w: Longs, trace: Longs, b: int, now: int) -> None:
    """A planned stop, unless the broker is not well, or a replica is missing and that counts."""
    if (w[word.BOUNCES_WAIT] and _lacks_replica(s, w)) or not _is_heard(s, b):
        return
    s[word.INCIDENTS] += 1
    s[word.PHASE + b], s[word.GIVES_UP_AT + b] = word.SHUTTING_DOWN, now + w[word.PATIENCE_US]
    _wants_to_stop(s, w, trace, b, now)


@inner
def stop(s: Longs, w: Longs, trace: Longs, b: int, now: int) -> None:
    """A broker that is leaving asks again whether it may go."""
    all_beat(s, w, now)
    _watch(s, w, now)
    if s[word.FENCED + b]:
        _stop(s, w, trace, b, now)
    elif s[word.LEAVES_SINCE + b] == word.NONE:
        _wants_to_stop(s, w, trace, b, now)
    elif s[word.LEADER] != b and _is_granted(s, w, b):
        _stop(s, w, trace, b, now)
    else:
        _contact(s, w, b, now)
        s[word.STOP_AT + b] = now + w[word.RETRY_US]
        if now >= s[word.GIVES_UP_AT + b]:
            # A broker that is not let go stops all the same, and its session has to end by itself.
            # It waits for five minutes: BrokerServer.shutdown (3.5.2).
            _ends_in_order(s, b, now, now + w[word.SESSION_OVER_US])


@inner
def _is_granted(s: Longs, w: Longs, b: int) -> bool:
    """Whether every active broker has seen that this one leaves."""
    for c in range(w[word.REPLICAS]):
        active = s[word.FENCED + c] == 0 and s[word.LEAVES_SINCE + c] == word.NONE
        if active and s[word.REPORT + c] <= s[word.LEAVES_SINCE + b]:
            return False
    return True


@inner
def start(s: Longs, b: int) -> None:
    """A process begins; its log is on disk, and it knows nothing."""
    s[word.UP + b], s[word.PHASE + b], s[word.EPOCH + b] = 1, word.STARTING, word.NONE
    s[word.LIFE + b] += 1
    s[word.FLUSHED + b] = s[word.LOG + b]


@inner
def register(s: Longs, w: Longs, trace: Longs, b: int, now: int) -> None:
    """A broker epoch, unless that of an earlier incarnation has a session; then it asks again."""
    later = s[word.GUARDS] & CODE_OF_4_0 != 0
    session = later or s[word.FENCED + b] == 0
    lasts = session and now < s[word.CONTACT + b] + w[word.SESSION_OVER_US]
    if lasts and s[word.GUARDS] & ONE_INCARNATION:
        tell(s, trace, now, word.TOLD_REFUSED, ONE_INCARNATION, b, 0, 0)
        s[word.START_AT + b] = now + w[word.RETRY_US]
        return
    s[word.START_AT + b] = s[word.EXPIRE_AT + b] = word.NEVER
    if later:
        _leaves_first(s, w, trace, b, now)
    s[word.EPOCH + b] = s[word.REG_EPOCH + b] = s[word.NEXT_EPOCH]
    s[word.NEXT_EPOCH] += 1
    s[word.FENCED + b], s[word.LEAVING + b], s[word.LEAVES_SINCE + b] = 1, 0, word.NONE
    s[word.CONTACT + b], s[word.REPORT + b] = word.LONG_AGO if later else now, word.NONE
    _watch(s, w, now)
    s[word.PHASE + b] = word.RECOVERY
    s[word.KNOWN_MARK + b] = min(s[word.CHECKPOINT + b], s[word.LOG + b])
    s[word.READY_AT + b] = now + s[word.READY_US + b]
    s[word.LEVEL_DUE + b] = now + s[word.CATCH_UP_US + b]
    inform(s, w, trace, now)


@inner
def _leaves_first(s: Longs, w: Longs, trace: Longs, b: int, now: int) -> None:
    """The last incarnation is out of the ISR; if it did not stop in order of the ELR, too."""
    strikes = s[word.GUARDS] & STRIKES_UNCLEAN != 0 and s[word.IN_ORDER + b] == 0
    if contains(s[word.ISR], b) or (strikes and s[word.ELR] >> b & 1):
        cause = metadata_rules.BY_UNCLEAN_START if strikes else metadata_rules.BY_CONTROLLER
        change(s, w, trace, without(s[word.ISR], b), b, word.NONE, cause, now)
    s[word.IN_ORDER + b] = 0


@inner
def ready(s: Longs, w: Longs, trace: Longs, b: int, now: int) -> None:
    """A broker asks to be let in."""
    s[word.READY_AT + b] = word.NEVER
    s[word.PHASE + b] = word.RUNNING
    unfence(s, w, trace, b, now)
    _contact(s, w, b, now)


@inner
def expire(s: Longs, w: Longs, trace: Longs, b: int, now: int) -> None:
    """A session is over."""
    s[word.EXPIRE_AT + b] = word.NEVER
    if s[word.FENCED + b]:
        return
    all_beat(s, w, now)
    gone(s, w, trace, b, now)


@inner
def cut(s: Longs, w: Longs, b: int, lasts: int, now: int) -> None:
    """A broker reaches nobody, and nobody reaches it; nor do clients."""
    if s[word.UP + b] == 0 or s[word.CUT + b]:
        return
    s[word.INCIDENTS] += 1
    s[word.CUT + b], s[word.HEAL_AT + b], s[word.LEVEL + b] = 1, now + lasts, 0
    s[word.LEVEL_DUE + b] = word.NEVER
    _goes_silent(s, w, b, now)


@inner
def heal(s: Longs, w: Longs, trace: Longs, b: int, now: int) -> None:
    """The news of the meantime comes first, then a heartbeat."""
    s[word.CUT + b], s[word.HEAL_AT + b] = 0, word.NEVER
    if not is_reached(s, b):
        return
    s[word.LEVEL_DUE + b] = now + s[word.CATCH_UP_US + b]
    inform(s, w, trace, now)
    if s[word.PHASE + b] == word.RUNNING:
        if s[word.FENCED + b]:
            unfence(s, w, trace, b, now)
        _contact(s, w, b, now)


@inner
def controller_lost(s: Longs, w: Longs, lasts: int, now: int) -> None:
    """Nobody keeps the metadata for a while."""
    if s[word.OUTAGE]:
        return
    s[word.OUTAGE] = now + lasts
    for b in range(w[word.REPLICAS]):
        s[word.EXPIRE_AT + b] = word.NEVER


@inner
def controller_found(s: Longs, w: Longs, now: int) -> None:
    """Another controller takes everybody for heard of just now."""
    later = s[word.GUARDS] & CODE_OF_4_0 != 0
    s[word.OUTAGE], s[word.WATCHES] = 0, 1 if later else 0
    for b in range(w[word.REPLICAS]):
        s[word.CONTACT + b] = word.LONG_AGO if later and s[word.FENCED + b] else now
        s[word.REPORT + b] = s[word.LEAVES_SINCE + b] = word.NONE
        silent = s[word.UP + b] == 0 or s[word.CUT + b] != 0 or s[word.PHASE + b] == word.STARTING
        if silent and s[word.FENCED + b] == 0:
            s[word.EXPIRE_AT + b] = now + w[word.SESSION_OVER_US]
    all_beat(s, w, now)


@inner
def leader_recovered(s: Longs, w: Longs, delays: Longs, now: int) -> None:
    """A leader that recovers is done, and says so; where a request is under way, once more."""
    x = s[word.OWNER]
    s[word.RECOVERED_AT] = word.NEVER
    if not s[word.RECOVERING] or not s[word.GUARDS] & LEADER_RECOVERS:
        return
    if x == word.NONE or s[word.LEADER] != x:
        return
    if not serves(s) or s[word.IN_FLIGHT + x]:
        s[word.RECOVERED_AT] = now + w[word.RETRY_US]
        return
    propose(s, delays, s[word.ISR], x, now)
