"""Where each number of a replica set's state stands: one list of whole numbers per feature set.

The state is what `step` keeps of one partition, and what the kernel needs to go on with it: clocks,
what is on its way, what an observer knows, counters. Logs are times: the end of a log is when its
last record was written. Of `w` (the world) everything is read-only.
"""

from .machine_code import inner

BROKERS = 5
"""At most so many replicas."""
NONE = -1
NEVER = 1 << 61
"""When what is not planned happens."""
LONG_AGO = -(1 << 61)
NOT_FETCHED = -2
"""The broker epoch of a fetch that there was none of; -1 is on the wire where it is not sent."""

# --- the state: single numbers --------------------------------------------------------------------
GUARDS, LEADER, LEADER_EPOCH, PARTITION_EPOCH, ISR, RECOVERING = 0, 1, 2, 3, 4, 5
OWNER, HIGH_WATERMARK, COMMITTED, WRITTEN, TURN, NEXT_EPOCH = 6, 7, 8, 9, 10, 11
OUTAGE, RECOVERED_AT, UNCLEANLY = 12, 13, 14
OFFLINE_SINCE, RECOVERING_SINCE, UNDER_SINCE, TRACE, PARTED, WATCHES = 15, 16, 17, 18, 19, 20
ELR, LAST_KNOWN = 21, 22
"""OWNER leads and knows that it does; OUTAGE is when there is a controller again, 0 while there is;
UNCLEANLY the leader epoch of the last unclean election; PARTED is not 0 where there is more than
one history (`log_prefixes`). WATCHES: the controller ends sessions; a new one does once it has
heard of somebody. ELR has a bit for each eligible leader replica; LAST_KNOWN is one more than the
last known leader, 0 without one."""
COUNTS = 23
(
    INCIDENTS, EXPANSIONS, STALE_JOIN, COMMITTED_LOSS, RACE_LOSS, LAST_REPLICA_LOSS, UNCLEAN_LOSS,
    SHOCK_LOSS, OFFLINE, OFFLINE_US, UNDER_MIN_US, RECOVERY_US, REFUSED, STEPS, CHECKS,
) = range(COUNTS, COUNTS + 15)  # fmt: skip
_PER_BROKER = COUNTS + 15

# --- the state: a number for each broker ----------------------------------------------------------
_FIELDS = range(_PER_BROKER, _PER_BROKER + BROKERS * 31, BROKERS)
(
    UP, PHASE, LIFE, EPOCH, REG_EPOCH, FENCED, LEAVING, LEAVES_SINCE, CONTACT, REPORT,
    LEVEL, CUT, LEADS, SEEN_LEADER_EPOCH, SEEN_PARTITION_EPOCH, LOG, FLUSHED, KNOWN_MARK,
    CHECKPOINT, FAR, LEVEL_AT, FAR_EPOCH, FAR_LIFE, STALE, SHOCKED, PENDING, PENDING_NAME,
    IN_FLIGHT, TRIES, READY_US, CATCH_UP_US,
) = _FIELDS  # fmt: skip
"""What a leader knows of a follower: FAR (its log's end), LEVEL_AT, FAR_EPOCH (on the wire),
FAR_LIFE (the true one). LEVEL: it has caught up since it began to follow. REPORT and LEAVES_SINCE
are turns, not times."""
_MORE = _PER_BROKER + BROKERS * 31
_FIELDS_2 = range(_MORE, _MORE + BROKERS * 12, BROKERS)
(
    RESTART_US, RECOVER_US, SHUTDOWN_US,
    EXPIRE_AT, HEAL_AT, STOP_AT, START_AT, READY_AT, LEVEL_DUE, LAG_AT, GIVES_UP_AT,
    IN_ORDER,
) = _FIELDS_2  # fmt: skip
"""IN_ORDER: the last process stopped so, and the controller can know it."""
DOWN, STARTING, RECOVERY, RUNNING, SHUTTING_DOWN = 0, 1, 2, 3, 4

# --- the state: requests on their way -------------------------------------------------------------
SLOTS = 8
_SLOTS_FROM = _MORE + BROKERS * 12
ARRIVES, NAME, SENDER, SENDER_LIFE, SENDER_EPOCH, ASKED_LEADER_EPOCH, ASKED_PARTITION_EPOCH = range(
    7
)
ASKED_ISR, ASKED_EPOCHS, ASKED_LIVES = 7, 8, 8 + BROKERS
SLOT_WORDS = 8 + 2 * BROKERS

# --- the state: how far two logs are the same -----------------------------------------------------
LOGS = BROKERS + 1
PREFIXES = _SLOTS_FROM + SLOTS * SLOT_WORDS
STATE_WORDS = PREFIXES + LOGS * LOGS

# --- the world ------------------------------------------------------------------------------------
(
    REPLICAS, MIN_INSYNC, UNCLEAN_ALLOWED, BOUNCES_WAIT, SESSION_OVER_US, LAG_US, RETRY_US,
    LAG_PERIOD_US, PATIENCE_US,
) = range(9)  # fmt: skip
WORLD_WORDS = 16

# --- what is told of the run ----------------------------------------------------------------------
TOLD_STATE, TOLD_REFUSED, TOLD_LOST, TOLD_STALE = 1, 2, 3, 4
TOLD_WORDS = 6


@inner
def slot_at(slot: int) -> int:
    """Where a request stands."""
    return _SLOTS_FROM + slot * SLOT_WORDS


@inner
def tell(
    s: list[int], trace: list[int], now: int, what: int, a: int, b: int, c: int, d: int
) -> None:
    """Write a line of the trace, if there is one; its first number counts the lines."""
    if not s[TRACE]:
        return
    at = 1 + trace[0] * TOLD_WORDS
    if at + TOLD_WORDS > len(trace):
        s[CHECKS] += 1
        return
    trace[at], trace[at + 1], trace[at + 2] = now, what, a
    trace[at + 3], trace[at + 4], trace[at + 5] = b, c, d
    trace[0] += 1
