"""Forced windows at base rates; tests/fleet/referees holds them to the exact chain."""

from math import exp
from statistics import NormalDist, fmean

import pytest
from msgspec.structs import replace

from kiplab.fleet.estimators.forced_windows import (
    LAST_REPLICA_LOSS,
    METRICS,
    RACE_LOSS,
    STALE_JOIN,
    STALE_JOIN_AFTER_CRASH,
    forced_block,
    forced_rates,
)
from kiplab.fleet.estimators.window_draws import WindowDraws, real_draws
from kiplab.fleet.parameters import Parameters
from kiplab.fleet.statistics.event_rates import FoundRate, NeverHappens, WeighedRate
from tests.fleet.referees.exact_chains import yearly_rates

BASE = Parameters(disk_failures_per_year=0.0)
NEITHER, NOT_FENCED, EPOCHS = frozenset[str](), frozenset({"841"}), frozenset({"903"})
BOTH = NOT_FENCED | EPOCHS


def weighed(found: FoundRate) -> WeighedRate:
    assert isinstance(found, WeighedRate)
    return found


def test_with_both_kips_it_cannot_happen_and_that_is_no_zero_that_was_seen() -> None:
    rates = forced_rates(BASE, BOTH, seed=7)
    for metric in METRICS:
        assert isinstance(rates[metric], NeverHappens) is (metric != LAST_REPLICA_LOSS)
    assert weighed(rates[LAST_REPLICA_LOSS]).rate > 0


@pytest.mark.parametrize("kips", [NEITHER, NOT_FENCED, EPOCHS], ids=["none", "841", "903"])
def test_ten_thousand_samples_are_within_ten_percent_at_base_without_an_alarm(
    kips: frozenset[str],
) -> None:
    for metric, rate in forced_rates(BASE, kips, seed=3).items():
        found = weighed(rate)
        assert found.high - found.low < 2 * 1.96 * 0.1 * found.rate, metric
        assert found.alarms == (), metric


def test_lognormal_restarts_leave_far_less_to_841_alone_than_exponential_ones() -> None:
    real = weighed(forced_rates(BASE, NOT_FENCED, seed=3)[STALE_JOIN_AFTER_CRASH])
    assert real.rate < 0.1 * yearly_rates(BASE, NOT_FENCED)[STALE_JOIN_AFTER_CRASH]


def joins_of_stops(kips: frozenset[str]) -> float:
    """A leader that stops is asked for once more, and gone when a slow AlterPartition is read;
    KIP-903 refuses it once the broker is back.
    """
    read, sigma = BASE.slow_alter_partition_s, BASE.clean_restart_sigma
    by_sd = (NormalDist().inv_cdf((n + 0.5) / 1000) for n in range(1000))
    back = [BASE.clean_restart_s * exp(sigma * z - sigma**2 / 2) for z in by_sd]
    still_away = 1 - fmean(exp(-s / read) for s in back) if kips == EPOCHS else 1.0
    late = BASE.slow_alter_partition_share * exp(-BASE.shutdown_s / read)
    return BASE.bounces_per_year * late * still_away


@pytest.mark.parametrize("kips", [NEITHER, EPOCHS], ids=["none", "903"])
def test_without_841_most_stale_joins_are_of_leaders_that_stopped(kips: frozenset[str]) -> None:
    rates = forced_rates(BASE, kips, seed=3)
    every, crashed = (weighed(rates[name]) for name in (STALE_JOIN, STALE_JOIN_AFTER_CRASH))
    stopped = joins_of_stops(kips)
    assert every.rate == pytest.approx(crashed.rate + stopped, rel=0.01)
    assert crashed.rate < 1e-4 * every.rate


def test_841_does_not_ask_for_a_leader_that_stops() -> None:
    rates = forced_rates(BASE, NOT_FENCED, seed=3)
    assert rates[STALE_JOIN] == rates[STALE_JOIN_AFTER_CRASH]


def test_what_a_dead_leader_asked_for_is_read_until_its_session_is_over() -> None:
    """Planned restarts wait while the stale one is down, so crashes in this time weigh much."""
    assert 1.4 < _race() / _race(leader_notice=0.0) < 1.8


def test_a_stale_replica_stays_until_the_controller_reads_that_it_is_to_leave() -> None:
    slow = replace(BASE, slow_alter_partition_share=1.0)
    assert 2 < _race(slow) / _race(slow, evict_asked=((1.0, 0.0),)) < 5


def _race(parameters: Parameters = BASE, **changed: object) -> float:
    """Losses by the race in a block, with some of what is drawn replaced."""

    def draw(p: Parameters, u: object, tilt: float) -> WindowDraws:
        return replace(real_draws(p, u, tilt), **changed)

    return forced_block(parameters, NEITHER, seed=1, block=0, samples=500, draw=draw)[
        RACE_LOSS
    ].total


def test_a_block_is_a_function_of_its_arguments() -> None:
    one = forced_block(BASE, NEITHER, seed=1, block=4, samples=50)
    assert forced_block(BASE, NEITHER, seed=1, block=4, samples=50) == one
    assert forced_block(BASE, NEITHER, seed=1, block=5, samples=50) != one
    assert forced_block(BASE, NEITHER, seed=2, block=4, samples=50) != one


def test_kips_share_the_draws_of_what_they_do_not_touch() -> None:
    blocks = [forced_block(BASE, kips, seed=1, block=0, samples=50) for kips in (NEITHER, BOTH)]
    assert blocks[0][LAST_REPLICA_LOSS] == blocks[1][LAST_REPLICA_LOSS]


def test_other_than_two_replicas_are_refused() -> None:
    with pytest.raises(ValueError, match=r"3 replicas with min.insync.replicas=1: windows"):
        forced_rates(replace(BASE, replication_factor=3), NEITHER, seed=1)
