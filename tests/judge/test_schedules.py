"""Situations by chance: the engine beside what real controllers did in them, and the way to a short
difference.
"""

from argparse import Namespace
from pathlib import Path

import pytest

from kiplab.judge.kafka_jars.jar_cache import zookeeper_release
from kiplab.judge.zookeeper_era.sequences import Passage, TooQuietError
from kiplab.plays.play import Play
from kiplab.protocol.features import parse_features, switched
from tests.judge.__main__ import JUDGES
from tests.judge.kafka_here import long
from tests.judge.skeleton import command
from tests.judge.zookeeper import controller_judges
from tests.judge.zookeeper.controller_judges import (
    Hear,
    SchedulesJudge,
    load_schedules,
    save_schedules,
    shortest_situation,
)
from tests.judge.zookeeper.random_situations import of_turns, random_situation, turns_of
from tests.judge.zookeeper.telling import engine_differences, engine_sequences, features_judged

RECORDED = ("2.2.2", "3.4.1")
SEEDS = range(20)


def engine_for(patch: str, without: str = "") -> Hear:
    """The engine in the place of a real controller, without a rule if one is named."""
    features = parse_features(zookeeper_release(patch))
    if without:
        features = switched(features, without, False)
    return lambda situation, _patch: engine_sequences(situation, features)


BLIND = engine_for("2.2.2", without="380.bounce-detection")
"""It misses bounces."""

# --- recordings -----------------------------------------------------------------------------------


@pytest.mark.parametrize("patch", RECORDED)
def test_the_engine_does_in_some_schedules_what_the_real_controller_did(patch: str) -> None:
    schedules = load_schedules(patch, covering=True)
    for schedule in schedules:
        lines = list(engine_differences(schedule.situation, patch, schedule.heard))
        assert not lines, "\n".join([schedule.name, *lines])


@long(test_the_engine_does_in_some_schedules_what_the_real_controller_did)
@pytest.mark.parametrize("patch", RECORDED)
def test_it_does_so_in_every_schedule(patch: str) -> None:
    judged = SchedulesJudge().recorded(patch, Namespace(recordings=controller_judges.SCHEDULES))
    assert judged.conversations == len(SEEDS)
    assert judged.differences == ()


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    some = load_schedules("2.2.2", covering=True)
    save_schedules("2.2.2", some, tmp_path)
    assert load_schedules("2.2.2", tmp_path) == some


# --- the generator --------------------------------------------------------------------------------


def test_equal_seeds_give_equal_situations_and_others_others() -> None:
    made = [random_situation(seed) for seed in SEEDS]
    assert made == [random_situation(seed) for seed in SEEDS]
    assert len({situation.statements for situation in made}) == len(SEEDS)


def test_what_is_made_by_chance_is_possible_and_falls_into_its_turns() -> None:
    for seed in range(40):
        situation = random_situation(seed)
        assert engine_sequences(situation, features_judged(situation, "3.4.1"))
        assert of_turns(situation, turns_of(situation)) == situation


# --- differences ----------------------------------------------------------------------------------


def differs(situation: Play, hear: Hear) -> bool:
    return any(True for _ in engine_differences(situation, "2.2.2", hear(situation, "2.2.2")))


def test_a_controller_that_misses_bounces_is_found_and_shown_in_a_few_turns() -> None:
    parted = [s for s in map(random_situation, SEEDS[:6]) if differs(s, BLIND)]
    assert len(parted) > 3
    short = [shortest_situation(situation, "2.2.2", BLIND) for situation in parted]
    assert min(len(turns_of(situation)) for situation in short) == 1
    for situation in short:
        assert differs(situation, BLIND)


def test_a_shorter_situation_that_real_kafka_cannot_do_is_not_taken() -> None:
    def silent(_situation: Play, _patch: str) -> tuple[Passage, ...]:
        raise TooQuietError("a partition did not come")

    situation = next(s for s in map(random_situation, SEEDS) if differs(s, BLIND))
    assert shortest_situation(situation, "2.2.2", silent) == situation


# --- the command ----------------------------------------------------------------------------------


def run(monkeypatch: pytest.MonkeyPatch, hear: Hear, *options: str) -> int:
    """The command, as if these were the controllers."""
    monkeypatch.setattr(controller_judges, "live_controllers", lambda: hear)
    return command.main(JUDGES, ["schedules", *options])


def test_what_is_done_is_kept_and_not_done_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def hear(situation: Play, patch: str) -> tuple[Passage, ...]:
        asked.append(situation.name)
        return engine_for("2.6.3")(situation, patch)

    options = ["2.6.3", "--into", str(tmp_path / "done"), "--coverage", "--count"]
    assert run(monkeypatch, hear, *options, "2") == 0
    table = capsys.readouterr().out
    assert "guard 380.bounce-detection" in table
    assert run(monkeypatch, hear, *options, "3") == 0
    assert asked == ["random-0", "random-1", "random-2"]
    assert "2.6.3           live 2.6.3                  3 " in capsys.readouterr().out


def test_a_difference_is_shown_by_its_seed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ["2.2.2", "--into", str(tmp_path / "done"), "--count", "3"]
    assert run(monkeypatch, BLIND, *options) == 1
    assert "\nrandom-" in capsys.readouterr().out
    assert run(monkeypatch, BLIND, *options) == 1, "a difference that is kept is one"


def test_what_a_busy_machine_does_not_bring_to_its_end_is_asked_by_the_next_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, asked = engine_for("2.6.3"), list[str]()

    def hear(situation: Play, patch: str) -> tuple[Passage, ...]:
        asked.append(situation.name)
        if len(asked) == 1:
            raise TooQuietError("a partition did not come")
        return engine(situation, patch)

    options = ["2.6.3", "--into", str(tmp_path / "done"), "--count", "2"]
    assert run(monkeypatch, hear, *options) == 3
    assert "did not go on in random-0: a partition did not come" in capsys.readouterr().err
    assert run(monkeypatch, hear, *options) == 0
    assert asked == ["random-0", "random-1", "random-0"]
