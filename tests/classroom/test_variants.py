"""Each student of a class has other numbers: the same ideas, points and hints, another answer.

What is right of answers.toml for the text is mapped to a student's numbers here: numbers by the
names that exercises.toml gives them, rows by where the student has them.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import kiplab
from kiplab.classroom import variants, work_on_disk
from kiplab.classroom.exercise_table import EXERCISES, MANY_ARE_RIGHT, YOURS, Exercise, exercise
from kiplab.classroom.exercises.own_runs import written_after
from tests.classroom.answers import ANSWERS
from tests.conftest import Command

VARIED = [entry.id for entry in EXERCISES if entry.numbers]
FIXED = [entry.id for entry in EXERCISES if entry.check and not entry.numbers]
SEARCHES = ("explorer", "hole/wha", "fleet/ra")
SAME_ANSWER = {
    *("isr/schedules", "recovery/businesses", "heartbeats/timeouts", "heartbeats/incarnations"),
    "recovery/lose-one",  # a run of one's own, in a situation of one's own
}
"""The numbers are the student's, and what is right does not depend on them."""
SEEDS = [work_on_disk.seed_of("kafka-2026", f"student {n}") for n in range(300)]
LONG = pytest.mark.long(quick="::")


def class_of(few: list[str], many: list[str]) -> list[Any]:
    """Cases for some students, and for a large class."""
    return [pytest.param(few, id="few"), pytest.param(many, id="many", marks=LONG)]


ENDS = [f"<first + second + one{more}>" for more in ("", " + two", " + two - 1", " + two + 20")]
NAMED: dict[str, dict[str, tuple[str, ...]]] = {
    "start/reading": {
        **dict.fromkeys("01", ("<a>", "<b>", "<c>")),
        "4": ("<partition + 1>", "<partition + 2>"),
        "5": ("<registered + c>", "<metadata + 2>"),
    },
    "isr/high-watermark": {
        "": ("<log>", "<log + count>", "<log + count + count>", "<log + count + count + count>")
    },
    "conversation/shutting-down": dict.fromkeys("345", ("<a>", "<b>", "<c>")),
    "kafka-14139/last-replica": dict.fromkeys(
        "01", ("<log>", "<log - 1>", "<three>", "<three - 1>")
    ),
    "recovery/vanishing": {"": ("<first>", "<first + second>", *ENDS)},
    "recovery/lose-one": {"1": ("<log - 1>", "<log>", "<log + 1>")},
}
"""The numbers of an answer by its place; without one those of every place."""
ROWS = {
    "epochs/fences": ("one", "two", "three", ""),
    "conversation/first-rule": ("one", "two", "", "", "five", "six", "seven", "eight"),
}
"""The name of what stands in each row, where a student has the rows in another order."""


def rows(own: Exercise) -> list[int]:
    """For each row of a student the row of the text that it is, both from 0."""
    text = exercise(own.id).values
    if own.id == "epochs/twelve":
        mine, theirs = own.values["events"].split("\n"), text["events"].split("\n")
        events = [(event, theirs[:n].count(event)) for n, event in enumerate(theirs)]
        return [events.index((event, mine[:n].count(event))) for n, event in enumerate(mine[:-1])]
    names = ROWS[own.id]
    said = [text.get(name) for name in names]
    return [said.index(own.values[name]) if name else n for n, name in enumerate(names)]


def mapped(own: Exercise, answer: Any) -> Any:
    """An answer to the exercise of the text, as it is for a student's numbers."""
    whole = ANSWERS[own.id].whole(answer)
    if own.id in ROWS or own.id == "epochs/twelve":
        return [whole[row] for row in rows(own)]
    if isinstance(whole, str):
        return renumbered(own, "", whole)
    return [renumbered(own, str(place), part) for place, part in enumerate(whole)]


def renumbered(own: Exercise, place: str, part: Any) -> Any:
    """One part of it. Other numbers than those that are named stay as they are."""
    named = NAMED.get(own.id, {})
    pieces, text = named.get(place, named.get("", ())), exercise(own.id).values
    instead = {variants.filled(p, text): variants.filled(p, own.values) for p in pieces}
    return re.sub(r"\d+", lambda number: instead.get(number[0], number[0]), str(part))


