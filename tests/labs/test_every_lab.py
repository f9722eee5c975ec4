"""Every lab in a kernel, unanswered and then answered."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbclient import NotebookClient

from tests.labs.running import (
    BETWEEN,
    LAB_ANSWERS,
    NAMES,
    SHUT,
    asked,
    client_in,
    exercises,
    explained,
    prediction,
    predictions_asked,
    run_twice,
    said_below_the_question,
    text_of,
    ticket,
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NotebookClient]:
    """One kernel for all of them: in a browser each has its own."""
    started = client_in(tmp_path_factory.mktemp("labs"))
    with started.setup_kernel():
        yield started


WALKED = pytest.mark.long(
    quick="tests/browser/test_lessons.py::test_the_exercises_are_answered_in_their_cells"
)


QUICKLY = {name for name in NAMES if name[:2] in ("00", "04", "07")}
"""One lab that steps, one that acts, and one with two runs."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICKLY else WALKED) for name in NAMES]
)
def test_it_waits_for_answers_gives_nothing_away_and_opens_with_them(
    name: str, tmp_path: Path, client: NotebookClient
) -> None:
    between = {id: BETWEEN[id] for id in predictions_asked(name)[1:-1]}
    _, locked = prediction(name)
    work = dict([prediction(name), *between.items(), ticket(name)])
    waiting, opened = run_twice(client, name, tmp_path, work)

    assert "not made yet" in text_of(waiting["lock"])
    assert "First lock in your prediction" in text_of(waiting["lab"])
    for cell in exercises(name):
        assert "Not answered yet: give" in text_of(waiting[cell])
    for cell in explained(name):
        assert text_of(waiting[cell]).startswith(SHUT), cell
    for cell, outputs in waiting.items():
        told = json.dumps(outputs, ensure_ascii=False)
        assert [words for words in LAB_ANSWERS[name].given_away if words in told] == [], cell

    assert locked in text_of(opened["lock"])
    assert "at step 0 of" in text_of(opened["lab"])
    assert locked in text_of(opened["compare"])
    assert LAB_ANSWERS[name].outcome in text_of(opened["exit-compare"])
    for cell in exercises(name):
        points, of = _points(text_of(opened[cell]))
        assert points == of, cell
    assert [cell for cell in opened if SHUT in text_of(opened[cell])] == []
    for cell, text in explained(name).items():
        told = opened[cell][0]["data"]["text/markdown"]
        paragraphs = [re.sub(r"^\[\w\] \*\*If you ", "", part) for part in text.split("\n\n")]
        assert [part for part in paragraphs if part.strip() not in told] == [], cell
    mine = [line for line in text_of(opened["my-work"]).splitlines() if line.startswith(name[:2])]
    answered = ("✓ right", "locked in", "To discuss")
    assert [line for line in mine if not any(words in line for words in answered)] == []
    kept = json.loads((tmp_path / "kiplab-work.json").read_text())
    assert {*kept["predictions"], *kept["exercises"]} == set(asked(name))


@pytest.mark.parametrize("name", NAMES)
def test_what_stands_below_a_question_does_not_answer_it(name: str) -> None:
    assert LAB_ANSWERS[name].given_away
    assert [
        words for words in LAB_ANSWERS[name].given_away if words in said_below_the_question(name)
    ] == []


def _points(said: str) -> tuple[int, int]:
    points, of = re.findall(r"^(\d+)/(\d+)", said)[0]
    return int(points), int(of)
