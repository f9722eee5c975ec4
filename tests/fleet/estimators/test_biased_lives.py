"""Failure biasing of the kernel's schedules: what exact chains, forced windows and plain sampling
find.
"""

import os
import subprocess
import sys
from math import exp

import pytest
from msgspec.structs import replace
from numpy import array, full, ones, zeros

from kiplab.fleet.estimators.biased_clocks import clocks_of
from kiplab.fleet.estimators.biased_runs import biased_block
from kiplab.fleet.estimators.biased_ways import CHOICES, NextWays, OpenWindows
from kiplab.fleet.estimators.counted_uniforms import uniforms
from kiplab.fleet.estimators.forced_windows import STALE_JOIN, forced_rates
from kiplab.fleet.kernel.simulation import METRIC_NAMES
from kiplab.fleet.kernel.world import HOUR, SECOND, YEAR, Exponential, World
from kiplab.fleet.reference.last_standing_chain import StandingRates, standing_rates
from kiplab.fleet.reference.two_replica_chain import LAST_REPLICA_LOSS
from kiplab.fleet.statistics.block_means import NothingWeighed, WeighedRate, weighed_rate
from kiplab.fleet.verification import chain_claims
from kiplab.fleet.verification.checked_worlds import QUIET, world_of
from kiplab.fleet.verification.kernel_blocks import BLOCKS, lived, yearly
from tests.repeated import in_long

BOTH = "841+903"
AWAY = 420 * SECOND
AT_ONCE = replace(
    chain_claims.AT_ONCE,
    crash_restart=Exponential(AWAY),
    clean_restart=Exponential(AWAY),
    tail_lost=0.3,
)
"""At base rates, with what takes no time in the chain taking next to none."""
BUSY = World(
    replication_factor=3,
    min_insync_replicas=2,
    racks=(0, 1, 0),
    crash_mean_us=YEAR // 100,
    bounce_mean_us=YEAR // 100,
    cut_mean_us=YEAR // 40,
    failover_mean_us=YEAR // 40,
    rack_shock_mean_us=YEAR // 20,
    cluster_shock_mean_us=YEAR // 20,
    alter_partition_slow_share=0.2,
    tail_lost=0.4,
    shock_tail_lost=0.4,
)
"""Where plain sampling sees everything but the race."""
LOOPING = replace(BUSY, early_factor=40.0)
"""There every thirteenth broker that is back crashes within ten minutes."""
NO_KIP = frozenset[str]()


def rates(
    world: World, sets: tuple[str, ...], samples: int
) -> dict[tuple[str, str], WeighedRate | NothingWeighed]:
    blocks = [biased_block(world, sets, seed=5, block=n, samples=samples) for n in range(BLOCKS)]
    found = {}
    for features in sets:
        here = [block[features] for block in blocks]
        years = sum(block.exposure_us for block in here) / YEAR
        for metric in METRIC_NAMES:
            found[features, metric] = weighed_rate([one.weights[metric] for one in here], years)
    return found


@pytest.mark.parametrize(
    ("replicas", "samples", "metrics"),
    [
        (2, 50, ("incidents", "expansions", "offline", "offline_us", "last_replica_loss")),
        (3, 50, ("incidents", "expansions", "offline", "last_replica_loss")),
    ],
)
def test_the_exact_chain_lies_within_four_standard_errors_at_base(
    replicas: int, samples: int, metrics: tuple[str, ...]
) -> None:
    world = replace(
        AT_ONCE, replication_factor=replicas, crash_mean_us=YEAR, bounce_mean_us=YEAR // 12
    )
    chain = StandingRates(
        replicas=replicas, crash=1, bounce=12, restart=YEAR / AWAY, lost=world.tail_lost
    )
    exact, found = standing_rates(chain, 1), rates(world, (BOTH,), samples)
    for metric in metrics:
        rate = found[BOTH, metric]
        assert isinstance(rate, WeighedRate), metric
        # Half of a 95 % interval is two standard errors.
        assert rate.rate == pytest.approx(exact[metric], abs=rate.high - rate.low), metric
    assert exact["offline"] < 1e-3


