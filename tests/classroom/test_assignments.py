"""`kiplab assignment`: what it writes has the form of otter-grader and nbgrader, and asks rightly.

What both read in every lab, and the grades that they gave, is in graders.json.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import kiplab
from kiplab.classroom.assignments.graded_lab import (
    TEXTS,
    Answered,
    GradedLab,
    write_master,
    write_source,
)
from kiplab.classroom.exercise_table import WrittenQuestion as Marked
from tests.classroom.test_real_graders import RECORD, lab_of, our_grades
from tests.conftest import Command
from tests.labs.running import JAVA, LABS, NAMES, checks_asked
from tests.repeated import in_long

RECORDED = json.loads(RECORD.read_text())
NAME = "04-kafka-14139"
Cells = list[tuple[str, str, dict[str, Any]]]
"""Of a notebook: kind, source and metadata."""


def cells_of(notebook: Path) -> Cells:
    read = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    assert len({cell["id"] for cell in read}) == len(read)
    assert all(0 < len(cell["id"]) <= 64 for cell in read)
    return [(cell["cell_type"], "".join(cell["source"]), cell["metadata"]) for cell in read]


@pytest.fixture(params=NAMES)
def lab(request: pytest.FixtureRequest) -> GradedLab:
    return lab_of(request.param)


@pytest.fixture
def master(lab: GradedLab, tmp_path: Path) -> Cells:
    """What otter assign reads."""
    return cells_of(write_master(lab, tmp_path))


@pytest.fixture
def source(lab: GradedLab, tmp_path: Path) -> Cells:
    """What nbgrader generate_assignment reads."""
    return cells_of(write_source(lab, tmp_path))


def test_it_asks_all_that_the_lab_asks_and_what_the_graders_read(lab: GradedLab) -> None:
    assert [asked.id for asked in lab.all_of(Answered)] == checks_asked(lab.name)
    worth = {asked.name: asked.points for asked in lab.all_of(Answered)}
    assert RECORDED["points"][lab.name] == worth, "pytest --rewrite tests/classroom/test_real_gr*"
    assert {marked.points for marked in lab.all_of(Marked)} == {2}


@pytest.mark.parametrize("name", RECORDED["grades"])
def test_the_graders_gave_what_kiplab_check_gives(name: str) -> None:
    assert RECORDED["grades"][name] == our_grades(name)


def test_a_master_nests_its_blocks_and_its_tests_are_worth_the_points(
    lab: GradedLab, master: Cells
) -> None:
    (_, config, _), *others = master
    assert yaml.safe_load(config)["requirements"] == [f"kiplab[lab]=={kiplab.__version__}"]
    within, begun, tests = list[str](), list[Any](), list[Any]()
    for kind, text, _ in others:
        head, _, below = text.partition("\n")
        if kind == "raw" and head.startswith("# BEGIN "):
            within.append(head.removeprefix("# BEGIN "))
            begun += [yaml.safe_load(below)] * (within == ["QUESTION"])
        elif kind == "raw":
            assert head == f"# END {within.pop()}"
        elif within == ["QUESTION", "TESTS"]:
            test = yaml.safe_load(text.split('"""')[1].partition("\n")[2])
            tests.append((begun[-1]["name"], test["points"], test["hidden"]))
    assert within == []
    asked = {one["name"]: one["points"] for one in begun}
    assert asked == {one.name: one.points for one in lab.questions.values()}
    for name in (one["name"] for one in begun if "manual" not in one):
        own = [(points, hidden) for of, points, hidden in tests if of == name]
        assert own == [(0, False), *[(1, True)] * asked[name]]


def test_the_marks_of_a_source_are_those_that_nbgrader_knows(lab: GradedLab, source: Cells) -> None:
    marks = [(kind, text, found["nbgrader"]) for kind, text, found in source if "nbgrader" in found]
    names = {mark["grade_id"] for *_, mark in marks}
    assert len(names) == len(marks) == 2 * len(lab.all_of(Answered)) + len(lab.all_of(Marked))
    for kind, text, mark in marks:
        assert (mark["schema_version"], mark["cell_type"]) == (3, kind)
        assert mark["grade"] == ("points" in mark)
        assert ("### BEGIN SOLUTION\n" in text) == mark["solution"]
        assert ("### BEGIN HIDDEN TESTS\n" in text) == mark["locked"] != mark["solution"]
        assert kind == "code" or mark["grade"]


def without(text: str, begin: str, end: str) -> str:
    """A cell without what stands between two lines, these included."""
    before, there, rest = text.partition(begin)
    return before + rest.partition(end)[2] if there else text


