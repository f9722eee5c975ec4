"""The real otter-grader and nbgrader accept every lab, and grade as `kiplab.check` does.

They are in an environment of their own, out of the registry that pip is set to: `make setup`
installs none of their thirty packages and extensions of a server.
"""

import csv
import json
import os
import subprocess
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import pytest

from kiplab.classroom.assignments.graded_lab import (
    Answered,
    GradedLab,
    read_lab,
    write_master,
    write_source,
)
from kiplab.classroom.exercise_table import WrittenQuestion as Marked
from kiplab.classroom.exercise_table import exercise
from tests.classroom.answers import ANSWERS
from tests.labs.running import LABS, NAMES, ROOT

RECORD = Path(__file__).with_name("graders.json")
"""What both read in every lab, and the grades that they gave."""
KINDS = ("right", "partly", "wrong", "untouched")
"""Of submissions: all right; the first right, the others the best wrong ones; the worst; none."""
FROM_GRADEBOOK = """
import json, sys
from nbgrader.api import Gradebook
with Gradebook("sqlite:///gradebook.db") as book:
    cells = {name: {c.name: c.max_score for n in book.find_assignment(name).notebooks
                    for c in n.grade_cells} for name in sys.argv[1:]}
    scores = {s.student.id: {g.name: g.auto_score for n in s.notebooks for g in n.grades}
              for s in book.assignment_submissions(sys.argv[1])}
print(json.dumps([cells, scores]))
"""
"""The cells of each lab, and the scores in the first."""
FOR_GRADING = """
import sys
from otter.assign import main
for name in sys.argv[1:]:
    main(f"{name}/{name}.ipynb", f"{name}/dist", no_pdfs=True, no_run_tests=True)
"""
"""As `otter assign --no-pdfs --no-run-tests` for each."""
Points = dict[str, float]
"""By the name of the exercise or written question."""
Grades = dict[str, Points]
"""By kind of submission."""


