"""The controller: who leads, who is in the ISR, who is let in; and what brokers make of the news.

Sources and clauses stand with the engine's rules (`protocol/kraft`: partition changes, fencing,
AlterPartition); here is what they come to for one partition. Metadata reach every process that can
be reached with the event that wrote them.
"""

from .isr_digits import contains, is_within, size, with_member, without
from .leader_rules import commit_more
from .log_prefixes import begin_history, commit_log, has_committed
from .machine_code import inner
from .mirrored_guards import (
    ACTIVE_LEADER,
    CONTROLLER_OF_4_0,
    EPOCHS_MATCH,
    LEADER_EPOCH_IS,
    LEADER_RECOVERS,
    LEADERS_WRITE,
    NOT_FENCED,
    NOT_LEAVING,
    PARTITION_EPOCH_IS,
    REQUEST_EPOCH,
    SENDER_LEADS,
    SHRINK_KEEPS_EPOCH,
    UNCLEAN_AGAIN,
    UNCLEAN_BY_CONFIG,
)
from .set_words import (
    ARRIVES,
    ASKED_EPOCHS,
    ASKED_ISR,
    ASKED_LEADER_EPOCH,
    ASKED_LIVES,
    ASKED_PARTITION_EPOCH,
    COMMITTED_LOSS,
    CUT,
    EPOCH,
    EXPANSIONS,
    FAR,
    FAR_EPOCH,
    FAR_LIFE,
    FENCED,
    GUARDS,
    HIGH_WATERMARK,
    IN_FLIGHT,
    ISR,
    KNOWN_MARK,
    LAST_REPLICA_LOSS,
    LEADER,
    LEADER_EPOCH,
    LEADS,
    LEAVING,
    LED_OFFLINE,
    LEVEL,
    LEVEL_AT,
    LIFE,
    LOG,
    LONG_AGO,
    MIN_INSYNC,
    MODE,
    NAME,
    NEVER,
    NONE,
    NOT_FETCHED,
    OFFLINE,
    OFFLINE_SINCE,
    OFFLINE_US,
    OWNER,
    PARTITION_EPOCH,
    PENDING,
    PENDING_NAME,
    PHASE,
    RACE_LOSS,
    RECOVER_US,
    RECOVERED_AT,
    RECOVERING,
    RECOVERING_SINCE,
    RECOVERY,
    RECOVERY_US,
    REFUSED,
    REG_EPOCH,
    REPLICAS,
    SEEN_LEADER_EPOCH,
    SEEN_PARTITION_EPOCH,
    SENDER,
    SENDER_EPOCH,
    SENDER_LIFE,
    SHOCK_LOSS,
    SHOCKED,
    STALE,
    STALE_JOIN,
    TOLD_LOST,
    TOLD_REFUSED,
    TOLD_STALE,
    TOLD_STATE,
    UNCLEAN_ALLOWED,
    UNCLEAN_LOSS,
    UNCLEANLY,
    UNDER_MIN_US,
    UNDER_SINCE,
    UP,
    tell,
)

BY_LEADER, BY_CONTROLLER, BY_SHUTDOWN = 0, 1, 2
"""On whose account a partition changes. A leader's word is that it has recovered, too; with
ZooKeeper a leader that shuts down is handed over by other rules than one that is gone."""
RESEND_US = 50_000
"""After a refusal of the whole request the same is asked again: DefaultAlterPartitionManager."""


@inner
def _may_lead(s: list[int], b: int, removed: int, added: int) -> bool:
    if b == removed:
        return False
    if b == added:
        return True
    return s[FENCED + b] == 0 and not (s[LEAVING + b] and s[GUARDS] & ACTIVE_LEADER)


