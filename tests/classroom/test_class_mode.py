"""A class: what opens in each mode, before a deadline and after it; points and hints never wait."""

import json
import re
from pathlib import Path

import pytest

import kiplab
from kiplab.classroom import after, class_file, explain, what_if, work_on_disk
from kiplab.classroom.exercise_table import WAYS, exercise
from kiplab.classroom.forms.held_back import Awaits, HeldBack
from tests.classroom.conftest import DUE, OVER, MakeClass

PREDICTION, EXERCISE = "epochs/slow-request", "epochs/fences"
WRONG, RIGHT = ("BPPL", "PPPL", "LPPL"), "BLPL"
TABLE = """
after-three    | due  | run right why | why after which
after-three    | over | run right why | why after which
after-deadline | due  | run           |
after-deadline | over | run right why | why after which
by-hand        | due  | run           |
by-hand        | over | run           |
never          | due  | run           |
never          | over | run           |
opened by hand | due  | run right why | why after which
"""
"""What is open of a prediction that is locked, and of an exercise after three wrong answers."""
CASES = [tuple(map(str.strip, line.split("|"))) for line in TABLE.strip().splitlines()]


def is_open(held: HeldBack) -> bool:
    return not isinstance(held.shown, Awaits)


@pytest.mark.parametrize(("mode", "when", "of_prediction", "of_exercise"), CASES)
def test_what_is_open(
    make_class: MakeClass, mode: str, when: str, of_prediction: str, of_exercise: str
) -> None:
    answers = 'answers = "by-hand"\nopened = [2]' if " " in mode else f'answers = "{mode}"'
    make_class(answers, f"deadline = {DUE if when == 'due' else OVER}")
    asked, sheet = kiplab.predict(PREDICTION), kiplab.AnswerSheet(EXERCISE)
    beside = asked.beside(kiplab.run("timeline-first"))
    run, why = after(PREDICTION, "the run"), explain(PREDICTION)
    assert run._place != why._place, "one may open while the other is shut"
    assert [is_open(run), is_open(why), beside.cells] == [False, False, []]
    for_all = (mode, when) in (("after-deadline", "over"), ("opened by hand", "due"))
    assert is_open(explain(EXERCISE)) == for_all, "without an answer"

    asked.lock(next(choice for choice in asked.choices.options if choice != asked.comes_true))
    heads = [head for head, _ in beside.cells]
    opened = {
        "run": is_open(run) and "The run says" in heads,
        "right": "What comes true" in heads,
        "why": is_open(why),
    }
    assert [name for name, shown in opened.items() if shown] == of_prediction.split()

    first, second, third = (kiplab.check(EXERCISE, answer) for answer in WRONG)
    sheet._judge(WRONG[0])
    opened = {
        "why": is_open(explain(EXERCISE)),
        "after": is_open(after(EXERCISE, "the table")),
        "which": bool(third.which) and any(part.mark.value for part in sheet.parts),
    }
    assert [name for name, shown in opened.items() if shown] == of_exercise.split()
    assert (first.points, first.of, bool(first.hint)) == (3, 4, True)
    assert (bool(second.where), bool(second.misconception)) == (True, True)


@pytest.mark.parametrize("mode", ["never", "after-three"])
def test_a_what_if_shows_its_rates_and_keeps_what_is_said_of_them(
    make_class: MakeClass, mode: str
) -> None:
    make_class(f'answers = "{mode}"')
    asked = what_if("F")
    asked.lock(WAYS["S"])
    for said in (asked.text, asked.outcome.value):
        assert said.count("cannot happen: KIP-841 refuses the join") == 2
        assert (asked.change.reason in said, "What comes true" in said) == (mode != "never",) * 2


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("after-deadline", "This opens after the deadline: .*2026-01-31 23:59 UTC.* Then run"),
        ("by-hand", "This opens when your instructor says so"),
        ("never", "This stays closed in your class"),
    ],
)
def test_what_is_shut_says_what_it_waits_for(make_class: MakeClass, mode: str, said: str) -> None:
    make_class(f'answers = "{mode}"', f"deadline = {DUE}")
    assert re.match(said, repr(explain(EXERCISE)).replace("\n", " "))
    assert repr(explain(PREDICTION)) == "This opens when you lock in your prediction, above."


