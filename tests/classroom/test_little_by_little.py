"""Whoever is told "look again at B, C and D" is told A: in every exercise that comes last.

What is held back says what it waits for; then it is there.
"""

import re
from itertools import count

import pytest

import kiplab
from kiplab.classroom import after, explain, work_on_disk
from kiplab.classroom.exercise_table import EXERCISES, exercise
from kiplab.classroom.exercises.check_result import SAYS_WHERE, SAYS_WHICH, Checked
from kiplab.classroom.forms.held_back import Prose
from tests.classroom.answers import ANSWERS

PARTS = {id: answers.attempts for id, answers in ANSWERS.items() if answers.attempts}
"""Three wrong answers to every exercise with parts."""
NAMES = re.compile(
    r"\b(question|statement|schedule|step|event|message|request|change|rule|cluster|arrivals on)"
    r" [A-G\d]"
)


def attempts(id: str) -> list[Checked]:
    """What three students' worth of wrong answers are told, one after the other."""
    return [kiplab.check(id, answer) for answer in PARTS[id]]


def test_every_exercise_with_parts_is_tried() -> None:
    """An exercise whose answer is a run of one's own, or one order, has no parts."""
    assert [*PARTS] == [exercise.id for exercise in EXERCISES if exercise.ideas]


@pytest.mark.parametrize("id", PARTS)
def test_the_first_attempt_tells_how_many_are_right_and_one_hint(id: str) -> None:
    first = attempts(id)[0]
    assert re.fullmatch(r"(None|\d+) of \d+ (is|are) right\.", first.message)
    assert (first.where, first.which, first.misconception) == ("", "", "")
    assert first.hint
    assert not NAMES.search(f"{first.message} {first.hint}"), str(first)


@pytest.mark.parametrize("id", PARTS)
def test_the_second_tells_where_and_the_third_which(id: str) -> None:
    first, second, third = attempts(id)
    assert (SAYS_WHERE, SAYS_WHICH) == (2, 3)
    assert second.where.startswith("Look again among: ")
    assert second.which == ""
    assert third.which.startswith("Look again at: ")
    assert third.where == ""
    assert third.which not in f"{first}{second}"


@pytest.mark.parametrize("id", PARTS)
def test_no_group_has_all_the_parts(id: str) -> None:
    """Else the second attempt would tell no more than the first."""
    whole = exercise(id).judge
    told = {group for answer in PARTS[id] for group in whole(answer).where[18:-1].split(", ")}
    assert len(told) > 1


def test_ideas_and_parts_are_kept_for_the_teacher_though_the_student_was_not_told() -> None:
    assert kiplab.check("explorer/proof", "ABDG").misconception == ""
    (tried,) = work_on_disk.read().exercises["explorer/proof"].tries
    assert tried.misconception == exercise("explorer/proof").judge("ABDG").misconception != ""


def test_the_same_answer_again_is_no_attempt() -> None:
    first, again = kiplab.check("epochs/fences", "BPPL"), kiplab.check("epochs/fences", "BPPL")
    assert again.kept == "(The same answer as before: it stays attempt 1.)"
    assert (again.where, again.which) == (first.where, first.which) == ("", "")
    assert "Look again among" in str(kiplab.check("epochs/fences", "PPPL"))


def test_an_experiment_is_told_as_much_as_the_next_attempt_would_be() -> None:
    assert kiplab.check("epochs/fences", "BPPL", kafka="3.9").which == ""
    kiplab.check("epochs/fences", "BPPL")
    kiplab.check("epochs/fences", "PPPL")
    assert kiplab.check("epochs/fences", "BPPL", kafka="3.9").which == "Look again at: message 2."


@pytest.mark.usefixtures("nowhere")
def test_attempts_count_where_nothing_can_be_written() -> None:
    told = [kiplab.check("epochs/fences", answer) for answer in ("BPPL", "PPPL", "LPPL")]
    assert [bool(found.where) for found in told] == [False, True, False]
    assert told[2].which
    assert "gone with this kernel" in repr(kiplab.my_work())


def test_a_run_of_ones_own_is_told_what_happened_and_the_idea_only_then() -> None:
    first = kiplab.check("explorer/shorter", kiplab.run("kafka-14139"))
    assert (first.message, first.misconception) == ("Lost in 11 events. There is a way in 7.", "")
    again = kiplab.check("explorer/shorter", "crash 1 disk=replaced; expire 1; start 1; unfence 1")
    assert again.misconception == "every loss is a hole in the protocol"


def test_shown_as_a_value_it_reads_as_when_it_is_printed() -> None:
    found = kiplab.check("epochs/fences", "BPPL")
    assert repr(found) == str(found)


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
