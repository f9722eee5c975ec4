"""The cells of a lab that are marked for a picture, a slide or a card, and what each shows.

The marks stand in the notebook: the tags `key-picture` and `cards`, and Jupyter's own `slideshow`.
Nobody answers here, so nothing is held back: a prediction is its question, a Lab the picture of its
whole run. Of the cells above only those lines are run that a cell needs.
"""

import ast
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import kiplab

from ...extras import MissingExtraError
from ...figures.drawing.svg import Json, json_of
from ...figures.drawing.theme import LARGE_FROM
from ...machine import LackingError
from ...runs import Run
from ..exercise_table import WRITTEN, exercise, what_if_id
from ..exercises.race import EVENTS, LETTERS
from ..forms.held_back import EXPLANATIONS

KEY_PICTURE, CARDS, SLIDE = "key-picture", "cards", "slide"
DISCUSS = "To discuss"
"""What the questions to discuss stand under."""
LEFT_OUT = (LackingError, MissingExtraError)
"""What a machine may lack: the rest is written all the same."""
_SHOWN = {"width": LARGE_FROM, "legend": False}
"""Of all widths the one with the largest letters on a wide screen."""


class LabCell(NamedTuple):
    """A cell; `heading` is the one it stands under, `slide` Jupyter's type of slide, or empty."""

    lab: str
    id: str
    heading: str
    source: str
    is_code: bool
    slide: str
    marks: frozenset[str]


Cells = tuple[LabCell, ...]
"""Those of a lab, in order."""


class LabPicture(NamedTuple):
    """Plotly's data and layout, and the runs that it is of: none for a chart."""

    runs: "tuple[LabRun, ...]"
    drawing: Json


class LabRun(Run):
    """A run whose pictures remember it."""

    def timeline(self, **options: Any) -> Any:
        """As of `Run`, for a slide: wide, and without the legend."""
        return LabPicture((self,), json_of(super().timeline(**options | _SHOWN)))


class _Kiplab:
    """What a lab calls `kiplab`."""

    def __getattr__(self, name: str) -> Any:
        return getattr(kiplab, name)

    def run(self, play: Any, **rules: Any) -> LabRun:
        return LabRun(kiplab.run(play, **rules).stage)

    def Lab(self, play: Any, **options: Any) -> Any:  # noqa: N802
        rules = {name: its for name, its in options.items() if name in ("kafka", "on", "off")}
        return self.run(play, **rules).timeline()

    def twin(self, *runs: LabRun, **options: Any) -> LabPicture:
        return LabPicture(runs, json_of(kiplab.twin(*runs, **options | _SHOWN)))

    def ladder(self, *runs: LabRun, **options: Any) -> LabPicture:
        return LabPicture(runs, json_of(kiplab.ladder(*runs, **options)))

    predict = staticmethod(exercise)

    def explain(self, id: str, part: str = "") -> str:
        return (EXPLANATIONS / f"{id}{'.' * bool(part)}{part}.md").read_text("utf-8").strip()

    def Ordering(self) -> dict[str, str]:  # noqa: N802
        return {letter: EVENTS[name][0] for letter, name in LETTERS.items()}

    def write(self, id: str) -> str:
        return WRITTEN[id].question


def _after(_id: object, *shown: Any) -> Any:
    """What a lab holds back: a picture, or lines that are shown as they are."""
    made = [each() if callable(each) else each for each in shown]
    lines = (line for text in made if isinstance(text, str) for line in text.splitlines())
    return "\n".join(f"    {line}" for line in lines) or made[0]


_STAND_INS = {
    "kiplab": _Kiplab(),
    "after": _after,
    "what_if": lambda letter: exercise(what_if_id(letter)),
}


def lab_cells(notebook: Path) -> Cells:
    """All cells of a lab."""
    cells, heading = list[LabCell](), ""
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source, about = "".join(cell["source"]), cell["metadata"]
        is_code = cell["cell_type"] == "code"
        if not is_code and source.startswith(("#", f"**{DISCUSS}")):
            heading = source.splitlines()[0].lstrip("# ") if source[0] == "#" else DISCUSS
        slide = about.get("slideshow", {}).get("slide_type", "")
        marks = frozenset([*about.get("tags", ()), *([SLIDE] if slide else [])])
        lab = notebook.name.partition("-")[0]
        cells.append(LabCell(lab, cell["id"], heading, source, is_code, slide, marks))
    return tuple(cells)


def marked(cells: Cells, mark: str, lacks: list[Exception]) -> Iterator[tuple[LabCell, Any]]:
    """Each marked cell, and its text or what it shows; what is missing for that joins `lacks`."""
    for cell in (cell for cell in cells if mark in cell.marks):
        try:
            shown = _shown(cell, cells) if cell.is_code else cell.source
        except LEFT_OUT as lack:
            lacks.append(lack)
        else:
            yield cell, shown


@cache
def _shown(cell: LabCell, cells: Cells) -> Any:
    """A LabPicture, an Exercise, Markdown, or Markdown by letter."""
    sources = [c.source for c in cells[: cells.index(cell) + 1] if c.is_code]
    *above, last = (line for source in sources for line in ast.parse(source).body)
    names: dict[str, Any] = {}
    for line in _needed(above, last):
        exec(compile(ast.Module([line], []), f"<{cell.id}>", "exec"), names)
        names |= {name: its for name, its in _STAND_INS.items() if name in names}
    value = eval(ast.unparse(last), names)
    return LabPicture((), json_of(value)) if hasattr(value, "to_plotly_json") else value


def _needed(above: list[ast.stmt], last: ast.stmt) -> list[ast.stmt]:
    """Of the lines above those that give values to the names in the last, and every import."""
    wanted, lines = _names(last, ast.expr_context), list[ast.stmt]()
    for line in reversed(above):
        stored, used = _names(line, ast.Store), _names(line, ast.expr_context)
        if isinstance(line, ast.Import | ast.ImportFrom) or stored & wanted:
            lines.insert(0, line)
            wanted = (wanted | used) - (stored if isinstance(line, ast.Assign) else set())
    return lines


def _names(line: ast.stmt, use: type[ast.expr_context]) -> set[str]:
    names = (node for node in ast.walk(line) if isinstance(node, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, use)}
