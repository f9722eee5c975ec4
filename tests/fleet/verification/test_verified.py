"""The fleet, refereed: every metric by somebody who ought to know, and all of them agree."""

from __future__ import annotations

import pytest

from kiplab import fleet
from kiplab.fleet.estimators.forced_windows import METRICS
from kiplab.fleet.kernel.simulation import METRIC_NAMES
from kiplab.fleet.verification.refereed import Referee, Refereed

SMALL = 0.1
"""Of the effort: every comparison, with wider intervals."""


@pytest.fixture(scope="module")
def rows() -> tuple[Refereed, ...]:
    return fleet.verify(SMALL)


def test_everybody_agrees(rows: tuple[Refereed, ...]) -> None:
    parted = [row.sentence for row in rows if not row.agrees]
    assert not parted, "\n".join(["these metrics are not what their referees say:", *parted])


def test_every_metric_has_a_referee(rows: tuple[Refereed, ...]) -> None:
    lacking = {*METRIC_NAMES, *METRICS} - {row.metric for row in rows}
    assert not lacking, f"give {lacking} a claim in kiplab/fleet/verification"


def test_every_referee_is_asked_and_no_comparison_is_made_twice(
    rows: tuple[Refereed, ...],
) -> None:
    assert {row.referee for row in rows} == {*Referee}
    keys = [(row.metric, row.features, row.referee, row.regime) for row in rows]
    assert len({*keys}) == len(keys)


def test_every_metric_was_seen_to_happen(rows: tuple[Refereed, ...]) -> None:
    happened = {row.metric for row in rows if row.ours > 0 and row.theirs > 0}
    assert {*METRIC_NAMES, *METRICS} <= happened


def test_no_weighted_estimate_rings_an_alarm(rows: tuple[Refereed, ...]) -> None:
    assert not [(row.sentence, row.alarms) for row in rows if row.alarms]


def test_no_effort_is_refused() -> None:
    with pytest.raises(ValueError, match="an effort of 0; expected more than 0"):
        fleet.verify(0)