@pytest.mark.parametrize("replicas", [3, *in_long([2])])
def test_of_four_thousand_samples_a_hundred_count_at_base(replicas: int) -> None:
    world = world_of(replace(QUIET, replication_factor=replicas))
    found = rates(world, ("none",), 4_000 // BLOCKS)
    for metric in ("stale_join", "last_replica_loss", "offline"):
        rate = found["none", metric]
        assert isinstance(rate, WeighedRate), metric
        assert (rate.effective_samples > 120, rate.alarms) == (True, ()), metric


def test_forced_windows_agree_at_base() -> None:
    found, forced = rates(world_of(QUIET), ("none",), 60), forced_rates(QUIET, NO_KIP, seed=5)
    for metric in (STALE_JOIN, LAST_REPLICA_LOSS):
        rate, other = found["none", metric], forced[metric]
        assert isinstance(rate, WeighedRate)
        assert isinstance(other, WeighedRate)
        room = rate.high - rate.low + other.high - other.low
        assert rate.rate == pytest.approx(other.rate, abs=room), metric


def test_an_alarm_rings_where_few_samples_carry_the_estimate() -> None:
    found = rates(replace(AT_ONCE, replication_factor=5), (BOTH,), 10)[BOTH, "offline"]
    assert isinstance(found, NothingWeighed) or found.alarms


@pytest.mark.long(quick="::test_forced_windows_agree_at_base")
@pytest.mark.parametrize("world", [BUSY, LOOPING], ids=["busy", "crash loops"])
def test_plain_sampling_agrees_where_it_sees_much(world: World) -> None:
    sets = ("none", "841")
    counts, found = lived(world, sets, 400, 11), rates(world, sets, 150)
    for features in sets:
        for metric in METRIC_NAMES:
            seen, rate = yearly(counts, features, metric)(), found[features, metric]
            if sum(seen.blocks) < 200 or metric == "incidents":
                continue
            assert isinstance(rate, WeighedRate), metric
            ends = seen.between(0.95)
            room = rate.high - rate.low + ends.high - ends.low + 0.01 * seen.value
            assert rate.rate == pytest.approx(seen.value, abs=room), (features, metric)


def test_forced_events_are_weighed_with_how_likely_they_are_in_truth() -> None:
    # Three windows, one of no length: two may be hit by crashes, one of them may be stopped.
    whom = array([[2, 3, 0, 2, 0], [1, 1, 0, 0, 0], [3, 3, 0, 0, 1]])
    many, lasts = 40_000, array([40, 0, 60]) * SECOND
    open_now = OpenWindows(
        begins=array([[0, 40, 40]] * many) * SECOND,
        lasts=array([lasts] * many),
        whom=array([whom] * many),
        since=zeros(many, int),
        rests=full(many, 100 * SECOND),
    )
    clocks = clocks_of(World(crash_mean_us=200 * SECOND, bounce_mean_us=300 * SECOND))
    found = NextWays(clocks, 0).draw(open_now, ones(many, bool), uniforms(1, 1, many, CHOICES))
    for clock, one in enumerate(clocks):
        weights = (found.clock == clock) / found.forced
        rate = sum(each.rate for each in clocks)
        truth = one.rate / rate * (1 - exp(-rate * 100 * SECOND))
        error = float(weights.std()) / many**0.5
        assert float(weights.mean()) == pytest.approx(truth, abs=4 * error), one.kind


def test_every_clock_of_a_world_is_biased() -> None:
    kinds = {clock.kind: clock for clock in clocks_of(BUSY)}
    assert {*kinds} == {"crash", "bounce", "cut", "rack shock", "shock", "failover"}
    assert sum(clock.kind == "rack shock" for clock in clocks_of(BUSY)) == 2
    assert kinds["shock"].brokers == (0, 1, 2)
    only = replace(World(), failover_mean_us=0, bounce_mean_us=0)
    assert {clock.kind for clock in clocks_of(only)} == {"crash"}


def test_a_block_is_a_function_of_its_arguments() -> None:
    one = biased_block(BUSY, ("none", BOTH), seed=1, block=4, samples=30)
    assert biased_block(BUSY, (BOTH,), seed=1, block=4, samples=30)[BOTH] == one[BOTH]
    assert biased_block(BUSY, (BOTH,), seed=1, block=5, samples=30)[BOTH] != one[BOTH]


PLAINLY = """
from kiplab.fleet.estimators.biased_runs import biased_block
from tests.fleet.estimators.test_biased_lives import BUSY
print(biased_block(BUSY, ("none",), seed=1, block=4, samples=10))
"""


def test_plain_python_finds_the_same() -> None:
    told = subprocess.run(
        [sys.executable, "-c", PLAINLY],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    ).stdout
    assert told.strip() == str(biased_block(BUSY, ("none",), seed=1, block=4, samples=10))


@pytest.mark.parametrize(
    ("world", "said"),
    [
        (replace(BUSY, early_factor=10_000.0), "too many for failure biasing"),
        (replace(BUSY, crash_mean_us=HOUR // 100), "too many for failure biasing"),
        (World(crash_mean_us=0, bounce_mean_us=0, failover_mean_us=0), "nothing ever happens"),
    ],
)
def test_what_it_is_not_for_is_refused(world: World, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        biased_block(world, (BOTH,), seed=1, block=0, samples=1)
