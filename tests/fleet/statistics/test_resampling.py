"""Whole blocks are drawn again, the same ones for the same seed."""

import pytest

from kiplab.fleet.statistics.resampling import ratio_interval


def test_a_seed_draws_the_same_blocks_again() -> None:
    here = [(n**0.5) % 1 for n in range(1, 60)]
    there = [1 + n % 7 for n in range(1, 60)]
    assert ratio_interval(here, there, seed=3) == ratio_interval(here, there, seed=3)
    assert ratio_interval(here, there, seed=3) != ratio_interval(here, there, seed=4)


def test_a_ratio_is_drawn_in_pairs() -> None:
    there = [10.0 + n % 7 for n in range(60)]
    here = [2 * value + 0.01 * (n % 3) for n, value in enumerate(there)]
    bounds = ratio_interval(here, there)
    assert 2 <= bounds.low < sum(here) / sum(there) < bounds.high < 2.01
    assert ratio_interval([2 * value for value in there], there).low == 2


def test_what_was_never_seen_is_not_drawn_again() -> None:
    with pytest.raises(ValueError, match="bound the rate of incidents instead"):
        ratio_interval([0.0] * 50, [1.0] * 50)


def test_too_few_and_ratios_without_hold_are_refused() -> None:
    with pytest.raises(ValueError, match="9 are too few to draw from; expected 10 or more"):
        ratio_interval([1.0] * 9, [1.0] * 9)
    with pytest.raises(ValueError, match="a ratio needs pairs, most of them above zero there"):
        ratio_interval([1.0] * 12, [1.0] * 5 + [0.0] * 7)
    with pytest.raises(ValueError, match="12 here, 11 there"):
        ratio_interval([1.0] * 12, [1.0] * 11)
