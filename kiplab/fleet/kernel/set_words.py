"""Where each number of a replica set's state stands: one list of whole numbers per feature set;
and where each number of its world.

The state is what `step` keeps of one partition, and what the kernel needs to go on with it: clocks,
what is on its way, what an observer knows, counters. Logs are times: the end of a log is when its
last record was written. Of `w` (the world) everything is read-only. An ISR is one number: a digit
of three bits per member (1 is replica 0), in Kafka's order.
"""

from .machine_code import Longs, inner

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
one history (`leader_rules`). WATCHES: the controller ends sessions; a new one does once it has
heard of somebody. ELR has a bit for each eligible leader replica; LAST_KNOWN is one more than the
last known leader, 0 without one."""
COUNTS = 23
(
    INCIDENTS, EXPANSIONS, STALE_JOIN, COMMITTED_LOSS, RACE_LOSS, LAST_REPLICA_LOSS, UNCLEAN_LOSS,
    SHOCK_LOSS, OFFLINE, OFFLINE_US, UNDER_MIN_US, RECOVERY_US, REFUSED, STEPS, CHECKS,
) = range(COUNTS, COUNTS + 15)  # fmt: skip
_PER_BROKER = COUNTS + 15

# --- the state: a number for each broker ----------------------------------------------------------
(
    UP, PHASE, LIFE, EPOCH, REG_EPOCH, FENCED, LEAVING, LEAVES_SINCE, CONTACT, REPORT,
    LEVEL, CUT, LEADS, SEEN_LEADER_EPOCH, SEEN_PARTITION_EPOCH, LOG, FLUSHED, KNOWN_MARK,
    CHECKPOINT, FAR, LEVEL_AT, FAR_EPOCH, FAR_LIFE, STALE, SHOCKED, PENDING, PENDING_NAME,
    IN_FLIGHT, TRIES, READY_US, CATCH_UP_US,
    RESTART_US, RECOVER_US, SHUTDOWN_US,
    EXPIRE_AT, HEAL_AT, STOP_AT, START_AT, READY_AT, LEVEL_DUE, LAG_AT, GIVES_UP_AT,
    IN_ORDER,
) = range(_PER_BROKER, _PER_BROKER + BROKERS * 43, BROKERS)  # fmt: skip
"""What a leader knows of a follower: FAR (its log's end), LEVEL_AT, FAR_EPOCH (on the wire),
FAR_LIFE (the true one). LEVEL: it has caught up since it began to follow. REPORT and LEAVES_SINCE
are turns, not times. IN_ORDER: the last process stopped so, and the controller can know it."""
DOWN, STARTING, RECOVERY, RUNNING, SHUTTING_DOWN = 0, 1, 2, 3, 4

# --- the state: requests on their way -------------------------------------------------------------
SLOTS = 8
_SLOTS_FROM = IN_ORDER + BROKERS
ARRIVES, NAME, SENDER, SENDER_LIFE, SENDER_EPOCH = range(5)
ASKED_LEADER_EPOCH, ASKED_PARTITION_EPOCH, ASKED_ISR, ASKED_EPOCHS = range(5, 9)
ASKED_LIVES = ASKED_EPOCHS + BROKERS
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
_NAMES = (
    *("crash_mean_us", "bounce_mean_us", "cut_mean_us", "failover_mean_us", "rack_shock_mean_us"),
    *("cluster_shock_mean_us", "early_mean_us", "crash_restart", "clean_restart", "shutdown"),
    *("ready", "catch_up", "cut_lasts", "failover_lasts", "leader_recovery"),
    *("alter_partition_fast", "alter_partition_slow", "heartbeat_age", "lag_check_phase"),
    "flush_age",
)
TABLES = {name: WORLD_WORDS + place for place, name in enumerate(_NAMES)}
"""Where the start of each table stands, by the field of World; -1 there is no table."""
_BEHIND = WORLD_WORDS + len(_NAMES)
(
    DISK_LOST_BELOW, TAIL_LOST_BELOW, SHOCK_LOST_BELOW, SLOW_BELOW, EARLY_WITHIN,
    CRASH_BOUND, BOUNCE_BOUND, LOOK_BACK, FAST_IN_TIME, OUTAGE_BOUND, SHOCK_FATE_SHARED,
    LASTS_ON_US, RACK_OF,
) = range(_BEHIND, _BEHIND + 13)  # fmt: skip
"""LASTS_ON_US: how long at most a broker that stopped is not registered again (from 4.0 on)."""
WORLD_SIZE = RACK_OF + BROKERS
(
    CRASHES, BOUNCES, CUTS, FAILOVERS, RACK_SHOCKS, CLUSTER_SHOCKS, EARLY_CRASHES,
    CRASH_RESTART, CLEAN_RESTART, STOPPING, GETTING_READY, CATCHING_UP, CUT_LASTS,
    OUTAGE_LASTS, LEADER_RECOVERY, FAST_REQUEST, SLOW_REQUEST,
    BEAT_AGE, LOOK_PHASE, FLUSH_AGE,
) = TABLES.values()  # fmt: skip

# --- what is told of the run ----------------------------------------------------------------------
TOLD_STATE, TOLD_REFUSED, TOLD_LOST, TOLD_STALE = 1, 2, 3, 4
TOLD_WORDS = 6


@inner
def slot_at(slot: int) -> int:
    """Where a request stands."""
    return _SLOTS_FROM + slot * SLOT_WORDS


@inner
def tell(s: Longs, trace: Longs, now: int, what: int, a: int, b: int, c: int, d: int) -> None:
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


# --- an ISR ---------------------------------------------------------------------------------------


@inner
def contains(isr: int, replica: int) -> bool:
    """Whether a replica is in it."""
    while isr:
        if (isr & 7) == replica + 1:
            return True
        isr >>= 3
    return False


@inner
def size(isr: int) -> int:
    """How many members there are."""
    members = 0
    while isr:
        members += 1
        isr >>= 3
    return members


@inner
def with_member(isr: int, replica: int) -> int:
    """One member more, at the end."""
    return isr | (replica + 1) << (3 * size(isr))


@inner
def without(isr: int, replica: int) -> int:
    """One member less; the others stay in their order."""
    left, place = 0, 0
    while isr:
        if (isr & 7) != replica + 1:
            left |= (isr & 7) << place
            place += 3
        isr >>= 3
    return left


@inner
def is_within(isr: int, other: int) -> bool:
    """Whether every member of `isr` is one of `other`."""
    while isr:
        if not contains(other, (isr & 7) - 1):
            return False
        isr >>= 3
    return True


def members_of(isr: int) -> tuple[int, ...]:
    """The members in their order, counted from 0."""
    members = []
    while isr:
        members.append((isr & 7) - 1)
        isr >>= 3
    return tuple(members)
