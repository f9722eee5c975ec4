"""What forced samples are known to leave out is in their interval."""

import pytest
from msgspec.structs import replace

from kiplab.fleet.estimators import window_draws
from kiplab.fleet.estimators.forced_outages import OUTAGE_METRICS, left_out
from kiplab.fleet.estimators.forced_windows import METRICS, STALE_JOIN
from kiplab.fleet.fleet_answers import quick_estimate
from kiplab.fleet.fleet_answers.quick_estimate import changed, estimate
from kiplab.fleet.parameters import Parameters, read_study
from kiplab.fleet.statistics.block_means import weighed_rate
from kiplab.fleet.statistics.event_rates import WeighedRate
from tests.fleet.referees.compared import QUIET

EVERY = tuple(dict.fromkeys((*METRICS, *OUTAGE_METRICS)))


@pytest.mark.parametrize("metric", EVERY)
def test_at_base_rates_it_is_little_and_more_where_crashes_follow_each_other(metric: str) -> None:
    base = left_out(QUIET, metric)
    assert 0 < base < 1e-3
    looping = replace(QUIET, early_crash_factor=500.0)
    assert left_out(looping, metric) > 30 * base or metric == STALE_JOIN
    assert left_out(looping, metric) > 1e-2


def test_without_crashes_nothing_is_met_by_another() -> None:
    quiet = Parameters(crashes_per_year=0.0, disk_failures_per_year=0.0)
    assert left_out(quiet, "race_loss") == 0


def test_an_interval_is_no_narrower_than_what_the_estimate_leaves_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Stale joins at base rates hardly differ between samples, and are not that well known."""
    monkeypatch.setattr(quick_estimate, "_WORK", 20_000)
    study = changed(read_study("small"), {"horizon_years": 1.0})
    found = estimate(study)
    row = found.row("none", STALE_JOIN, method="forced")
    (point,) = found.study.scenarios
    blocks = found.sums_of(row).weights
    alone = weighed_rate(blocks, row.exposure)
    assert isinstance(alone, WeighedRate)
    assert isinstance(row.found, WeighedRate)
    share = left_out(point.parameters, STALE_JOIN)
    assert row.found.rate == alone.rate
    assert row.found.low == pytest.approx(alone.low * (1 - share), rel=1e-12)
    assert row.found.high == pytest.approx(alone.high * (1 + share), rel=1e-12)
    assert row.found.high - row.found.low > 1.9 * share * row.found.rate


def test_what_a_crash_takes_with_it_counts_disks_too() -> None:
    with_disks = replace(QUIET, disk_failures_per_year=0.5)
    assert window_draws.lost_share(with_disks) == pytest.approx(0.5 + 0.5 * 0.1)
