"""Draws for a follower that comes back, and crashes while the leader proposes it.

A column of uniform numbers for each delay, for any feature set: the same study seed gives the same
delays under all of them. Times are in seconds, as arrays with one number per sample.
"""

from typing import Any

import msgspec

from ...extras import needed_by
from ..parameters.parameter_table import Parameters

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
    with needed_by("an estimate"):
        from numpy import exp, inf, maximum
        from scipy.special import ndtri

    p = parameters
    slow, slow_s = p.slow_alter_partition_share, p.slow_alter_partition_s
    sigma = p.clean_restart_sigma
    away = ndtri(u[:, RESTART]) - tilt
    restart = p.crash_restart_s * exp(p.crash_restart_sigma * away)
    notice = p.session_s - p.heartbeat_s * u[:, NOTICE]
    # A controller refuses a new process while the session of the old one lasts.
    registered = maximum(restart, notice)
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
        clean=p.clean_restart_s * exp(sigma * ndtri(u[:, CLEAN]) - sigma**2 / 2),
        stopping=p.shutdown_s,
        # Out of the ISR it is not waited for: a smaller ISR has another leader epoch.
        commit_pause=notice,
        # However late it is read, it names an incarnation that is over; all members count as there.
        stale_until=registered + inf,
        tilt=exp(tilt * away + tilt**2 / 2) if p.crash_restart_sigma else 1 + 0 * away,
    )


def uniforms(seed: int, block: int, rows: int, columns: int) -> Any:
    """An array (rows, columns) of numbers in the open interval from 0 to 1.

    Raises MissingExtraError without numpy.
    """
    with needed_by("an estimate"):
        from numpy.random import Philox

    words = Philox(key=(seed << 64) + block).random_raw(rows * columns)
    # The middle of each of 2^52 cells: never 0, never 1.
    return (((words >> 12) + 0.5) * 2.0**-52).reshape(rows, columns)


def exponential(mean: float, u: Any) -> Any:
    """Exponential delays of that mean, of uniform numbers from 0 to 1."""
    from numpy import log1p

    return -mean * log1p(-u)
