"""A lab as a grader needs it: which cell asks what, the right answer and the points; and the
notebooks of which otter-grader and nbgrader make a student's edition.

Answers are those of the instructor's notes, which the tests of kiplab run. A question is the lab's
own cell, with the right answer below the one to replace. Its tests ask for the same points as
`kiplab.check`. For otter: a public test whether there is an answer, and a hidden one for each
point. For nbgrader: the cell after it says whether there is an answer; what is hidden in it is a
number, the points, which nbgrader reads as partial credit.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from ... import __version__
from ...machine import LackingError
from ..exercise_table import WRITTEN, UnfitError, WrittenQuestion, exercise

NotebookCell = dict[str, Any]
"""A cell of a notebook, as JSON."""
NEED_A_MACHINE = ("spark", "zookeeper")
"""The ids of cells that start a JVM: a grader passes them over."""
PASSED_OVER = {"tags": ["otter_ignore", "skip-execution"]}
"""What otter, and what nbgrader runs notebooks with, know for that."""
TEXTS: dict[str, str] = tomllib.loads((files(__package__) / "graded_lab.toml").read_text("utf-8"))
"""What a grader's edition says beside the lab, by name."""
_SOLUTION = re.compile(
    r'^# (\d+)/\1\n((?:(?!# ).*\n)*?)kiplab\.check\("(.+?)", (.+)\)$', re.MULTILINE
)


class Answered(msgspec.Struct, frozen=True):
    """An exercise: its id and points, the variable of its answer, the lines that set it rightly.

    `prompt` is the line of the cell that has the answer to replace, `rest` what is below.
    """

    id: str
    points: int
    variable: str
    solution: str
    prompt: str
    rest: str

    @property
    def name(self) -> str:
        """What a grader calls it."""
        return self.id.partition("/")[2]

    @property
    def judged(self) -> str:
        """The points of the answer, as Python."""
        return f'kiplab.classroom.points("{self.id}", {self.variable})'


class GradedLab(msgspec.Struct, frozen=True):
    """A notebook, what each of its cells asks, by the cell's id, and the pages that it links to."""

    name: str
    notebook: dict[str, Any]
    questions: dict[str, Answered | WrittenQuestion]
    pages: tuple[Path, ...]

    def all_of(self, kind: type) -> list[Any]:
        """What is Answered, or what is a WrittenQuestion, in order."""
        return [one for one in self.questions.values() if isinstance(one, kind)]

    def cells(self) -> Iterator[tuple[NotebookCell, Answered | WrittenQuestion | None]]:
        """Each cell with what it asks. The second one says what counts."""
        first, *others = self.notebook["cells"]
        yield first, None
        yield new_cell("markdown", "for-a-grade", TEXTS["for_a_grade"]), None
        for cell in others:
            passed = PASSED_OVER if cell["id"] in NEED_A_MACHINE else {}
            yield cell | {"metadata": cell["metadata"] | passed}, self.questions.get(cell["id"])

    def write(self, folder: Path, cells: Iterable[NotebookCell]) -> Path:
        """Write the notebook with these cells, and its pages, into a folder; returns its path."""
        folder.mkdir(parents=True, exist_ok=True)
        for page in self.pages:
            (folder / page.name).write_bytes(page.read_bytes())
        made = json.dumps(self.notebook | {"cells": [*cells]}, indent=1, ensure_ascii=False)
        (notebook := folder / f"{self.name}.ipynb").write_text(f"{made}\n", encoding="utf-8")
        return notebook


def points(id: str, answer: object) -> int:
    """The points of an answer, with the numbers of the text; nothing is kept, on disk or elsewhere.

    Raises UnfitError, a ValueError, whose sentence says why a value is no answer; ExerciseIdError
    for the id of no exercise.
    """
    checked = exercise(id).judge(answer)
    if not checked.attempted:
        raise UnfitError(checked.message)
    return checked.points


