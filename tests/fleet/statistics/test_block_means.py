"""Means over blocks: Student's t, pairs, and weights with their alarms."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from kiplab.fleet.statistics.block_means import (
    Weights,
    alarms,
    block_mean,
    effective_samples,
    paired_gap,
    paired_ratio,
    together,
    weighed_rate,
)
from kiplab.fleet.statistics.event_rates import NothingWeighed, WeighedRate

QUANTILES = [float(norm.ppf((n + 0.5) / 40)) for n in range(40)]
"""Forty values spread as a normal distribution spreads them."""


def blocks_of(totals: list[float], each: int = 10) -> list[Weights]:
    """Blocks whose samples have equal weights."""
    return [Weights(samples=each, total=t, squares=t * t / each, largest=t / each) for t in totals]


def test_an_interval_is_the_mean_and_a_quantile_of_student() -> None:
    bounds = block_mean([float(n) for n in range(30)])
    # The variance of 0 to 29 is 77.5, and t at 29 degrees 2.0452.
    assert bounds.low == pytest.approx(14.5 - 2.0452 * (77.5 / 30) ** 0.5, abs=1e-3)
    assert bounds.high == pytest.approx(14.5 + 2.0452 * (77.5 / 30) ** 0.5, abs=1e-3)


def test_fewer_than_thirty_blocks_are_refused() -> None:
    with pytest.raises(ValueError, match="29 blocks are too few; expected 30 or more"):
        block_mean([1.0] * 29)


def test_blocks_that_are_all_equal_leave_nothing_open() -> None:
    bounds = block_mean([2.0] * 30)
    assert (bounds.low, bounds.high) == (2.0, 2.0)


def test_pairs_take_out_what_both_have_in_common() -> None:
    there = [100 * value for value in QUANTILES]
    here = [value + 3 + 0.1 * (n % 2) for n, value in enumerate(there)]
    found = paired_gap(here, there)
    assert found.gap == pytest.approx(3.05)
    assert found.low < 3.05 < found.high
    assert found.high - found.low < 0.1
    assert found.gain is not None
    assert found.gain > 10_000


def test_what_is_equal_pair_by_pair_differs_by_nothing() -> None:
    found = paired_gap(QUANTILES, QUANTILES)
    assert (found.gap, found.low, found.high, found.gain) == (0, 0, 0, None)


def test_a_ratio_is_of_pairs() -> None:
    there = [10.0 + n % 7 for n in range(60)]
    here = [2 * value + 0.01 * (n % 3) for n, value in enumerate(there)]
    bounds = paired_ratio(here, there)
    assert 2 <= bounds.low < sum(here) / sum(there) < bounds.high < 2.01
    assert paired_ratio([2 * value for value in there], there).low == 2


def test_pairs_are_pairs() -> None:
    with pytest.raises(ValueError, match="40 blocks here and 39 there; a pair is the same block"):
        paired_gap(QUANTILES, QUANTILES[1:])


@settings(max_examples=30)
@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=50))
def test_weights_are_worth_at_most_as_many_samples_as_they_are(weights: list[float]) -> None:
    each = [Weights(samples=1, total=w, squares=w * w, largest=w) for w in weights]
    assert 1 - 1e-9 <= effective_samples(together(each)) <= len(weights) * (1 + 1e-9)


def test_equal_weights_are_worth_their_number() -> None:
    assert effective_samples(together(blocks_of([1.0] * 30))) == pytest.approx(300)


def test_a_weighted_rate_has_its_effective_samples_beside_it_and_no_alarm_if_all_is_well() -> None:
    found = weighed_rate(blocks_of([3 + 0.1 * value for value in QUANTILES]), exposure=80)
    assert isinstance(found, WeighedRate)
    assert found.rate == pytest.approx(1.5)
    assert found.low < 1.5 < found.high
    assert found.effective_samples == pytest.approx(400, rel=0.01)
    assert found.alarms == ()


def test_one_weight_that_carries_it_all_rings_every_alarm() -> None:
    lone = Weights(samples=10, total=1.0, squares=1.0, largest=1.0)
    none = Weights(samples=10, total=0.0, squares=0.0, largest=0.0)
    assert alarms([lone, *[none] * 39]) == (
        "only 1 effective samples, of 100 wanted",
        "one sample carries 100% of the estimate",
        "only 1 of 40 blocks saw anything",
    )


def test_weights_that_hit_nothing_bound_nothing() -> None:
    none = Weights(samples=10, total=0.0, squares=0.0, largest=0.0)
    assert weighed_rate([none] * 30, exposure=1) == NothingWeighed(samples=300)
