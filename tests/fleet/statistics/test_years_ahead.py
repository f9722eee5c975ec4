"""From a rate to the probability of at least one; gaps of counts; many comparisons at once."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy import outer
from scipy.stats import poisson

from kiplab.fleet.statistics.block_means import count_gap
from kiplab.fleet.statistics.event_rates import (
    NeverHappens,
    NothingWeighed,
    at_least_one,
    event_rate,
)


def test_one_in_a_hundred_years_in_fifty_sets_is_seen_within_ten_years() -> None:
    one, five, ten = at_least_one(event_rate(100, 10_000).times(50))
    assert [one.years, five.years, ten.years] == [1, 5, 10]
    assert one.probability == pytest.approx(0.3935, abs=1e-4)
    assert ten.probability == pytest.approx(0.9933, abs=1e-4)
    assert one.probability is not None
    assert one.low < one.probability < one.high


@settings(max_examples=30)
@given(rate=st.integers(1, 50), units=st.floats(1e-12, 1e3))
def test_it_is_the_chance_that_a_poisson_number_is_not_zero(rate: int, units: float) -> None:
    (found,) = at_least_one(event_rate(rate, 1).times(units), (1,))
    assert found.probability == pytest.approx(float(poisson.sf(0, rate * units)), rel=1e-9)


def test_of_what_was_never_seen_only_the_upper_end_is_known() -> None:
    (found,) = at_least_one(event_rate(0, 1e6).times(1_000), (10,))
    assert (found.probability, found.low) == (None, 0)
    assert found.high == pytest.approx(0.0362, abs=1e-4)
    (found,) = at_least_one(NothingWeighed(samples=5).times(1_000), (10,))
    assert (found.probability, found.low, found.high) == (None, 0, 1)


def test_what_cannot_happen_does_not() -> None:
    (found,) = at_least_one(NeverHappens(because="a rule refuses it").times(1e9), (10,))
    assert (found.probability, found.high) == (0, 0)


def test_what_happened_in_both_says_nothing_of_a_difference() -> None:
    found = count_gap(0, 40, 1_000)
    assert found.gap == -0.04
    assert found.high < 0
    assert count_gap(5, 5, 1_000).low < 0 < count_gap(5, 5, 1_000).high


def test_a_difference_is_as_sure_as_the_incidents_that_it_is_of() -> None:
    alone, by_fives = count_gap(0, 40, 1_000), count_gap(0, 40, 1_000, together=5.0)
    eight = count_gap(0, 8, 200)
    assert by_fives.gap == alone.gap
    assert (by_fives.low, by_fives.high) == (eight.low, eight.high)
    assert by_fives.low < alone.low < alone.high < by_fives.high


COUNTS = range(20)
GAPS = [count_gap(a, b, 1) for a in COUNTS for b in COUNTS]


@settings(max_examples=30)
@given(here=st.floats(0.01, 4), there=st.floats(0.01, 4))
def test_a_gap_covers_what_it_says(here: float, there: float) -> None:
    likely = outer(poisson.pmf(COUNTS, here), poisson.pmf(COUNTS, there)).ravel()
    pairs = zip(likely, GAPS, strict=True)
    covered = sum(float(share) for share, gap in pairs if gap.low <= here - there <= gap.high)
    assert covered >= 0.95 - 1e-6
