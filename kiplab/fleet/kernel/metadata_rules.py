"""The controller: who leads, who is in the ISR, who is let in; and what brokers make of the news.

Sources and clauses stand with the engine's rules (`protocol/kraft`: partition changes, fencing,
AlterPartition); here is what they come to for one partition. Metadata reach every process that can
be reached with the event that wrote them.
"""

from . import mirrored_guards as guard
from . import set_words as word
from .leader_rules import begin_history, commit_log, commit_more, has_committed, is_reached
from .machine_code import Longs, inner
from .set_words import contains, is_within, size, tell, with_member, without

BY_LEADER, BY_CONTROLLER, BY_UNCLEAN_START = 0, 1, 2
"""On whose account a partition changes. A leader's word is that it has recovered, too. By an
unclean start: who is removed did not stop in order, and may lack records."""


@inner
def _may_lead(s: Longs, b: int, removed: int, added: int) -> bool:
    if b == removed:
        return False
    if b == added:
        return True
    return s[word.FENCED + b] == 0 and not (
        s[word.LEAVING + b] and s[word.GUARDS] & guard.ACTIVE_LEADER
    )


@inner
def _eligible(s: Longs, w: Longs, isr: int, removed: int, cause: int) -> int:
    """Who left an ISR that is smaller than min.insync.replicas, and stopped in order if it did."""
    elr = 0
    if not s[word.GUARDS] & guard.ELR_MEMBERS or size(isr) >= w[word.MIN_INSYNC]:
        return elr
    for b in range(w[word.REPLICAS]):
        was = s[word.ELR] >> b & 1 or contains(s[word.ISR], b)
        if was and not contains(isr, b) and not (b == removed and cause == BY_UNCLEAN_START):
            elr |= 1 << b
    return elr


@inner
def _is_named(isr: int, elr: int, b: int) -> bool:
    """Whether a replica may be elected cleanly: of an empty ISR the eligible leader replicas."""
    return contains(isr, b) if isr else b >= 0 and (elr >> b & 1) != 0


@inner
def _elected(s: Longs, w: Longs, isr: int, elr: int, removed: int, added: int) -> int:
    """The leader, and whether the election was unclean: twice the replica, and one more if so."""
    clean = not (s[word.RECOVERING] and s[word.GUARDS] & guard.UNCLEAN_AGAIN)
    unclean = w[word.UNCLEAN_ALLOWED] != 0 and s[word.GUARDS] & guard.UNCLEAN_BY_CONFIG != 0
    x, last = s[word.LEADER], s[word.LAST_KNOWN] - 1
    named = elr if s[word.GUARDS] & guard.ELR_ELECTION else 0
    if x != word.NONE and _is_named(isr, named, x) and _may_lead(s, x, removed, added):
        return 2 * x
    if clean or unclean:
        for b in range(w[word.REPLICAS]):
            if _is_named(isr, named, b) and _may_lead(s, b, removed, added):
                return 2 * b if clean else 2 * b + 1
    if isr == 0 and elr == 0 and last != word.NONE and _may_lead(s, last, removed, added):
        return 2 * last + 1
    if unclean:
        for b in range(w[word.REPLICAS]):
            if _may_lead(s, b, removed, added):
                return 2 * b + 1
    return 2 * word.NONE


@inner
def change(
    s: Longs, w: Longs, trace: Longs, isr: int, removed: int, added: int, cause: int, now: int
) -> None:
    """The record that brings the partition there, if there is anything to write."""
    elr = _eligible(s, w, isr, removed, cause)
    election = _elected(s, w, isr, elr, removed, added)
    leader, unclean = election >> 1, election & 1
    led, was = s[word.LEADER], s[word.ISR]
    unclean = unclean if leader != led else 0
    if leader != led and _is_named(0, elr, leader):
        isr, elr = with_member(0, leader), elr - (1 << leader)
    written = isr if isr or s[word.GUARDS] & guard.EMPTY_ISR else was
    if unclean:
        written, elr = with_member(0, leader), 0
    bumps = leader != led or (
        not s[word.GUARDS] & guard.SHRINK_KEEPS_EPOCH and not is_within(was, isr)
    )
    goal = 0 if cause == BY_LEADER else s[word.RECOVERING]
    if goal == s[word.RECOVERING] and unclean:
        goal = 1
    same = goal == s[word.RECOVERING] and elr == s[word.ELR]
    if same and written == was and not bumps:
        return
    account(s, w, now)
    s[word.PARTITION_EPOCH] += 1
    s[word.LEADER_EPOCH] += bumps
    s[word.ISR], s[word.LEADER], s[word.ELR] = written, leader, elr
    if leader != word.NONE and bumps:
        s[word.LAST_KNOWN] = 0
    elif leader != led and s[word.LAST_KNOWN] == 0 and s[word.GUARDS] & guard.LAST_LEADER:
        s[word.LAST_KNOWN] = led + 1
    if unclean:
        s[word.UNCLEANLY] = s[word.LEADER_EPOCH]
    if leader == word.NONE and led != word.NONE:
        s[word.OFFLINE] += 1
    s[word.RECOVERING] = goal
    epoch, of_elr = s[word.PARTITION_EPOCH], s[word.LAST_KNOWN] << word.BROKERS | elr
    state = (of_elr << 3 * word.BROKERS | s[word.ISR]) * 2 + s[word.RECOVERING]
    tell(s, trace, now, word.TOLD_STATE, leader, s[word.LEADER_EPOCH], epoch, state)
    inform(s, w, trace, now)


