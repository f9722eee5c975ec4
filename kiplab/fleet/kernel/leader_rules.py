"""A leader and its followers: writing, fetching, committing, and asking for another ISR.

Followers that are level fetch at once whatever is written, and as long as the leader serves it
writes without a pause: so each event finds the logs as they are at that moment (`traffic`), and
leaves them so (`replicate`). Sources and clauses stand with the engine's rules of the same names
(`protocol/replica`); here is what they come to for one partition.
"""

from .isr_digits import contains, size, with_member, without
from .log_prefixes import commit_log, copy_log
from .machine_code import inner
from .mirrored_guards import (
    FETCH_EPOCH,
    LEADER_COMPARES,
    LEADER_RECOVERS,
    LEADER_REFUSES,
    LEADERS_WRITE,
    MAXIMAL_ISR,
    SKIPS_FENCED,
    SKIPS_LEAVING,
    WITH_MIN_ISR,
    WITHOUT_INELIGIBLE,
)
from .set_words import (
    ARRIVES,
    ASKED_EPOCHS,
    ASKED_ISR,
    ASKED_LEADER_EPOCH,
    ASKED_LIVES,
    ASKED_PARTITION_EPOCH,
    BROKERS,
    CHECKS,
    COMMITTED,
    CUT,
    EPOCH,
    FAR,
    FAR_EPOCH,
    FAR_LIFE,
    FENCED,
    GUARDS,
    HIGH_WATERMARK,
    IN_FLIGHT,
    ISR,
    KNOWN_MARK,
    LAG_US,
    LEADER_EPOCH,
    LEAVING,
    LEVEL,
    LEVEL_AT,
    LIFE,
    LOG,
    MIN_INSYNC,
    MODE,
    NAME,
    NONE,
    NOT_FETCHED,
    OWNER,
    PARTITION_EPOCH,
    PENDING,
    PENDING_NAME,
    PHASE,
    RECOVERING,
    RECOVERY,
    REG_EPOCH,
    REPLICAS,
    SEEN_LEADER_EPOCH,
    SENDER,
    SENDER_EPOCH,
    SENDER_LIFE,
    SHOCKED,
    SHUTTING_DOWN,
    SLOTS,
    STALE,
    TRIES,
    TURN,
    UP,
    WRITTEN,
    slot_at,
)

DELAY_TRIES = 4
"""Delays are known for so many requests on account of one incident; the last one serves on."""


@inner
def serves(s: list[int]) -> bool:
    """Whether somebody leads that can be reached, and that knows of the leader epoch."""
    x = s[OWNER]
    if x == NONE or s[UP + x] == 0 or s[PHASE + x] < RECOVERY or s[CUT + x]:
        return False
    return s[SEEN_LEADER_EPOCH + x] == s[LEADER_EPOCH]


@inner
def refuses_all(s: list[int]) -> bool:
    """Whether the leader recovers and answers nobody meanwhile."""
    both = LEADER_RECOVERS | LEADER_REFUSES
    return s[RECOVERING] != 0 and s[GUARDS] & both == both


@inner
def follows(s: list[int], w: list[int], b: int) -> bool:
    """Whether a replica is level and fetches; the leader itself does not.

    With ZooKeeper no fetcher is started in a process that shuts down: ReplicaManager.makeFollowers
    (2.1.1 to 3.4.1).
    """
    if w[MODE] and s[PHASE + b] == SHUTTING_DOWN:
        return False
    if s[UP + b] == 0 or s[PHASE + b] < RECOVERY or s[CUT + b] != 0:
        return False
    return s[LEVEL + b] != 0 and b != s[OWNER]


@inner
def traffic(s: list[int], w: list[int], now: int) -> None:
    """Up to `now` the leader has written, if it was let: once for each moment."""
    if now <= s[WRITTEN]:
        return
    s[WRITTEN] = now
    if not serves(s) or refuses_all(s) or size(s[ISR]) < w[MIN_INSYNC]:
        return
    s[LOG + s[OWNER]] = now
    commit_more(s, w, now)


@inner
def replicate(s: list[int], w: list[int], delays: list[int], now: int) -> None:
    """Whoever is level has what the leader has, and may be asked for. What the leader itself lacked
    is settled: from now on its records are those that count.
    """
    if not serves(s):
        return
    x = s[OWNER]
    s[STALE + x] = s[SHOCKED + x] = 0
    if refuses_all(s):
        return
    for b in range(w[REPLICAS]):
        if follows(s, w, b):
            copy_log(s, b, x)
            s[FAR + b] = s[LOG + x]
            s[LEVEL_AT + b] = now
            s[FAR_EPOCH + b] = s[EPOCH + b] if s[GUARDS] & FETCH_EPOCH else NONE
            s[FAR_LIFE + b] = s[EPOCH + b]
            s[STALE + b] = s[SHOCKED + b] = 0
    commit_more(s, w, now)
    s[KNOWN_MARK + x] = s[HIGH_WATERMARK]
    for b in range(w[REPLICAS]):
        if follows(s, w, b):
            s[KNOWN_MARK + b] = s[HIGH_WATERMARK]
            if not contains(s[ISR], b):
                _expand(s, delays, b, now)


