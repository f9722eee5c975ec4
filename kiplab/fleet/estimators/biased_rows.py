"""The events of biased samples as the kernel takes them: each with all that follows from it.

Consequences are drawn as in the kernel, except for three rare ones that matter. Half of the samples
have a slow AlterPartition on account of their first event; half of all crashes take records in
every other case; half of the brokers that are back crash early in every other case, where early
crashes are likelier. Weights make up for it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ..kernel.leader_rules import DELAY_TRIES
from ..kernel.outside_streams import DEPTH_MAX
from ..kernel.set_events import BEAT, BOUNCE, CRASH, CUT_OFF, FLUSH, OUTAGE_BEGINS, ROW
from ..kernel.set_words import BROKERS
from ..kernel.world import Distribution, Exponential, LogNormal, Uniform, World
from .biased_clocks import Clock, early_mean
from .counted_uniforms import uniforms

_HALF = 0.5
_FATAL = 0.5
"""Of the crashes take records along in every other case."""
_SLOWED = 0.25
"""Of the samples have a slow request on account of their first event."""
_OFTEN = 0.25
"""So often an early crash is made to come."""
_MARKS = 13
(
    _FATE, _AWAY, _READY, _LEVEL, _PHASE, _STOPPING, _LASTS, _RECOVERY, _BEAT, _FLUSHED, _COIN,
    _EARLY, _EARLY_AT,
) = range(_MARKS)  # fmt: skip
_DELAYS = BROKERS * DELAY_TRIES
_AT, _RANK, _BROKER = range(3)
"""Words of a row."""
_BLOCK_BITS, _DEPTHS = 48, DEPTH_MAX + 2
"""Blocks have smaller numbers; each event, and each early crash behind it, has its own numbers."""


class Hits(msgspec.Struct, frozen=True, kw_only=True):
    """Arrays with an element for each broker that an event hits: `of` is the sample's."""

    of: Any
    at: Any
    rank: Any
    broker: Any
    is_shock: Any

    def those(self, which: Any) -> Hits:
        """Some of them."""
        return Hits(**{name: getattr(self, name)[which] for name in self.__struct_fields__})