@inner
def _elected(s: list[int], w: list[int], isr: int, removed: int, added: int) -> int:
    """The leader, and whether the election was unclean: twice the replica, and one more if so."""
    clean = not (s[RECOVERING] and s[GUARDS] & UNCLEAN_AGAIN)
    unclean = w[UNCLEAN_ALLOWED] != 0 and s[GUARDS] & UNCLEAN_BY_CONFIG != 0
    x = s[LEADER]
    if x != NONE and contains(isr, x) and _may_lead(s, x, removed, added):
        return 2 * x
    if clean or unclean:
        for b in range(w[REPLICAS]):
            if contains(isr, b) and _may_lead(s, b, removed, added):
                return 2 * b if clean else 2 * b + 1
    if unclean:
        for b in range(w[REPLICAS]):
            if _may_lead(s, b, removed, added):
                return 2 * b + 1
    return 2 * NONE


@inner
def change(
    s: list[int],
    w: list[int],
    trace: list[int],
    isr: int,
    removed: int,
    added: int,
    cause: int,
    now: int,
) -> None:
    """The record that brings the partition there, if there is anything to write."""
    election = _elected(s, w, isr, removed, added)
    if w[MODE] and (cause == BY_LEADER or (election == 2 * NONE and s[LEADER] != removed)):
        # There a leader's word elects nobody, be it shutting down or not, and who shuts down leads
        # on where there is nobody else: tryProcessAlterPartition, doElectLeaderForPartitions.
        election = 2 * s[LEADER]
    leader, unclean = election >> 1, election & 1
    led, was = s[LEADER], s[ISR]
    unclean = unclean if leader != led else 0
    written = with_member(0, leader) if unclean else isr if isr else was
    decides = written if s[GUARDS] & CONTROLLER_OF_4_0 else isr
    bumps = leader != led or (not s[GUARDS] & SHRINK_KEEPS_EPOCH and not is_within(was, decides))
    if w[MODE]:
        if leader != led and leader != NONE:
            written = _online(s, w, written, added, cause)
        # What a controller writes is under another leader epoch, what a leader asks for is not.
        bumps = cause != BY_LEADER and (leader != led or written != was)
        s[LED_OFFLINE] = 0 if leader != led else s[LED_OFFLINE]
    goal = 0 if cause == BY_LEADER else s[RECOVERING]
    if goal == s[RECOVERING] and unclean and not s[GUARDS] & LEADERS_WRITE:
        # KIP-704, Compatibility: the recovery state is written from inter-broker protocol 3.2 on.
        goal = 1
    if written == was and not bumps and goal == s[RECOVERING]:
        return
    account(s, w, now)
    s[PARTITION_EPOCH] += 1
    s[LEADER_EPOCH] += bumps
    s[ISR], s[LEADER] = written, leader
    if unclean:
        s[UNCLEANLY] = s[LEADER_EPOCH]
    if leader == NONE and led != NONE:
        s[OFFLINE] += 1
    s[RECOVERING] = goal
    tell_state(s, trace, now)
    inform(s, w, trace, now)


@inner
def tell_state(s: list[int], trace: list[int], now: int) -> None:
    """A line of the trace."""
    state = s[ISR] * 2 + s[RECOVERING]
    tell(s, trace, now, TOLD_STATE, s[LEADER], s[LEADER_EPOCH], s[PARTITION_EPOCH], state)


@inner
def _online(s: list[int], w: list[int], isr: int, added: int, cause: int) -> int:
    """The members that are live and not shutting down: what an election with ZooKeeper leaves.

    Where a leader shuts down, nobody looks who of them is live: leaderForControlledShutdown and
    leaderForOffline (2.1.1 to 3.4.1).
    """
    for b in range(w[REPLICAS]):
        is_gone = s[FENCED + b] != 0 and cause != BY_SHUTDOWN
        if b != added and (is_gone or s[LEAVING + b]):
            isr = without(isr, b)
    return isr


@inner
def account(s: list[int], w: list[int], now: int) -> None:
    """Time that passed offline, recovering, or with too few in sync."""
    if s[LEADER] == NONE:
        s[OFFLINE_US] += now - s[OFFLINE_SINCE]
    if s[RECOVERING]:
        s[RECOVERY_US] += now - s[RECOVERING_SINCE]
    if size(s[ISR]) < w[MIN_INSYNC]:
        s[UNDER_MIN_US] += now - s[UNDER_SINCE]
    s[OFFLINE_SINCE] = s[RECOVERING_SINCE] = s[UNDER_SINCE] = now


