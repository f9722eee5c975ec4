"""`judge controllers`: the engine beside real controllers of five releases, in situations told to
a real one, or as they were recorded.
"""

import re

import pytest
from msgspec.structs import replace

from kiplab.judge.zookeeper_era import sequences
from kiplab.judge.zookeeper_era.real_control_requests import CONTROLLER_RELEASES, recorded_sequences
from kiplab.judge.zookeeper_plays.engine_ear import as_in_the_engine
from kiplab.plays.play import Play
from kiplab.plays.play_errors import PlayError
from kiplab.protocol.features import Features, parse_features, switched
from tests.judge.__main__ import JUDGES
from tests.judge.skeleton import command
from tests.judge.zookeeper import controller_judges
from tests.judge.zookeeper.situations import DELETE, parsed, situations, why_not
from tests.judge.zookeeper.telling import engine_differences, engine_sequences, features_judged

BOUNCE = ["2.2.2", "--situation", "bounce"]
RECORDED = [
    (patch, name)
    for patch in CONTROLLER_RELEASES
    for name in situations()
    if not why_not(name, patch)
]


def of_the_engine(name: str, features: Features) -> list[sequences.Passage]:
    return [as_in_the_engine(passage) for passage in engine_sequences(situations()[name], features)]


@pytest.mark.parametrize(("patch", "name"), RECORDED)
def test_the_engine_sends_what_the_real_controller_sent(patch: str, name: str) -> None:
    told = engine_differences(situations()[name], patch, recorded_sequences(patch)[name])
    assert not (lines := list(told)), "\n".join(lines)


def test_only_the_end_of_one_situation_is_not_told() -> None:
    untold = {
        name: len(recorded_sequences(patch)[name]) - len(of_the_engine(name, features))
        for patch, name in RECORDED
        if (features := features_judged(situations()[name], patch))
    }
    assert {name: count for name, count in untold.items() if count} == {"beginnings": 1}
    lines = situations()["beginnings"].statements
    assert [line.verb for line in lines if line.verb in (DELETE, "depose")] == [DELETE]


@pytest.mark.parametrize("line", ["bounce 1", "create 2", "expire 7", "send stop-replica isr=1"])
def test_a_line_that_there_is_not_is_no_situations(line: str) -> None:
    with pytest.raises(PlayError):
        parsed(f"kafka zk-2.2\nbroker 1\n# a passage\n{line}\n", "own")


@pytest.mark.parametrize(
    ("guard", "on", "name"),
    [
        ("380.bounce-detection", False, "bounce"),
        ("380.bounce-detection", False, "late-answer"),
        ("380.shutdown-epoch", False, "stale-shutdown"),
        ("380.control-request-epoch", False, "earlier-mail"),
        ("zookeeper.controller-check", False, "deposed"),
        # The order of the KIP is told from that of the code.
        ("380.live-set-first", True, "one-change"),
    ],
)
def test_an_engine_with_another_rule_is_told_from_2_2_2(guard: str, on: bool, name: str) -> None:
    features = parse_features("zk-2.2")
    assert of_the_engine(name, switched(features, guard, on)) != of_the_engine(name, features)


def without_the_last(situation: Play, patch: str) -> tuple[sequences.Passage, ...]:
    *before, last = controller_judges.recorded_situation(situation, patch)
    return (*before, replace(last, requests=last.requests[:-1]))


def silent(_situation: Play, _patch: str) -> tuple[sequences.Passage, ...]:
    raise sequences.TooQuietError("a partition did not come")


def run(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str, str]:
    code = command.main(JUDGES, ["controllers", *options])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def answer_by(monkeypatch: pytest.MonkeyPatch, hear: controller_judges.Hear) -> None:
    """As if these were the controllers."""
    monkeypatch.setattr(controller_judges, "live_controllers", lambda: hear)


def test_a_controller_that_does_as_recorded_agrees(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_by(monkeypatch, controller_judges.recorded_situation)
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
    only = [line[0] for line in out.splitlines() if re.match(r"[-+] +{", line)]
    assert {*only} == {"-", "+"}, "one not as recorded, one not as the engine"


def test_a_controller_that_does_not_go_on_is_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_by(monkeypatch, silent)
    code, _, err = run(capsys, *BOUNCE)
    why = "Kafka 2.2.2 does not go on: a partition did not come"
    assert (code, err) == (3, f"judge: {why}\n")
