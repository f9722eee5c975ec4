"""Failure biasing of the kernel's own schedules: for any of its counts, and any number of replicas.

A sample is a cycle: the replica set is at rest until an event, and the cycle ends when it is at
rest again. After each event the kernel gives the open windows, and the next failure is forced into
one of them (`biased_ways`): in some samples once, in others twice and so on, in some never. A rate
is the count of a cycle over its length; both are weighted. Nothing is dropped: events that are not
forced are as frequent as in truth.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from ...extras import needed_by
from ..kernel.outside_streams import DEPTH_MAX
from ..kernel.simulation import METRIC_NAMES
from ..kernel.windows_behind import COUNTED, METRICS, RESTS_AT
from ..kernel.world import World, compiled_world
from ..kernel.world_words import LOOK_BACK
from ..statistics.block_means import Weights
from .biased_clocks import MOST_EXPECTED, clocks_of, expected
from .biased_cycles import CyclePlayer, KeptRows
from .biased_rows import Hits, RowDraws, hits_of, own_block
from .biased_ways import CHOICES, NextWays, balanced, picked
from .counted_uniforms import uniforms, weights_of

BLOCKS, SAMPLES = 40, 500
"""By default: so many blocks of so many samples."""
_IN_TRUTH = 0.1
"""In so many of the samples nothing is forced."""
_FORCED_AT_LEAST = 2
"""Events behind the first one; of more replicas as many as these."""
_BEFORE_US = 1_000_000
"""And then some: flushes and heartbeats before the first event come after the beginning."""
_MOST_EVENTS = 30
"""In a cycle; where more come once in a million cycles, `why_not` has refused the world."""
_FIRST, _IS_FORCED = range(2)
"""Uniform numbers of a sample before anything happens."""


class BiasedBlock(msgspec.Struct, frozen=True, kw_only=True):
    """The weights of a block by metric, and the partition-microseconds that they stand for."""

    weights: dict[str, Weights]
    exposure_us: float


def us_of_a_sample(world: World) -> float:
    """How long all is at rest before a cycle begins, on average."""
    return 1 / sum(clock.rate for clock in clocks_of(world))


def why_not(world: World) -> str | None:
    """Why this world is none for failure biasing, None where it is one."""
    if not clocks_of(world):
        return "nothing ever happens"
    many = expected(world)
    if many > MOST_EXPECTED:
        return (
            f"{many:.3g} events are expected while one is being dealt with, too many for"
            " failure biasing; plain sampling sees what comes of so many"
        )
    return None


def biased_block(
    world: World, feature_sets: Sequence[str], *, seed: int, block: int, samples: int
) -> dict[str, BiasedBlock]:
    """What one block comes to, by feature set; a function of the arguments alone.

    Raises ValueError where `why_not` says why, MissingExtraError without numpy and scipy.
    """
    problem = why_not(world)
    if problem is not None:
        raise ValueError(problem)
    with needed_by("an estimate"):
        import numpy  # noqa: F401
        import scipy  # noqa: F401
    drawn = _Block(world, seed, block, samples)
    return {features: drawn.lived(features) for features in feature_sets}


class _Block:
    """The cycles of one block: the same uniform numbers under every feature set."""

    def __init__(self, world: World, seed: int, block: int, samples: int) -> None:
        self._world, self._seed, self._block, self._samples = world, seed, block, samples
        self._clocks = clocks_of(world)
        self._rows = RowDraws(world, seed=seed, block=block, samples=samples)
        look_back = int(compiled_world(world).numbers[LOOK_BACK])
        self._ways, self._look_back = NextWays(self._clocks, look_back), look_back
        self._most = max(_FORCED_AT_LEAST, world.replication_factor)

    def lived(self, features: str) -> BiasedBlock:
        """Under one feature set.

        What an event adds to a cycle depends on nothing that comes later, and is weighed so.
        """
        from numpy import arange, full, ones, zeros

        samples, player = self._samples, CyclePlayer(self._world, features)
        kept, sums = KeptRows(samples, self._world.replication_factor), zeros((samples, COUNTED))
        u = self._choices(0)
        is_forced = u[:, _IS_FORCED] > _IN_TRUTH
        going, at = arange(samples), full(samples, _BEFORE_US + self._look_back)
        clock, ratio = self._first(u[:, _FIRST])
        before, forced, began = zeros((samples, COUNTED)), ones(samples), at - self._look_back
        before[:, RESTS_AT] = began
        for turn in range(_MOST_EVENTS):
            hits = hits_of(self._clocks, going, clock, at)
            likely, fatally = self._happens(kept, hits, turn)
            ratio, rows = ratio * likely, kept.of(going)
            now, open_now = player.played(rows, going, at)
            weight = ratio[going] / (_IN_TRUTH + (1 - _IN_TRUTH) * forced[going])
            more = player.on_average(rows, going, at, now) - before[going]
            sums[going] += more * weight[:, None]
            ratio = ratio * fatally
            before[going] = now
            after = self._ways.draw(
                open_now, is_forced[going] & (turn < self._most), self._choices(turn + 1)[going]
            )
            if turn < self._most:
                forced[going] *= after.forced
            going, clock, at = (each[after.clock >= 0] for each in (going, after.clock, after.at))
            if not len(going):
                break
        return self._weighed(sums)

    def _choices(self, turn: int) -> Any:
        return uniforms(self._seed, own_block(self._block, turn), self._samples, CHOICES)

    def _first(self, u: Any) -> tuple[Any, Any]:
        """The clock of the first event, half of them as they come, half balanced; and the ratio."""
        from numpy import array

        rates = array([clock.rate for clock in self._clocks])
        truth = rates / rates.sum()
        shares = (truth + balanced([clock.kind for clock in self._clocks])) / 2
        chosen = picked(shares[None, :], u)
        return chosen, (truth / shares)[chosen]

    def _happens(self, kept: KeptRows, hits: Hits, turn: int) -> tuple[Any, Any]:
        """All that follows from events, early crashes too; the ratios by sample, of what a crash of
        a single broker takes along for itself.
        """
        ratio: Any = 1.0
        fatally: Any = 1.0
        for depth in range(DEPTH_MAX + 1):
            drawn = self._rows.draw(hits, turn, depth)
            kept.add(drawn)
            ratio, fatally = ratio * drawn.ratio, fatally * drawn.fatally
            hits = drawn.early
            if not len(hits.of):
                break
        return ratio, fatally

    def _weighed(self, sums: Any) -> BiasedBlock:
        from numpy import cumsum

        columns = zip(METRIC_NAMES, sums[:, :METRICS].T, strict=True)
        rest_us = self._samples * us_of_a_sample(self._world)
        return BiasedBlock(
            weights={metric: weights_of(each) for metric, each in columns},
            exposure_us=rest_us + float(cumsum(sums[:, RESTS_AT])[-1]),
        )
