"""Means over independent blocks: Student's t, alone, as differences of pairs, with weights; counts
and times that come in clusters: one incident counts several times, and times differ.

Few of them tell too little about the clusters: what a replication counted is then one incident, of
that weight. The weights of a Poisson count have the gamma interval of Fay and Feuer (Statistics in
Medicine 16, 1997), which is the exact Poisson interval where all weights are equal. Of many the
spread over replications is used. The counts that only one of two feature sets has, on the same
schedules, tell how far apart their rates are.
"""

from collections.abc import Iterable, Sequence
from math import sqrt

import msgspec

from ...extras import Deferred
from . import event_rates
from .event_rates import CONFIDENCE, LEVEL, Interval, NeverSeen, NothingWeighed, SeenRate

stats = Deferred("scipy.stats", "an interval")
FEWEST_BLOCKS = 30
"""With fewer, Student's t leans on a normality that rare and heavy values do not have."""
FEWEST_EFFECTIVE = 100.0
"""So many equal weights give a relative error of 10 %."""
LARGEST_SHARE = 0.05
"""Of the whole sum, in one weight: beyond that, a single draw decides the answer."""
FEWEST_HIT = 0.5
"""Of the blocks: with fewer that saw anything, the spread over blocks is not known either."""


class Weights(msgspec.Struct, frozen=True, kw_only=True):
    """Of weighted samples: how many had a weight, what these add up to, their squares, the largest.

    Partials of blocks add up, except that the largest is the largest.
    """

    samples: int
    total: float
    squares: float
    largest: float


class PairedGap(msgspec.Struct, frozen=True, kw_only=True):
    """How much more often something is here than there, on the same schedules.

    `gain`: how many times larger the variance would be without pairs; None where no pair differs,
    or that is not known.
    """

    gap: float
    low: float
    high: float
    gain: float | None = None


def block_mean(values: Sequence[float], *, confidence: float = CONFIDENCE) -> Interval:
    """Student's interval for the mean of independent blocks of equal size; blocks that are all
    equal leave nothing to be unsure of.

    Raises ValueError for fewer than 30 blocks, MissingExtraError without scipy.
    """
    if len(values) < FEWEST_BLOCKS:
        raise ValueError(f"{len(values)} blocks are too few; expected {FEWEST_BLOCKS} or more")
    mean, error = sum(values) / len(values), float(stats.sem(values))
    if error == 0:
        return Interval(mean, mean)
    low, high = stats.t.interval(confidence, len(values) - 1, loc=mean, scale=error)
    return Interval(float(low), float(high))


def weighed_rate(
    blocks: Sequence[Weights], exposure: float
) -> event_rates.WeighedRate | NothingWeighed:
    """A weighted estimate from blocks of equal exposure, `exposure` in all.

    Blocks are added in the order given: give them by their number. Raises ValueError for fewer than
    30 blocks, MissingExtraError without scipy.
    """
    whole = together(blocks)
    if whole.total == 0:
        return NothingWeighed(samples=whole.samples)
    share = exposure / len(blocks)
    rates = [block.total / share for block in blocks]
    bounds = block_mean(rates)
    return event_rates.WeighedRate(
        rate=sum(rates) / len(rates),
        low=max(bounds.low, 0.0),
        high=bounds.high,
        effective_samples=effective_samples(whole),
        alarms=alarms(blocks),
        method=f"Student's t over {len(rates)} blocks, {LEVEL}",
    )


def together(blocks: Sequence[Weights]) -> Weights:
    """All blocks as one, added in their order."""
    return Weights(
        samples=sum(block.samples for block in blocks),
        total=_in_order(block.total for block in blocks),
        squares=_in_order(block.squares for block in blocks),
        largest=max((block.largest for block in blocks), default=0.0),
    )


def _in_order(values: Iterable[float]) -> float:
    """One after the other: Python's own `sum` of floats compensates from 3.12 on."""
    total = 0.0
    for value in values:
        total += value
    return total


def effective_samples(weights: Weights) -> float:
    """How many equal weights would be as sure: Kish's number, 0 where nothing was hit."""
    return weights.total**2 / weights.squares if weights.squares else 0.0


def alarms(blocks: Sequence[Weights]) -> tuple[str, ...]:
    """Why a weighted estimate is not to be believed, in sentences; empty where all is well."""
    whole = together(blocks)
    effective = effective_samples(whole)
    share = whole.largest / whole.total if whole.total else 0.0
    hit = sum(block.total > 0 for block in blocks)
    by_sentence = {
        f"only {effective:.3g} effective samples, of {FEWEST_EFFECTIVE:g} wanted": effective
        < FEWEST_EFFECTIVE,
        f"one sample carries {share:.0%} of the estimate": share > LARGEST_SHARE,
        f"only {hit} of {len(blocks)} blocks saw anything": hit < FEWEST_HIT * len(blocks),
    }
    return tuple(sentence for sentence, rings in by_sentence.items() if rings)


def paired_gap(here: Sequence[float], there: Sequence[float]) -> PairedGap:
    """The mean of here - there over blocks that saw the same schedules, by Student's t on pairs.

    Raises ValueError for fewer than 30 blocks or where the blocks are not the same number,
    MissingExtraError without scipy.
    """
    if len(here) != len(there):
        problem = f"{len(here)} blocks here and {len(there)} there"
        raise ValueError(f"{problem}; a pair is the same block under two feature sets")
    gaps = [one - other for one, other in zip(here, there, strict=True)]
    bounds = block_mean(gaps)
    ours, theirs, spread = (float(stats.tvar(values)) for values in (here, there, gaps))
    gain = (ours + theirs) / spread if spread else None
    return PairedGap(gap=sum(gaps) / len(gaps), low=bounds.low, high=bounds.high, gain=gain)


