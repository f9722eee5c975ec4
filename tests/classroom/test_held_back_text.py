"""What is held back, without a notebook: a sentence says what it waits for; then it is there."""

from itertools import count

import pytest

import kiplab
from kiplab.classroom import after, explain
from kiplab.classroom.exercise_table import exercise
from kiplab.classroom.forms.held_back import Prose


def test_until_there_is_a_prediction_it_says_so() -> None:
    held = explain("start/slow-request")
    assert repr(held) == "This opens when you lock in your prediction, above."
    kiplab.predict("start/slow-request", "And now?", ["yes", "no"]).lock("yes")
    assert "**If you thought that the leader knows best:**" in repr(held)


@pytest.mark.parametrize(
    ("place", "own"), [(1, "**You thought that it accepts broker 2 alone"), (2, "**The partition")]
)
def test_the_readers_own_idea_comes_first_and_the_others_are_folded(place: int, own: str) -> None:
    kiplab.predict("start/slow-request").lock(exercise("start/slow-request").choices[place])
    told = explain("start/slow-request").shown
    assert isinstance(told, Prose)
    shown, _, fold = told.markdown.partition("<details><summary>Other ideas</summary>")
    assert shown.startswith(own)
    assert "**If you thought that the leader knows best:**" in fold
    assert "**If you" not in shown
    assert "<details>" not in repr(told)


def test_until_an_exercise_is_solved_or_tried_three_times_it_counts() -> None:
    held = after("epochs/fences", "the table")
    said = "This opens with the right answer, above, or with your third different one."
    assert repr(held) == said
    kiplab.check("epochs/fences", "BPPL")
    assert repr(held) == f"{said} So far: 1."
    kiplab.check("epochs/fences", "BPPL")
    assert repr(held) == f"{said} So far: 1."
    kiplab.check("epochs/fences", "BLPL")
    assert repr(held) == "the table"


def test_a_third_attempt_opens_it_too() -> None:
    for answer in ("BPPL", "PPPL", "LPPL"):
        kiplab.check("epochs/fences", answer)
    assert repr(after("epochs/fences", "the table")) == "the table"


def test_the_same_answers_again_and_again_open_nothing() -> None:
    for answer in ("BPPL", "PPPL", "BPPL", "PPPL"):
        kiplab.check("epochs/fences", answer)
    assert repr(after("epochs/fences", "the table")).endswith("So far: 2.")


def test_an_instructor_opens_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIPLAB_OPEN", "1")
    assert repr(after("epochs/fences", "the table")) == "the table"
    assert repr(after("epochs/slow-request", "the story")) == "the story"


def test_no_answer_opens_nothing() -> None:
    for _ in range(3):
        kiplab.check("epochs/fences", "?")
    assert repr(after("epochs/fences", "the table")).startswith("This opens with")


def test_what_is_costly_is_made_when_it_opens() -> None:
    calls = count()
    held = after("epochs/fences", lambda: f"made {next(calls)}", "and more")
    assert repr(held).startswith("This opens with")
    kiplab.check("epochs/fences", "BLPL")
    assert repr(held) == "made 0\n\nand more"


def test_it_may_be_any_one_thing() -> None:
    kiplab.check("epochs/fences", "BLPL")
    assert after("epochs/fences", {"P": 10}).shown == {"P": 10}


def test_a_question_that_nobody_asks_is_named_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="no 'epochs/thirteen'; did you mean 'epochs/twelve'"):
        after("epochs/thirteen", "")
    with pytest.raises(ValueError, match=r"no explanation 'why' .* in fences.why.md"):
        explain("epochs/fences", "why")