def test_every_number_that_the_table_replaces_stands_somewhere_in_the_text() -> None:
    for entry in (exercise(id) for id in VARIED):
        play = variants.bare_play(entry.about, "") if entry.about else ""
        texts = repr((play, entry.situation, entry.plays, entry.ideas, entry.fields, entry.asks))
        pieces = (variants.filled(piece, entry.values) for piece in entry.varies)
        missing = [piece for piece in pieces if repr(piece)[1:-1] not in texts]
        assert missing == [], entry.id


@pytest.mark.parametrize("id", VARIED)
@pytest.mark.parametrize("seeds", class_of(SEEDS[:20], SEEDS[20:]))
def test_the_engine_finds_a_full_answer_to_everybodys_numbers(id: str, seeds: list[str]) -> None:
    for own in (exercise(id, seed) for seed in seeds):
        found = own.solution
        full = mapped(own, ANSWERS[id].right) if found == MANY_ARE_RIGHT else found
        assert own.judge(full).right, (own.drawn, full)
        told = f"{own.notice}{replace(own, varies=(), numbers={}, drawn={}, asks='')}"
        assert not re.search(r"<\w+( [+-] \w+)*>", told), own.drawn


@pytest.mark.parametrize("id", VARIED)
@pytest.mark.parametrize("seeds", class_of(SEEDS[:3], SEEDS[3:50]))
def test_a_wrong_answer_earns_what_it_earns_in_the_text(id: str, seeds: list[str]) -> None:
    """And by the same idea."""
    text = exercise(id)
    for wrong in (w.answer for w in ANSWERS[id].wrong if "70" not in str(w.answer)):
        expected = text.judge(ANSWERS[id].whole(wrong))
        for own in (exercise(id, seed) for seed in seeds):
            if id == "fetch/price":
                wrong_here = [wrong.get(str(n), p) for n, p in enumerate(own.solution.split("; "))]
            else:
                wrong_here = mapped(own, wrong)
            found = own.judge(wrong_here)
            assert found.points == expected.points, (own.drawn, wrong_here)
            assert found.misconception == expected.misconception, (own.drawn, wrong_here)


@pytest.mark.parametrize("id", VARIED)
def test_most_pairs_of_students_have_other_numbers(id: str) -> None:
    pairs = [*combinations((exercise(id, seed) for seed in SEEDS[:8]), 2)]
    assert sum(one.drawn != other.drawn for one, other in pairs) > 0.7 * len(pairs)


@pytest.mark.parametrize("id", [id for id in VARIED if id not in SAME_ANSWER])
def test_anothers_answer_is_seldom_right(id: str) -> None:
    pairs = [*combinations((exercise(id, seed) for seed in SEEDS[:8]), 2)]
    right = sum(one.judge(other.solution).right for one, other in pairs)
    assert right < 0.4 * len(pairs)


@pytest.mark.parametrize("id", sorted(SAME_ANSWER - {"recovery/lose-one"}))
def test_some_have_one_answer_for_everybody(id: str) -> None:
    assert len({exercise(id, seed).solution for seed in SEEDS[:4]}) == 1


@pytest.mark.parametrize(
    "id", [pytest.param(id, marks=[LONG] * (id[:8] in SEARCHES)) for id in FIXED]
)
def test_those_that_do_not_vary_have_a_solution_too(id: str) -> None:
    asked = exercise(id, SEEDS[0])
    assert asked is exercise(id)
    assert asked.solution == MANY_ARE_RIGHT or asked.judge(asked.solution).right


def test_the_numbers_are_the_same_in_another_process() -> None:
    code = (
        "from kiplab.classroom.exercise_table import EXERCISES, exercise\n"
        f"print([exercise(e.id, {SEEDS[0]!r}).notice for e in EXERCISES if e.numbers])"
    )
    env = {**os.environ, "PYTHONHASHSEED": "7"}
    said = subprocess.check_output([sys.executable, "-c", code], env=env, text=True)
    assert said.strip() == str([exercise(id, SEEDS[0]).notice for id in VARIED])


# --- what a student of a class sees ---------------------------------------------------------------


OfClass = Callable[[str], Exercise]


@pytest.fixture
def of_class(monkeypatch: pytest.MonkeyPatch) -> OfClass:
    """The exercise of an id as the student has it, in a class without a name given."""
    monkeypatch.setenv("KIPLAB_CLASS", "kafka-2026")
    seed = work_on_disk.seed_of("kafka-2026", "")
    return lambda id: exercise(id, seed)


