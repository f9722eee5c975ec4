"""The source notebook of a lab, of which `nbgrader generate_assignment` makes a student's edition.

An answer is the lab's own cell, with the right answer below the one to replace. The cell after it
says whether there is an answer; what is hidden in it is a number, the points of `kiplab.check`,
which nbgrader reads as partial credit.
"""

from collections.abc import Iterator
from pathlib import Path

from .graded_lab import Answered, GradedLab, Marked, NotebookCell, new_cell

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
    source = lab.write(folder / "source" / lab.name, _cells(lab))
    if not (config := folder / "nbgrader_config.py").exists():
        config.write_text(CONFIG, encoding="utf-8")
    return source


def _cells(lab: GradedLab) -> Iterator[NotebookCell]:
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
        if isinstance(asked, Marked):
            mark = _mark("markdown", f"written-{asked.name}", asked.points, solution=True)
            yield new_cell("markdown", f"{id}-words", _WORDS.format(asked=asked), **mark)


def _mark(
    kind: str, name: str, points: int | None = None, *, solution: bool = False, locked: bool = False
) -> dict[str, dict[str, object]]:
    """What nbgrader reads of a cell, in the third version of its schema."""
    graded = {"grade": points is not None} | ({} if points is None else {"points": points})
    what = {"solution": solution, "locked": locked, "task": False} | graded
    return {"nbgrader": {"schema_version": 3, "cell_type": kind, "grade_id": name} | what}
