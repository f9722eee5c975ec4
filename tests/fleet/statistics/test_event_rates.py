"""Rates of rare events: exact bounds, and zero in its two meanings."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import poisson

from kiplab.fleet.statistics import event_rates

YEARS = 2e6


@pytest.mark.parametrize(
    ("events", "method", "low", "high"),
    [
        (0, event_rates.EXACT, 0, 1.8e-6),
        (0, event_rates.JEFFREYS, 0, 1.3e-6),
        (2, event_rates.EXACT, 1.2e-7, 3.6e-6),
        (10, event_rates.EXACT, 2.4e-6, 9.2e-6),
    ],
)
def test_known_values_of_two_million_years(
    events: int, method: str, low: float, high: float
) -> None:
    bounds = event_rates.poisson_interval(events, YEARS, method=method)
    assert float(f"{bounds.low:.2g}") == low
    assert float(f"{bounds.high:.2g}") == high


def test_the_bounds_are_where_as_many_or_fewer_would_be_unlikely() -> None:
    bounds = event_rates.poisson_interval(7, 1)
    assert poisson.sf(6, bounds.low) == pytest.approx(0.025)
    assert poisson.cdf(7, bounds.high) == pytest.approx(0.025)


COUNTS = range(90)
LEVELS = (0.9, 0.95, 0.999)
BOUNDS = {
    (method, level): [
        event_rates.poisson_interval(k, 1, method=method, confidence=level) for k in COUNTS
    ]
    for method in (event_rates.EXACT, event_rates.JEFFREYS)
    for level in LEVELS
}


def covered(mean: float, method: str, level: float) -> float:
    """The probability that the interval of a count has its mean inside, summed over counts."""
    likely = poisson.pmf(COUNTS, mean)
    bounds = BOUNDS[method, level]
    return sum(float(likely[k]) for k, b in enumerate(bounds) if b.low <= mean <= b.high)


@settings(max_examples=30)
@given(mean=st.floats(1e-3, 30), level=st.sampled_from(LEVELS))
def test_exact_intervals_cover_what_they_say_whatever_the_mean(mean: float, level: float) -> None:
    assert covered(mean, event_rates.EXACT, level) >= level - 1e-9


def test_jeffreys_covers_it_on_average() -> None:
    shares = [covered(0.5 + 0.25 * n, event_rates.JEFFREYS, 0.95) for n in range(80)]
    assert sum(shares) / len(shares) == pytest.approx(0.95, abs=0.01)


@settings(max_examples=30)
@given(events=st.integers(0, 200), exposure=st.floats(1e-3, 1e12))
def test_jeffreys_is_the_narrower_one(events: int, exposure: float) -> None:
    exact = event_rates.poisson_interval(events, exposure)
    jeffreys = event_rates.poisson_interval(events, exposure, method=event_rates.JEFFREYS)
    assert exact.low <= jeffreys.low <= jeffreys.high <= exact.high


def test_what_was_never_seen_has_no_rate_and_what_cannot_be_no_interval() -> None:
    found = event_rates.event_rate(0, YEARS)
    assert isinstance(found, event_rates.NeverSeen)
    assert found.rate is None
    never = event_rates.NeverHappens(because="KIP-841 and KIP-903 refuse it")
    assert (never.rate, never.high, never.method) == (0, 0, None)


def test_what_was_seen_is_a_rate_with_its_bounds_and_method() -> None:
    found = event_rates.event_rate(2, YEARS)
    assert isinstance(found, event_rates.SeenRate)
    assert found.method == "exact Poisson, 95 %"


@pytest.mark.parametrize(("events", "exposure"), [(-1, 2), (0, 0), (3, -1)])
def test_impossible_counts_are_refused(events: int, exposure: float) -> None:
    with pytest.raises(ValueError, match=f"{events} events in an exposure of {exposure}"):
        event_rates.event_rate(events, exposure)


def test_a_method_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no method 'Wald'"):
        event_rates.poisson_interval(1, 1, method="Wald")
