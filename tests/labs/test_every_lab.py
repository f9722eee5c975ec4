"""Every lab in a kernel of its own, unanswered and then answered; wrong answers without one."""

import json
import re
from pathlib import Path

import pytest

import kiplab
from tests.labs.running import (
    BETWEEN,
    GIVEN_AWAY,
    NAMES,
    PREDICTIONS,
    RIGHT,
    SHUT,
    TICKETS,
    WRONG,
    answered,
    asked,
    cells,
    exercises,
    explained,
    predictions_asked,
    run_twice,
    said_below_the_question,
    text_of,
)


@pytest.mark.parametrize("name", NAMES)
def test_it_waits_for_answers_gives_nothing_away_and_opens_with_them(
    name: str, tmp_path: Path
) -> None:
    first, *between, ticket = predictions_asked(name)
    locked, (answer, outcome) = PREDICTIONS[name], TICKETS[name]
    work = {first: locked, ticket: answer, **{id: BETWEEN[id] for id in between}}
    waiting, opened = run_twice(name, tmp_path, work)

    assert "not made yet" in text_of(waiting["lock"])
    assert "First lock in your prediction" in text_of(waiting["lab"])
    for cell in exercises(name):
        assert "Not answered yet: give" in text_of(waiting[cell])
    for cell in explained(name):
        assert text_of(waiting[cell]).startswith(SHUT), cell
    for cell, outputs in waiting.items():
        told = json.dumps(outputs, ensure_ascii=False)
        assert [words for words in GIVEN_AWAY[name] if words in told] == [], cell

    assert locked in text_of(opened["lock"])
    assert "at step 0 of" in text_of(opened["lab"])
    assert locked in text_of(opened["compare"])
    assert outcome in text_of(opened["exit-compare"])
    for cell in exercises(name):
        points, of = _points(text_of(opened[cell]))
        assert points == of, cell
    assert [cell for cell in opened if SHUT in text_of(opened[cell])] == []
    for cell, text in explained(name).items():
        assert opened[cell][0]["data"]["text/markdown"] == text.strip(), cell
    mine = [line for line in text_of(opened["my-work"]).splitlines() if line.startswith(name[:2])]
    assert [line for line in mine if "✓ right" not in line and "locked in" not in line] == []
    kept = json.loads((tmp_path / "kiplab-work.json").read_text())
    assert {*kept["predictions"], *kept["exercises"]} == set(asked(name))


@pytest.mark.parametrize("name", NAMES)
def test_what_stands_below_a_question_does_not_answer_it(name: str) -> None:
    assert GIVEN_AWAY[name]
    assert [words for words in GIVEN_AWAY[name] if words in said_below_the_question(name)] == []


@pytest.mark.parametrize("name", NAMES)
def test_answered_wrongly_each_exercise_hints_and_names_the_idea(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The cells of the exercises themselves: a check is a function, and needs no kernel."""
    monkeypatch.chdir(tmp_path)
    for cell in exercises(name):
        exec(answered(cells(name, "code")[cell], WRONG[cell]), {"kiplab": kiplab})
        said = capsys.readouterr().out
        points, of = _points(said)
        assert points < of, cell
        assert "Hint: " in said, cell
        assert "Kept as attempt 1" in said
    assert "✓" not in repr(kiplab.my_work())
    assert {*RIGHT} == {*WRONG}


def _points(said: str) -> tuple[int, int]:
    points, of = re.findall(r"^(\d+)/(\d+)", said)[0]
    return int(points), int(of)