class DrawnRows(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of the kernel, in no order: `of` is whose, `caused` when the event is that a row belongs
    to, `is_early` whether that is an early crash.
    """

    of: Any
    caused: Any
    is_early: Any
    rows: Any
    delays: Any

    def those(self, which: Any) -> DrawnRows:
        """Some of them, or in another order."""
        return DrawnRows(**{name: getattr(self, name)[which] for name in self.__struct_fields__})


class WhatFollows(msgspec.Struct, frozen=True, kw_only=True):
    """What some events come to. `ratio` is by sample, for all of it but what the crash of a single
    broker takes along, which is `fatally`; `early` are the crashes that follow early, `plans` what
    they follow from.
    """

    rows: DrawnRows
    ratio: Any
    fatally: Any
    plans: Hits
    early: Hits


def own_block(block: int, turn: int, part: int = 0) -> int:
    """The number under which there are uniform numbers for an event of the samples of a block."""
    return block + ((turn * _DEPTHS + part) << _BLOCK_BITS)


def hits_of(clocks: tuple[Clock, ...], of: Any, clock: Any, at: Any) -> Hits:
    """Of events of these clocks."""
    from numpy import array, concatenate, repeat

    many = array([len(one.brokers) for one in clocks])[clock]
    brokers = [array(one.brokers) for one in clocks]
    return Hits(
        of=repeat(of, many),
        at=repeat(at, many),
        rank=repeat(array([one.rank for one in clocks])[clock], many),
        broker=concatenate([brokers[one] for one in clock]),
        is_shock=repeat(array([one.is_shock for one in clocks])[clock], many),
    )


class RowDraws:
    """Draws what follows from events of one block of samples in one world."""

    def __init__(self, world: World, *, seed: int, block: int, samples: int) -> None:
        self._world, self._seed, self._block, self._samples = world, seed, block, samples

    def draw(self, hits: Hits, turn: int, depth: int = 0) -> WhatFollows:
        """`turn` numbers the events of a sample, `depth` the early crashes behind one."""
        from numpy import where

        world, replicas = self._world, self._world.replication_factor
        key = own_block(self._block, turn, 1 + depth)
        every = uniforms(self._seed, key, self._samples * replicas, _MARKS + 2 * _DELAYS)
        u = every[hits.of * replicas + hits.broker]
        slow, slowly = self._slow(hits, u, biased=turn == 0 and depth == 0)
        fate, fatally = _fates(world, hits, u[:, _FATE])
        own = (hits.rank == CRASH) & ~hits.is_shock & (depth == 0)
        rows = _main_rows(world, hits, u, fate)
        early, early_at, soon = _early(world, rows, u, depth)
        delays = _delays(world, slow, u[:, _MARKS + _DELAYS :])
        return WhatFollows(
            rows=_with_before(world, hits, rows, delays, u, is_early=depth > 0),
            ratio=slowly * _by_sample(hits, where(own, 1.0, fatally) * soon, self._samples),
            fatally=_by_sample(hits, where(own, fatally, 1.0), self._samples),
            plans=hits.those(early),
            early=_crashes(hits.those(early), early_at[early]),
        )

    def _slow(self, hits: Hits, u: Any, *, biased: bool) -> tuple[Any, Any]:
        """Which requests are slow, and the ratio by sample: of the leader, or of who leads next,
        the first one on account of the first event, in some of the samples.
        """
        from numpy import ones, where

        share, replicas = self._world.alter_partition_slow_share, self._world.replication_factor
        slow, ratio = u[:, _MARKS : _MARKS + _DELAYS] < share, ones(self._samples)
        mine = ~hits.is_shock & (hits.rank != OUTAGE_BEGINS)
        if not biased or not 0 < share < _HALF or replicas < 2 or not mine.any():
            return slow, ratio
        of, broker = hits.of[mine], hits.broker[mine]
        # At rest the first one leads, and after it the second.
        leader = where(broker == 0, 1, 0)
        made, rows = u[mine, _COIN] < _SLOWED, mine.nonzero()[0]
        slow[rows[made], leader[made] * DELAY_TRIES] = True
        seen = slow[rows, leader * DELAY_TRIES]
        ratio[of] = 1 / (1 - _SLOWED + _SLOWED * seen / share)
        return slow, ratio


def _by_sample(hits: Hits, each: Any, samples: int) -> Any:
    from numpy import bincount, exp, log

    return exp(bincount(hits.of, log(each), samples))


def _fates(world: World, hits: Hits, u: Any) -> tuple[Any, Any]:
    """What each crash takes along (0 nothing, 1 the tail, 2 the disk), and the ratio by hit."""
    from numpy import where

    crash = hits.rank == CRASH
    tail = where(crash, where(hits.is_shock, world.shock_tail_lost, world.tail_lost), 0.0)
    disk = where(crash & ~hits.is_shock, world.disk_replaced, 0.0)
    lost, kinds = tail + disk, (tail > 0) + 1.0 * (disk > 0)
    biased = (lost > 0) & (lost < _HALF)
    each = where(biased, _HALF / where(kinds > 0, kinds, 1.0), 0.0)
    disks = where(biased, (1 - _FATAL) * disk + _FATAL * each * (disk > 0), disk)
    tails = where(biased, (1 - _FATAL) * tail + _FATAL * each * (tail > 0), tail)
    fate = where(u < disks, 2, where(u < disks + tails, 1, 0))
    made = where(fate == 2, disks, where(fate == 1, tails, 1 - disks - tails))
    truth = where(fate == 2, disk, where(fate == 1, tail, 1 - lost))
    return fate, truth / made


def _crashes(those: Hits, at: Any) -> Hits:
    """Of the same brokers, by themselves."""
    return Hits(
        of=those.of, at=at, rank=0 * those.rank + CRASH, broker=those.broker, is_shock=those.of < 0
    )


def _early(world: World, rows: Any, u: Any, depth: int) -> tuple[Any, Any, Any]:
    """Who crashes early, when, and the ratio by hit."""
    from math import expm1

    from numpy import log1p, where

    mean = early_mean(world)
    again = (rows[:, _RANK] == CRASH) | (rows[:, _RANK] == BOUNCE)
    if mean == 0 or depth >= DEPTH_MAX:
        return again & False, rows[:, _AT], 1.0 + 0 * u[:, 0]
    truth = -expm1(-mean)
    chance = (1 - _OFTEN) * truth + _OFTEN if depth == 0 else truth
    early = again & (u[:, _EARLY] < chance)
    ratio = where(again, where(early, truth / chance, (1 - truth) / (1 - chance)), 1.0)
    after = -log1p(-truth * u[:, _EARLY_AT]) / mean * world.early_within_us
    stops = where(rows[:, _RANK] == BOUNCE, rows[:, 9], 0)
    return early, rows[:, _AT] + stops + rows[:, 3] + 1 + after.astype("int64"), ratio


# --- what follows, as in the kernel ---------------------------------------------------------------


def _main_rows(world: World, hits: Hits, u: Any, fate: Any) -> Any:
    """In the order of the words of a row."""
    from numpy import column_stack, where

    away = where(
        hits.rank == CRASH,
        _times(world.crash_restart, u[:, _AWAY]),
        _times(world.clean_restart, u[:, _AWAY]),
    )
    lasts = where(
        hits.rank == OUTAGE_BEGINS,
        _times(world.failover_lasts, u[:, _LASTS]),
        _times(world.cut_lasts, u[:, _LASTS]),
    )
    rows = column_stack(
        [
            *(hits.at, hits.rank, hits.broker),
            1 + away,
            1 + _times(world.ready, u[:, _READY]),
            1 + _times(world.catch_up, u[:, _LEVEL]),
            *(_times(world.lag_check_phase, u[:, _PHASE]), fate, hits.is_shock),
            *(1 + _times(world.shutdown, u[:, _STOPPING]), 1 + lasts),
            1 + _times(world.leader_recovery, u[:, _RECOVERY]),
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


def _times(distribution: Distribution, u: Any) -> Any:
    """Whole microseconds."""
    from numpy import exp, log1p
    from scipy.special import ndtri

    if isinstance(distribution, Exponential):
        drawn = -distribution.mean_us * log1p(-u)
    elif isinstance(distribution, LogNormal):
        drawn = distribution.median_us * exp(distribution.sigma * ndtri(u))
    elif isinstance(distribution, Uniform):
        drawn = distribution.low_us + (distribution.high_us - distribution.low_us) * u
    else:
        drawn = distribution.us + 0 * u
    return drawn.astype("int64")


def _with_before(
    world: World, hits: Hits, rows: Any, delays: Any, u: Any, *, is_early: bool
) -> DrawnRows:
    """With what precedes an event: the last heartbeat that arrived, the last flush (which matters
    where the tail is lost).
    """
    from numpy import concatenate, full

    every, whose, long, caused = [rows], [hits.of], [delays], [hits.at]
    beats = (hits.rank == CRASH) | (hits.rank == CUT_OFF)
    for rank, those, age in (
        (BEAT, beats, _times(world.heartbeat_age, u[:, _BEAT])),
        (FLUSH, hits.rank == CRASH, _times(world.flush_age, u[:, _FLUSHED])),
    ):
        before = rows[those] * 0
        before[:, _AT], before[:, _RANK] = (hits.at - age)[those], rank
        before[:, _BROKER] = hits.broker[those]
        every.append(before)
        whose.append(hits.of[those])
        caused.append(hits.at[those])
        long.append(delays[those] * 0)
    of, at, all_rows, all_long = map(concatenate, (whose, caused, every, long))
    return DrawnRows(
        of=of, caused=at, is_early=full(len(of), is_early), rows=all_rows, delays=all_long
    )
