"""Schedules: a function of window, seed and index; proper plays; every order of events."""

import json
from pathlib import Path

import pytest
from msgspec.structs import asdict, replace

from kiplab.fleet.race_schedules.random_schedule import Window, check, schedule
from kiplab.fleet.race_schedules.study import STAGES, outcome, usual
from kiplab.plays.grammar import parse
from kiplab.plays.play import Play, format_play
from kiplab.protocol.features import parse_features

WINDOW = Window()
BOTH = parse_features("3.5")
PINNED = [2448, 9834, 3982, 1953, 4271, 1360, 4655, 3709, 13_000]
"""What the schedule 3 of seed 0 waits, in milliseconds."""
RECORDED = Path(__file__).with_name("race_outcomes.json")
"""Schedules 0 to 59 of seed 0 under the usual sets, by the first code that ran them."""


def times(play: Play) -> list[int]:
    return [int(s.words[0].removesuffix("ms")) for s in play.statements if s.verb == "advance"]


def test_the_same_arguments_give_the_same_play() -> None:
    assert schedule(WINDOW, 7, 11) == schedule(Window(), 7, 11)


def test_another_index_or_seed_gives_another_play() -> None:
    plays = {format_play(schedule(WINDOW, seed, i)) for seed in range(5) for i in range(40)}
    assert len(plays) == 200


def test_a_schedule_never_changes_between_releases_of_kiplab() -> None:
    """A seed in a notebook or a token of last year has to mean the same schedule."""
    assert times(schedule(WINDOW, 0, 3)) == PINNED


def test_the_outcomes_never_change_either() -> None:
    recorded = json.loads(RECORDED.read_text())
    for index, rows in enumerate(recorded):
        play = schedule(WINDOW, 0, index)
        found = [list(asdict(outcome(play, features)).values()) for features in usual().values()]
        assert found == rows, f"schedule 0/{index}"


@pytest.mark.parametrize("index", range(25))
def test_every_schedule_is_a_play_of_few_lines(index: int) -> None:
    play = schedule(WINDOW, 0, index)
    assert parse(format_play(play), play.name) == play
    assert 14 <= len(play.statements) <= 28
    assert all(ms > 0 for ms in times(play))


def test_a_parameter_moves_what_it_is_for_and_nothing_else() -> None:
    slower = replace(WINDOW, rest_ms=60_000)
    one, other = schedule(WINDOW, 0, 1), schedule(slower, 0, 1)
    assert one.statements[:-1] == other.statements[:-1]


def test_without_a_crash_of_the_leader_there_is_none() -> None:
    play = schedule(replace(WINDOW, leader_crashes=0.0), 0, 1)
    assert [s.words for s in play.statements if s.verb == "crash"] == [("2",)]


def test_the_request_arrives_at_every_stage_of_the_crash() -> None:
    found = [outcome(schedule(WINDOW, 0, i), BOTH) for i in range(120)]
    assert {o.arrived for o in found} == set(STAGES)


def test_what_refuses_the_request_depends_on_how_far_the_controller_is() -> None:
    found = {outcome(schedule(WINDOW, 0, i), BOTH) for i in range(120)}
    assert {(o.arrived, o.refused_by) for o in found} == {
        ("unnoticed", None),
        ("fenced", "841.fenced"),
        ("registered", "841.fenced"),
        ("unfenced", "903.controller-epoch"),
    }


@pytest.mark.parametrize("kafka", ["3.2", "3.4", "3.5/3.4-IV0", "3.7", "3.9"])
def test_schedules_run_under_any_release(kafka: str) -> None:
    features = parse_features(kafka)
    assert not any(outcome(schedule(WINDOW, 2, i), features).broke_promise for i in range(30))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tail_lost": 1.5}, "tail_lost is 1.5; expected a share from 0 to 1"),
        ({"restart_median_ms": -1}, "restart_median_ms is -1; expected a positive number"),
        ({"records": 0}, "records is 0; expected a positive number"),
        ({"tail_lost": 0.7, "disk_replaced": 0.7}, "more than 1 together"),
        ({"flushed": 200}, "flushed is 200, more than the 100 records"),
    ],
)
def test_a_window_that_makes_no_sense_is_refused_by_name(
    change: dict[str, float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        check(replace(WINDOW, **change))
