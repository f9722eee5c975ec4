"""The events of biased samples as the kernel takes them: each with all that follows from it.

What follows is drawn as in the kernel, but for two things that are rare and matter: half of the
samples have a slow AlterPartition on account of their first event, half of them crashes that take
records in every other case. Their weights make up for it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ..kernel.leader_rules import DELAY_TRIES
from ..kernel.set_events import BEAT, CRASH, CUT_OFF, FLUSH, OUTAGE_BEGINS, ROW
from ..kernel.set_words import BROKERS
from ..kernel.world import Distribution, Exponential, LogNormal, Uniform, World
from .biased_clocks import Clock, Structures
from .counted_uniforms import uniforms

_HALF = 0.5
_SLOW, _WHO, _FATES = range(3)
"""Of the spare numbers of a sample."""
_MARKS = 10
_DELAYS = BROKERS * DELAY_TRIES
_BLOCK_BITS = 48
"""Blocks have smaller numbers: what follows from events has uniform numbers of its own."""


class DrawnRows(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of the kernel in their order, sample by sample: `of` is whose, `is_first` whether a row
    belongs to the first event. `weight` is by sample.
    """

    of: Any
    rows: Any
    delays: Any
    is_first: Any
    weight: Any


class _Hits(msgspec.Struct, frozen=True, kw_only=True):
    """Arrays with an element for each event of each broker."""

    of: Any
    slot: Any
    at: Any
    rank: Any
    broker: Any
    is_shock: Any


def rows_of(
    world: World,
    clocks: tuple[Clock, ...],
    drawn: Structures,
    *,
    begin_us: int,
    seed: int,
    block: int,
) -> DrawnRows:
    """The first event of each sample comes at `begin_us`."""
    hits = _hits(clocks, drawn, begin_us)
    own = block + (1 << _BLOCK_BITS)
    u = uniforms(seed, own, len(hits.of), _MARKS + 2 * _DELAYS)
    slow, slowly = _slow(world, hits, drawn, u[:, _MARKS : _MARKS + _DELAYS])
    fate, fatally = _fates(world, hits, drawn, u[:, 0])
    rows = _main_rows(world, hits, u, fate)
    delays = _delays(world, slow, u[:, _MARKS + _DELAYS :])
    return _sorted(world, hits, rows, delays, u, drawn.weight * slowly * fatally)


def _hits(clocks: tuple[Clock, ...], drawn: Structures, begin_us: int) -> _Hits:
    from numpy import array, column_stack, concatenate, nonzero, repeat

    which = column_stack([drawn.first, drawn.clocks])
    later = column_stack([0 * drawn.first, drawn.after])
    of, slot = nonzero(which >= 0)
    clock = which[of, slot]
    many = array([len(one.brokers) for one in clocks])[clock]
    brokers = [array(one.brokers) for one in clocks]
    return _Hits(
        of=repeat(of, many),
        slot=repeat(slot, many),
        at=repeat(begin_us + later[of, slot], many),
        rank=repeat(array([one.rank for one in clocks])[clock], many),
        broker=concatenate([brokers[one] for one in clock]),
        is_shock=repeat(array([one.is_shock for one in clocks])[clock], many),
    )


# --- what is biased -------------------------------------------------------------------------------


def _slow(world: World, hits: _Hits, drawn: Structures, u: Any) -> tuple[Any, Any]:
    """Which requests are slow, and the ratio by sample: of one leader the first request on account
    of the first event, in half of the samples.
    """
    from numpy import ones, zeros

    share, replicas = world.alter_partition_slow_share, world.replication_factor
    slow, ratio = u < share, ones(len(drawn.first))
    mine = (hits.slot == 0) & ~hits.is_shock & (hits.rank != OUTAGE_BEGINS)
    if not 0 < share < _HALF or replicas < 2 or not mine.any():
        return slow, ratio
    of, broker = hits.of[mine], hits.broker[mine]
    leader = (broker + 1 + (drawn.spare[of, _WHO] * (replicas - 1)).astype(int)) % replicas
    made = drawn.spare[of, _SLOW] < _HALF
    rows = mine.nonzero()[0]
    slow[rows[made], leader[made] * DELAY_TRIES] = True
    seen = zeros(len(of))
    for other in range(1, replicas):
        seen += slow[rows, (broker + other) % replicas * DELAY_TRIES]
    ratio[of] = 1 / (_HALF + _HALF * seen / share / (replicas - 1))
    return slow, ratio


