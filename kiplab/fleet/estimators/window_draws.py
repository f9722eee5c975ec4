"""Draws for a follower that comes back, and crashes while the leader proposes it.

A column of uniform numbers for each delay, for any feature set: the same study seed gives the same
delays under all of them. Times are in seconds, as arrays with one number per sample.

Beside them are formulas on one line, to first order in what is rare: each good to some thousandths.
Rates are per partition and year. Exponential delays, unless a name says otherwise.
"""

from math import exp
from typing import Any

import msgspec
from msgspec.structs import replace

from ...extras import Deferred
from ..parameters.parameter_table import Parameters
from ..parameters.scenario import SECONDS_PER_YEAR

np, special = (Deferred(name, "an estimate") for name in ("numpy", "scipy.special"))
COLUMNS = 12
"""How many uniform numbers a sample has."""
(
    NOTICE, RESTART, READY, LEVEL, EARLIER, EVICT, CLEAN, ASKED_DOWN, CRASHED_DOWN, ASKED_UP,
    CRASHED_UP, ASKED_QUIETLY,
) = range(COLUMNS)  # fmt: skip


class WindowDraws(msgspec.Struct, frozen=True, kw_only=True):
    """From the crash on: `notice` until the controller knows, `registered` until the next process
    is, then `ready` until it may be in an ISR and `level` until it has the records.

    `tilt` is the likelihood ratio of these draws. `earlier`: how long the process had been up when
    the leader asked. That a stale one is to leave is asked at the later of crash + `evict_least`
    and the join, plus `evict_more`; `evict_asked` are shares, and after how long that is read.
    `leader_notice`: until the controller knows of a leader that has crashed. `clean`: how long a
    planned restart takes, `stopping`: how long the broker serves on before.

    `commit_pause`: for so long after a crash the leader waits for who is gone, and commits nothing.

    A request of an earlier incarnation that is read after `stale_until` is no stale join any more.
    """

    notice: Any
    registered: Any
    ready: Any
    level: Any
    earlier: Any
    evict_least: float
    evict_more: Any
    evict_asked: tuple[tuple[float, Any], ...]
    leader_notice: float
    clean: Any
    stopping: float
    commit_pause: Any
    stale_until: Any
    tilt: Any


def real_draws(parameters: Parameters, u: Any, tilt: float) -> WindowDraws:
    """As the kernel draws them. `tilt`: by how many standard deviations restarts are shorter.

    Raises MissingExtraError without scipy.
    """
    p = parameters
    slow, slow_s = p.slow_alter_partition_share, p.slow_alter_partition_s
    sigma = p.clean_restart_sigma
    away = special.ndtri(u[:, RESTART]) - tilt
    restart = p.crash_restart_s * np.exp(p.crash_restart_sigma * away)
    notice = p.session_s - p.heartbeat_s * u[:, NOTICE]
    # A controller refuses a new process while the session of the old one lasts.
    registered = np.maximum(restart, notice)
    return WindowDraws(
        notice=notice,
        registered=registered,
        ready=exponential(p.ready_s, u[:, READY]),
        level=exponential(p.catch_up_s, u[:, LEVEL]),
        earlier=exponential(p.catch_up_s, u[:, EARLIER]),
        evict_least=p.lag_s,
        evict_more=p.lag_s / 2 * u[:, EVICT],
        # Milliseconds of a fast request are nothing beside the seconds before it.
        evict_asked=((1 - slow, 0.0), (slow, exponential(slow_s, u[:, ASKED_QUIETLY]))),
        # On average: how the heartbeats of two brokers lie to each other does not matter.
        leader_notice=p.session_s - p.heartbeat_s / 2,
        clean=p.clean_restart_s * np.exp(sigma * special.ndtri(u[:, CLEAN]) - sigma**2 / 2),
        stopping=p.shutdown_s,
        # Out of the ISR it is not waited for: a smaller ISR has another leader epoch.
        commit_pause=notice,
        # However late it is read, it names an incarnation that is over; all members count as there.
        stale_until=registered + np.inf,
        tilt=np.exp(tilt * away + tilt**2 / 2) if p.crash_restart_sigma else 1 + 0 * away,
    )


def uniforms(seed: int, block: int, rows: int) -> Any:
    """An array (rows, COLUMNS) of numbers in the open interval from 0 to 1.

    Raises MissingExtraError without numpy.
    """
    words = np.random.Philox(key=(seed << 64) + block).random_raw(rows * COLUMNS)
    # The middle of each of 2^52 cells: never 0, never 1.
    return (((words >> 12) + 0.5) * 2.0**-52).reshape(rows, COLUMNS)


def exponential(mean: float, u: Any) -> Any:
    """Exponential delays of that mean, of uniform numbers from 0 to 1."""
    return -mean * np.log1p(-u)


# --- formulas on one line -------------------------------------------------------------------------


def expansions(parameters: Parameters) -> float:
    """How often an ISR of all replicas shrinks by one and grows again."""
    each = parameters.bounces_per_year + parameters.crashes_per_year
    return parameters.replication_factor * each


def alone_share(parameters: Parameters) -> float:
    """The share of time with one replica out of the ISR, and with that alone in it if of two."""
    crashed = parameters.crashes_per_year * (parameters.session_s + parameters.crash_restart_s)
    bounced = parameters.bounces_per_year * parameters.clean_restart_s
    waiting_s = parameters.slow_alter_partition_share * parameters.slow_alter_partition_s
    each = parameters.crashes_per_year + parameters.bounces_per_year
    missing = crashed + bounced + each * (parameters.catch_up_s + waiting_s)
    return parameters.replication_factor * missing / SECONDS_PER_YEAR


def lost_share(parameters: Parameters) -> float:
    """The share of crashes after which committed records are gone: with the page cache or disk."""
    return replaced_share(parameters) + tail_lost_share(parameters)


def tail_lost_share(parameters: Parameters) -> float:
    """The share of crashes that take the page cache and leave the disk."""
    return (1 - replaced_share(parameters)) * parameters.tail_lost


def replaced_share(parameters: Parameters) -> float:
    """The share of crashes after which the disk is empty."""
    crashes = parameters.crashes_per_year
    return parameters.disk_failures_per_year / crashes if crashes else 0.0


def met_by_another(p: Parameters, window_s: float) -> float:
    """The share of windows of this length in which one of the brokers crashes once more.

    That is what an estimate and a formula of first order drop, and so what they may be off by.
    """
    often = p.crashes_per_year * p.early_crash_factor
    return p.replication_factor * often * window_s / SECONDS_PER_YEAR


def away_s(p: Parameters) -> float:
    """How long a broker is out of the ISR after a crash: noticed, restarted, level, asked for."""
    restart = p.crash_restart_s * exp(p.crash_restart_sigma**2 / 2)
    waiting_s = p.slow_alter_partition_share * p.slow_alter_partition_s
    return p.session_s + restart + p.catch_up_s + waiting_s


def race_s(p: Parameters) -> float:
    """The longest window of the race: away with a slow request, or as long as crashes are early."""
    early = p.early_crash_within_s if p.early_crash_factor > 1 else 0.0
    return max(away_s(replace(p, slow_alter_partition_share=1.0)), early)
