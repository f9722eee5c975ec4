"""All replicas gone, forced: as rare as the exact chain says, for two to five of them."""

from typing import Any

import pytest
from msgspec.structs import replace

from kiplab.fleet.estimators.forced_outages import (
    ALL_GONE,
    OUTAGE_METRICS,
    outage_block,
    outage_rates,
)
from kiplab.fleet.estimators.forced_windows import BLOCKS, LAST_REPLICA_LOSS
from kiplab.fleet.estimators.window_draws import WindowDraws, real_draws
from kiplab.fleet.parameters import Parameters
from kiplab.fleet.statistics.event_rates import FoundRate, WeighedRate
from tests.fleet.referees.claims import last_replica_losses

BASE = Parameters(disk_failures_per_year=0.0)


def weighed(found: FoundRate) -> WeighedRate:
    assert isinstance(found, WeighedRate)
    return found


@pytest.mark.parametrize("replicas", [2, 3, 4, 5])
def test_ten_thousand_samples_are_within_ten_percent_at_base_without_an_alarm(
    replicas: int,
) -> None:
    rates = outage_rates(replace(BASE, replication_factor=replicas), seed=3)
    for metric in OUTAGE_METRICS:
        found = weighed(rates[metric])
        assert found.high - found.low < 2 * 1.96 * 0.1 * found.rate, metric
        assert found.alarms == (), metric


def test_with_two_in_sync_required_a_stale_tail_has_nothing_to_lose() -> None:
    both = replace(BASE, min_insync_replicas=2, tail_lost=1.0)
    for bounces in (both.bounces_per_year, 0.0):
        # Nobody waits for a follower that was stopped: crashes alone tell what is committed then.
        p = replace(both, bounces_per_year=bounces)
        found = weighed(outage_rates(p, seed=3, samples=4_000)[LAST_REPLICA_LOSS])
        assert found.rate == pytest.approx(last_replica_losses(p), rel=0.05)
    disks = replace(both, tail_lost=0.0, disk_failures_per_year=1.0)
    rates = outage_rates(disks, seed=3)
    assert rates[LAST_REPLICA_LOSS] == rates[ALL_GONE]


def test_of_two_replicas_that_are_left_each_leads_as_often() -> None:
    """The second of three goes for 1,000 s, and the last one within that time. Its tail of 100 s
    has a committed record if it goes at once; or if it leads and goes when it no longer waits for
    the second one, after 500 s: half of them do.
    """
    p = replace(BASE, replication_factor=3, min_insync_replicas=2, bounces_per_year=0.0)
    p = replace(p, unflushed_s=100.0, tail_lost=1.0)
    away = iter([1e12, 1e3, 1e3] * BLOCKS)

    def away_for_so_long(*arguments: Any) -> WindowDraws:
        nothing = 0 * real_draws(*arguments).ready
        registered = nothing + next(away)
        return replace(
            real_draws(*arguments),
            registered=registered,
            ready=nothing,
            level=nothing,
            commit_pause=500.0,
        )

    rates = outage_rates(p, seed=3, samples=4_000, draw=away_for_so_long)
    share = weighed(rates[LAST_REPLICA_LOSS]).rate / weighed(rates[ALL_GONE]).rate
    assert share == pytest.approx((1 + 1 / 2) * 100 / 2 / 1_000, rel=0.02)


def test_a_block_is_a_function_of_its_arguments() -> None:
    three = replace(BASE, replication_factor=3)
    one = outage_block(three, seed=1, block=4, samples=50)
    assert outage_block(three, seed=1, block=4, samples=50) == one
    assert outage_block(three, seed=1, block=5, samples=50) != one


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        (replace(BASE, replication_factor=1), "replication_factor=1, bounces_wait=true"),
        (replace(BASE, bounces_wait=False), "replication_factor=2, bounces_wait=false"),
    ],
)
def test_what_is_no_matter_of_outages_is_refused(parameters: Parameters, said: str) -> None:
    with pytest.raises(ValueError, match=f"{said}: outages are forced for two replicas or more"):
        outage_rates(parameters, seed=1)