def _fates(world: World, hits: _Hits, drawn: Structures, u: Any) -> tuple[Any, Any]:
    """What each crash takes along (0 nothing, 1 the tail, 2 the disk), and the ratio by sample."""
    from numpy import bincount, exp, log, where

    crash = hits.rank == CRASH
    tail = where(hits.is_shock, world.shock_tail_lost, world.tail_lost)
    disk = where(hits.is_shock, 0.0, world.disk_replaced)
    lost = where(crash, tail + disk, 0.0)
    biased = crash & (lost > 0) & (lost < _HALF)
    made = biased & (drawn.spare[hits.of, _FATES] < _HALF)
    share = where(made, _HALF, lost)
    disks = share * disk / where(lost > 0, lost, 1.0)
    fate = where(u < disks, 2, where(u < share, 1, 0)) * crash
    safe = where(biased, lost, _HALF)
    each = where(biased, log(_HALF / where(fate > 0, safe, 1 - safe)), 0.0)
    forced = exp(bincount(hits.of, each, len(drawn.first)))
    return fate, 1 / (_HALF + _HALF * forced)


# --- what follows, as in the kernel ---------------------------------------------------------------


def _main_rows(world: World, hits: _Hits, u: Any, fate: Any) -> Any:
    """In the order of the words of a row."""
    from numpy import column_stack, where

    away = where(
        (hits.rank == CRASH)[:, None],
        _times(world.crash_restart, u[:, 1:2]),
        _times(world.clean_restart, u[:, 1:2]),
    )
    lasts = where(
        (hits.rank == OUTAGE_BEGINS)[:, None],
        _times(world.failover_lasts, u[:, 6:7]),
        _times(world.cut_lasts, u[:, 6:7]),
    )
    rows = column_stack(
        [
            *(hits.at, hits.rank, hits.broker),
            *(1 + away, 1 + _times(world.ready, u[:, 2]), 1 + _times(world.catch_up, u[:, 3])),
            *(_times(world.lag_check_phase, u[:, 4]), fate, hits.is_shock),
            *(1 + _times(world.shutdown, u[:, 5]), 1 + lasts),
            1 + _times(world.leader_recovery, u[:, 7]),
        ]
    )
    assert rows.shape[1] == ROW
    return rows.astype("int64")


def _delays(world: World, slow: Any, u: Any) -> Any:
    """Of the requests on account of an event, leader by leader and try by try."""
    from numpy import where

    fast, long = (
        _times(one, u) for one in (world.alter_partition_fast, world.alter_partition_slow)
    )
    return 1 + where(slow, long, fast)


def _times(found: Distribution, u: Any) -> Any:
    """Whole microseconds."""
    from numpy import exp, log1p
    from scipy.special import ndtri

    if isinstance(found, Exponential):
        drawn = -found.mean_us * log1p(-u)
    elif isinstance(found, LogNormal):
        drawn = found.median_us * exp(found.sigma * ndtri(u))
    elif isinstance(found, Uniform):
        drawn = found.low_us + (found.high_us - found.low_us) * u
    else:
        drawn = found.us + 0 * u
    return drawn.astype("int64")


def _sorted(world: World, hits: _Hits, rows: Any, delays: Any, u: Any, weight: Any) -> DrawnRows:
    """With what precedes an event: the last heartbeat that arrived, the last flush."""
    from numpy import concatenate, lexsort

    every, whose = [rows], [hits.of]
    first, long = [hits.slot == 0], [delays]
    beats = (hits.rank == CRASH) | (hits.rank == CUT_OFF)
    for rank, those, age in (
        (BEAT, beats, _times(world.heartbeat_age, u[:, 8])),
        (FLUSH, rows[:, 7] == 1, _times(world.flush_age, u[:, 9])),
    ):
        before = rows[those] * 0
        before[:, 0], before[:, 1], before[:, 2] = (
            (hits.at - age)[those],
            rank,
            hits.broker[those],
        )
        every.append(before)
        whose.append(hits.of[those])
        first.append((hits.slot == 0)[those])
        long.append(delays[those] * 0)
    of, all_rows, all_first, all_long = map(concatenate, (whose, every, first, long))
    order = lexsort((all_rows[:, 2], all_rows[:, 1], all_rows[:, 0], of))
    return DrawnRows(
        of=of[order],
        rows=all_rows[order],
        delays=all_long[order],
        is_first=all_first[order],
        weight=weight,
    )
