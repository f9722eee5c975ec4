"""Answers for where the kernel cannot run: what it says is what is recorded.

`pytest --rewrite` writes the file.
"""

import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kiplab.classroom.exercise_table import WHAT_IFS
from kiplab.classroom.exercises import reading_rates
from kiplab.extras import MissingExtraError
from kiplab.fleet import FleetAnswer, FleetStudy, estimate, read_study
from kiplab.fleet.fleet_answers import quick_estimate
from kiplab.fleet.fleet_answers.quick_estimate import (
    FILE,
    RecordedAnswer,
    RecordedRow,
    RecordedStory,
    changed,
    changes_of,
)
from kiplab.plays.play import format_play
from kiplab.widgets.fleet_lab.fleet_question import study_of_question
from kiplab.widgets.fleet_lab.lab_of_fleets import FleetLab

STORIES: tuple[dict[str, Any], ...] = ({}, {"replication_factor": 3})
"""The parameters of losses by the first cause."""


def asked_by_lab_10() -> list[FleetStudy]:
    """The studies, in the order of the lab; those of a FleetLab where each slider begins."""
    small = read_study("small")
    of_what_ifs = [
        msgspec.structs.replace(changed(small, parameters), feature_sets=(features,))
        for one in WHAT_IFS.values()
        for features, parameters in zip(one.features, (one.before, one.after), strict=True)
    ]
    others: tuple[dict[str, Any], ...] = (
        {},
        {"bounces_per_year": [4, 12, 52]},
        {"replication_factor": 3},
    )
    at_first = study_of_question(small, FleetLab().question)
    asked = [*(changed(small, parameters) for parameters in others), *of_what_ifs, at_first]
    return [study for n, study in enumerate(asked) if study not in asked[:n]]


def recorded(study: FleetStudy, answer: FleetAnswer) -> RecordedAnswer:
    places = {scenario.scenario_id: n for n, scenario in enumerate(answer.study.scenarios)}
    sums = {(s.scenario_id, s.features, s.metric, s.method): s for s in answer.summary}
    return RecordedAnswer(
        feature_sets=study.feature_sets,
        changes=changes_of(study),
        horizon_years=dict(answer.study.values)["horizon_years"],
        partition_years=answer.partition_years,
        rows=tuple(
            RecordedRow(
                places[row.scenario_id],
                row.features,
                row.metric,
                row.method,
                row.events,
                sums[row.scenario_id, row.features, row.metric, row.method].exposure_us,
                row.found,  # type: ignore[arg-type]  # one of the kinds that there are
            )
            for row in answer.rows
        ),
    )


@pytest.mark.long(
    quick="tests/fleet/fleet_answers/test_recorded_answers.py::test_a_recorded_rate_is_what_the_kernel_says"
)
def test_the_file_is_what_the_kernel_says(request: pytest.FixtureRequest) -> None:
    answers = [recorded(study, estimate(study)) for study in asked_by_lab_10()]
    stories = [
        RecordedStory(
            cause=reading_rates.CAUSES[0],
            parameters=parameters,
            play=format_play(reading_rates.loss_of(**parameters)),
        )
        for parameters in STORIES
    ]
    made = quick_estimate.Recordings(tuple(answers), tuple(stories))
    if request.config.getoption("--rewrite"):
        Path(str(FILE)).write_bytes(msgspec.json.encode(made) + b"\n")
    quick_estimate._recordings.cache_clear()
    assert quick_estimate._recordings() == made


def test_a_recorded_rate_is_what_the_kernel_says() -> None:
    small = read_study("small")
    known = quick_estimate.recorded_answer(small)
    assert known is not None
    assert [row.found for row in known.rows] == [row.found for row in estimate(small).rows]


@pytest.fixture
def _no_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise MissingExtraError("a study of fleets", "numba", "fleet")

    monkeypatch.setattr(quick_estimate, "demand_packages", missing)
    monkeypatch.setitem(sys.modules, "numba", None)


@pytest.mark.usefixtures("_no_numba")
def test_where_it_cannot_run_an_answer_is_the_same() -> None:
    here = estimate("small", bounces_per_year=[4, 12, 52])
    assert here.seconds is None
    row = here.row("none", "race_loss", bounces_per_year=52)
    assert row.rate
    with pytest.raises(MissingExtraError, match="needs numba"):
        here.sums_of(row)


@pytest.mark.usefixtures("_no_numba")
def test_what_nobody_recorded_is_one_sentence() -> None:
    for ask in (
        lambda: estimate("small", replication_factor=4),
        lambda: estimate("small", seed=1),
        lambda: reading_rates.loss_of(replication_factor=4),
    ):
        with pytest.raises(MissingExtraError, match="needs numba, which is not installed"):
            ask()
