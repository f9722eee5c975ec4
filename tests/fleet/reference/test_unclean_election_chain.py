"""Unclean elections trade time offline for records, and KIP-704 changes neither."""

from fractions import Fraction

import pytest
from msgspec.structs import replace

from kiplab.fleet.reference.unclean_election_chain import (
    UncleanRates,
    unclean_election_chain,
    unclean_rates,
)
from tests.fleet.reference.test_markov_chain import check_balanced

RARE = UncleanRates(crash=1.0, restart=75_000.0, level=175_000.0)
SLOW = UncleanRates(crash=Fraction(50), restart=Fraction(500), level=Fraction(700))


@pytest.mark.parametrize("recovered", [0, Fraction(90)])
def test_each_state_is_come_to_as_often_as_it_is_left(recovered: Fraction) -> None:
    chain = unclean_election_chain(replace(SLOW, recovered=recovered))
    check_balanced(chain)


def test_where_crashes_are_rare_it_is_two_in_a_row_and_half_of_the_returns() -> None:
    found = unclean_rates(RARE)
    assert found["offline"] == pytest.approx(2 / RARE.restart, rel=1e-4)
    behind = 2 / RARE.level
    assert found["unclean_loss"] == pytest.approx(behind + found["offline"] / 2, rel=1e-4)


def test_a_leader_that_recovers_is_done_sooner_and_nothing_else_is_otherwise() -> None:
    built, wanted = unclean_rates(RARE), unclean_rates(replace(RARE, recovered=1e9))
    for name in ("offline", "offline_us", "unclean_loss"):
        assert wanted[name] == pytest.approx(built[name], rel=1e-4)
    assert wanted["recovery_us"] < 1e-3 * built["recovery_us"]
