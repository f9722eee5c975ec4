"""Forced windows: the crash that matters is put into its window, and weighted with its probability.

A sample is one return of a follower to the ISR. Frequent values are drawn (delays). The request is
long enough to matter, the follower crashes inside the window that leads to a stale join, and the
leader goes before the stale one is gone again: the probability of each of these is computed. Fast
and slow requests are strata of their own, both in every sample.

Two ways lead to a stale join. After a crash it can cost records, and is counted by itself as well.
Without KIP-841 a leader that stops cleanly is proposed once more, too, and may be gone when the
request is read: that is far more frequent at base rates, and costs nothing, since the broker lacks
nothing that is committed meanwhile.

Dropped: paths with one more crash within such a window, of the order of crash rate times window
(1e-4 of the estimate at base rates).
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from ...extras import Deferred
from ..parameters.parameter_table import Parameters
from ..parameters.scenario import SECONDS_PER_YEAR
from ..statistics.block_means import Weights, weighed_rate
from ..statistics.event_rates import FoundRate, NeverHappens
from . import window_draws
from .window_draws import alone_share, expansions, lost_share, tail_lost_share

np = Deferred("numpy", "an estimate")
STALE_JOIN, STALE_JOIN_AFTER_CRASH = "stale_join", "stale_join_after_crash"
RACE_LOSS, LAST_REPLICA_LOSS, UNCLEAN_LOSS = "race_loss", "last_replica_loss", "unclean_loss"
METRICS = (STALE_JOIN, STALE_JOIN_AFTER_CRASH, RACE_LOSS, LAST_REPLICA_LOSS)
BLOCKS, SAMPLES = 40, 250
"""By default: so many blocks of so many samples."""
_SOON_S = 1e-6
"""As good as at once."""
_SDS_SHORTER = 2.0
"""Where only a short restart can lead to a stale join, it is drawn so much shorter."""
_REFUSED = "KIP-841 refuses the join while the broker is fenced, KIP-903 once it is back"

DrawWindows = Callable[[Parameters, Any, float], window_draws.WindowDraws]


class _Window(msgspec.Struct, frozen=True):
    """Arrays, from the request on: when it is read, when the follower crashes, and the weight."""

    read: Any
    crash: Any
    weight: Any


def forced_rates(
    parameters: Parameters,
    kips: frozenset[str] = frozenset(),
    *,
    seed: int,
    blocks: int = BLOCKS,
    samples: int = SAMPLES,
    draw: DrawWindows = window_draws.real_draws,
    block_of: Callable[..., dict[str, Weights]] | None = None,
) -> dict[str, FoundRate]:
    """Stale joins (all, and those after a crash), race losses and losses of the last replica, per
    partition and year. Only what `METRICS` names; no cut, shock or failover of a controller. Or
    what other blocks have: those of `block_of`, which takes what `forced_block` takes.

    Raises ValueError for other than two replicas of which one suffices, for fewer than 30 blocks,
    MissingExtraError without numpy and scipy.
    """
    draws = partial(block_of or forced_block, parameters, kips, seed=seed, samples=samples)
    weights = [draws(block=block, draw=draw) for block in range(blocks)]
    years = blocks * forced_exposure(parameters, samples)
    found = {name: weighed_rate([each[name] for each in weights], years) for name in weights[0]}
    refused = {*METRICS[:-1]} & {*found} if {"841", "903"} <= kips else ()
    return found | dict.fromkeys(refused, NeverHappens(because=_REFUSED))


def forced_exposure(parameters: Parameters, samples: int) -> float:
    """The partition-years that so many returns to the ISR stand for.

    While a replica is missing no other return begins.
    """
    return samples * (1 + alone_share(parameters)) / expansions(parameters)


def forced_block(
    parameters: Parameters,
    kips: frozenset[str],
    *,
    seed: int,
    block: int,
    samples: int,
    draw: DrawWindows = window_draws.real_draws,
) -> dict[str, Weights]:
    """The weights of one block, by metric; a function of its arguments alone.

    Raises ValueError for other than two replicas of which one suffices, MissingExtraError without
    numpy and scipy.
    """
    if (parameters.replication_factor, parameters.min_insync_replicas) != (2, 1):
        replicas = f"{parameters.replication_factor} replicas with min.insync.replicas="
        problem = f"{replicas}{parameters.min_insync_replicas}"
        raise ValueError(f"{problem}: windows are forced for two replicas of which one suffices")
    u = window_draws.uniforms(seed, block, samples)
    plain, shorter = draw(parameters, u, 0.0), draw(parameters, u, _SDS_SHORTER)
    weights = dict.fromkeys(METRICS, 0 * u[:, 0])
    for draws, window in _windows(parameters, kips, plain, shorter, u):
        weights[STALE_JOIN_AFTER_CRASH] = weights[STALE_JOIN_AFTER_CRASH] + window.weight
        weights[RACE_LOSS] = weights[RACE_LOSS] + _race(parameters, draws, window)
    weights[STALE_JOIN] = weights[STALE_JOIN_AFTER_CRASH] + _of_stops(parameters, kips, plain)
    # With KIP-966 the last replica is struck off, and leads all the same, uncleanly.
    last = UNCLEAN_LOSS if "elr" in kips else LAST_REPLICA_LOSS
    weights[last] = _alone(parameters, plain, u)
    return {metric: weights_of(each) for metric, each in weights.items()}


def weights_of(each: Any) -> Weights:
    """Of one weight per sample, added one by one: numpy's sum depends on how it is cut."""
    return Weights(
        samples=len(each),
        total=float(np.cumsum(each)[-1]),
        squares=float(np.cumsum(each**2)[-1]),
        largest=float(each.max()),
    )


