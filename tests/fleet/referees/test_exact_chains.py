"""The exact chains balance, are precise, and have the numbers that were published."""

from fractions import Fraction
from typing import Any

import pytest
from msgspec.structs import asdict, replace

from kiplab.fleet.parameters import Parameters
from kiplab.fleet.parameters.scenario import SECONDS_PER_YEAR
from tests.fleet.referees import exact_chains as chains
from tests.fleet.referees.claims import last_replica_losses

BASE = Parameters(disk_failures_per_year=0.0)
CRASH_LOOP = replace(BASE, early_crash_factor=500.0, slow_alter_partition_share=0.01)
NEITHER, NOT_FENCED, EPOCHS = frozenset[str](), frozenset({"841"}), frozenset({"903"})
BOTH = NOT_FENCED | EPOCHS


def in_fractions(rates: Any) -> Any:
    each = {name: value for name, value in asdict(rates).items() if name != "replicas"}
    return replace(rates, **{name: Fraction(value) for name, value in each.items()})


def at_base(replicas: int) -> chains.StandingRates:
    crash, bounce, restart = BASE.crashes_per_year, BASE.bounces_per_year, SECONDS_PER_YEAR / 420
    return chains.StandingRates(replicas, crash, bounce, restart, lost=0.1)


BALANCED = [
    *(chains.standing_chain(in_fractions(at_base(replicas))) for replicas in range(1, 6)),
    *(
        chains.unclean_chain(
            in_fractions(chains.UncleanRates(crash=50, restart=500, level=700, recovered=recovered))
        )
        for recovered in (0, 90)
    ),
    chains.elr_chain(in_fractions(at_base(2))),
    chains.race_chain(in_fractions(chains.race_rates(CRASH_LOOP)), NEITHER),
    chains.race_chain(in_fractions(chains.race_rates(BASE)), BOTH),
]


@pytest.mark.parametrize("chain", BALANCED)
def test_each_state_is_come_to_as_often_as_it_is_left(chain: chains.Chain) -> None:
    share = chains.shares(chain)
    assert sum(share.values()) == 1
    for state in chain.states:
        into = sum(share[origin] * rate for origin, to, rate, _ in chain.arcs if to == state)
        assert into == share[state] * sum(arc[2] for arc in chain.arcs if arc[0] == state)


@pytest.mark.parametrize("kips", [NEITHER, NOT_FENCED, EPOCHS, BOTH])
@pytest.mark.parametrize("parameters", [BASE, CRASH_LOOP], ids=["base", "crash loop"])
def test_rates_are_precise_to_twelve_digits(parameters: Parameters, kips: frozenset[str]) -> None:
    rates = chains.race_rates(parameters)
    found = chains.rates_of(chains.race_chain(rates, kips))
    exact = chains.rates_of(chains.race_chain(in_fractions(rates), kips))
    assert found.keys() == exact.keys()
    for event, rate in exact.items():
        assert abs(Fraction(found[event]) - rate) <= rate / 10**12


@pytest.mark.parametrize(
    ("parameters", "kips", "stale", "race"),
    [
        (BASE, NEITHER, "1.88e-08", "4.7e-15"),
        (BASE, NOT_FENCED, "1.48e-09", "1.6e-15"),
        (BASE, EPOCHS, "1.73e-08", "3.2e-15"),
        (BASE, BOTH, "0.00e+00", "0.0e+00"),
        (CRASH_LOOP, NEITHER, "9.38e-05", "2.4e-11"),
    ],
)
def test_published_rates(
    parameters: Parameters, kips: frozenset[str], stale: str, race: str
) -> None:
    found = chains.yearly_rates(parameters, kips)
    assert f"{found['stale_join_after_crash']:.2e}" == stale
    assert f"{found['race_loss']:.1e}" == race
    assert f"{found['last_replica_loss']:.1e}" == "2.6e-05"
    one_line = last_replica_losses(parameters)
    assert found["last_replica_loss"] == pytest.approx(one_line, rel=0.02)


@pytest.mark.parametrize(("replicas", "rate"), [(2, 3.5e-4), (3, 6.9e-9), (4, 1.2e-13)])
def test_births_and_deaths_say_how_rarely_all_are_gone(replicas: int, rate: float) -> None:
    r = at_base(replicas)
    weights = [1.0, replicas * (r.crash + r.bounce) / r.restart]
    for down in range(1, replicas):
        weights.append(weights[-1] * (replicas - down) * r.crash / ((down + 1) * r.restart))
    by_births = weights[-2] * r.crash / sum(weights)
    assert f"{by_births:.1e}" == f"{rate:.1e}"
    assert chains.standing_rates(r)["offline"] == pytest.approx(by_births, rel=1e-3)


def test_unclean_elections_are_two_crashes_in_a_row_and_half_of_the_returns() -> None:
    rare = chains.UncleanRates(crash=1.0, restart=75_000.0, level=175_000.0)
    found = chains.unclean_rates(rare)
    assert found["offline"] == pytest.approx(2 / rare.restart, rel=1e-4)
    behind = 2 / rare.level
    assert found["unclean_loss"] == pytest.approx(behind + found["offline"] / 2, rel=1e-4)
    sooner = chains.unclean_rates(replace(rare, recovered=1e9))
    assert sooner["unclean_loss"] == pytest.approx(found["unclean_loss"], rel=1e-4)
    assert sooner["recovery_us"] < 1e-3 * found["recovery_us"]