@inner
def inform(s: list[int], w: list[int], trace: list[int], now: int) -> None:
    """Whoever can be reached plays the role that the metadata give him."""
    x = s[LEADER]
    for b in range(w[REPLICAS]):
        if b != x and s[LEADS + b] and s[CUT + b] == 0:
            s[LEADS + b] = s[PENDING + b] = 0
    if s[OWNER] != x:
        s[OWNER] = NONE
    if x == NONE or s[UP + x] == 0 or s[PHASE + x] < RECOVERY or s[CUT + x]:
        return
    if s[LEADS + x] == 0 or s[OWNER] == NONE:
        _begin_to_lead(s, w, x)
        _begin_epoch(s, w, trace, x, now)
    elif s[SEEN_LEADER_EPOCH + x] < s[LEADER_EPOCH]:
        _begin_epoch(s, w, trace, x, now)
    elif s[SEEN_PARTITION_EPOCH + x] != s[PARTITION_EPOCH]:
        s[PENDING + x] = 0
        commit_more(s, w, now)
    s[SEEN_LEADER_EPOCH + x] = s[LEADER_EPOCH]
    s[SEEN_PARTITION_EPOCH + x] = s[PARTITION_EPOCH]


@inner
def _begin_to_lead(s: list[int], w: list[int], x: int) -> None:
    """Nothing is known of the followers."""
    s[OWNER], s[LEADS + x] = x, 1
    s[HIGH_WATERMARK] = min(s[KNOWN_MARK + x], s[LOG + x])
    for b in range(w[REPLICAS]):
        s[FAR + b] = NONE
        s[FAR_EPOCH + b], s[FAR_LIFE + b] = NOT_FETCHED, NONE


@inner
def _begin_epoch(s: list[int], w: list[int], trace: list[int], x: int, now: int) -> None:
    """Under a new leader epoch; what the leader lacks of the committed records is lost."""
    s[PENDING + x] = 0
    begin_history(s, x)
    for b in range(w[REPLICAS]):
        s[LEVEL_AT + b] = now if contains(s[ISR], b) else LONG_AGO
    s[RECOVERED_AT] = NEVER
    if s[RECOVERING] and s[GUARDS] & LEADER_RECOVERS:
        s[RECOVERED_AT] = now + s[RECOVER_US + x]
    if has_committed(s, x):
        commit_more(s, w, now)
        return
    _lose(s, trace, x, now)
    commit_more(s, w, now)
    commit_log(s, x, s[HIGH_WATERMARK])


@inner
def _lose(s: list[int], trace: list[int], x: int, now: int) -> None:
    cause = LAST_REPLICA_LOSS
    if s[SHOCKED + x]:
        cause = SHOCK_LOSS
    elif s[UNCLEANLY] == s[LEADER_EPOCH]:
        cause = UNCLEAN_LOSS
    elif s[STALE + x]:
        cause = RACE_LOSS
    s[COMMITTED_LOSS] += 1
    s[cause] += 1
    tell(s, trace, now, TOLD_LOST, x, cause, 0, 0)


# --- AlterPartition -------------------------------------------------------------------------------


@inner
def alter_partition(s: list[int], w: list[int], trace: list[int], at: int, now: int) -> None:
    """A request arrives: judged in Kafka's order, then written, then answered."""
    s[at + ARRIVES] = 0
    sender = s[at + SENDER]
    waits = s[UP + sender] != 0 and s[LIFE + sender] == s[at + SENDER_LIFE]
    refused = _first_refusal(s, w, at)
    if refused:
        s[REFUSED] += 1
        tell(s, trace, now, TOLD_REFUSED, refused, sender, 0, 0)
    else:
        _accept(s, w, trace, at, now)
    if not waits:
        return
    if w[MODE] and refused == REQUEST_EPOCH:
        # The same process has registered anew, and speaks under its new epoch from now on.
        s[at + ARRIVES], s[at + SENDER_EPOCH] = now + RESEND_US, s[EPOCH + sender]
        return
    s[IN_FLIGHT + sender] = 0
    if s[PENDING_NAME + sender] == s[at + NAME]:
        # Accepted without a change, or refused as ineligible: the leader has its committed ISR.
        s[PENDING + sender] = 0


