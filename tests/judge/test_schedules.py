"""Situations by chance: the engine beside what real controllers did in them, and the way to a short
difference.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kiplab.judge.zookeeper_era.sequences import Passage
from kiplab.judge.zookeeper_era.waiting import TooQuietError
from kiplab.protocol.features import parse_features, switched
from tests.judge.skeleton.recordings import NoRecordingError
from tests.judge.zookeeper import schedules_command as command
from tests.judge.zookeeper.controllers_command import Hear
from tests.judge.zookeeper.engine_sequences import (
    ENGINE_RELEASES,
    engine_differences,
    engine_sequences,
)
from tests.judge.zookeeper.random_situations import random_situation, turns_of
from tests.judge.zookeeper.schedule_recordings import load_schedules
from tests.judge.zookeeper.schedules_command import judged_schedule
from tests.judge.zookeeper.shorter_situations import is_possible
from tests.judge.zookeeper.situations import JudgedSituation, Listen

SCHEDULES = Path(__file__).parent / "controller_schedules"
RECORDED = ("2.2.2", "3.4.1")
SEEDS = range(20)


def engine_for(patch: str, without: str = "") -> Hear:
    """The engine in the place of a real controller, without a rule if one is named."""
    features = parse_features(ENGINE_RELEASES[patch])
    if without:
        features = switched(features, without, False)
    return lambda situation, _patch: engine_sequences(situation, features)


# --- recordings -----------------------------------------------------------------------------------


@pytest.mark.parametrize("patch", RECORDED)
def test_the_engine_does_in_twenty_schedules_what_the_real_controller_did(patch: str) -> None:
    schedules = load_schedules(patch, SCHEDULES)
    assert len(schedules) == len(SEEDS)
    for schedule in schedules:
        lines = list(engine_differences(schedule.situation, patch, schedule.heard))
        assert not lines, "\n".join([schedule.situation.says, *lines])


@pytest.mark.parametrize("patch", RECORDED)
def test_the_schedules_have_every_kind_of_request_and_of_refusal_in_them(patch: str) -> None:
    heard = [passage for one in load_schedules(patch, SCHEDULES) for passage in one.heard]
    requests = {(sent.api, sent.answer) for passage in heard for sent in passage.requests}
    kinds = ("LeaderAndIsr", "UpdateMetadata", "StopReplica")
    assert requests == {(api, answer) for api in kinds for answer in (0, 77)}
    assert {-1, 0, 77} <= {a.error for passage in heard for a in passage.answers} <= {-1, 0, 8, 77}


def test_a_release_without_recorded_schedules_says_what_makes_them(tmp_path: Path) -> None:
    with pytest.raises(NoRecordingError, match=r"make judge-record"):
        load_schedules("2.2.2", tmp_path)


# --- the generator --------------------------------------------------------------------------------


def test_equal_seeds_give_equal_situations_and_others_others() -> None:
    made = [random_situation(seed) for seed in SEEDS]
    assert made == [random_situation(seed) for seed in SEEDS]
    assert len({situation.steps for situation in made}) == len(SEEDS)


def test_what_is_made_by_chance_is_possible_and_ends_listening() -> None:
    for seed in range(200):
        situation = random_situation(seed)
        assert is_possible(situation)
        assert isinstance(situation.steps[-1], Listen)
        again = tuple(step for turn in turns_of(situation) for step in turn)
        assert again == situation.steps


# --- differences ----------------------------------------------------------------------------------


def test_a_controller_that_misses_bounces_is_found_and_shown_in_a_few_turns() -> None:
    hear = engine_for("2.2.2", without="380.bounce-detection")
    found = [judged_schedule("2.2.2", seed, hear)[0] for seed in SEEDS[:6]]
    apart = [one.apart for one in found if one.apart is not None]
    assert len(apart) > len(found) // 2
    assert min(len(turns_of(situation)) for situation in apart) == 1
    for situation in apart:
        assert is_possible(situation)
        assert list(engine_differences(situation, "2.2.2", hear(situation, "2.2.2")))


def test_a_shorter_situation_that_real_kafka_cannot_do_is_not_taken() -> None:
    wrong, asked = engine_for("2.2.2", without="380.bounce-detection"), list[JudgedSituation]()

    def hear(situation: JudgedSituation, patch: str) -> tuple[Passage, ...]:
        asked.append(situation)
        if len(asked) > 1:
            raise TooQuietError("a partition did not come")
        return wrong(situation, patch)

    seed = next(s for s in SEEDS if judged_schedule("2.2.2", s, wrong)[0].apart is not None)
    assert judged_schedule("2.2.2", seed, hear)[0].apart == random_situation(seed)


# --- the command ----------------------------------------------------------------------------------


def test_what_is_done_is_kept_and_not_done_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "live_controllers", lambda _stack: engine_for("2.6.3"))
    given = ["--release", "2.6.3", "--into", str(tmp_path / "done"), "--count"]
    assert command.main([*given, "2"]) == 0
    capsys.readouterr()
    assert command.main([*given, "3"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "Kafka 2.6.3, seed 2: as the engine"
    assert said[1] == "Kafka 2.6.3: 3 schedules, 0 not as the engine"


def test_a_difference_is_told_by_its_seed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hear = engine_for("2.2.2", without="380.bounce-detection")
    monkeypatch.setattr(command, "live_controllers", lambda _stack: hear)
    given = ["--release", "2.2.2", "--into", str(tmp_path / "done"), "--count", "3"]
    assert command.main(given) == 1
    assert "not as the engine" in capsys.readouterr().out


def test_what_a_busy_machine_does_not_bring_to_its_end_is_told_by_the_next_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, asked = engine_for("2.6.3"), list[str]()

    def hear(situation: JudgedSituation, patch: str) -> tuple[Passage, ...]:
        asked.append(situation.name)
        if len(asked) == 1:
            raise TooQuietError("a partition did not come")
        return engine(situation, patch)

    monkeypatch.setattr(command, "live_controllers", lambda _stack: hear)
    given = ["--release", "2.6.3", "--into", str(tmp_path / "done"), "--count", "2"]
    assert command.main(given) == 3
    said = capsys.readouterr().out
    assert "Kafka 2.6.3, seed 0: not told to its end: a partition did not come" in said
    assert "Kafka 2.6.3: 1 schedules, 0 not as the engine" in said
    assert command.main(given) == 0
    assert asked == ["random-0", "random-1", "random-0"]


def test_the_summary_counts_what_schedules_have_tried(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "live_controllers", lambda _stack: engine_for("2.2.2"))
    assert command.main(["--release", "2.2.2", "--count", "2"]) == 0
    assert "\nguard 380.bounce-detection" in capsys.readouterr().out