def new_cell(kind: str, id: str, source: str, **metadata: Any) -> NotebookCell:
    """A cell that has not run: ``"code"``, ``"markdown"`` or ``"raw"``."""
    lines = source.splitlines(keepends=True)
    made = {"cell_type": kind, "id": id, "metadata": metadata, "source": lines}
    return made | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def read_lab(lab: Path, notes: Path) -> GradedLab:
    """The lab of a notebook, with the answers of the notes in a folder.

    Raises LackingError where there are no notes, ValueError for what is no notebook, asks nothing,
    or asks what the notes have no answer to.
    """
    texts = [file.read_text(encoding="utf-8") for file in sorted(notes.glob("*.md"))]
    if not texts:
        lack = f"there are no instructor's notes in {notes}, which have the right answers;"
        raise LackingError(lack, "run this in a checkout of kiplab")
    try:
        notebook = json.loads(lab.read_text(encoding="utf-8"))
        sources = {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{lab} is no notebook of format 4.5, whose cells have ids") from None
    asked = dict(_asked(sources, "\n".join(texts)))
    if not asked:
        raise ValueError(f"{lab} asks nothing: expected a cell with kiplab.check(id, variable)")
    pages = dict.fromkeys(re.findall(r"\]\((\w+\.md)", "\n".join(sources.values())))
    there = (lab.parent / page for page in pages)
    return GradedLab(lab.stem, notebook, asked, tuple(page for page in there if page.is_file()))


def _asked(sources: dict[str, str], notes: str) -> Iterator[tuple[str, Answered | WrittenQuestion]]:
    # Of several solutions the first.
    found = reversed(_SOLUTION.findall(notes))
    solutions = {id: (before, answer) for _, before, id, answer in found}
    for cell, source in sources.items():
        prompt, _, rest = source.partition("\n")
        for id, variable in re.findall(r'kiplab\.check\("(.+?)", (\w+)\)', source):
            if id not in solutions:
                raise ValueError(f"the instructor's notes have no solution of {id}; add it there")
            before, answer = solutions[id]
            solution = f"{before}{variable} = {answer}"
            yield cell, Answered(id, exercise(id).points, variable, solution, prompt, rest)
        for id in re.findall(r'^kiplab\.write\("(.+?)"\)', source):
            yield cell, WRITTEN[id]


# --- otter-grader ---------------------------------------------------------------------------------


def write_master(lab: GradedLab, folder: Path) -> Path:
    """Write the master notebook, and the pages that it links to, below a folder; returns it."""
    return lab.write(folder / lab.name, _master_cells(lab))


def _master_cells(lab: GradedLab) -> Iterator[NotebookCell]:
    pages = ", ".join(page.name for page in lab.pages)
    config = TEXTS["otter_config"].format(lab=lab, version=__version__, files=pages)
    yield new_cell("raw", "assignment-config", config)
    for cell, asked in lab.cells():
        if isinstance(asked, Answered):
            yield from _question(cell, asked)
        else:
            yield cell
        if isinstance(asked, WrittenQuestion):
            yield from _written(cell["id"], asked)


def _question(cell: NotebookCell, asked: Answered) -> Iterator[NotebookCell]:
    id, tests = cell["id"], []
    for least in range(asked.points + 1):
        worth, hidden = (1, "true") if least else (0, "false")
        test = TEXTS["otter_test"].format(asked=asked, least=least, worth=worth, hidden=hidden)
        tests.append(new_cell("code", f"{id}-test-{least}", test))
    answer = cell | {"source": TEXTS["otter_answer"].format(asked=asked).splitlines(keepends=True)}
    parts = [*_block(id, "SOLUTION", [answer]), *_block(id, "TESTS", tests)]
    yield from _block(id, "QUESTION", parts, f"\nname: {asked.name}\npoints: {asked.points}")


def _written(id: str, asked: WrittenQuestion) -> Iterator[NotebookCell]:
    words = new_cell("markdown", f"{id}-words", f"**Your answer:** {asked.question}")
    rubric = new_cell("markdown", f"{id}-rubric", asked.rubric)
    config = f"\nname: {asked.name}\nmanual: true\npoints: {asked.points}"
    yield from _block(id, "QUESTION", [words, *_block(id, "SOLUTION", [rubric])], config)


def _block(
    id: str, what: str, cells: list[NotebookCell], config: str = ""
) -> Iterator[NotebookCell]:
    """Cells between those that say to otter what they are."""
    yield new_cell("raw", f"{id}-{what.lower()}", f"# BEGIN {what}{config}")
    yield from cells
    yield new_cell("raw", f"{id}-{what.lower()}-end", f"# END {what}")


# --- nbgrader -------------------------------------------------------------------------------------


def write_source(lab: GradedLab, folder: Path) -> Path:
    """Write the source notebook into a course's folder, and its pages; returns the notebook.

    A course without a configuration gets one; one that is there stays as it is.
    """
    source = lab.write(folder / "source" / lab.name, _source_cells(lab))
    if not (config := folder / "nbgrader_config.py").exists():
        config.write_text(TEXTS["nbgrader_config"], encoding="utf-8")
    return source


def _source_cells(lab: GradedLab) -> Iterator[NotebookCell]:
    for cell, asked in lab.cells():
        id = cell["id"]
        if isinstance(asked, Answered):
            mark = _mark("code", f"answer-{asked.name}", solution=True)
            lines = TEXTS["nbgrader_answer"].format(asked=asked).splitlines(keepends=True)
            yield cell | {"metadata": cell["metadata"] | mark, "source": lines}
            mark = _mark("code", f"points-{asked.name}", asked.points, locked=True)
            test = TEXTS["nbgrader_test"].format(asked=asked)
            yield new_cell("code", f"{id}-points", test, **mark)
        else:
            yield cell
        if isinstance(asked, WrittenQuestion):
            mark = _mark("markdown", f"written-{asked.name}", asked.points, solution=True)
            words = TEXTS["nbgrader_words"].format(asked=asked)
            yield new_cell("markdown", f"{id}-words", words, **mark)


def _mark(
    kind: str, name: str, points: int | None = None, *, solution: bool = False, locked: bool = False
) -> dict[str, dict[str, object]]:
    """What nbgrader reads of a cell, in the third version of its schema."""
    graded = {"grade": points is not None} | ({} if points is None else {"points": points})
    what = {"solution": solution, "locked": locked, "task": False} | graded
    return {"nbgrader": {"schema_version": 3, "cell_type": kind, "grade_id": name} | what}
