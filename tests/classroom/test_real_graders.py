"""The real otter-grader and nbgrader accept every lab, and grade as `kiplab.check` does.

The environment is made with what the registry gives that pip is set to.
"""

from pathlib import Path

import pytest

from kiplab.classroom.exercise_table import WrittenQuestion as Marked
from tests.classroom import real_graders
from tests.classroom.real_graders import Graders, holds_as_recorded, lab_of, our_grades
from tests.labs.running import NAMES

pytestmark = pytest.mark.long(
    quick="tests/classroom/test_assignments.py::test_the_graders_gave_what_kiplab_check_gives"
)
GRADED = ("02-four-epochs", "04-kafka-14139")
"""Short labs: one whose answer is a run, one with a cell that needs Spark."""


@pytest.fixture(scope="module")
def graders(tmp_path_factory: pytest.TempPathFactory) -> Graders:
    return real_graders.installed_graders(tmp_path_factory.mktemp("graders"))


@pytest.mark.parametrize("name", NAMES)
def test_both_read_the_points_of_every_lab(
    graders: Graders, name: str, tmp_path: Path, rewrite: bool
) -> None:
    (course := tmp_path / "course").mkdir()
    by_nbgrader = real_graders.nbgrader_reads(graders, name, course)
    by_otter = real_graders.otter_reads(graders, name, tmp_path)
    written = {f"written-{marked.name}": marked.points for marked in lab_of(name).all_of(Marked)}
    assert by_nbgrader == by_otter | written
    holds_as_recorded("points", name, by_otter, rewrite=rewrite)


@pytest.mark.parametrize("name", GRADED)
def test_both_grade_as_kiplab_does(
    graders: Graders, name: str, tmp_path: Path, rewrite: bool
) -> None:
    (course := tmp_path / "course").mkdir()
    ours = our_grades(name)
    assert real_graders.otter_grades(graders, name, tmp_path) == ours
    assert real_graders.nbgrader_grades(graders, name, course) == ours
    holds_as_recorded("grades", name, ours, rewrite=rewrite)