def _windows(
    p: Parameters,
    kips: frozenset[str],
    plain: window_draws.WindowDraws,
    shorter: window_draws.WindowDraws,
    u: Any,
) -> list[tuple[window_draws.WindowDraws, _Window]]:
    """Of both strata: joins while the follower is down, and once it is back and not caught up."""
    ways = []
    if "841" not in kips:
        columns = (window_draws.ASKED_DOWN, window_draws.CRASHED_DOWN)
        ways.append((plain, (plain.notice, plain.registered), columns))
    if "903" not in kips:
        columns = (window_draws.ASKED_UP, window_draws.CRASHED_UP)
        fenced = shorter.ready if "841" in kips else 0.0
        ways.append((shorter, (shorter.registered + fenced, shorter.stale_until), columns))
    return [
        (draws, _window(p, draws, ends, stratum, (u[:, asked], u[:, crashed])))
        for stratum in _strata(p)
        for draws, ends, (asked, crashed) in ways
    ]


def _strata(p: Parameters) -> tuple[tuple[float, float], ...]:
    """Fast and slow requests: their share, and how long they take on average."""
    slow = p.slow_alter_partition_share
    return (1 - slow, p.alter_partition_ms / 1000), (slow, p.slow_alter_partition_s)


def _window(
    p: Parameters,
    draws: window_draws.WindowDraws,
    ends: tuple[Any, Any],
    stratum: tuple[float, float],
    u: tuple[Any, Any],
) -> _Window:
    """A stale join is a request that is read between `ends` after the crash."""
    (first, last), (share, mean), (asked_uniforms, crashed) = ends, stratum, u
    # Exponential delays forget: beyond the least that matters they are as they are from 0.
    read = first - mean * np.log1p(-asked_uniforms)
    earliest = np.maximum(read - last, 0)
    latest = np.maximum(read - first, earliest)
    before, until = (_hazard(p, draws.earlier, moment) for moment in (earliest, latest))
    chance = -np.expm1(before - until) * np.exp(-before)
    at = before - np.log1p(crashed * np.expm1(before - until))
    weight = share * np.exp(-first / mean) * chance * draws.tilt
    return _Window(read, _moment(p, draws.earlier, at), weight)


