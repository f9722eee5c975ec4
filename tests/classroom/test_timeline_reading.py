"""Reading a timeline: the six answers come from the run, and wrong ones are understood."""

import pytest

import kiplab
from kiplab.classroom.exercises.timeline_reading import check_reading

RIGHT = ("2", "{1}", "6", "FENCED_LEADER_EPOCH", "12", "202")


def test_the_six_answers_are_right() -> None:
    found = check_reading(RIGHT)
    assert (found.points, found.of) == (6, 6)
    assert kiplab.run(found.token).verdict == "safe"


@pytest.mark.parametrize(
    "answer",
    [
        (2, 1, 6, "fenced_leader_epoch", 12, 202),
        ("broker 2", "1", "step 6", "FENCED LEADER EPOCH", " 12 ", "202"),
    ],
)
def test_spelling_does_not_matter(answer: tuple[object, ...]) -> None:
    assert check_reading(answer).right


def test_another_release_has_another_figure() -> None:
    found = check_reading(RIGHT, kafka="3.6")
    assert (found.points, found.which) == (5, "Look again at: question 4.")
    again = (*RIGHT[:3], "INVALID_UPDATE_VERSION", *RIGHT[4:])
    assert check_reading(again, kafka="3.6").right


@pytest.mark.parametrize("place", range(6))
def test_any_other_wrong_answer_gets_a_hint_and_no_guess(place: int) -> None:
    said = [*RIGHT]
    said[place] = "?"
    found = check_reading(said)
    assert (found.points, found.misconception) == (5, "")
    assert found.hint


def test_too_few_answers_are_counted() -> None:
    found = check_reading(RIGHT[:4])
    assert (found.points, found.message) == (0, "Give 6 answers, in order. Here are 4.")
