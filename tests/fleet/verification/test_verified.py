"""The fleet, refereed: every metric by somebody who ought to know, and all of them agree."""

import pytest

from kiplab import fleet
from kiplab.fleet.fleet_answers.counted_metrics import COUNTED
from kiplab.fleet.verification.refereed import Referee, Refereed
from kiplab.fleet.verification.who_checks import who_checks

SMALL = 0.05
"""Of the effort: every comparison, with wider intervals."""


@pytest.fixture(scope="module")
def rows() -> tuple[Refereed, ...]:
    return fleet.verify(SMALL)


def test_everybody_agrees(rows: tuple[Refereed, ...]) -> None:
    parted = [row.sentence for row in rows if not row.agrees]
    assert not parted, "\n".join(["these metrics are not what their referees say:", *parted])


def test_every_metric_has_a_referee() -> None:
    lacking = [one.metric for one in who_checks([*COUNTED]) if not one.referees]
    assert not lacking, f"give {lacking} claims in kiplab/fleet/verification"


def test_who_checks_is_told_as_it_is_done(rows: tuple[Refereed, ...]) -> None:
    told = who_checks([*COUNTED])
    assert sum(one.comparisons for one in told) == len(rows)
    for one in told:
        mine = [row for row in rows if row.metric == one.metric]
        assert {*one.referees} == {str(row.referee) for row in mine}


def test_every_referee_is_asked_and_no_comparison_is_made_twice(rows: tuple[Refereed, ...]) -> None:
    assert {row.referee for row in rows} == {*Referee}
    keys = [(row.metric, row.features, row.referee, row.regime) for row in rows]
    assert len({*keys}) == len(keys)


def test_every_metric_was_seen_to_happen(rows: tuple[Refereed, ...]) -> None:
    assert {*COUNTED} == {row.metric for row in rows if row.ours > 0 and row.theirs > 0}


def test_no_weighted_estimate_rings_an_alarm(rows: tuple[Refereed, ...]) -> None:
    assert not [(row.sentence, row.alarms) for row in rows if row.alarms]


def test_an_effort_or_a_seed_that_there_is_none_of_is_refused() -> None:
    for effort in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=f"an effort of {effort:g}; expected more than 0"):
            fleet.verify(effort)
    with pytest.raises(ValueError, match="a seed of -1; expected 0 to 4294967295"):
        fleet.verify(seed=-1)
