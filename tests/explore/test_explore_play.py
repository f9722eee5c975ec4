"""`kiplab.explore` and `kiplab explore`: what comes out, in Python and on the command line."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import kiplab
from kiplab.cli.command import main
from kiplab.explore.levels import normal_partition as forms
from kiplab.explore.levels.all_levels import level_named
from kiplab.explore.levels.level_table import CAN_DATA_BE_LOST, ExploreError
from kiplab.explore.search.breadth_first import EngineModel
from kiplab.explore.search.explore_play import explore, outcome_of
from kiplab.explore.search.explored import done_by_lines, held_stage
from kiplab.explore.search.hidden_parts import BUDGETS
from kiplab.explore.search.limits import Limits
from kiplab.explore.search.memoised_model import MemoisedModel
from kiplab.explore.search.size_prediction import predict
from kiplab.explore.search_terms import Progress, never
from kiplab.plays.header import features_of
from kiplab.plays.library import load
from kiplab.plays.play_errors import PlayError
from kiplab.plays.runner import run_play
from kiplab.protocol.facts import Registered
from kiplab.protocol.features import UnknownFeatureError, parse_features
from kiplab.protocol.ids import CONTROLLER, BrokerId
from tests.explore.bounds import RACE, begun


def test_the_race_is_found_and_its_play_shows_it() -> None:
    found = kiplab.explore("kafka-14139", kafka="3.4", **RACE)
    assert (found.verdict, found.steps) == ("refuted", 6)
    assert found.violated == "electable-holds-committed"
    assert found.play is not None
    run = kiplab.run(found.play)
    assert run.report()["expectations"] == {"held": 1, "failed": 0, "skipped": 0}
    assert run.verdict == "harm"
    assert found.text()
    assert "in 6 steps, and in no fewer" in found.sentence


def test_with_kip_903_it_is_proved_within_bounds_that_the_sentence_names() -> None:
    found = kiplab.explore("kafka-14139", kafka="3.5", **RACE)
    assert (found.verdict, found.steps, found.play) == ("proved", None, None)
    assert "0 records written, 1 crash that loses a disk and 0 sessions" in found.sentence
    assert "903.controller-epoch" in found.vacuity.fired


@pytest.mark.parametrize(("level", "off"), [("partition", "903"), ("partition", "841")])
def test_a_counterexample_replays_through_the_same_states(level: str, off: str) -> None:
    """Action by action: the play's cluster, brought into normal form, is the search's state."""
    found = explore("isr-two-of-three", off=off, level=level)
    assert found.play is not None
    assert kiplab.run(found.play).report()["expectations"]["failed"] == 0
    stage = held_stage(load("isr-two-of-three"), features_of(found.play), level_named(level))
    model = MemoisedModel(level_named(level), stage.history.start, found.bounds)
    state = model.first()
    incarnations: dict[tuple[BrokerId, int], int] = {}
    for action in found.path:
        stage = done_by_lines(stage, level_named(level), action)
        state = next(after for a, after, _ in model.successors(state) if a == action)
        for event in stage.history.steps[-1].events + stage.events:
            if isinstance(event, Registered):
                incarnations.setdefault((event.node, event.epoch), 2)
        first = {(BrokerId(b), 100 + b): 1 for b in (1, 2, 3)}
        left = model.parts.budgets.parts[state[BUDGETS]]
        normal = forms.normal(stage.cluster, {**first, **incarnations})
        assert model.parts.state_of(normal, left) == state


def test_controlled_shutdown_is_part_of_level_cluster() -> None:
    found = explore("kafka-14139", level="cluster", writes=0, crashes=0, shutdowns=1, states=300)
    assert found.vacuity.taken["shutdown"] > 0
    assert found.verdict == "unfinished"


def test_what_never_happened_is_said() -> None:
    found = explore("kafka-14139", writes=0, crashes=0)
    assert found.verdict == "proved"
    assert not found.vacuity.committed
    assert {"write", "crash", "start"} <= set(found.vacuity.never)
    assert "nothing was ever committed" in found.vacuity.sentence


@pytest.mark.parametrize("kafka", ["3.2", "3.5/3.4-IV0", "3.9"])
@pytest.mark.parametrize("on", [(), "497.pending-outlives-metadata", "903.bump-leader-epochs"])
def test_every_guard_that_is_on_is_accounted_for(kafka: str, on: str | tuple[str, ...]) -> None:
    """It refused something, it never did, or nobody watched it: no guard is passed over."""
    found = explore("kafka-14139", kafka=kafka, on=on, **RACE).vacuity
    accounted = [*found.fired, *found.silent, *found.unwatched]
    rules = parse_features(kafka, on=(on,) if isinstance(on, str) else on)
    assert sorted(accounted) == sorted(rules.active(CONTROLLER))


def test_what_nobody_watched_is_said_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--kafka", "3.9", "--bound", "writes=0"]
    assert main(["explore", "kafka-14139", *words]) == 0
    said = capsys.readouterr().out
    assert main(["explore", "kafka-14139", *words, "--json"]) == 0
    vacuity = json.loads(capsys.readouterr().out)["vacuity"]
    assert "497.maximal-isr" in vacuity["unwatched"]
    for text in (said, vacuity["sentence"]):
        assert f"not watched, needed or not: {', '.join(vacuity['unwatched'])}" in text


def test_guards_of_a_broker_alone_are_accounted_for_too(tmp_path: Path) -> None:
    """The controller is at 3.4 still."""
    play = tmp_path / "rolling.play"
    play.write_text(
        "kafka 3.5\nmetadata 3.4-IV0\ncontroller kafka=3.4\nbroker 1 epoch=101\n"
        "broker 2 epoch=102\ntopic t replicas=1,2 isr=1,2 leader=1\n"
    )
    found = explore(play, writes=0, crashes=0).vacuity
    assert "903.leader-epoch" in found.silent


def test_what_is_broken_as_the_play_begins_needs_no_search() -> None:
    found = explore("kafka-14139", **RACE)
    assert found.play is not None
    broken = run_play(found.play).cluster
    level = level_named("cluster")
    within = level.with_defaults({})
    outcome = outcome_of(EngineModel(level, broken, within), CAN_DATA_BE_LOST, never)
    assert (outcome.verdict, outcome.path, outcome.states) == ("refuted", (), 1)
    assert "breaks as the play begins" in replace(found, path=()).sentence


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"level": "galaxy"}, ExploreError, "the levels are partition"),
        ({"rain": 1}, ExploreError, "it has writes (1 by default)"),
        ({"writes": -1}, ExploreError, "expected 0 to"),
        ({"writes": "2"}, ExploreError, "expected 0 to"),
        ({"property": "luck"}, ExploreError, "electable-holds-committed"),
        ({"property": ()}, ExploreError, "expected one or more of no-committed-record-lost"),
        ({"property": 5}, ExploreError, "property is 5; expected one or more of"),
        ({"property": (5,)}, ExploreError, "there is no property 5"),
        ({"off": "999"}, UnknownFeatureError, "guards begin with one of"),
        ({"kafka": "0.8"}, UnknownFeatureError, "the releases are"),
    ],
)
def test_what_does_not_exist_is_refused_with_what_does(
    options: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=r"^[^\n]*$") as problem:
        explore("kafka-14139", **options)
    assert said in str(problem.value)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("topic a replicas=1,2\ntopic b replicas=1,2", "2 (a-0, b-0)"),
        ("topic a replicas=1,2 isr=1 leader=1 adding=2", "being reassigned"),
        ("topic a replicas=1,2 isr=1 leader=1 recovery=recovering", "unclean election"),
        ("", "0 (none)"),
    ],
)
def test_a_play_that_the_level_cannot_speak_of(tmp_path: Path, header: str, said: str) -> None:
    file = tmp_path / "odd.play"
    file.write_text(f"broker 1 epoch=1\nbroker 2 epoch=2\n{header}\n")
    with pytest.raises(PlayError) as problem:
        explore(file)
    assert said in str(problem.value)


def test_limits_end_a_search_as_unfinished() -> None:
    few = explore("isr-two-of-three", states=500)
    assert (few.verdict, few.stopped) == ("unfinished", "its limit of 500 states was reached")
    assert few.frontier > 0
    assert "states were not" in few.sentence
    small = explore("isr-two-of-three", memory_mb=1)
    assert "MB of memory" in small.stopped
    ended = explore("isr-two-of-three", cancel=lambda: True)
    assert (ended.verdict, ended.stopped) == ("unfinished", "it was cancelled")
    late = explore("isr-two-of-three", seconds=0)
    assert late.stopped == "its limit of 0 s was reached"


def test_progress_is_told() -> None:
    told: list[Progress] = []
    limits = Limits(progress=told.append)
    limits.last_report = -1.0
    assert limits(Progress(states=10, transitions=20, depth=3, frontier=4)) is None
    assert (told[0].states, told[0].depth, told[0].frontier) == (10, 3, 4)


def test_a_prediction_is_of_the_right_size() -> None:
    level = level_named("partition")
    model = partial(MemoisedModel, level, begun())
    guess = predict(level, model, {"writes": 0, "crashes": 2, "fences": 0}, level.pace)
    assert 18_587 / 3 < guess.states < 18_587 * 3
    assert predict(level, model, {"writes": 1, "crashes": 0, "fences": 0}, level.pace).exact


def test_a_prediction_goes_by_the_pace_of_whoever_searches() -> None:
    said = {
        engine: explore("isr-two-of-three", writes=2, crashes=2, engine=engine, cancel=lambda: True)
        for engine in ("step", "auto")
    }
    assert said["step"].engine == "step"
    assert said["step"].predicted.endswith("for the engine's own search")
    assert said["auto"].engine == "compiled"
    assert said["auto"].predicted.endswith("once on a machine")


# --- the command ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--on", "903", "--bound", "writes=0"], 0),
        (["--kafka", "3.4", "--bound", "writes=0"], 1),
        (["--seconds", "0"], 4),
        (["--level", "galaxy"], 2),
        (["--bound", "writes"], 2),
        (["--bound", "rain=1"], 2),
        (["--property", "luck"], 2),
        (["--off", "999"], 2),
    ],
)
def test_exit_codes(words: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "kafka-14139", *words]) == code
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    assert said.out if code != 2 else said.err.startswith("kiplab: ")