@inner
def account(s: Longs, w: Longs, now: int) -> None:
    """Time that passed offline, recovering, or with too few in sync."""
    if s[word.LEADER] == word.NONE:
        s[word.OFFLINE_US] += now - s[word.OFFLINE_SINCE]
    if s[word.RECOVERING]:
        s[word.RECOVERY_US] += now - s[word.RECOVERING_SINCE]
    if size(s[word.ISR]) < w[word.MIN_INSYNC]:
        s[word.UNDER_MIN_US] += now - s[word.UNDER_SINCE]
    s[word.OFFLINE_SINCE] = s[word.RECOVERING_SINCE] = s[word.UNDER_SINCE] = now


@inner
def inform(s: Longs, w: Longs, trace: Longs, now: int) -> None:
    """Whoever can be reached plays the role that the metadata give him."""
    x = s[word.LEADER]
    for b in range(w[word.REPLICAS]):
        if b != x and s[word.LEADS + b] and s[word.CUT + b] == 0:
            s[word.LEADS + b] = s[word.PENDING + b] = 0
    if s[word.OWNER] != x:
        s[word.OWNER] = word.NONE
    if x == word.NONE or not is_reached(s, x):
        return
    if s[word.LEADS + x] == 0 or s[word.OWNER] == word.NONE:
        _begin_to_lead(s, w, x)
        _begin_epoch(s, w, trace, x, now)
    elif s[word.SEEN_LEADER_EPOCH + x] < s[word.LEADER_EPOCH]:
        _begin_epoch(s, w, trace, x, now)
    elif s[word.SEEN_PARTITION_EPOCH + x] != s[word.PARTITION_EPOCH]:
        s[word.PENDING + x] = 0
        commit_more(s, w, now)
    s[word.SEEN_LEADER_EPOCH + x] = s[word.LEADER_EPOCH]
    s[word.SEEN_PARTITION_EPOCH + x] = s[word.PARTITION_EPOCH]


@inner
def _begin_to_lead(s: Longs, w: Longs, x: int) -> None:
    """Nothing is known of the followers."""
    s[word.OWNER], s[word.LEADS + x] = x, 1
    s[word.HIGH_WATERMARK] = min(s[word.KNOWN_MARK + x], s[word.LOG + x])
    for b in range(w[word.REPLICAS]):
        s[word.FAR + b] = word.NONE
        s[word.FAR_EPOCH + b], s[word.FAR_LIFE + b] = word.NOT_FETCHED, word.NONE


@inner
def _begin_epoch(s: Longs, w: Longs, trace: Longs, x: int, now: int) -> None:
    """Under a new leader epoch; what the leader lacks of the committed records is lost."""
    s[word.PENDING + x] = 0
    begin_history(s, x)
    for b in range(w[word.REPLICAS]):
        s[word.LEVEL_AT + b] = now if contains(s[word.ISR], b) else word.LONG_AGO
    s[word.RECOVERED_AT] = word.NEVER
    if s[word.RECOVERING] and s[word.GUARDS] & guard.LEADER_RECOVERS:
        s[word.RECOVERED_AT] = now + s[word.RECOVER_US + x]
    loses = not has_committed(s, x)
    if loses:
        _lose(s, trace, x, now)
    commit_more(s, w, now)
    if loses:
        commit_log(s, x, s[word.HIGH_WATERMARK])


@inner
def _lose(s: Longs, trace: Longs, x: int, now: int) -> None:
    cause = word.LAST_REPLICA_LOSS
    if s[word.SHOCKED + x]:
        cause = word.SHOCK_LOSS
    elif s[word.UNCLEANLY] == s[word.LEADER_EPOCH]:
        cause = word.UNCLEAN_LOSS
    elif s[word.STALE + x]:
        cause = word.RACE_LOSS
    s[word.COMMITTED_LOSS] += 1
    s[cause] += 1
    tell(s, trace, now, word.TOLD_LOST, x, cause, 0, 0)


