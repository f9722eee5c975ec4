"""`judge controllers`: situations done with a real controller, or as they were recorded."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import get_args

import pytest
from msgspec.structs import replace

from kiplab.judge.kafka_jars.judged_releases import MissingKafkaError
from kiplab.judge.zookeeper_era.control_answers import TooQuietError
from kiplab.judge.zookeeper_era.real_control_requests import recorded_sequences
from kiplab.judge.zookeeper_era.sequences import Passage
from tests.judge.__main__ import JUDGES
from tests.judge.kafka_here import skip_without_kafka
from tests.judge.skeleton import command
from tests.judge.zookeeper import controller_judges
from tests.judge.zookeeper.controller_judges import Hear, live_controllers, recorded_situation
from tests.judge.zookeeper.judged_situations import SITUATIONS
from tests.judge.zookeeper.live_situation import DOES
from tests.judge.zookeeper.sequence_text import difference_lines
from tests.judge.zookeeper.situations import JudgedSituation, Listen, SituationStep

BOUNCE = ["2.2.2", "--situation", "bounce"]


def without_the_last(situation: JudgedSituation, patch: str) -> tuple[Passage, ...]:
    *before, last = recorded_situation(situation, patch)
    return (*before, replace(last, requests=last.requests[:-1]))


def run(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str, str]:
    code = command.main(JUDGES, ["controllers", *options])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def answer_by(monkeypatch: pytest.MonkeyPatch, hear: Hear) -> None:
    """As if these were the controllers."""
    monkeypatch.setattr(controller_judges, "live_controllers", lambda _stack: hear)


# --- the command ----------------------------------------------------------------------------------


def test_recordings_are_judged_with_what_they_try(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "2.2.2", "--recorded", "--coverage")
    assert (code, err) == (0, "")
    passages = sum(len(heard) for heard in recorded_sequences("2.2.2").values())
    assert f"1 subjects, 0 live and 1 recorded: {passages} turns, 0 differences." in out
    assert "\nguard 380.bounce-detection" in out


def test_a_controller_that_does_as_recorded_agrees(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_by(monkeypatch, recorded_situation)
    code, out, _ = run(capsys, *BOUNCE)
    assert code == 0
    assert "live 2.2.2" in out


def test_a_controller_that_does_not_is_shown_by_the_lines_that_differ(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_by(monkeypatch, without_the_last)
    code, out, _ = run(capsys, *BOUNCE)
    assert code == 1
    assert "- only recorded, + only heard:" in out
    only = [line[:9] for line in out.splitlines() if line.startswith(("-  ", "+  "))]
    assert only == ["-     ->b", "+     ->b"], "one not as recorded, one not as the engine"


def lacking(_stack: ExitStack) -> Hear:
    raise MissingKafkaError("There is no ZooKeeper.", "Get one.")


def silent(_situation: JudgedSituation, _patch: str) -> tuple[Passage, ...]:
    raise TooQuietError("a partition did not come")


def test_what_the_machine_lacks_is_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(controller_judges, "live_controllers", lacking)
    code, _, err = run(capsys, *BOUNCE)
    assert (code, err) == (3, "judge: There is no ZooKeeper. Get one.\n")
    answer_by(monkeypatch, silent)
    code, _, err = run(capsys, *BOUNCE)
    assert (code, err) == (3, "judge: Kafka 2.2.2 does not go on: a partition did not come\n")


def test_a_release_that_there_is_not_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "2.3.1", "--recorded")
    assert code == 2
    assert err.startswith("judge: no controller of Kafka 2.3.1 is judged; there are 2.1.1, ")


def test_a_situation_that_a_release_has_not_says_why() -> None:
    assert SITUATIONS["protocol-2.1"].why_not("2.1.1").startswith("that is its own protocol")
    assert not SITUATIONS["protocol-2.1"].why_not("2.2.2")


def test_differences_name_the_passage_and_nothing_is_said_of_what_is_alike() -> None:
    bounce = SITUATIONS["bounce"]
    one, other = recorded_situation(bounce, "2.2.2"), without_the_last(bounce, "2.2.2")
    lines = list(difference_lines(one, other, names=("one", "other")))
    assert lines[:2] == ["- only one, + only other:", "  - a bounce behind the gate"]
    assert not list(difference_lines((), (), names=("one", "other")))


def test_every_step_of_a_situation_is_done_by_somebody() -> None:
    assert set(DOES) == set(get_args(SituationStep)) - {Listen}, "add the step to DOES"


# --- asked again ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def controllers() -> Iterator[Hear]:
    with ExitStack() as stack:
        try:
            yield live_controllers(stack)
        except MissingKafkaError as missing:
            skip_without_kafka(missing)


@pytest.mark.kafka
@pytest.mark.long(
    quick="tests/judge/test_controllers_command.py::test_recordings_are_judged_with_what_they_try"
)
@pytest.mark.parametrize("patch", ["2.1.1", "2.2.2"])
@pytest.mark.parametrize("name", ["bounce", "earlier-mail"])
def test_real_controllers_do_what_is_recorded(controllers: Hear, patch: str, name: str) -> None:
    try:
        heard = controllers(SITUATIONS[name], patch)
    except MissingKafkaError as missing:
        skip_without_kafka(missing)
    expected = recorded_sequences(patch)[name]
    lines = difference_lines(expected, heard, names=("recorded", "heard"))
    assert heard == expected, "\n".join(lines)
