"""The chain of two replicas, and the formulas on one line, have the numbers that were published."""

from fractions import Fraction

import pytest
from msgspec.structs import asdict, replace

from kiplab.fleet.parameters import Parameters
from kiplab.fleet.parameters.years import SECONDS_PER_YEAR
from kiplab.fleet.reference import closed_forms
from kiplab.fleet.reference.markov_chain import rates_by_shares
from kiplab.fleet.reference.two_replica_chain import (
    STATES,
    ChainRates,
    chain_rates,
    two_replica_chain,
    yearly_rates,
)
from tests.fleet.reference.test_markov_chain import check_balanced

BASE = Parameters(disk_failures_per_year=0.0)
CRASH_LOOP = replace(BASE, early_crash_factor=500.0, slow_alter_partition_share=0.01)
NEITHER, NOT_FENCED, EPOCHS = frozenset[str](), frozenset({"841"}), frozenset({"903"})
BOTH = NOT_FENCED | EPOCHS
SETS = (NEITHER, NOT_FENCED, EPOCHS, BOTH)


def stale_joins_after_crashes(parameters: Parameters, kips: frozenset[str]) -> float:
    """A slow AlterPartition, and a crash of the follower that is noticed before it is read.

    Then it is read while the broker is fenced (KIP-841 refuses) or back (KIP-903 refuses), unless
    that one has caught up first. Two replicas.
    """
    read = 1 / parameters.slow_alter_partition_s
    noticed, restart = 1 / parameters.session_s, 1 / parameters.crash_restart_s
    level = 1 / parameters.catch_up_s
    crash = parameters.crashes_per_year * parameters.early_crash_factor / SECONDS_PER_YEAR
    window = parameters.slow_alter_partition_share * crash / read * noticed / (noticed + read)
    while_fenced = read / (read + restart)
    while_back = restart / (read + restart) * read / (read + level)
    open_to = ("841" not in kips) * while_fenced + ("903" not in kips) * while_back
    return closed_forms.expansions(parameters) * window * open_to


def digits(value: float, count: int) -> float:
    return float(f"{value:.{count}g}")


def test_it_has_eighteen_states() -> None:
    assert len({*STATES}) == 18


@pytest.mark.parametrize(
    ("kips", "stale", "race"),
    [
        (NEITHER, 1.88e-8, 4.7e-15),
        (NOT_FENCED, 1.48e-9, 1.6e-15),
        (EPOCHS, 1.73e-8, 3.2e-15),
        (BOTH, 0, 0),
    ],
)
def test_the_base_case(kips: frozenset[str], stale: float, race: float) -> None:
    found = yearly_rates(BASE, kips)
    assert digits(found["stale_join_after_crash"], 3) == stale
    assert digits(found["race_loss"], 2) == race
    assert digits(found["last_replica_loss"], 2) == 2.6e-5


def test_crash_loops() -> None:
    found = yearly_rates(CRASH_LOOP, NEITHER)
    assert digits(found["stale_join_after_crash"], 2) == 9.4e-5
    assert digits(found["race_loss"], 2) == 2.4e-11


def in_fractions(rates: ChainRates) -> ChainRates:
    return ChainRates(**{name: Fraction(value) for name, value in asdict(rates).items()})


@pytest.mark.parametrize("kips", SETS)
@pytest.mark.parametrize("parameters", [BASE, CRASH_LOOP], ids=["base", "crash loop"])
def test_rates_are_precise_to_twelve_digits(parameters: Parameters, kips: frozenset[str]) -> None:
    rates = chain_rates(parameters)
    found = rates_by_shares(two_replica_chain(rates, kips))
    exact = rates_by_shares(two_replica_chain(in_fractions(rates), kips))
    assert found.keys() == exact.keys()
    for event, rate in exact.items():
        assert abs(Fraction(found[event]) - rate) <= rate / 10**12


def test_each_state_is_come_to_as_often_as_it_is_left() -> None:
    values = {name: Fraction(1, 2 + n) for n, name in enumerate(ChainRates.__struct_fields__)}
    chain = two_replica_chain(ChainRates(**values), NEITHER)
    check_balanced(chain)


def race_losses(kips: frozenset[str]) -> float:
    """A stale join, and the leader goes before the stale one is evicted or level."""
    rates = chain_rates(BASE)
    up, down = 1 / (rates.evict + rates.catch_up), 1 / (rates.evict + rates.restart_crashed)
    if_up = (rates.crash + rates.bounce) * up
    if_down = rates.crash * down + rates.restart_crashed * down * if_up
    fenced, back = (stale_joins_after_crashes(BASE, kips | {other}) for other in ("903", "841"))
    return float(rates.lost * (fenced * if_down + back * if_up))


@pytest.mark.parametrize("kips", SETS)
def test_formulas_on_one_line_agree_to_a_thousandth(kips: frozenset[str]) -> None:
    found = yearly_rates(BASE, kips)
    stale = found["stale_join_after_crash"]
    assert stale_joins_after_crashes(BASE, kips) == pytest.approx(stale, rel=1e-3)
    assert race_losses(kips) == pytest.approx(found["race_loss"], rel=1e-3)


def test_the_last_replica_goes_as_often_by_one_line_as_by_the_chain() -> None:
    found = yearly_rates(BASE, NEITHER)["last_replica_loss"]
    assert closed_forms.alone_share(BASE) == pytest.approx(2.59e-4, rel=2e-3)
    assert closed_forms.last_replica_losses(BASE) == pytest.approx(found, rel=3e-3)


def test_both_kips_together_leave_no_arc_that_counts() -> None:
    chain = two_replica_chain(chain_rates(BASE), BOTH)
    assert not [arc for arc in chain.arcs if "stale_join_after_crash" in arc.counts]
    assert yearly_rates(BASE, BOTH)["race_loss"] == 0


def test_a_common_cause_takes_all_replicas_or_those_of_a_rack() -> None:
    assert closed_forms.shock_losses(BASE) == pytest.approx(2e-4)
    assert closed_forms.shock_losses(replace(BASE, racks=1)) == pytest.approx(2.2e-3)


def test_what_a_crash_takes_with_it_counts_disks_too() -> None:
    with_disks = replace(BASE, disk_failures_per_year=0.5)
    assert chain_rates(with_disks).lost == pytest.approx(0.5 + 0.5 * 0.1)


def test_without_crashes_there_is_nothing_to_ask() -> None:
    with pytest.raises(ValueError, match="without crashes there is nothing to ask the chain"):
        yearly_rates(replace(BASE, crashes_per_year=0.0), NEITHER)


def test_with_two_in_sync_required_only_a_fresh_tail_has_anything_to_lose() -> None:
    both = replace(BASE, min_insync_replicas=2)
    found = closed_forms.last_replica_losses(both)
    assert found < 0.1 * closed_forms.last_replica_losses(BASE)
    kept = closed_forms.last_replica_losses(replace(both, tail_lost=0.0))
    disks = replace(both, tail_lost=0.0, disk_failures_per_year=1.0)
    assert kept == 0
    assert closed_forms.last_replica_losses(disks) == pytest.approx(closed_forms.alone_share(BASE))