def test_a_lab_and_a_question_may_be_otherwise(make_class: MakeClass) -> None:
    make_class(
        *('answers = "by-hand"', 'opened = [2, "start/reading"]', "labs = [0, 1, 2, 4]"),
        *("[lab.02]", "opened = false"),
        *("[lab.4]", 'answers = "after-deadline"', f"deadline = {OVER}"),
    )
    opened = {id: is_open(explain(id)) for id in (EXERCISE, "kafka-14139/window")}
    assert opened == {EXERCISE: False, "kafka-14139/window": True}
    assert is_open(after("start/reading", ""))
    kiplab.predict("conversation/exit-ticket").lock(exercise("conversation/exit-ticket").comes_true)
    assert is_open(explain("conversation/exit-ticket")), "no lab of this class"


def test_an_instructor_opens_what_is_shut_by_a_variable_or_by_editing_the_file(
    make_class: MakeClass, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_class('answers = "by-hand"')
    held = explain(EXERCISE)
    assert not is_open(held)
    with monkeypatch.context() as patch:
        patch.setenv("KIPLAB_OPEN", "1")
        assert is_open(held)
        assert [kiplab.check(EXERCISE, answer) for answer in WRONG][-1].which
    assert not is_open(held)
    make_class('answers = "by-hand"', 'opened = ["02"]')
    assert is_open(held)


def test_a_late_attempt_is_kept_with_its_time(make_class: MakeClass) -> None:
    make_class(f"deadline = {OVER}", "[lab.04]", f"deadline = {DUE}")
    assert "Kept as attempt 1" in kiplab.check(EXERCISE, RIGHT).kept
    (tried,) = work_on_disk.read().exercises[EXERCISE].tries
    here = class_file.current()
    assert here is not None
    assert (here.is_late("02", tried.at), here.is_late("04", tried.at)) == (True, False)
    assert "2026-01-31 23:59 UTC" in repr(kiplab.my_work())


def test_stations_and_my_work_say_the_class_and_its_deadline(make_class: MakeClass) -> None:
    make_class('title = "Systems <1>"', "labs = [4]", f"deadline = {DUE}")
    strip, mine = kiplab.stations("04"), kiplab.my_work()
    assert "Systems &lt;1&gt; · deadline " in strip.html()
    assert "2026-01-31 23:59 UTC" in repr(strip)
    assert [lab for lab, _, _ in mine.rows] == ["04"]
    assert mine.notes[0].startswith("Class: Systems <1> · deadline ")


def test_a_file_that_cannot_be_read_is_said_and_all_opens_as_earned(make_class: MakeClass) -> None:
    make_class("answers = 3")
    for answer in WRONG:
        kiplab.check(EXERCISE, answer)
    assert is_open(explain(EXERCISE))
    for said in (repr(kiplab.stations("02")), kiplab.my_work().html().replace("&quot;", '"')):
        assert 'class.toml, line 2: answers: expected "after-three", "after-deadline"' in said


OLD = """{
  "predictions": {"epochs/slow-request": "yes"}, "written": {"start/two-rules": "Two sentences."},
  "exercises": {"epochs/fences": {"attempts": 2, "best": 3, "of": 4, "tries": [
    {"answer": "BPPL", "points": 3, "hint": "h", "misconception": ""}]}}
}"""
"""A work file of a version before 1.0: no times, no name, no seed, no version."""


@pytest.mark.parametrize("fields", ["predictions", "exercises", "written"])
def test_a_work_file_of_before_is_read_and_written_on(
    work_file: Path, make_class: MakeClass, fields: str
) -> None:
    work_file.write_text(json.dumps({fields: json.loads(OLD)[fields]}))
    before = work_on_disk.decoded()
    make_class()
    kiplab.my_work(student="Anna")
    kiplab.check("epochs/reigns", "crash 3; expire 3; crash 2; expire 2")
    work = work_on_disk.decoded()
    assert getattr(before, fields).items() <= getattr(work, fields).items()
    assert (work.student, work.version) == ("Anna", kiplab.__version__)
    assert bool(work.seed) == (fields != "exercises"), "who has begun goes on with those numbers"
    assert "Your last attempt" in repr(kiplab.my_work())
