"""A lab as a grader needs it: which cell asks what, the right answer and the points.

Answers are those of the instructor's notes, which the tests of kiplab run.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from ...machine import LackingError
from ..exercise_table import WRITTEN, UnfitError, WrittenQuestion, exercise

NotebookCell = dict[str, Any]
"""A cell of a notebook, as JSON."""
NEED_A_MACHINE = ("spark", "zookeeper")
"""The ids of cells that start a JVM: a grader passes them over."""
PASSED_OVER = {"tags": ["otter_ignore", "skip-execution"]}
"""What otter, and what nbgrader runs notebooks with, know for that."""
FOR_A_GRADE = """**For a grade.** What counts is the variable of each answer (`answer_...`), and \
the sentences under *Your answer*. A form helps you to find an answer: write it into the \
variable as well. The grader runs this notebook anew, and nobody presses a button then. So hand \
in a run as text or as its token, not as `lab`."""
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
        yield new_cell("markdown", "for-a-grade", FOR_A_GRADE), None
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
