"""Exact binomial intervals, against values that can be worked out or looked up."""

import pytest

from kiplab.fleet.statistics.event_rates import exact, in_words


@pytest.mark.parametrize("exposure", [1, 10, 5_000])
def test_with_no_event_the_upper_bound_has_a_closed_form(exposure: int) -> None:
    interval = exact(0, exposure)
    assert interval.low == 0
    assert interval.high == pytest.approx(1 - 0.025 ** (1 / exposure))
    assert interval.high > 0


def test_all_and_none_mirror_each_other() -> None:
    none, all_ = exact(0, 50), exact(50, 50)
    assert all_.low == pytest.approx(1 - none.high)
    assert all_.high == 1


@pytest.mark.parametrize(
    ("events", "exposure", "low", "high"),
    [
        # The textbook's 1 in 10, and 5 in 10, which is symmetric.
        (1, 10, 0.002529, 0.445016),
        (5, 10, 0.187086, 0.812914),
    ],
)
def test_known_values(events: int, exposure: int, low: float, high: float) -> None:
    interval = exact(events, exposure)
    assert interval.low == pytest.approx(low, abs=1e-5)
    assert interval.high == pytest.approx(high, abs=1e-5)


@pytest.mark.parametrize(("events", "exposure"), [(0, 0), (3, 2), (-1, 5)])
def test_impossible_counts_are_refused(events: int, exposure: int) -> None:
    with pytest.raises(ValueError, match=f"{events} events in {exposure} schedules"):
        exact(events, exposure)


def test_zero_is_never_written_without_its_upper_bound() -> None:
    assert in_words(0, 5_000, exact(0, 5_000)) == "none seen (at most 0.074 %)"


def test_shares_are_written_with_their_interval() -> None:
    assert in_words(433, 5_000, exact(433, 5_000)) == "8.7 % (7.9 to 9.5 %)"
    assert in_words(2_299, 5_000, exact(2_299, 5_000)) == "46.0 % (44.6 to 47.4 %)"
