"""Means over independent blocks: Student's t, alone, as differences of pairs, with weights."""

from collections.abc import Iterable, Sequence

import msgspec

from ...extras import needed_by
from .event_rates import NothingWeighed, WeighedRate
from .intervals import CONFIDENCE, LEVEL, Interval

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
    with needed_by("an interval"):
        from scipy.stats import sem, t

    mean, error = sum(values) / len(values), float(sem(values))
    if error == 0:
        return Interval(mean, mean)
    low, high = t.interval(confidence, len(values) - 1, loc=mean, scale=error)
    return Interval(float(low), float(high))


def weighed_rate(blocks: Sequence[Weights], exposure: float) -> WeighedRate | NothingWeighed:
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
    return WeighedRate(
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
    spread = _variance(gaps)
    gain = (_variance(here) + _variance(there)) / spread if spread else None
    return PairedGap(gap=sum(gaps) / len(gaps), low=bounds.low, high=bounds.high, gain=gain)


def paired_ratio(here: Sequence[float], there: Sequence[float]) -> Interval:
    """Bounds of the ratio of two totals over the same blocks: Student's t of what each block has
    here beyond the ratio, as in a survey.

    Raises ValueError for fewer than 30 blocks, MissingExtraError without scipy.
    """
    ratio, mean = sum(here) / sum(there), sum(there) / len(there)
    beyond = block_mean([one - ratio * other for one, other in zip(here, there, strict=True)])
    return Interval(max(ratio + beyond.low / mean, 0.0), ratio + beyond.high / mean)


def _variance(values: Sequence[float]) -> float:
    from scipy.stats import tvar

    return float(tvar(values))