class Graders(NamedTuple):
    """An environment in which both are installed beside this checkout."""

    python: Path

    def run(self, folder: Path, *arguments: object) -> str:
        """What a program of the environment prints; fails with all it said if that fails."""
        path = os.pathsep.join((str(self.python.parent), os.environ["PATH"]))
        own = {"JUPYTER_CONFIG_DIR": str(folder), "PATH": path, "PYTHONPATH": str(ROOT)}
        command = [str(self.python), *map(str, arguments)]
        done = subprocess.run(
            command, cwd=folder, env=os.environ | own, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done.stdout


def installed_graders(folder: Path) -> Graders:
    """Both from the registry that pip is set to; what this environment has is not loaded again."""
    venv.create(folder, with_pip=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "kiplab-tests.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    graders = Graders(folder / "bin" / "python")
    pip = ("-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt")
    graders.run(folder, *pip, "otter-grader", "nbgrader")
    return graders


def lab_of(name: str) -> GradedLab:
    """A lab of this checkout with the answers of its notes."""
    return read_lab(LABS / f"{name}.ipynb", LABS / "instructor")


def submissions(name: str) -> dict[str, dict[str, Any]]:
    """The answers by exercise, for each of KINDS."""
    asked = [one.id for one in lab_of(name).all_of(Answered)]
    right: dict[str, Any] = {id: ANSWERS[id].right for id in asked}
    wrong = {id: sorted(ANSWERS[id].wrong, key=lambda one: one.points) for id in asked}
    best = {id: ANSWERS[id].whole(wrong[id][-1].answer) for id in asked}
    worst = {id: ANSWERS[id].whole(wrong[id][0].answer) for id in asked}
    partly = best | {asked[0]: right[asked[0]]}
    return dict(zip(KINDS, (right, partly, worst, {}), strict=True))


def our_grades(name: str) -> Grades:
    """What `kiplab.check` gives for these."""
    asked = {one.name: exercise(one.id) for one in lab_of(name).all_of(Answered)}
    return {
        kind: {name: one.judge(answers.get(one.id)).points for name, one in asked.items()}
        for kind, answers in submissions(name).items()
    }


def hand_in(name: str, folder: Path, edition: Path) -> Iterator[tuple[str, Path]]:
    """Each submission: its kind, and the student's edition with its answers in their variables."""
    variables = {one.variable: one.id for one in lab_of(name).all_of(Answered)}
    for kind, answers in submissions(name).items():
        notebook = nbformat.read(edition / f"{name}.ipynb", as_version=4)
        for cell in notebook.cells:
            variable, _, _ = cell.source.partition(" = ")
            if variables.get(variable) in answers:
                _, _, rest = cell.source.partition("\n")
                cell.source = f"{variable} = {answers[variables[variable]]!r}\n{rest}"
        (there := folder / kind / name).mkdir(parents=True)
        nbformat.write(notebook, there / f"{name}.ipynb")
        yield kind, there


def otter_reads(graders: Graders, folder: Path) -> Iterator[Points]:
    """Of each lab the exercises in the edition for grading, and the points of their tests."""
    masters = [write_master(lab_of(name), folder) for name in NAMES]
    graders.run(folder, "-c", FOR_GRADING, *NAMES)
    for master in masters:
        read = nbformat.read(master.parent / "dist" / "autograder" / master.name, as_version=4)
        yield {
            asked: sum(case["points"] for suite in test["suites"] for case in suite["cases"])
            for asked, test in read.metadata["otter"]["tests"].items()
        }


def otter_grades(graders: Graders, name: str, folder: Path) -> Grades:
    """Each submission by `otter run`; `otter assign` has run the solutions before."""
    master = write_master(lab_of(name), folder)
    dist = master.parent / "dist"
    graders.run(folder, "-m", "otter", "assign", "--no-pdfs", master, dist)
    (autograder,) = (dist / "autograder").glob("*.zip")
    found = {}
    for kind, there in hand_in(name, folder, dist / "student"):
        options = ("-a", autograder, "-o", there, "--no-logo")
        graders.run(there, "-m", "otter", "run", there / f"{name}.ipynb", *options)
        tests = json.loads((there / "results.json").read_text())["tests"]
        found[kind] = {test["name"]: test["score"] for test in tests if "score" in test}
    return found


def nbgrader_reads(graders: Graders, course: Path) -> Iterator[Points]:
    """Of each lab the cells of the gradebook with their points, once `generate_assignment` ran."""
    for name in NAMES:
        write_source(lab_of(name), course)
    graders.run(course, "-m", "nbgrader", "generate_assignment", "*")
    cells = json.loads(graders.run(course, "-c", FROM_GRADEBOOK, *NAMES))[0]
    for name in NAMES:
        yield {cell.removeprefix("points-"): points for cell, points in cells[name].items()}


def nbgrader_grades(graders: Graders, name: str, course: Path) -> Grades:
    """All submissions by `nbgrader autograde`. The sums are those of `nbgrader export`."""
    write_source(lab_of(name), course)
    graders.run(course, "-m", "nbgrader", "generate_assignment", name)
    students = dict(hand_in(name, course / "submitted", course / "release" / name))
    graders.run(course, "-m", "nbgrader", "autograde", name)
    graders.run(course, "-m", "nbgrader", "export", "--to", "grades.csv")
    scores = json.loads(graders.run(course, "-c", FROM_GRADEBOOK, name))[1]
    asked = [one.name for one in lab_of(name).all_of(Answered)]
    found = {kind: {one: scores[kind][f"points-{one}"] for one in asked} for kind in students}
    rows = csv.DictReader((course / "grades.csv").read_text().splitlines())
    sums = {row["student_id"]: float(row["score"]) for row in rows}
    assert sums == {kind: sum(points.values()) for kind, points in found.items()}
    return found


def holds_as_recorded(part: str, name: str, found: object, *, rewrite: bool) -> None:
    """Hold what was found in a lab to the record, or write that."""
    record = json.loads(RECORD.read_text())
    if rewrite:
        record[part] = dict(sorted({**record[part], name: found}.items()))
        RECORD.write_text(json.dumps(record, indent=1) + "\n")
    assert record[part][name] == found


pytestmark = pytest.mark.long(
    quick="tests/classroom/test_assignments.py::test_the_graders_gave_what_kiplab_check_gives"
)
GRADED = ("02-four-epochs", "04-kafka-14139")
"""Short labs: one whose answer is a run, one with a cell that needs Spark."""


@pytest.fixture(scope="module")
def graders(tmp_path_factory: pytest.TempPathFactory) -> Graders:
    return installed_graders(tmp_path_factory.mktemp("graders"))


def test_both_read_the_points_of_every_lab(graders: Graders, tmp_path: Path, rewrite: bool) -> None:
    (course := tmp_path / "course").mkdir()
    read = zip(NAMES, nbgrader_reads(graders, course), otter_reads(graders, tmp_path), strict=True)
    for name, by_nbgrader, by_otter in read:
        written = {f"written-{asked.name}": asked.points for asked in lab_of(name).all_of(Marked)}
        assert by_nbgrader == by_otter | written, name
        holds_as_recorded("points", name, by_otter, rewrite=rewrite)


@pytest.mark.parametrize("name", GRADED)
def test_both_grade_as_kiplab_does(
    graders: Graders, name: str, tmp_path: Path, rewrite: bool
) -> None:
    (course := tmp_path / "course").mkdir()
    ours = our_grades(name)
    assert otter_grades(graders, name, tmp_path) == ours
    assert nbgrader_grades(graders, name, course) == ours
    holds_as_recorded("grades", name, ours, rewrite=rewrite)
