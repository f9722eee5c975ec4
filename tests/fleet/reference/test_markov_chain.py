"""A chain's rates are exact however small they are."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kiplab.fleet.reference.markov_chain import ChainArc, MarkovChain, rates_by_shares, shares

EVENT = frozenset({"event"})


def there_and_back(out: Any, back: Any) -> MarkovChain:
    return MarkovChain(
        ("up", "down"), (ChainArc("up", "down", out, EVENT), ChainArc("down", "up", back))
    )


def ring(rates: list[Any]) -> MarkovChain:
    """From each state to the next, and from each straight home."""
    names = tuple(str(n) for n in range(len(rates) // 2))
    arcs = [ChainArc(a, b, rates[n], EVENT) for n, (a, b) in enumerate(pairwise(names))]
    home = [ChainArc(name, "0", rates[len(names) + n]) for n, name in enumerate(names) if n]
    return MarkovChain(names, (*arcs, *home))


def test_two_states_have_a_formula() -> None:
    assert rates_by_shares(there_and_back(3.0, 5.0)) == {"event": pytest.approx(3 * 5 / 8)}
    assert shares(there_and_back(3.0, 5.0)) == pytest.approx({"up": 5 / 8, "down": 3 / 8})


def test_with_fractions_in_the_answer_is_a_fraction() -> None:
    assert rates_by_shares(there_and_back(Fraction(1, 3), Fraction(1, 7))) == {
        "event": Fraction(1, 10)
    }


@settings(max_examples=30)
@given(st.lists(st.integers(-40, 3), min_size=6, max_size=10))
def test_shares_are_precise_to_twelve_digits_however_small(powers: list[int]) -> None:
    exact = shares(ring([Fraction(10) ** power for power in powers]))
    found = shares(ring([float(Fraction(10) ** power) for power in powers]))
    for state, share in exact.items():
        assert abs(Fraction(found[state]) - share) <= share / 10**12


def check_balanced(chain: MarkovChain) -> None:
    """Each state is come to as often as it is left; for chains whose rates are fractions."""
    share = shares(chain)
    assert sum(share.values()) == 1
    for state in chain.states:
        into = sum(share[arc.origin] * arc.rate for arc in chain.arcs if arc.target == state)
        assert into == share[state] * sum(arc.rate for arc in chain.arcs if arc.origin == state)


@settings(max_examples=30)
@given(st.lists(st.integers(1, 99), min_size=6, max_size=8))
def test_each_state_is_come_to_as_often_as_it_is_left(rates: list[int]) -> None:
    check_balanced(ring([Fraction(rate) for rate in rates]))


def test_a_state_without_a_way_back_is_named() -> None:
    stuck = MarkovChain(("up", "down"), (ChainArc("up", "down", 1.0, EVENT),))
    with pytest.raises(ValueError, match="from down nothing leads back to up"):
        rates_by_shares(stuck)
