"""Every answer of answers.toml: right or wrong, and what is said of it, part by part."""

import re

import pytest

from kiplab.classroom.exercise_table import EXERCISES, LETTERS, exercise
from kiplab.runs import run
from tests.classroom.answers import ANSWERS, Unfit, Wrong, judged

IDS = [exercise.id for exercise in EXERCISES if exercise.check]
ORDERED = [id for id in IDS if exercise(id).form]
"""Exercises with parts whose order counts."""
WRONG = [(id, wrong) for id in ANSWERS for wrong in ANSWERS[id].wrong]
UNFIT = [(id, unfit) for id in ANSWERS for unfit in ANSWERS[id].unfit]
STILL_OPEN = "One has no answer yet. If it is none of them, write -."


def test_every_exercise_has_its_answers() -> None:
    assert [*ANSWERS] == IDS


@pytest.mark.parametrize("id", IDS)
def test_the_right_answer_is_right_however_it_is_spelled(id: str) -> None:
    answers = ANSWERS[id]
    spelled = [answers.right, *answers.spelled]
    spelled += [tuple(answer) for answer in spelled if isinstance(answer, list)]
    for answer in spelled:
        found = judged(id, answer)
        assert (found.right, found.points) == (True, found.of), answer
        assert (found.hint, found.where, found.which) == ("", "", "")


@pytest.mark.parametrize(("id", "wrong"), WRONG)
def test_a_wrong_answer_names_the_idea_behind_it(id: str, wrong: Wrong) -> None:
    found = judged(id, wrong.answer)
    assert found.attempted
    assert found.points == wrong.points < found.of
    assert found.misconception == wrong.idea or wrong.idea is None
    assert wrong.says in found.message
    assert wrong.hint in found.hint
    assert found.hint


@pytest.mark.parametrize(("id", "unfit"), UNFIT)
def test_what_is_no_answer_says_what_is_wrong_with_it(id: str, unfit: Unfit) -> None:
    found = judged(id, unfit.answer)
    assert (found.points, found.attempted) == (0, False)
    assert unfit.says in found.message


@pytest.mark.parametrize("id", ORDERED)
def test_a_part_that_is_changed_is_the_one_that_is_named(id: str) -> None:
    asked = exercise(id)
    for wrong in ANSWERS[id].wrong:
        if isinstance(wrong.answer, dict):
            (place,) = map(int, wrong.answer)
            which = judged(id, wrong.answer).which.removeprefix("Look again at: ")
            named = rf"\b{place + 1}\b" if isinstance(asked.parts, str) else asked.parts[place]
            assert re.search(named, which)
            assert which.count(",") == 0


@pytest.mark.parametrize("id", ORDERED)
def test_a_part_that_is_open_earns_nothing_and_is_told_so(id: str) -> None:
    """Also where the right answer is: none of them."""
    asked = exercise(id)
    for place, letter in enumerate(LETTERS[: asked.points]):
        found = [judged(id, {str(place): blank}) for blank in ("?", "")]
        if letter in asked.blank_is_wrong:
            assert STILL_OPEN not in found[0].hint
        else:
            assert [(f.points, f.hint) for f in found] == [(asked.points - 1, STILL_OPEN)] * 2


@pytest.mark.parametrize("id", IDS)
def test_every_misconception_of_the_table_is_behind_some_answer(id: str) -> None:
    """So no key of the table is misspelt, and none is left over."""
    asked = exercise(id)
    listed = {idea.misconception for idea in asked.ideas.values()}
    listed |= {outcome.misconception for outcome in asked.outcomes.values()}
    met = {judged(id, wrong.answer).misconception for wrong in ANSWERS[id].wrong}
    met |= {judged(id, attempt).misconception for attempt in ANSWERS[id].attempts}
    assert listed - met - {""} == set()


@pytest.mark.parametrize("id", [id for id in IDS if exercise(id).begins])
def test_a_run_as_it_is_opened_or_under_other_rules_is_no_answer(id: str) -> None:
    begins = exercise(id).begins
    opened, other = run(begins), run(begins, kafka="4.0")
    if id != "recovery/lose-one":
        assert not judged(id, opened).right
    answer = (other, 11) if id == "recovery/lose-one" else other
    found = judged(id, answer)
    assert (found.points, found.attempted) == (0, False)
    assert found.message.startswith("Leave the rules as they are: Kafka ")
