"""The fleet, refereed: every metric by somebody who ought to know, and all of them agree."""

import pytest

from kiplab import fleet
from kiplab.fleet.fleet_answers.counted_metrics import COUNTED
from kiplab.fleet.fleet_answers.forced_scenarios import can_force
from kiplab.fleet.kernel.simulation import METRIC_NAMES
from kiplab.fleet.parameters import Parameters, Scenario
from kiplab.fleet.verification.refereed import Referee, Refereed
from kiplab.fleet.verification.who_checks import metrics_of, who_checks
from kiplab.protocol.releases import Mode

SMALL = 0.05
"""Of the effort: every comparison, with wider intervals."""


@pytest.fixture(scope="module")
def rows() -> tuple[Refereed, ...]:
    return fleet.verify(SMALL)


def test_everybody_agrees(rows: tuple[Refereed, ...]) -> None:
    parted = [row.sentence for row in rows if not row.agrees]
    assert not parted, "\n".join(["these metrics are not what their referees say:", *parted])


@pytest.mark.parametrize("mode", Mode)
def test_every_metric_of_a_mode_has_a_referee_or_cannot_happen_there(mode: Mode) -> None:
    checked = who_checks(metrics_of(mode), mode)
    lacking = [one.metric for one in checked if not one.referees and not one.never]
    assert not lacking, f"give {lacking} claims in kiplab/fleet/verification"
    assert not [one.metric for one in checked if one.referees and one.never]


def test_only_what_samples_estimate_is_not_of_both_modes() -> None:
    """Nothing can be forced with ZooKeeper, so what only forced samples tell is no row of it."""
    estimated = {*COUNTED} - {*METRIC_NAMES}
    assert estimated == {*metrics_of(Mode.KRAFT)} - {*metrics_of(Mode.ZOOKEEPER)}
    assert {*metrics_of(Mode.ZOOKEEPER)} == {*METRIC_NAMES}
    keeper = Scenario(mode=Mode.ZOOKEEPER, feature_sets=("none",), parameters=Parameters())
    assert not can_force(keeper)


def test_who_checks_is_told_as_it_is_done(rows: tuple[Refereed, ...]) -> None:
    for mode in Mode:
        told = who_checks([*COUNTED], mode)
        done = [row for row in rows if row.mode is mode]
        assert sum(one.comparisons for one in told) == len(done)
        for one in told:
            mine = [row for row in done if row.metric == one.metric]
            assert {*one.referees} == {str(row.referee) for row in mine}


def test_every_referee_is_asked_and_no_comparison_is_made_twice(rows: tuple[Refereed, ...]) -> None:
    assert {row.referee for row in rows} == {*Referee}
    keys = [(row.metric, row.features, row.mode, row.referee, row.regime) for row in rows]
    assert len({*keys}) == len(keys)


@pytest.mark.parametrize("mode", Mode)
def test_every_metric_that_can_happen_in_a_mode_was_seen_to(
    rows: tuple[Refereed, ...], mode: Mode
) -> None:
    here = [row for row in rows if row.mode is mode]
    happened = {row.metric for row in here if row.ours > 0 and row.theirs > 0}
    can = {one.metric for one in who_checks(metrics_of(mode), mode) if not one.never}
    assert can - happened == set()


def test_no_weighted_estimate_rings_an_alarm(rows: tuple[Refereed, ...]) -> None:
    assert not [(row.sentence, row.alarms) for row in rows if row.alarms]


def test_an_effort_or_a_seed_that_there_is_none_of_is_refused() -> None:
    for effort in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=f"an effort of {effort:g}; expected more than 0"):
            fleet.verify(effort)
    with pytest.raises(ValueError, match="a seed of -1; expected 0 to 4294967295"):
        fleet.verify(seed=-1)
