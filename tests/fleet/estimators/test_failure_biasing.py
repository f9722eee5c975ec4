"""Failure biasing finds the chain's rates; without it nothing is found at base."""

import pytest
from msgspec.structs import replace

from kiplab.fleet.estimators.failure_biasing import biased_blocks
from kiplab.fleet.parameters import Parameters
from kiplab.fleet.reference.markov_chain import MarkovChain, rates_by_shares
from kiplab.fleet.reference.two_replica_chain import chain_rates, two_replica_chain
from kiplab.fleet.statistics.block_means import NothingWeighed, WeighedRate, weighed_rate

BASE = Parameters(disk_failures_per_year=0.0)
SOONER = replace(BASE, crashes_per_year=400.0, slow_alter_partition_share=0.3)
ALWAYS = replace(BASE, crashes_per_year=4_000.0, slow_alter_partition_share=0.3)
BLOCKS = 40
NEITHER, NOT_FENCED, EPOCHS = frozenset[str](), frozenset({"841"}), frozenset({"903"})


def biased_rate(
    chain: MarkovChain, event: str, cycles: int, biased: bool = True
) -> WeighedRate | NothingWeighed:
    return weighed_rate(
        *biased_blocks(chain, event, seed=5, blocks=BLOCKS, cycles=cycles, biased=biased)
    )


@pytest.mark.parametrize("event", ["stale_join_after_crash", "race_loss"])
@pytest.mark.parametrize(
    ("parameters", "kips"),
    [
        pytest.param(BASE, NEITHER, id="base, none"),
        pytest.param(BASE, NOT_FENCED, id="base, 841"),
        pytest.param(BASE, EPOCHS, id="base, 903"),
        pytest.param(SOONER, NEITHER, id="sooner, none"),
        pytest.param(SOONER, EPOCHS, id="sooner, 903"),
    ],
)
def test_the_exact_rate_lies_within_four_standard_errors(
    parameters: Parameters, kips: frozenset[str], event: str
) -> None:
    chain = two_replica_chain(chain_rates(parameters), kips)
    found = biased_rate(chain, event, cycles=500)
    assert isinstance(found, WeighedRate)
    exact = rates_by_shares(chain)[event]
    assert found.rate == pytest.approx(exact, abs=found.high - found.low)


def test_an_alarm_rings_where_most_of_what_is_biased_leads_elsewhere() -> None:
    chain = two_replica_chain(chain_rates(ALWAYS), NOT_FENCED)
    found = biased_rate(chain, "race_loss", cycles=50)
    assert isinstance(found, NothingWeighed) or found.alarms


def test_naive_sampling_agrees_where_it_sees_anything() -> None:
    chain = two_replica_chain(chain_rates(ALWAYS), NEITHER)
    found = biased_rate(chain, "stale_join_after_crash", cycles=1000, biased=False)
    assert isinstance(found, WeighedRate)
    exact = rates_by_shares(chain)["stale_join_after_crash"]
    assert found.rate == pytest.approx(exact, abs=found.high - found.low)


def test_naive_sampling_sees_nothing_at_base() -> None:
    chain = two_replica_chain(chain_rates(BASE), NEITHER)
    found = biased_rate(chain, "race_loss", cycles=100, biased=False)
    assert found == NothingWeighed(samples=BLOCKS * 100)
