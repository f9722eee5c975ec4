"""CONTRIBUTING.md, "Add a lab": what a new notebook lacks is told, each by a test of its own."""

import shutil
from pathlib import Path

import pytest

from tests.recipes.copies import Copied, copy

pytestmark = pytest.mark.long(
    quick="tests/recipes/test_add_a_play.py::test_what_a_play_lacks_is_told"
)
MODEL, LAST = "09-could-it-still-go-wrong", "13-your-own-incident"
NAME = "14-made-up"
TELLING = (
    "test_there_are_notes_on_every_lab_and_on_a_class_and_on_nothing_else",
    f"test_every_question_is_in_the_table_of_what_is_asked[{NAME}]",
    f"test_its_last_cells_show_the_work_and_where_to_go_on[{LAST}]",
    "test_the_index_names_every_lab",
    f"test_it_is_walked_in_a_browser[{NAME}]",
    f"test_the_readme_says_what_one_can_do_afterwards[{NAME}]",
)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the tests of the labs say of a notebook that is there, and of which nothing knows."""
    made: Copied = copy(tmp_path_factory.mktemp("copy"))
    labs: Path = made.path / "labs"
    shutil.copy(labs / f"{MODEL}.ipynb", labs / f"{NAME}.ipynb")
    ran = made.test("tests/labs", "-k", " or ".join(test.split("[")[0] for test in TELLING))
    assert not ran.passed
    return ran.text


@pytest.mark.parametrize("test", TELLING)
def test_what_a_new_lab_lacks_is_told(told: str, test: str) -> None:
    (line,) = {line for line in told.splitlines() if line.startswith("FAILED") and test in line}
    assert NAME in line