@inner
def _first_refusal(s: list[int], w: list[int], at: int) -> int:
    """The bit of the guard that refuses, or 0. With ZooKeeper nobody knows an epoch of who is not
    registered.
    """
    on, sender = s[GUARDS], s[at + SENDER]
    unknown = w[MODE] != 0 and s[FENCED + sender] != 0
    if on & REQUEST_EPOCH and (unknown or s[REG_EPOCH + sender] != s[at + SENDER_EPOCH]):
        return REQUEST_EPOCH
    if on & LEADER_EPOCH_IS and s[at + ASKED_LEADER_EPOCH] != s[LEADER_EPOCH]:
        return LEADER_EPOCH_IS
    if on & SENDER_LEADS and sender != s[LEADER]:
        return SENDER_LEADS
    if on & PARTITION_EPOCH_IS and s[at + ASKED_PARTITION_EPOCH] != s[PARTITION_EPOCH]:
        return PARTITION_EPOCH_IS
    isr = s[at + ASKED_ISR]
    while isr:
        refusal = _ineligible(s, at, (isr & 7) - 1)
        if refusal:
            return refusal
        isr >>= 3
    return 0


@inner
def _ineligible(s: list[int], at: int, member: int) -> int:
    on, epoch = s[GUARDS], s[at + ASKED_EPOCHS + member]
    if on & NOT_LEAVING and s[LEAVING + member]:
        return NOT_LEAVING
    if on & NOT_FENCED and s[FENCED + member]:
        return NOT_FENCED
    if on & EPOCHS_MATCH and epoch != NONE and epoch != s[REG_EPOCH + member]:
        return EPOCHS_MATCH
    return 0


@inner
def _accept(s: list[int], w: list[int], trace: list[int], at: int, now: int) -> None:
    was, isr = s[ISR], s[at + ASKED_ISR]
    if size(isr) > size(was):
        s[EXPANSIONS] += 1
    for b in range(w[REPLICAS]):
        joins = contains(isr, b) and not contains(was, b)
        is_gone = s[FENCED + b] != 0 and s[LEVEL + b] == 0
        if joins and (is_gone or s[REG_EPOCH + b] != s[at + ASKED_LIVES + b]):
            s[STALE + b] = 1
            s[STALE_JOIN] += 1
            tell(s, trace, now, TOLD_STALE, b, 0, 0, 0)
    change(s, w, trace, isr, NONE, NONE, BY_LEADER, now)


@inner
def leave_isr(s: list[int], w: list[int], trace: list[int], b: int, now: int) -> None:
    """Out of the ISR; where it led, somebody else does, or nobody."""
    if contains(s[ISR], b):
        change(s, w, trace, without(s[ISR], b), b, NONE, BY_CONTROLLER, now)


@inner
def gone(s: list[int], w: list[int], trace: list[int], b: int, now: int) -> None:
    """Fenced, or not registered any more: whatever it led has another leader, or none."""
    leave_isr(s, w, trace, b, now)
    s[FENCED + b] = 1
    if w[MODE]:
        s[LEAVING + b] = 0
        _look_for_leader(s, w, trace, now)


@inner
def _look_for_leader(s: list[int], w: list[int], trace: list[int], now: int) -> None:
    """Whoever goes, the controller looks at the leader, too: who shuts down is not online.

    Source: KafkaController.onReplicasBecomeOffline (2.1.1 to 3.4.1).
    """
    x = s[LEADER]
    if x == NONE or s[LEAVING + x] == 0:
        return
    change(s, w, trace, s[ISR], NONE, NONE, BY_CONTROLLER, now)
    s[LED_OFFLINE] = 1 if s[LEADER] == x else 0


@inner
def unfence(s: list[int], w: list[int], trace: list[int], b: int, now: int) -> None:
    """Let in again; a partition that nobody leads is looked at once more."""
    if s[LEADER] == NONE or s[LED_OFFLINE]:
        change(s, w, trace, s[ISR], NONE, b, BY_CONTROLLER, now)
    s[FENCED + b] = 0
