"""Feature sets that share a run get what each would have got by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict

from kiplab.fleet.race_schedules.asked_features import AskedGuards, FeatureQuestion, asked
from kiplab.fleet.race_schedules.random_schedule import Window, schedule
from kiplab.fleet.race_schedules.shared_outcomes import outcomes
from kiplab.fleet.race_schedules.study import usual
from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.ids import CONTROLLER
from tests.fleet.by_the_runner import outcome

USUAL = tuple(usual().values())
RECORDED = Path(__file__).with_name("race_outcomes.json")
"""Schedules 0 to 59 of seed 0 under the usual sets, by the code before runs were shared."""
OTHERS = (
    parse_features("3.2"),
    parse_features("3.4"),
    parse_features("3.5"),
    parse_features("3.5/3.4-IV0"),
    parse_features("3.7"),
    parse_features("3.7", off=("903.leader-epoch",)),
    parse_features("3.7", off=("841.leader-skips-fenced",)),
    parse_features("3.7", off=("903.fetch-epoch",), on=("704",)),
    parse_features("3.9", off=("497",)),
    parse_features("3.9", on=("966",)),
    parse_features("4.0", off=("841",)),
    parse_features("4.0"),
)


def test_the_outcomes_are_those_recorded_before_runs_were_shared() -> None:
    recorded = json.loads(RECORDED.read_text())
    for index, rows in enumerate(recorded):
        found = [
            list(asdict(one).values()) for one in outcomes(schedule(Window(), 0, index), USUAL)
        ]
        assert found == rows, f"schedule 0/{index}"


@pytest.mark.parametrize("index", range(20))
def test_every_set_gets_what_the_runner_of_plays_says(index: int) -> None:
    play = schedule(Window(), 5, index)
    assert outcomes(play, USUAL) == [outcome(play, features) for features in USUAL]


@pytest.mark.parametrize("index", range(6))
def test_so_do_sets_of_many_releases_with_single_guards_off_and_on(index: int) -> None:
    play = schedule(Window(crash_within=0.5), 9, index)
    assert outcomes(play, OTHERS) == [outcome(play, features) for features in OTHERS]


def test_the_order_of_the_sets_changes_nothing() -> None:
    play = schedule(Window(), 0, 4)
    assert outcomes(play, USUAL[::-1]) == outcomes(play, USUAL)[::-1]


def test_guards_are_asked_for_one_by_one_and_nothing_else() -> None:
    """Whatever looked through all of them would make one set's answer count for another."""
    guards: Any = asked(USUAL).active(CONTROLLER)
    kind: type = type(guards)
    assert kind is AskedGuards
    with pytest.raises(TypeError):
        iter(guards)
    with pytest.raises(TypeError):
        len(guards)


@pytest.mark.parametrize(
    ("question", "noted"),
    [
        (lambda f: "841.fenced" in f.active(CONTROLLER), True),
        (lambda f: {"841.fenced"} <= f.active(CONTROLLER), True),
        (lambda f: bool(f.active(CONTROLLER) & frozenset({"841.fenced"})), True),
        (lambda f: "497.request-broker-epoch" in f.active(CONTROLLER), False),
        (lambda f: f.alter_partition_version(CONTROLLER), False),
        (lambda f: f.metadata_version, False),
    ],
)
def test_a_question_is_noted_where_the_answers_differ(question: object, noted: bool) -> None:
    sets = (parse_features("3.5"), parse_features("3.5", off=("841.fenced",)))
    features = asked(sets)
    assert callable(question)
    assert question(features) == question(sets[0])
    assert bool(features.parted) is noted


def test_versions_of_requests_are_asked_for_too() -> None:
    sets: tuple[Features, ...] = (parse_features("3.5"), parse_features("3.5", off=("903",)))
    features = asked(sets)
    assert features.fetch_version() == sets[0].fetch_version() != sets[1].fetch_version()
    kinds: set[FeatureQuestion] = features.parted
    assert {kind for kind, _, _ in kinds} == {"fetch"}
