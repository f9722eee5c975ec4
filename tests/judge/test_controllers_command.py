"""`judge controllers`: a situation told to a real controller, or shown as it was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import get_args

import pytest
from msgspec.structs import replace

from kiplab.judge.kafka_jars.missing_kafka import MissingKafkaError
from kiplab.judge.zookeeper_era.real_mail import recorded_sequences
from kiplab.judge.zookeeper_era.sequences import Passage
from tests.judge.kafka_here import skip_without_kafka
from tests.judge.zookeeper import controllers_command as command
from tests.judge.zookeeper.controllers_command import Hear, live_controllers
from tests.judge.zookeeper.judged_situations import SITUATIONS
from tests.judge.zookeeper.live_situation import DOES
from tests.judge.zookeeper.sequence_text import difference_lines
from tests.judge.zookeeper.situations import JudgedSituation, Listen, SituationStep

BOUNCE = ["--release", "2.2.2", "--situation", "bounce"]


def recorded(situation: JudgedSituation, patch: str) -> tuple[Passage, ...]:
    return recorded_sequences(patch)[situation.name]


def without_the_last(situation: JudgedSituation, patch: str) -> tuple[Passage, ...]:
    *before, last = recorded(situation, patch)
    return (*before, replace(last, requests=last.requests[:-1]))


def run(capsys: pytest.CaptureFixture[str], *given: str) -> tuple[int, str, str]:
    code = command.main(given)
    said = capsys.readouterr()
    return code, said.out, said.err


def heard_by(monkeypatch: pytest.MonkeyPatch, hear: Hear) -> None:
    """As if these were the controllers."""
    monkeypatch.setattr(command, "live_controllers", lambda _stack: hear)


# --- the command ----------------------------------------------------------------------------------


def test_a_recording_is_shown_request_by_request(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *BOUNCE, "--recorded")
    assert (code, err) == (0, "")
    assert out.startswith("Kafka 2.2.2, bounce (recorded): Case D: broker 1 bounces")
    told = sum(len(passage.requests) for passage in recorded_sequences("2.2.2")["bounce"])
    assert out.count("    ->b") == told
    assert out.endswith("1 situations, 0 not as recorded; in 0 the engine does otherwise.\n")


def test_a_controller_that_does_as_recorded_is_shown_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard_by(monkeypatch, recorded)
    code, out, _ = run(capsys, *BOUNCE)
    assert code == 0
    assert "bounce (live, " in out


def test_a_controller_that_does_not_is_told_by_the_lines_that_differ(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard_by(monkeypatch, without_the_last)
    code, out, _ = run(capsys, *BOUNCE)
    assert code == 1
    assert "- only recorded, + only heard:" in out
    only = [line[:9] for line in out.splitlines() if line.startswith(("-  ", "+  "))]
    assert only == ["-     ->b", "+     ->b"], "one not as recorded, one not as the engine"
    assert out.endswith("1 situations, 1 not as recorded; in 1 the engine does otherwise.\n")


def test_what_the_machine_lacks_is_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(_stack: ExitStack) -> Hear:
        raise MissingKafkaError("There is no ZooKeeper.", "Get one.")

    monkeypatch.setattr(command, "live_controllers", lacking)
    code, out, err = run(capsys, *BOUNCE)
    assert (code, out, err) == (3, "", "judge: There is no ZooKeeper. Get one.\n")


def test_a_situation_that_a_release_has_not_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    of_before = ["--release", "2.1.1", "--situation", "protocol-2.1", "--recorded"]
    code, out, _ = run(capsys, *of_before)
    assert code == 0
    assert out.startswith("Kafka 2.1.1, protocol-2.1: that is its own protocol")


def test_differences_name_the_passage_and_nothing_is_said_of_what_is_alike() -> None:
    bounce = SITUATIONS["bounce"]
    told = list(
        difference_lines(
            recorded(bounce, "2.2.2"), without_the_last(bounce, "2.2.2"), names=("one", "other")
        )
    )
    assert told[:2] == ["- only one, + only other:", "  - a bounce behind the gate"]
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
@pytest.mark.parametrize("patch", ["2.1.1", "2.2.2"])
@pytest.mark.parametrize("name", ["bounce", "earlier-mail"])
def test_real_controllers_do_what_is_recorded(controllers: Hear, patch: str, name: str) -> None:
    try:
        heard = controllers(SITUATIONS[name], patch)
    except MissingKafkaError as missing:
        skip_without_kafka(missing)
    expected = recorded_sequences(patch)[name]
    told = difference_lines(expected, heard, names=("recorded", "heard"))
    assert heard == expected, "\n".join(told)
