"""The notes for teachers: each answer is worth what they say, each command and token runs."""

import ast
import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

import kiplab
from kiplab.classroom.exercise_table import EXERCISES, WRITTEN
from kiplab.classroom.exercises.check_result import Checked
from kiplab.cli.command import main
from kiplab.cli.labs_launcher import copy_labs
from kiplab.plays.library import is_token
from kiplab.site.page_wheels import WHEEL_NAME
from tests.labs.running import LABS, NAMES, ROOT, prose

NOTES = LABS / "instructor"
SECTIONS = (
    "## Timing",
    "## Predictions",
    "## Expected wrong answers",
    "## Solutions",
    "## Two prompts to discuss",
    "## If Binder is down",
)


BREAKS = "# exit code 1: a promise breaks"
"""Behind a command that ends so, and should."""


class Said(NamedTuple):
    """One answer in a note: its code, what it earns, the idea behind it."""

    code: str
    points: str
    idea: str


@pytest.fixture(autouse=True)
def work_file(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trying the answers is nobody's work; a teacher reads all that a third attempt is told."""
    file = tmp_path_factory.mktemp("work") / "kiplab-work.json"
    two = [{"answer": answer, "points": 0} for answer in ("one", "another")]
    tried = {"attempts": 2, "best": 0, "of": 99, "tries": two}
    file.write_text(json.dumps({"exercises": {a.id: tried for a in EXERCISES if a.check}}))
    monkeypatch.setenv("KIPLAB_WORK", str(file))


def note(name: str) -> str:
    """The notes on a lab."""
    file = NOTES / f"{name}.md"
    assert file.is_file(), f"lab {name} has no notes: write labs/instructor/{name}.md"
    return file.read_text(encoding="utf-8")


def answers(name: str) -> list[Said]:
    """Every answer in the notes on a lab: a call below a comment with what it earns."""
    found = []
    for block in re.findall(r"^```python\n(.*?)^```", note(name), re.MULTILINE | re.DOTALL):
        for part in re.split(r"^# ", block, flags=re.MULTILINE)[1:]:
            said, _, code = part.partition("\n")
            points, _, idea = said.partition(" ")
            found.append(Said(code, points, idea))
    return found


def judged(code: str) -> Checked:
    """What the last line of some code answers."""
    *before, last = ast.parse(code).body
    assert isinstance(last, ast.Expr)
    names: dict[str, object] = {"kiplab": kiplab}
    exec(compile(ast.Module(before, []), "<note>", "exec"), names)
    found = eval(compile(ast.Expression(last.value), "<note>", "eval"), names)
    assert isinstance(found, Checked)
    return found


def commands(name: str) -> list[str]:
    """Every command in the notes on a lab."""
    return re.findall(r"^kiplab (.*)$", note(name), re.MULTILINE)


def test_there_are_notes_on_every_lab_and_on_a_class_and_on_nothing_else() -> None:
    """README is the lecturer's route."""
    noted = {path.stem for path in NOTES.iterdir()} - {"README", "class"}
    said = [f"lab {n} has no notes: write labs/instructor/{n}.md" for n in {*NAMES} - noted]
    said += [f"there is no lab {n}: take labs/instructor/{n}.md away" for n in noted - {*NAMES}]
    assert not said, "\n".join(sorted(said))


@pytest.mark.parametrize("name", NAMES)
def test_they_have_every_section(name: str) -> None:
    places = [note(name).find(section) for section in SECTIONS]
    missing = [section for section in SECTIONS if section not in note(name)]
    assert not missing, f"labs/instructor/{name}.md lacks {', '.join(missing)}"
    assert places == sorted(places)


@pytest.mark.parametrize("name", NAMES)
def test_the_timing_adds_up_to_what_the_lab_says(name: str) -> None:
    (whole,) = re.findall(r"## Timing: (\d+) minutes", note(name))
    parts = re.findall(r"^\| (\d+) \|", note(name), re.MULTILINE)
    assert sum(map(int, parts)) == int(whole)
    assert f"*About {whole} minutes" in prose(name)


@pytest.mark.parametrize("name", NAMES)
def test_every_answer_earns_what_they_say(name: str) -> None:
    assert answers(name)
    for said in answers(name):
        found = judged(said.code)
        assert f"{found.points}/{found.of}" == said.points, said.code
        assert found.misconception == said.idea, said.code
        assert bool(found.hint) != found.right, said.code


@pytest.mark.parametrize("name", NAMES)
def test_every_exercise_has_a_solution_and_a_wrong_answer(name: str) -> None:
    for asked in EXERCISES:
        if asked.lab == name[:2] and asked.check:
            points = [
                a.points.split("/") for a in answers(name) if f'.check("{asked.id}"' in a.code
            ]
            assert [p for p in points if p[0] == p[1]], asked.id
            assert [p for p in points if p[0] != p[1]] or asked.id in UNTEMPTING, asked.id


UNTEMPTING = ("isr/lose-acknowledged",)
"""Found or not found: no wrong answer to it is typical."""


@pytest.mark.parametrize("name", NAMES)
def test_the_predictions_that_come_true_are_choices_of_the_lab(name: str) -> None:
    choices = {exercise.id: exercise.choices for exercise in EXERCISES}
    rows = re.findall(r"^\| ([a-z0-9-]+/[a-z-]+) \| (.*) \|$", note(name), re.MULTILINE)
    assert {id for id, _ in rows} == {a.id for a in EXERCISES if a.lab == name[:2] and not a.check}
    assert [choice for id, choice in rows if choice not in choices[id]] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_command_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in commands(name):
        if command.startswith(("timeline ", "play ")):
            said, broken = shlex.split(command, comments=True), BREAKS in command
            assert main(said) == int(broken), (command, capsys.readouterr().err)
    written = [c.split(" -o ")[1].split()[0] for c in commands(name) if " -o " in c]
    assert written
    assert [file for file in written if not (tmp_path / file).exists()] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_token_is_a_run_of_one_of_its_plays(name: str) -> None:
    tokens = set(re.findall(r"kiplab1:[\w-]+", note(name)))
    assert tokens
    assert [token for token in tokens if not (is_token(token) and kiplab.run(token).events)] == []


LIGHT_INSTALL = (
    "On any machine with Python 3.11, without Spark, git or make: open a terminal in the folder"
    f' that `kiplab handout` wrote, and run `pip install "./{WHEEL_NAME}[lab]"` and `kiplab lab`.'
)


@pytest.mark.parametrize("name", NAMES)
def test_a_class_without_a_link_gets_the_light_install(name: str) -> None:
    lines = note(name).partition("## If Binder is down\n")[2].splitlines()
    assert lines[1] == LIGHT_INSTALL
    assert "make lab" not in note(name)


def test_students_do_not_get_them(tmp_path: Path) -> None:
    copy_labs(LABS, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        ".kiplab",
        "fidelity.md",
        "ledger.md",
        "plays.md",
        *(f"{name}.ipynb" for name in NAMES),
    }
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert "labs/*.ipynb" in wheel["targets"]["wheel"]["include"]


@pytest.mark.parametrize("name", NAMES)
def test_rubrics_are_those_that_kiplab_grade_shows(name: str) -> None:
    noted = re.findall(r"^- `([\w-]+/[\w-]+)`: (.*)$", note(name), re.MULTILINE)
    own = [(asked.id, asked.rubric) for asked in WRITTEN.values() if asked.lab == name[:2]]
    assert [(id, text) for id, text in noted if id in WRITTEN] == own
    assert all(rubric.count("(1)") == WRITTEN[id].points for id, rubric in own)
