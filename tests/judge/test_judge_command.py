"""`python -m tests.judge`: a table of what was asked live or recorded; what could not be live is an
error. Every judge has this command; here the one of the KRaft controller stands for all.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from kiplab.judge.java_process import DeadKafkaError
from kiplab.judge.kafka_jars.jar_cache import MissingKafkaError
from kiplab.protocol.features import switched
from tests.judge.__main__ import JUDGES
from tests.judge.kafka_here import live, real_kafka
from tests.judge.kraft import engine_in_place, kraft_judge, pairs
from tests.judge.skeleton import command, judging, recordings

PAIR = pairs.JudgedPair("3.9", "3.9-IV0")
SEEDS = tuple(map(pairs.Seed, range(4)))
PARTED = "631.heartbeat-epoch"


def answered(
    pair: pairs.JudgedPair, guard: str | None = None
) -> tuple[judging.Judged, kraft_judge.KraftRecording]:
    """As a live run: the engine stands for Kafka, which is without a rule, if any."""
    features = switched(pair.features, guard, False) if guard else pair.features
    return kraft_judge.judge_with(engine_in_place.EngineInPlace(features), pair, "3.9.1", SEEDS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    recordings.save(str(PAIR), answered(PAIR)[1], tmp_path)
    return tmp_path


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """The command with the recordings of a folder: its exit code, and what it printed."""

    def run(folder: Path, *given: str) -> tuple[int, str, str]:
        judges = {"kraft": kraft_judge.KraftJudge()}
        code = command.main(judges, ["kraft", "--recordings", str(folder), *given])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_a_recorded_run_says_that_it_is_one(run: Run, folder: Path) -> None:
    code, out, err = run(folder, "--recorded", "3.9")
    heading, line, summary = out.splitlines()
    assert code == 0
    assert not err
    assert heading == judging.heading()
    assert line.split()[:5] == ["3.9/3.9-IV0", "recorded", "3.9.1", "4", "240"]
    assert summary == "1 subjects, 0 live and 1 recorded: 240 turns, 0 differences."


def test_a_live_run_says_that_it_is_one_and_records_only_when_told_to(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kraft_judge, "judge_live", lambda pair, _seeds: answered(pair))
    code, out, _ = run(tmp_path, "3.9")
    assert code == 0
    assert out.splitlines()[1].split()[1:3] == ["live", "3.9.1"]
    assert not recordings.names_in(tmp_path)
    assert run(tmp_path, "--record", "3.9")[0] == 0
    assert recordings.names_in(tmp_path) == ("3.9_3.9-IV0",)
    kept = kraft_judge.load(PAIR, tmp_path)
    assert kept.head.covering
    assert not kraft_judge.parts(PAIR, kept)
    assert run(tmp_path, "--recorded", "--quick", "3.9")[0] == 0


def test_a_run_that_parts_says_how_as_a_play_and_records_nothing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kraft_judge, "judge_live", lambda pair, _seeds: answered(pair, PARTED))
    code, out, _ = run(tmp_path, "--record", "3.9")
    assert code == 1
    assert "title     Kafka 3.9.1 answers otherwise" in out
    assert "# the engine: BrokerHeartbeat reply: STALE_BROKER_EPOCH" in out
    assert not recordings.names_in(tmp_path)


@pytest.mark.parametrize(
    "problem", [MissingKafkaError("There is no Java here.", "Get one."), DeadKafkaError("Gone.")]
)
def test_a_live_run_that_cannot_be_is_an_error_and_no_quiet_replay(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, problem: Exception
) -> None:
    def fail(_pair: pairs.JudgedPair, _seeds: object) -> None:
        raise problem

    monkeypatch.setattr(kraft_judge, "judge_live", fail)
    code, out, err = run(folder, "3.9")
    assert code == 3
    assert err == f"judge: {problem}\n"
    assert "recorded" not in out


def test_coverage_is_printed_rule_by_rule(run: Run, folder: Path) -> None:
    _, out, _ = run(folder, "--recorded", "--coverage", "3.9")
    rows = {line.rsplit(maxsplit=1)[0].strip(): line.split()[-1] for line in out.splitlines()[3:]}
    assert rows["times tried"] == "3.9"
    assert int(rows["guard 497.sender-is-leader"]) > 0
    assert int(rows["transition FENCED to UNFENCED by heartbeat"]) > 0
    assert rows["record ConfigRecord"] == "-"


def test_what_is_hardly_tried_is_named_with_what_to_do() -> None:
    judged, _ = answered(PAIR)
    untried = list(judging.untried_lines(kraft_judge.KraftJudge(), [judged]))
    assert any(line.startswith("3.9: guard 903.controller-epoch was tried ") for line in untried)
    assert all("rules.py why it cannot be reached" in line for line in untried)
    assert not any("ConfigRecord" in line for line in untried)


# --- every judge ----------------------------------------------------------------------------------

RECORDED = {
    "kraft": ("3.2", "4.9", "unknown release"),
    "partition": ("3.5", "3.2", "no Partition of Kafka 3.2 is judged; there are 3.3, "),
    "brokers": ("2.2.2", "2.4.1", "no broker of Kafka 2.4.1 is judged; there are 2.1.1, 2.2.2"),
    "controllers": ("2.2.2", "2.3.1", "no controller of Kafka 2.3.1 is judged; there are 2.1.1, "),
    "schedules": ("2.2.2", "2.3.1", "no controller of Kafka 2.3.1 is judged; there are 2.1.1, "),
}
"""A subject that is recorded, one that there is none of, and what is said of that."""


@pytest.mark.parametrize("name", RECORDED)
def test_every_judge_agrees_with_what_is_recorded_and_refuses_what_is_not(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    subject, other, why = RECORDED[name]
    few = ["--quick"] if name == "kraft" else []
    assert command.main(JUDGES, [name, "--recorded", *few, subject]) == command.AGREED
    line = capsys.readouterr().out.splitlines()[1].split()
    assert line[0].startswith(subject)
    assert (line[1], line[5]) == ("recorded", "0")
    assert command.main(JUDGES, [name, "--recorded", other]) == command.BAD_INPUT
    assert f"judge: {why}" in capsys.readouterr().err
    if name != "controllers":
        elsewhere = ["--recordings", str(tmp_path)]
        assert command.main(JUDGES, [name, "--recorded", *elsewhere, subject]) == command.LACKING
        assert "`make judge-record` writes it" in capsys.readouterr().err


FEW = [
    *("kraft 3.3", "kraft 3.5/3.3-IV0", "kraft 3.9/3.5-IV2", "kraft 4.3"),
    *("kraft 4.0+elr", "kraft 4.3+elr"),
    *(f"partition {release}" for release in ("3.3", "3.9", "4.3")),
    *(f"brokers {patch}" for patch in ("2.1.1", "2.2.2")),
    *(f"controllers {patch}" for patch in ("2.1.1", "2.2.2")),
    "schedules 3.4.1",
]
SITUATIONS = ("--situation", "bounce", "--situation", "earlier-mail")


@live(test_a_live_run_says_that_it_is_one_and_records_only_when_told_to)
@pytest.mark.parametrize("asked", FEW)
def test_real_software_and_the_engine_agree_in_a_few_conversations(asked: str) -> None:
    name, subject = asked.split()
    count = {"kraft": "8", "partition": "8", "schedules": "1"}.get(name)
    more = SITUATIONS if name == "controllers" else ["--count", count] if count else []
    options = command.parser_of(JUDGES).parse_args([name, *more, subject])
    with real_kafka():
        judged = JUDGES[name].live(JUDGES[name].subject(subject), options)
    assert not judged.differences, "\n".join(judged.differences)
    assert judged.turns
