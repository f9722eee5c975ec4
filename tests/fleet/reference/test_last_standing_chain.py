"""The last one standing has to come back first: one to five replicas, solved exactly."""

from fractions import Fraction

import pytest
from msgspec.structs import replace

from kiplab.fleet.parameters import Parameters
from kiplab.fleet.parameters.years import MICROSECONDS_PER_YEAR, SECONDS_PER_YEAR
from kiplab.fleet.reference.last_standing_chain import (
    StandingRates,
    last_standing_chain,
    standing_rates,
)
from kiplab.fleet.reference.markov_chain import rates_by_shares, shares
from tests.fleet.reference.test_markov_chain import check_balanced

BASE = Parameters(disk_failures_per_year=0.0)
REPAIR_S = 420
BUSY = StandingRates(
    replicas=3, crash=Fraction(50), bounce=Fraction(20), restart=Fraction(500), lost=Fraction(3, 10)
)


def at_base(replicas: int) -> StandingRates:
    return StandingRates(
        replicas=replicas,
        crash=BASE.crashes_per_year,
        bounce=BASE.bounces_per_year,
        restart=SECONDS_PER_YEAR / REPAIR_S,
        lost=0.1,
    )


def births_and_deaths(rates: StandingRates) -> float:
    """How often the last of two or more goes; planned restarts wait until all are well."""
    weights = [1.0, rates.replicas * (rates.crash + rates.bounce) / rates.restart]
    for down in range(1, rates.replicas):
        alive = rates.replicas - down
        weights.append(weights[-1] * alive * rates.crash / ((down + 1) * rates.restart))
    return float(weights[-2] * rates.crash / sum(weights))


@pytest.mark.parametrize(("replicas", "rate"), [(2, 3.5e-4), (3, 6.9e-9), (4, 1.2e-13)])
def test_rare_as_it_is_at_base_births_and_deaths_say_the_same(replicas: int, rate: float) -> None:
    by_births = births_and_deaths(at_base(replicas))
    assert f"{by_births:.1e}" == f"{rate:.1e}"
    assert standing_rates(at_base(replicas))["offline"] == pytest.approx(by_births, rel=1e-3)


def test_one_replica_is_offline_with_every_incident() -> None:
    found = standing_rates(at_base(1))
    away = 13 / (1 + 13 * REPAIR_S / SECONDS_PER_YEAR)
    assert found["offline"] == found["incidents"] == pytest.approx(away, rel=1e-12)
    assert found["offline_us"] == pytest.approx(away * REPAIR_S * 1e6, rel=1e-12)


@pytest.mark.parametrize("replicas", [1, 2, 3, 4, 5])
def test_each_state_is_come_to_as_often_as_it_is_left(replicas: int) -> None:
    chain = last_standing_chain(replace(BUSY, replicas=replicas))
    check_balanced(chain)


@pytest.mark.parametrize("replicas", [2, 3, 5])
def test_as_many_come_back_to_the_isr_as_leave_it(replicas: int) -> None:
    rates = replace(BUSY, replicas=replicas)
    chain = last_standing_chain(rates)
    share = shares(chain)
    back = sum(
        share[f"{up} up"] * (replicas - up) * rates.restart for up in range(1, replicas)
    ) + sum(
        share[f"offline, {others} others up"] * others * rates.restart for others in range(replicas)
    )
    assert back == rates_by_shares(chain)["expansions"]


def test_a_further_replica_helps_until_it_has_to_be_in_sync_to_write() -> None:
    two, three = (standing_rates(at_base(replicas), 2) for replicas in (2, 3))
    assert three["offline"] < 1e-4 * two["offline"]
    assert three["under_min_us"] < 1e-3 * two["under_min_us"]
    assert standing_rates(at_base(3), 1)["under_min_us"] == 0
    whole = standing_rates(at_base(3), 3)["under_min_us"] / MICROSECONDS_PER_YEAR
    assert whole == pytest.approx(3 * 13 * REPAIR_S / SECONDS_PER_YEAR, rel=1e-3)
