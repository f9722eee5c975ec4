"""Every lab in a kernel of its own: unanswered, answered rightly, answered wrongly."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.labs.running import (
    BETWEEN,
    GIVEN_AWAY,
    NAMES,
    PREDICTIONS,
    RIGHT,
    SHUT,
    TICKETS,
    WRONG,
    asked,
    exercises,
    explained,
    predictions_asked,
    run_lab,
    said_below_the_question,
    text_of,
)


def exercise_cells(name: str) -> tuple[str, ...]:
    """The cells that an exercise needs, and the overview."""
    return ("setup", *exercises(name), "my-work")


@pytest.mark.parametrize("name", NAMES)
def test_unanswered_it_waits_and_nothing_fails_nor_is_kept(name: str, tmp_path: Path) -> None:
    shown = run_lab(name, tmp_path)
    assert "not made yet" in text_of(shown["lock"])
    assert "First lock in your prediction" in text_of(shown["lab"])
    for cell in exercises(name):
        assert "Not answered yet: give" in text_of(shown[cell])
    assert list(tmp_path.iterdir()) == []
    for cell in explained(name):
        assert text_of(shown[cell]).startswith(SHUT), cell
    for cell, outputs in shown.items():
        told = json.dumps(outputs, ensure_ascii=False)
        assert [words for words in GIVEN_AWAY[name] if words in told] == [], cell


@pytest.mark.parametrize("name", NAMES)
def test_what_stands_below_a_question_does_not_answer_it(name: str) -> None:
    assert GIVEN_AWAY[name]
    assert [words for words in GIVEN_AWAY[name] if words in said_below_the_question(name)] == []


@pytest.mark.parametrize("name", NAMES)
def test_answered_rightly_everything_opens_and_is_kept(name: str, tmp_path: Path) -> None:
    first, *between, ticket = predictions_asked(name)
    said, (answer, found) = PREDICTIONS[name], TICKETS[name]
    others = {id: BETWEEN[id] for id in between}
    work = {"predictions": {first: said, ticket: answer, **others}}
    (tmp_path / "kiplab-work.json").write_text(json.dumps(work))
    shown = run_lab(name, tmp_path, answers=RIGHT)
    assert said in text_of(shown["lock"])
    assert "at step 0 of" in text_of(shown["lab"])
    assert said in text_of(shown["compare"])
    assert found in text_of(shown["exit-compare"])
    for cell in exercises(name):
        points, of = _points(text_of(shown[cell]))
        assert points == of, cell
    assert [cell for cell in shown if SHUT in text_of(shown[cell])] == []
    for cell, text in explained(name).items():
        assert shown[cell][0]["data"]["text/markdown"] == text.strip(), cell
    mine = [line for line in text_of(shown["my-work"]).splitlines() if line.startswith(name[:2])]
    assert [line for line in mine if "✓ right" not in line and "locked in" not in line] == []
    kept = json.loads((tmp_path / "kiplab-work.json").read_text())
    assert {*kept["predictions"], *kept["exercises"]} == set(asked(name))


@pytest.mark.parametrize("name", NAMES)
def test_answered_wrongly_each_exercise_hints_and_names_the_idea(name: str, tmp_path: Path) -> None:
    shown = run_lab(name, tmp_path, answers=WRONG, only=exercise_cells(name))
    for cell in exercises(name):
        said = text_of(shown[cell])
        points, of = _points(said)
        assert points < of, cell
        assert "Hint: " in said, cell
        assert "Kept as attempt 1" in said
    assert "✓" not in text_of(shown["my-work"])


def _points(said: str) -> tuple[int, int]:
    points, of = re.findall(r"^(\d+)/(\d+)", said)[0]
    return int(points), int(of)