def test_a_check_tells_the_numbers_and_keeps_whose_they_are(
    of_class: OfClass, work_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = of_class("isr/high-watermark")
    assert str(kiplab.check(own.id, "?")).startswith(YOURS)
    assert not work_file.exists()
    found = kiplab.check(own.id, own.solution)
    assert found.right
    assert f"{own.values['log']} records" in str(found).partition("\n8/8\n")[0]
    assert json.loads(work_file.read_text())["seed"] == work_on_disk.seed_of("kafka-2026", "")
    for later in ("", "another-class", "/a/path/class.toml"):
        monkeypatch.setenv("KIPLAB_CLASS", later)
        assert kiplab.check(own.id, own.solution).right


def test_without_a_plain_class_code_the_numbers_are_those_of_the_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for no_code in ("", "class.toml", "https://school.example/class.toml"):
        monkeypatch.setenv("KIPLAB_CLASS", no_code)
        assert YOURS not in str(kiplab.check("isr/high-watermark", "?"))
        assert kiplab.variant("isr/high-watermark").name == "isr-committed"


def test_a_name_gives_the_numbers_however_it_is_written(of_class: OfClass) -> None:
    work_on_disk.introduce(" Ada  LOVELACE ")
    named = exercise("recovery/vanishing", work_on_disk.seed_of("kafka-2026", "ada lovelace"))
    assert kiplab.check(named.id, named.solution).right
    assert named != of_class(named.id)


def test_the_sheet_has_the_students_menus_and_says_what_counts(of_class: OfClass) -> None:
    own = of_class("conversation/shutting-down")
    sheet = kiplab.AnswerSheet(own.id)
    menu = vars(sheet.parts[3].controls[0])["options"]
    assert [option for _, option in menu[1:4]] == [str(own.values[name]) for name in "abc"]
    assert YOURS in sheet.notice.value
    assert sheet.notice in [*sheet.box.root.everything()]
    assert YOURS in sheet._repr_mimebundle_()["text/plain"]


def test_the_explanation_says_whose_numbers_it_has(of_class: OfClass) -> None:
    own = of_class("kafka-14139/last-replica")
    kiplab.check(own.id, own.solution)
    first = repr(kiplab.explain(own.id)).partition("\n")[0]
    assert first == f"*The numbers here are those of the text. With yours:* `{own.solution}`"


def test_a_run_of_the_students_play_is_an_answer_and_one_of_the_text_is_none(
    of_class: OfClass,
) -> None:
    lines, _ = ANSWERS["recovery/lose-one"].right
    end = of_class("recovery/lose-one").values["log"]
    run = kiplab.run(written_after(kiplab.variant("recovery/lose-one"), lines.replace("; ", "\n")))
    assert kiplab.check("recovery/lose-one", (run, end)).right
    other = kiplab.check("recovery/lose-one", (kiplab.run("unclean-election-short"), end))
    assert "Begin with the play kiplab.variant('recovery/lose-one')." in other.message
    with pytest.raises(ValueError, match="'isr/schedules' is not about one play"):
        kiplab.variant("isr/schedules")


def test_the_kiplab_of_a_class_prints_no_right_answers(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kiplab.classroom.sealed_texts.is_sealed", lambda: True)
    code, out, err = command("solutions", "kafka-2026", "Student 0")
    assert (code, out, "instructor's kiplab" in err) == (2, "", True)


def test_solutions_prints_a_right_answer_to_each_question_of_a_lab(command: Command) -> None:
    own = exercise("isr/high-watermark", SEEDS[0])
    code, out, _ = command("solutions", "kafka-2026", "Student 0", "01")
    assert code == 0
    assert f"{own.id}  (numbers of their own)\n    {own.solution}\n" in out
    report = json.loads(command("solutions", "kafka-2026", "Student 0", "01", "--json")[1])
    assert report["seed"] == SEEDS[0]
    assert {"id": own.id, "varies": True, "solution": own.solution} in report["solutions"]
    code, _, err = command("solutions", "kafka-2026", "Student 0", "99")
    assert code == 2
    assert err.startswith("kiplab: there is no lab '99'; there are 00, 01, 02")