def _hazard(p: Parameters, earlier: Any, moment: Any) -> Any:
    """The crashes expected from the request until `moment`."""
    soon = np.clip(p.early_crash_within_s - earlier, 0, moment)
    return (moment + (p.early_crash_factor - 1) * soon) * p.crashes_per_year / SECONDS_PER_YEAR


def _moment(p: Parameters, earlier: Any, expected: Any) -> Any:
    """Until when so many crashes are expected: the inverse of `_hazard`."""
    if not p.crashes_per_year:
        return 0 * expected
    left = expected * SECONDS_PER_YEAR / p.crashes_per_year
    soon = np.clip(p.early_crash_within_s - earlier, 0, left / p.early_crash_factor)
    return left - (p.early_crash_factor - 1) * soon


def _of_stops(p: Parameters, kips: frozenset[str], draws: window_draws.WindowDraws) -> Any:
    """A leader that stops is asked for once more, and the request is read when it is gone.

    Every other planned restart is that of a leader.
    """
    rate = 0.0 * draws.clean
    if "841" in kips:
        return rate
    for share, mean in _strata(p):
        still_away = -np.expm1(-draws.clean / mean) if "903" in kips else 1.0
        rate = rate + share * np.exp(-draws.stopping / mean) * still_away
    return rate * p.bounces_per_year / (p.bounces_per_year + p.crashes_per_year) / 2


def _race(p: Parameters, draws: window_draws.WindowDraws, window: _Window) -> Any:
    """The leader goes while the stale one is in the ISR, which had lost records in its crash."""
    back = window.crash + draws.registered
    # Until its session is over, what a dead leader asked for is read as that of a living one.
    unnoticed = np.minimum(window.read, draws.leader_notice)
    evicted = np.maximum(window.crash + draws.evict_least, window.read) + draws.evict_more
    chance = 0.0 * back
    for share, answer_s in draws.evict_asked:
        end = np.minimum(evicted + answer_s, back + draws.level)
        down = np.maximum(np.minimum(end, back) - window.read, 0)
        up = np.maximum(end - np.maximum(window.read, back), 0)
        # All are in the ISR, but a planned restart also waits for a broker that is down.
        stopped = up if p.bounces_wait else down + up
        crashed = p.crashes_per_year * (unnoticed + down + up)
        goes = (crashed + p.bounces_per_year * stopped) / SECONDS_PER_YEAR
        chance = chance - share * np.expm1(-goes)
    return chance * lost_share(p) * window.weight


def _alone(p: Parameters, draws: window_draws.WindowDraws, u: Any) -> Any:
    """The leader crashes, and loses records, while the follower is out of the ISR."""
    back = np.maximum(draws.ready, draws.level)
    away = (
        (p.bounces_per_year, draws.clean, 0.0),
        (p.crashes_per_year, draws.registered, draws.commit_pause),
    )
    chance = 0.0 * back
    for often, gone, held in away:
        for share, mean in _strata(p):
            alone = gone + back - mean * np.log1p(-u[:, window_draws.ASKED_QUIETLY])
            fatal = lost_share(p) * alone - tail_lost_share(p) * _harmless(p, held)
            goes = p.crashes_per_year * fatal / SECONDS_PER_YEAR
            chance = chance - often * share * np.expm1(-goes)
    return chance / (p.bounces_per_year + p.crashes_per_year)


def _harmless(p: Parameters, held: Any) -> Any:
    """How much of the time alone has nothing committed in what is not flushed.

    While nothing is committed, what was is flushed more and more.
    """
    partly = np.minimum(held, p.unflushed_s)
    return partly**2 / (2 * max(p.unflushed_s, _SOON_S)) + np.maximum(held - partly, 0)
