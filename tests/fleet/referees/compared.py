"""Numbers with how far chance may bring them apart, and the worlds that claims are made about."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from kiplab.fleet.kernel.simulation import Counts, simulate
from kiplab.fleet.kernel.world import YEAR, World
from kiplab.fleet.parameters import Parameters, Scenario
from kiplab.fleet.parameters.scenario import as_world
from kiplab.fleet.statistics.block_means import Weights, alarms, block_mean
from kiplab.fleet.statistics.event_rates import Interval, poisson_interval

BLOCKS, SEED, FEW = 40, 20_130, 1_000
"""FEW events are bounded as Poisson's: they are too rare to meet each other."""
BOTH = "841+903"
QUIET = Parameters(
    disk_failures_per_year=0.0,
    controller_failovers_per_year=0.0,
    rack_shocks_per_year=0.0,
    cluster_shocks_per_year=0.0,
)
"""Crashes and planned restarts, and nothing else."""
Number = Callable[[float], Interval]
"""What a number is at a confidence, worked out when it is asked for."""
Estimates = Callable[[], Mapping[str, Sequence[float]]]
"""By metric, the rate of each block."""


class Claim(NamedTuple):
    """A metric under a feature set, in a regime said in words, is what a referee says. `margin` is
    what the two may differ by in truth, as a share: what a formula of first order drops.
    """

    metric: str
    features: str
    referee: str
    regime: str
    ours: Number
    theirs: Number
    margin: float = 0.0


def world_of(p: Parameters) -> World:
    return as_world(Scenario(feature_sets=("none",), parameters=p))


def certain(value: float) -> Number:
    return lambda _confidence: Interval(value, value)


def lived(world: World, feature_sets: Sequence[str], years: float) -> Callable[[], Counts]:
    """About so many years of replica sets, a whole number of them in each block."""
    each = max(1, round(years / BLOCKS))
    horizon_us = max(1, round(years * YEAR / BLOCKS / each))
    last, sets = BLOCKS * each, tuple(feature_sets)
    return cache(
        lambda: simulate(
            world, seed=SEED, first=0, last=last, horizon_us=horizon_us, feature_sets=sets
        )
    )


def yearly(years: Callable[[], Counts], features: str, metric: str) -> Number:
    """A metric per replica set and year."""

    def between(confidence: float) -> Interval:
        counts = years()
        each, span = counts.last // BLOCKS, counts.exposure_us / YEAR
        found = [counts.count(n, features, metric) for n in range(counts.last)]
        if sum(found) < FEW:
            return poisson_interval(sum(found), span, confidence=confidence)
        sums = [sum(found[n : n + each]) for n in range(0, counts.last, each)]
        return block_mean([one * BLOCKS / span for one in sums], confidence=confidence)

    return between


def weighed_blocks(block: Callable[..., Mapping[str, Weights]], years: float) -> Estimates:
    """Of an estimator, whose blocks stand for so many years each; no alarm may ring."""

    def found() -> Mapping[str, Sequence[float]]:
        blocks = [block(seed=SEED, block=number) for number in range(BLOCKS)]
        ringing = {name: alarms([one[name] for one in blocks]) for name in blocks[0]}
        assert not any(ringing.values()), ringing
        return {name: [one[name].total / years for one in blocks] for name in ringing}

    return cache(found)


def weighed(estimates: Estimates, metric: str) -> Number:
    return lambda confidence: block_mean(estimates()[metric], confidence=confidence)


def judged(claim: Claim, confidence: float) -> tuple[bool, bool, str]:
    """Whether the two agree, whether both saw it happen, and a sentence."""
    ours, theirs = claim.ours(confidence), claim.theirs(confidence)
    low, high = theirs.low * (1 - claim.margin), theirs.high * (1 + claim.margin)
    words = f"{claim.metric} under {claim.features} ({claim.regime}): {ours} here,"
    agrees = ours.low <= high and ours.high >= low
    return agrees, min(ours.low, theirs.low) > 0, f"{words} {theirs} by {claim.referee}"