@pytest.mark.parametrize("lab", [*NAMES[:9], *in_long(NAMES[9:])], indirect=True)
def test_hidden_tests_count_the_right_answer_and_public_ones_refuse_none(
    lab: GradedLab, master: Cells, source: Cells
) -> None:
    """Of otter's hidden tests the last one, which asks for most. Labs 09 to 11 search for long."""
    tests = [text for _, text, found in source if "points-" in str(found)]
    for asked, test in zip(lab.all_of(Answered), tests, strict=True):
        names: dict[str, Any] = {}
        exec(asked.solution, names)
        exec(
            next(t for _, t, _ in master if t.endswith(f"{asked.judged} >= {asked.points}")), names
        )
        exec(test, names)
        assert eval(test.splitlines()[-2], names) == asked.points
        names[asked.variable] = "?"
        with pytest.raises(ValueError, match=r"\w"):
            exec(without(test, "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"), names)


def test_students_get_the_cells_of_the_lab_and_no_answer(
    lab: GradedLab, master: Cells, source: Cells
) -> None:
    shipped = [text for _, text, _ in cells_of(LABS / f"{lab.name}.ipynb")]
    given = [without(text, "### BEGIN SOLUTION\n", "### END SOLUTION\n") for _, text, _ in source]
    assert [text for text in shipped if text not in given] == []
    prompts = [text.removeprefix('""" # BEGIN PROMPT\n') for _, text, _ in master]
    given = [without(text, '""" # END PROMPT\n', "# END SOLUTION\n") for text in prompts]
    assert [text for text in shipped if text not in given] == []
    for cells in (master, source):
        passed = [found["tags"] for *_, found in cells if "otter_ignore" in found.get("tags", ())]
        ids = [cell["id"] for cell in lab.notebook["cells"]]
        assert passed == [["otter_ignore", "skip-execution"]] * len({*ids} & {*JAVA})


def test_the_command_writes_the_notebook_and_says_how_to_go_on(
    tmp_path: Path, command: Command
) -> None:
    """Neither grader is installed beside the tests."""
    code, said, _ = command("assignment", "otter", "labs/04", "-o", tmp_path)
    master = tmp_path / NAME / f"{NAME}.ipynb"
    assert code == 0
    assert said.startswith("5 exercises: 19 points\n2 questions to mark: 4 points\n")
    assert said.endswith(f": otter assign --no-pdfs {master} {master.parent / 'dist'}\n")
    assert (master.parent / "plays.md").is_file()
    report = json.loads(command("assignment", "nbgrader", "04", "-o", tmp_path, "--json")[1])
    window = {"id": "kafka-14139/window", "variable": "answer_window", "points": 5}
    assert report["exercises"][0] == window
    assert report["written"] == [{"name": name, "points": 2} for name in ("blame", "bump")]
    assert report["editions"] is None
    assert Path(report["notebook"]) == tmp_path / "source" / NAME / f"{NAME}.ipynb"


def test_a_course_keeps_its_own_configuration(tmp_path: Path, command: Command) -> None:
    config = tmp_path / "nbgrader_config.py"
    command("assignment", "nbgrader", "04", "-o", tmp_path)
    assert config.read_text() == TEXTS["nbgrader_config"]
    config.write_text("mine")
    command("assignment", "nbgrader", "05", "-o", tmp_path)
    assert config.read_text() == "mine"


def test_what_the_grader_refuses_is_said_in_a_sentence(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module called otter that only fails stands in for the grader."""
    (tmp_path / "otter.py").write_text("raise ValueError('no such form')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    code, said, err = command("assignment", "otter", "04", "-o", tmp_path / "out")
    assert (code, said) == (1, "")
    assert err.endswith("kiplab: otter made no editions: ValueError: no such form\n")


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("40", 2, "there is no lab '40'; expected a notebook, or one of 00-start, "),
        ("broken.ipynb", 2, "broken.ipynb is no notebook of format 4.5, whose cells have ids"),
        ("empty.ipynb", 2, "empty.ipynb asks nothing: expected a cell with kiplab.check("),
        ("other.ipynb", 2, "the instructor's notes have no solution of bounce/needed; add it"),
        ("alone.ipynb", 3, "there are no instructor's notes in "),
    ],
)
def test_what_cannot_be_made_is_said_in_a_sentence(
    tmp_path: Path, name: str, code: int, said: str, command: Command
) -> None:
    (tmp_path / "instructor").mkdir()
    if code == 2:
        (tmp_path / "instructor" / "notes.md").write_text("# Notes")
    source = 'kiplab.check("bounce/needed", answer_needed)' if "other" in name else "kiplab"
    cell = {"cell_type": "code", "id": "one", "source": [source], "metadata": {}}
    written = "{" if "broken" in name else json.dumps({"cells": [cell]})
    (tmp_path / name).write_text(written)
    given = tmp_path / name if "." in name else name
    found, out, err = command("assignment", "otter", given, "-o", tmp_path)
    assert (found, out, len(err.splitlines())) == (code, "", 1)
    assert said in err


def test_points_keep_nothing_and_say_what_is_no_answer(work_file: Path) -> None:
    assert kiplab.classroom.points("epochs/fences", "BLPL") == 4
    assert kiplab.classroom.points("epochs/fences", "BPPL") == 3
    with pytest.raises(ValueError, match=r"^Give 4 letters, .*\. Here are 2\.$"):
        kiplab.classroom.points("epochs/fences", "BL")
    assert not work_file.exists()