# --- AlterPartition -------------------------------------------------------------------------------


@inner
def alter_partition(s: Longs, w: Longs, trace: Longs, at: int, now: int) -> None:
    """A request arrives: judged in Kafka's order, then written, then answered."""
    s[at + word.ARRIVES] = 0
    sender = s[at + word.SENDER]
    waits = s[word.UP + sender] != 0 and s[word.LIFE + sender] == s[at + word.SENDER_LIFE]
    refused = _first_refusal(s, at)
    if refused:
        s[word.REFUSED] += 1
        tell(s, trace, now, word.TOLD_REFUSED, refused, sender, 0, 0)
    else:
        _accept(s, w, trace, at, now)
    if not waits:
        return
    s[word.IN_FLIGHT + sender] = 0
    if s[word.PENDING_NAME + sender] == s[at + word.NAME]:
        # Accepted without a change, or refused as ineligible: the leader has its committed ISR.
        s[word.PENDING + sender] = 0


@inner
def _first_refusal(s: Longs, at: int) -> int:
    """The bit of the guard that refuses, or 0."""
    on, sender = s[word.GUARDS], s[at + word.SENDER]
    if on & guard.REQUEST_EPOCH and s[word.REG_EPOCH + sender] != s[at + word.SENDER_EPOCH]:
        return guard.REQUEST_EPOCH
    if on & guard.LEADER_EPOCH_IS and s[at + word.ASKED_LEADER_EPOCH] != s[word.LEADER_EPOCH]:
        return guard.LEADER_EPOCH_IS
    if on & guard.SENDER_LEADS and sender != s[word.LEADER]:
        return guard.SENDER_LEADS
    isr, epoch = s[at + word.ASKED_ISR], s[at + word.ASKED_PARTITION_EPOCH]
    if on & guard.PARTITION_EPOCH_IS and epoch != s[word.PARTITION_EPOCH]:
        return guard.PARTITION_EPOCH_IS
    while isr:
        refusal = _ineligible(s, at, (isr & 7) - 1)
        if refusal:
            return refusal
        isr >>= 3
    return 0


@inner
def _ineligible(s: Longs, at: int, member: int) -> int:
    on, epoch = s[word.GUARDS], s[at + word.ASKED_EPOCHS + member]
    if on & guard.NOT_LEAVING and s[word.LEAVING + member]:
        return guard.NOT_LEAVING
    if on & guard.NOT_FENCED and s[word.FENCED + member]:
        return guard.NOT_FENCED
    if on & guard.EPOCHS_MATCH and epoch != word.NONE and epoch != s[word.REG_EPOCH + member]:
        return guard.EPOCHS_MATCH
    return 0


@inner
def _accept(s: Longs, w: Longs, trace: Longs, at: int, now: int) -> None:
    was, isr = s[word.ISR], s[at + word.ASKED_ISR]
    if size(isr) > size(was):
        s[word.EXPANSIONS] += 1
    for b in range(w[word.REPLICAS]):
        joins = contains(isr, b) and not contains(was, b)
        is_gone = s[word.FENCED + b] != 0 and s[word.LEVEL + b] == 0
        if joins and (is_gone or s[word.REG_EPOCH + b] != s[at + word.ASKED_LIVES + b]):
            s[word.STALE + b] = 1
            s[word.STALE_JOIN] += 1
            tell(s, trace, now, word.TOLD_STALE, b, 0, 0, 0)
    change(s, w, trace, isr, word.NONE, word.NONE, BY_LEADER, now)


@inner
def leave_isr(s: Longs, w: Longs, trace: Longs, b: int, now: int) -> None:
    """Out of the ISR; where it led, somebody else does, or nobody."""
    if contains(s[word.ISR], b):
        change(s, w, trace, without(s[word.ISR], b), b, word.NONE, BY_CONTROLLER, now)


@inner
def gone(s: Longs, w: Longs, trace: Longs, b: int, now: int) -> None:
    """Fenced: whatever it led has another leader, or none."""
    leave_isr(s, w, trace, b, now)
    s[word.FENCED + b] = 1


@inner
def unfence(s: Longs, w: Longs, trace: Longs, b: int, now: int) -> None:
    """Let in again; a partition that nobody leads is looked at once more."""
    if s[word.LEADER] == word.NONE:
        change(s, w, trace, s[word.ISR], word.NONE, b, BY_CONTROLLER, now)
    s[word.FENCED + b] = 0
