"""Where each number of a world stands, behind those that the replica set's rules read."""

from .set_words import BROKERS, WORLD_WORDS

_NAMES = (
    *("crashes", "bounces", "cuts", "failovers", "rack_shocks", "cluster_shocks", "early_crashes"),
    *("crash_restart", "clean_restart", "shutdown", "ready", "catch_up", "cut_lasts"),
    *("failover_lasts", "leader_recovery", "alter_partition_fast", "alter_partition_slow"),
    *("heartbeat_age", "lag_check_phase", "flush_age"),
)
TABLES = {name: WORLD_WORDS + place for place, name in enumerate(_NAMES)}
"""Where the start of each table stands; -1 there is no table."""
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
