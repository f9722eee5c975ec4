"""Weighted estimates, cut into blocks, each made when it is first asked for."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from math import ceil

from ..estimators.biased_runs import biased_block
from ..estimators.failure_biasing import biased_blocks
from ..estimators.forced_outages import outage_block
from ..estimators.forced_windows import DrawWindows, forced_block, forced_exposure
from ..kernel.simulation import METRIC_NAMES
from ..kernel.world import YEAR, World
from ..parameters.parameter_table import Parameters
from ..parameters.years import SECONDS_PER_YEAR
from ..reference.two_replica_chain import chain_rates, two_replica_chain
from ..statistics.block_means import Weights, alarms, effective_samples, together
from .kernel_blocks import BLOCKS
from .refereed import Weighed

_FEWEST, _USUAL = 500, 2_000
"""Samples of each block."""
_AT_ONCE = 2_000
"""Biased samples."""

Estimates = Callable[[], Mapping[str, Weighed]]


def samples_for(effort: float) -> int:
    """In each block: so many that no alarm rings, however small the effort."""
    return max(_FEWEST, round(_USUAL * effort))


def forced_blocks(
    p: Parameters, kips: frozenset[str], draw: DrawWindows, samples: int, seed: int
) -> Estimates:
    """Forced windows, by metric."""
    block = partial(forced_block, p, kips, seed=seed, samples=samples, draw=draw)
    return _all_blocks(block, forced_exposure(p, samples))


def outage_blocks(p: Parameters, draw: DrawWindows, samples: int, seed: int) -> Estimates:
    """Forced outages, by metric."""
    block = partial(outage_block, p, seed=seed, samples=samples, draw=draw)
    return _all_blocks(block, forced_exposure(p, samples))


def _all_blocks(block: Callable[..., Mapping[str, Weights]], years: float) -> Estimates:
    return cache(lambda: _weighed([block(block=number) for number in range(BLOCKS)], years))


def biased_runs(world: World, features: str, samples: int, seed: int) -> Estimates:
    """Failures biased in the kernel's own schedules, by metric; each block in parts that are not
    too large to be kept at once.
    """
    parts = ceil(samples / _AT_ONCE)

    @cache
    def found() -> Mapping[str, Weighed]:
        made = [
            biased_block(world, (features,), seed=seed, block=n, samples=ceil(samples / parts))
            for n in range(BLOCKS * parts)
        ]
        incarnations = [one[features] for one in made]
        blocks = [incarnations[n : n + parts] for n in range(0, len(incarnations), parts)]
        return _weighed(
            [
                {name: together([one.weights[name] for one in block]) for name in METRIC_NAMES}
                for block in blocks
            ],
            sum(one.exposure_us for one in incarnations) / BLOCKS / YEAR,
        )

    return found


def weighed_by(estimates: Estimates, metric: str) -> Callable[[], Weighed]:
    """One metric of them."""
    return lambda: estimates()[metric]


def biased_chain(
    p: Parameters, kips: frozenset[str], event: str, seed: int
) -> Callable[[], Weighed]:
    """An event of the chain of two replicas by failure biasing."""

    def found() -> Weighed:
        chain = two_replica_chain(chain_rates(p), kips)
        blocks, seconds = biased_blocks(chain, event, seed=seed, blocks=BLOCKS, cycles=1000)
        years = seconds / BLOCKS / SECONDS_PER_YEAR
        return _weighed_of(blocks, years)

    return found


def _weighed(blocks: Sequence[Mapping[str, Weights]], years: float) -> Mapping[str, Weighed]:
    return {metric: _weighed_of([one[metric] for one in blocks], years) for metric in blocks[0]}


def _weighed_of(blocks: Sequence[Weights], years: float) -> Weighed:
    """Blocks of so many years each."""
    return Weighed(
        blocks=tuple(block.total / years for block in blocks),
        alarms=alarms(blocks),
        effective=effective_samples(together(blocks)),
    )