def paired_ratio(here: Sequence[float], there: Sequence[float]) -> Interval:
    """Bounds of the ratio of two totals over the same blocks: Student's t of what each block has
    here beyond the ratio, as in a survey.

    Raises ValueError for fewer than 30 blocks, MissingExtraError without scipy.
    """
    ratio, mean = sum(here) / sum(there), sum(there) / len(there)
    beyond = block_mean([one - ratio * other for one, other in zip(here, there, strict=True)])
    return Interval(max(ratio + beyond.low / mean, 0.0), ratio + beyond.high / mean)


# --- counts and times in clusters -----------------------------------------------------------------

_MORE_THAN_CHANCE = 4.0
"""Standard errors."""
_FEW, _SELDOM = 10, 0.2
"""So few events, or so few in a replication, are hardly ever two incidents of one replication."""
_MOST = 0.5
"""Of the replications: with time in more of them, how they differ is known well enough."""


def dispersion(counts: Weights) -> float:
    """How many times more the counts of replications vary than Poisson's: about how many events
    come together. 1 where that is no more than chance would have it.
    """
    if counts.samples < 2 or counts.total <= 0:
        return 1.0
    mean = counts.total / counts.samples
    ratio = (counts.squares - counts.total * mean) / (counts.samples - 1) / mean
    chance = sqrt(2 / counts.samples + 1 / counts.total)
    return ratio if ratio > 1 + _MORE_THAN_CHANCE * chance else 1.0


def size_together(counts: Weights) -> float:
    """How many events an incident counts for, about: of few that of a replication, weighed."""
    if _are_few(counts):
        return max(1.0, counts.squares / counts.total)
    return dispersion(counts)


def _are_few(counts: Weights) -> bool:
    return 0 < counts.total <= max(_FEW, _SELDOM * counts.samples)


def clustered_rate(counts: Weights, exposure: float) -> SeenRate | NeverSeen:
    """The rate of events that were counted in independent replications.

    Where some come together it is as sure as so many fewer that come alone.
    Raises ValueError for an impossible count or exposure, MissingExtraError without scipy.
    """
    if counts.largest > 1 and _are_few(counts):
        how = "gamma, what a replica set has is one incident"
        return _seen(counts, gamma_bounds(counts), exposure, how)
    together = dispersion(counts)
    if together == 1:
        return event_rates.event_rate(round(counts.total), exposure)
    bounds = event_rates.poisson_interval(counts.total / together, 1 / together)
    how = f"Poisson of clusters of {together:.2g}"
    return _seen(counts, (bounds.low, bounds.high), exposure, how)


def _seen(counts: Weights, bounds: tuple[float, float], exposure: float, how: str) -> SeenRate:
    """`bounds` are of the total."""
    rate, low, high = (n / exposure for n in (counts.total, max(bounds[0], 0.0), bounds[1]))
    return SeenRate(rate=rate, low=low, high=high, method=f"{how}, {LEVEL}")


def time_rate(times: Weights, hit: int, exposure: float) -> SeenRate:
    """Of independent units of equal exposure, `exposure` in all, of which `hit` had any time.

    Raises ValueError where none had, MissingExtraError without scipy.
    """
    if not times.total or not hit:
        raise ValueError("no time was seen at all; bound how often it begins")
    often = hit > _MOST * times.samples and times.samples > 1
    spread = f"Student's t over {times.samples}" if often else f"gamma over {hit}"
    bounds = (_by_t if often else gamma_bounds)(times)
    return _seen(times, bounds, exposure, f"{spread} replica sets")


def gamma_bounds(times: Weights) -> tuple[float, float]:
    """Bounds of a total of rare weights, with room for one more. Raises MissingExtraError."""
    tail = (1 - CONFIDENCE) / 2
    low = _quantile(tail, times.total, times.squares)
    more, squares = times.total + times.largest, times.squares + times.largest**2
    return low, _quantile(1 - tail, more, squares)


def _quantile(level: float, mean: float, variance: float) -> float:
    return float(stats.gamma.ppf(level, mean**2 / variance, scale=variance / mean))


def _by_t(times: Weights) -> tuple[float, float]:
    """Of the total: the mean of the units, so many times."""
    n = times.samples
    spread = max(times.squares - times.total**2 / n, 0.0) / (n - 1)
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1)) * (spread * n) ** 0.5
    return times.total - half, times.total + half


def count_gap(
    only_here: int, only_there: int, exposure: float, *, together: float = 1.0
) -> PairedGap:
    """The difference of two rates over one exposure; what happened in both cancels.

    Two exact Poisson intervals, each so wide that both hold together: it covers at least what it
    says. Where so many events come `together` it is as sure as so many fewer that come alone.
    Raises ValueError for impossible counts, MissingExtraError without scipy.
    """
    each = 1 - (1 - CONFIDENCE) / 2
    here, there = (
        event_rates.poisson_interval(only / together, exposure / together, confidence=each)
        for only in (only_here, only_there)
    )
    return PairedGap(
        gap=(only_here - only_there) / exposure,
        low=here.low - there.high,
        high=here.high - there.low,
    )
