"""A lab for otter-grader and for nbgrader: the notebooks of which each makes a student's edition.

A question is the lab's own cell, with the right answer below the one to replace. Its tests ask for
the same points as `kiplab.check`. For otter: a public test whether there is an answer, and a hidden
one for each point. For nbgrader: the cell after it says whether there is an answer; what is hidden
in it is a number, the points, which nbgrader reads as partial credit.
"""

from collections.abc import Iterator
from pathlib import Path

from ... import __version__
from ..exercise_table import WrittenQuestion
from .graded_lab import Answered, GradedLab, NotebookCell, new_cell

_OTTER = """# ASSIGNMENT CONFIG
name: {lab.name}
requirements:
  - kiplab[lab]=={version}
run_tests: true
export_cell:
  pdf: false
files: [{files}]"""
_PROMPTED = '''""" # BEGIN PROMPT
{asked.prompt}
""" # END PROMPT
# BEGIN SOLUTION NO PROMPT
{asked.solution}
# END SOLUTION
{asked.rest}'''
_CASE = '''""" # BEGIN TEST CONFIG
points: {worth}
hidden: {hidden}
""" # END TEST CONFIG
import kiplab.classroom
assert {asked.judged} >= {least}'''


def write_master(lab: GradedLab, folder: Path) -> Path:
    """Write the master notebook, and the pages that it links to, below a folder; returns it."""
    return lab.write(folder / lab.name, _master_cells(lab))


def _master_cells(lab: GradedLab) -> Iterator[NotebookCell]:
    files = ", ".join(page.name for page in lab.pages)
    config = _OTTER.format(lab=lab, version=__version__, files=files)
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
        test = _CASE.format(asked=asked, least=least, worth=worth, hidden=hidden)
        tests.append(new_cell("code", f"{id}-test-{least}", test))
    answer = cell | {"source": _PROMPTED.format(asked=asked).splitlines(keepends=True)}
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

CONFIG = '''"""How nbgrader makes and runs labs of kiplab."""

c = get_config()
# What a student finds in place of a right answer: the line above has a ? for each part.
c.ClearSolutions.code_stub = {"python": "# Replace each ? above."}
c.ClearSolutions.text_stub = "Write two or three sentences here."
# Seconds for a cell: a search may take longer than the 30 of nbgrader.
c.Execute.timeout = 180
'''
_ANSWER = """{asked.prompt}
### BEGIN SOLUTION
{asked.solution}
### END SOLUTION
{asked.rest}"""
_TEST = """# {asked.points} points. Without an error the check understands the answer.
import kiplab.classroom
assert {asked.judged} >= 0
### BEGIN HIDDEN TESTS
{asked.judged}
### END HIDDEN TESTS"""
_WORDS = """**Your answer:** {asked.question}

### BEGIN SOLUTION
{asked.rubric}
### END SOLUTION"""


def write_source(lab: GradedLab, folder: Path) -> Path:
    """Write the source notebook into a course's folder, and its pages; returns the notebook.

    A course without a configuration gets one; one that is there stays as it is.
    """
    source = lab.write(folder / "source" / lab.name, _source_cells(lab))
    if not (config := folder / "nbgrader_config.py").exists():
        config.write_text(CONFIG, encoding="utf-8")
    return source


def _source_cells(lab: GradedLab) -> Iterator[NotebookCell]:
    for cell, asked in lab.cells():
        id = cell["id"]
        if isinstance(asked, Answered):
            mark = _mark("code", f"answer-{asked.name}", solution=True)
            lines = _ANSWER.format(asked=asked).splitlines(keepends=True)
            yield cell | {"metadata": cell["metadata"] | mark, "source": lines}
            mark = _mark("code", f"points-{asked.name}", asked.points, locked=True)
            yield new_cell("code", f"{id}-points", _TEST.format(asked=asked), **mark)
        else:
            yield cell
        if isinstance(asked, WrittenQuestion):
            mark = _mark("markdown", f"written-{asked.name}", asked.points, solution=True)
            yield new_cell("markdown", f"{id}-words", _WORDS.format(asked=asked), **mark)


def _mark(
    kind: str, name: str, points: int | None = None, *, solution: bool = False, locked: bool = False
) -> dict[str, dict[str, object]]:
    """What nbgrader reads of a cell, in the third version of its schema."""
    graded = {"grade": points is not None} | ({} if points is None else {"points": points})
    what = {"solution": solution, "locked": locked, "task": False} | graded
    return {"nbgrader": {"schema_version": 3, "cell_type": kind, "grade_id": name} | what}
