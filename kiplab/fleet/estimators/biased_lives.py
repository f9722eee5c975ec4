"""Failure biasing of the kernel's own schedules: for whatever it counts, of any number of replicas.

How often something happens is how often an event comes, times what the events behind it come to
with it more than without it (a sum over all events that telescopes: exactly the rate, whatever
follows from what). Both are lived through by the kernel, from rest, under every feature set.

Dropped: what comes later than a window behind an event and still meets it, once in some thousand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..kernel.feature_sets import mask_of
from ..kernel.machine_code import has_compiler, words
from ..kernel.scheduled import DELAYS, play_out
from ..kernel.set_words import BROKERS, COUNTS, GUARDS, STATE_WORDS, TOLD_WORDS
from ..kernel.simulation import METRIC_NAMES
from ..kernel.world import World, compiled_world
from ..kernel.world_words import LOOK_BACK
from ..statistics.block_means import Weights
from .biased_clocks import clocks_of, structures, window_us
from .biased_rows import DrawnRows, rows_of
from .counted_uniforms import weights_of

BLOCKS, SAMPLES = 40, 1_000
"""By default: so many blocks of so many samples."""
_BEFORE_US = 1_000_000
"""And then some: flushes and heartbeats before the first event come after the beginning."""
_WINDOWS = 5
"""So long after the window everything has come to rest."""


def us_of_a_sample(world: World) -> float:
    """The partition-microseconds that one stands for: between two events of any kind."""
    return 1 / sum(clock.rate for clock in clocks_of(world))


def why_not(world: World) -> str | None:
    """Why this world is none for failure biasing, None where it is one.

    Raises MissingExtraError without numpy and scipy.
    """
    if world.early_factor > 1:
        return "crash loops reach beyond any window (early_crash_factor is more than 1)"
    if not clocks_of(world):
        return "nothing ever happens"
    try:
        structures(world, seed=0, block=0, samples=1)
    except ValueError as problem:
        return str(problem)
    return None


def biased_block(
    world: World, feature_sets: Sequence[str], *, seed: int, block: int, samples: int
) -> dict[str, dict[str, Weights]]:
    """The weights of one block, by feature set and metric; a function of the arguments alone.

    Raises ValueError where `why_not` says why, MissingExtraError without numpy and scipy.
    """
    problem = why_not(world)
    if problem is not None:
        raise ValueError(problem)
    begin = _BEFORE_US + int(compiled_world(world).numbers[LOOK_BACK])
    drawn = structures(world, seed=seed, block=block, samples=samples)
    rows = rows_of(world, clocks_of(world), drawn, begin_us=begin, seed=seed, block=block)
    end = begin + (1 + _WINDOWS) * window_us(world)
    found = {}
    for features in feature_sets:
        more = _Lives(world, features, end).differences(rows, samples)
        weighed = (more * rows.weight[:, None]).T
        found[features] = {
            metric: weights_of(each) for metric, each in zip(METRIC_NAMES, weighed, strict=True)
        }
    return found


class _Lives:
    """The kernel, again and again from rest."""

    def __init__(self, world: World, features: str, end: int) -> None:
        self._numbers = compiled_world(world).numbers
        self._mask = mask_of(features, world.zookeeper)
        self._end = end

    def differences(self, rows: DrawnRows, samples: int) -> Any:
        """(samples, metrics): what is counted with the first event, less what is without it."""
        from numpy import arange, searchsorted, zeros

        found = zeros((samples, len(METRIC_NAMES)))
        cuts = searchsorted(rows.of, arange(samples + 1))
        for sample in range(samples):
            here = slice(cuts[sample], cuts[sample + 1])
            mine, delays = rows.rows[here], rows.delays[here]
            found[sample] = self._counted(mine, delays)
            others = ~rows.is_first[here]
            if others.any():
                found[sample] -= self._counted(mine[others], delays[others])
        return found

    def _counted(self, rows: Any, delays: Any) -> Any:
        state, told, known = (
            words(many) for many in (STATE_WORDS, 1 + TOLD_WORDS, BROKERS * DELAYS)
        )
        state[GUARDS] = self._mask
        given = rows.ravel(), delays.ravel()
        events, delays = given if has_compiler() else [one.tolist() for one in given]
        play_out(state, self._numbers, told, events, delays, known, 0, self._end)
        return state[COUNTS : COUNTS + len(METRIC_NAMES)]