@inner
def commit_more(s: list[int], w: list[int], now: int) -> None:
    """The high watermark moves to the lowest end among those that count."""
    wanted = min(w[MIN_INSYNC], w[REPLICAS])
    if s[GUARDS] & WITH_MIN_ISR and size(s[ISR]) < wanted:
        return
    x = s[OWNER]
    lowest = s[LOG + x]
    pending = s[PENDING + x] if s[GUARDS] & MAXIMAL_ISR else 0
    for b in range(w[REPLICAS]):
        if b != x and s[FAR + b] < lowest:
            counts = contains(s[ISR], b) or contains(pending, b)
            if counts or _is_waited_for(s, w, b, now):
                lowest = s[FAR + b]
    if lowest > s[HIGH_WATERMARK]:
        s[HIGH_WATERMARK] = s[KNOWN_MARK + x] = lowest
        if lowest > s[COMMITTED]:
            commit_log(s, x, lowest)


@inner
def _is_waited_for(s: list[int], w: list[int], b: int, now: int) -> bool:
    if now - s[LEVEL_AT + b] > w[LAG_US]:
        return False
    return not s[GUARDS] & WITHOUT_INELIGIBLE or is_eligible(s, b)


@inner
def is_eligible(s: list[int], b: int) -> bool:
    """Whether the leader may ask for a replica, as far as its metadata goes."""
    if s[FENCED + b] and s[GUARDS] & SKIPS_FENCED:
        return False
    if s[LEAVING + b] and s[GUARDS] & SKIPS_LEAVING:
        return False
    if not s[GUARDS] & LEADER_COMPARES:
        return True
    if s[FENCED + b] or s[FAR_EPOCH + b] == NOT_FETCHED:
        return False
    return s[FAR_EPOCH + b] == NONE or s[FAR_EPOCH + b] == s[REG_EPOCH + b]


@inner
def _expand(s: list[int], delays: list[int], b: int, now: int) -> None:
    x = s[OWNER]
    if s[PENDING + x] or not is_eligible(s, b):
        return
    if s[RECOVERING] and s[GUARDS] & LEADER_RECOVERS:
        return
    propose(s, delays, with_member(s[ISR], b), b, now)


@inner
def check_lag(s: list[int], w: list[int], delays: list[int], b: int, now: int) -> None:
    """The leader's look at who lags, on account of broker `b`."""
    if not serves(s) or s[PENDING + s[OWNER]]:
        return
    isr = s[ISR]
    for member in range(w[REPLICAS]):
        if member != s[OWNER] and contains(isr, member) and not is_caught_up(s, w, member, now):
            isr = without(isr, member)
    if isr != s[ISR]:
        propose(s, delays, isr, b, now)


@inner
def is_caught_up(s: list[int], w: list[int], b: int, now: int) -> bool:
    """Whether a follower has been level with the leader of late."""
    return s[FAR + b] == s[LOG + s[OWNER]] or now - s[LEVEL_AT + b] <= w[LAG_US]


@inner
def propose(s: list[int], delays: list[int], isr: int, cause: int, now: int) -> None:
    """Ask the controller for another ISR, on account of broker `cause`, if nothing is under way."""
    x = s[OWNER]
    if s[IN_FLIGHT + x]:
        # The manager refuses a second one: the leader goes back to the committed ISR.
        s[PENDING + x] = 0
        return
    at = _free_slot(s)
    if at == NONE:
        s[CHECKS] += 1
        return
    tried = min(s[TRIES + cause], DELAY_TRIES - 1)
    s[TRIES + cause] += 1
    # Who writes to ZooKeeper by itself waits for it: Partition.updateIsr (2.1.1 to 2.6.3).
    alone = s[GUARDS] & LEADERS_WRITE != 0
    s[at + ARRIVES] = now + (0 if alone else delays[(cause * BROKERS + x) * DELAY_TRIES + tried])
    s[at + NAME] = s[TURN]
    s[at + SENDER], s[at + SENDER_LIFE], s[at + SENDER_EPOCH] = x, s[LIFE + x], s[EPOCH + x]
    s[at + ASKED_LEADER_EPOCH] = s[LEADER_EPOCH]
    s[at + ASKED_PARTITION_EPOCH] = s[PARTITION_EPOCH]
    s[at + ASKED_ISR] = isr
    for b in range(BROKERS):
        own = b == x
        far_epoch = NONE if s[FAR_EPOCH + b] == NOT_FETCHED else s[FAR_EPOCH + b]
        s[at + ASKED_EPOCHS + b] = s[EPOCH + b] if own else far_epoch
        s[at + ASKED_LIVES + b] = s[EPOCH + b] if own else s[FAR_LIFE + b]
    s[PENDING + x], s[PENDING_NAME + x], s[IN_FLIGHT + x] = isr, s[TURN], 1


@inner
def _free_slot(s: list[int]) -> int:
    for slot in range(SLOTS):
        if s[slot_at(slot) + ARRIVES] == 0:
            return slot_at(slot)
    return NONE
