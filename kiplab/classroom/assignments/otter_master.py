"""The master notebook of a lab, of which `otter assign` makes a student's and a grader's edition.

A question is the lab's own cell, with the right answer below the one to replace. Its tests ask for
the same points as `kiplab.check`: the public one whether there is an answer, and a hidden one for
each point.
"""

from collections.abc import Iterator
from pathlib import Path

from ... import __version__
from .graded_lab import Answered, GradedLab, Marked, NotebookCell, new_cell

_CONFIG = """# ASSIGNMENT CONFIG
name: {lab.name}
requirements:
  - kiplab[lab]=={version}
run_tests: true
export_cell:
  pdf: false
files: [{files}]"""
_ANSWER = '''""" # BEGIN PROMPT
{asked.prompt}
""" # END PROMPT
# BEGIN SOLUTION NO PROMPT
{asked.solution}
# END SOLUTION
{asked.rest}'''
_TEST = '''""" # BEGIN TEST CONFIG
points: {worth}
hidden: {hidden}
""" # END TEST CONFIG
import kiplab.classroom
assert {asked.judged} >= {least}'''


def write_master(lab: GradedLab, folder: Path) -> Path:
    """Write the master notebook, and the pages that it links to, below a folder; returns it."""
    return lab.write(folder / lab.name, _cells(lab))


def _cells(lab: GradedLab) -> Iterator[NotebookCell]:
    files = ", ".join(page.name for page in lab.pages)
    config = _CONFIG.format(lab=lab, version=__version__, files=files)
    yield new_cell("raw", "assignment-config", config)
    for cell, asked in lab.cells():
        if isinstance(asked, Answered):
            yield from _question(cell, asked)
        else:
            yield cell
        if isinstance(asked, Marked):
            yield from _written(cell["id"], asked)


def _question(cell: NotebookCell, asked: Answered) -> Iterator[NotebookCell]:
    id, tests = cell["id"], []
    for least in range(asked.points + 1):
        worth, hidden = (1, "true") if least else (0, "false")
        test = _TEST.format(asked=asked, least=least, worth=worth, hidden=hidden)
        tests.append(new_cell("code", f"{id}-test-{least}", test))
    answer = cell | {"source": _ANSWER.format(asked=asked).splitlines(keepends=True)}
    parts = [*_block(id, "SOLUTION", [answer]), *_block(id, "TESTS", tests)]
    yield from _block(id, "QUESTION", parts, f"\nname: {asked.name}\npoints: {asked.points}")


def _written(id: str, asked: Marked) -> Iterator[NotebookCell]:
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
