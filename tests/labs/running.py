"""A lab in a kernel of its own, from its first cell to its last."""

import ast
import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec
import nbformat
from IPython.core.formatters import DisplayFormatter
from nbclient import NotebookClient

import kiplab
from kiplab.classroom.exercise_table import EXERCISES, LETTERS, what_if_id
from kiplab.classroom.forms.held_back import EXPLANATIONS
from kiplab.pages.saved_notebooks import lighten
from kiplab.plays.grammar import parse
from tests.classroom.answers import ANSWERS

ROOT = Path(__file__).resolve().parents[2]
LABS = ROOT / "labs"
SHUT = "This opens "
"""How what is held back begins: "This opens with the right answer, above, or ..."""
NAMES = tuple(sorted(path.stem for path in LABS.glob("*.ipynb")))
JAVA = ("spark", "zookeeper")
"""Cells that need a JVM, and have tests of their own."""
SECONDS = 180
BYTES_MAX = 620_000
"""Of a lab with all its outputs, figures written one number a line, as Jupyter does."""
SAVED_MAX = 225_000
"""Of a lab that `kiplab lab` has saved, its figures still."""
PLOTLY = "application/vnd.plotly.v1+json"
BEGIN = """%reset -f
import os, kiplab
os.chdir({folder!r})
def remembered(work):
    results = {{}}
    def once(*args, **options):
        key = repr((args, options))
        if key not in results:
            results[key] = work(*args, **options)
        return results[key]
    return once
kiplab.explore, kiplab.matrix = map(remembered, (kiplab.explore, kiplab.matrix))
kiplab.fleet.estimate = remembered(kiplab.fleet.estimate)
%reset -f"""
"""How a lab begins in a kernel that others have used: what it searches and estimates is kept."""
Outputs = dict[str, list[Any]]


class LabAnswers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is locked in and held back in one lab, as labs.toml describes it."""

    predicted: str
    ticket: str
    outcome: str
    given_away: tuple[str, ...]


LAB_ANSWERS = msgspec.toml.decode(
    Path(__file__).with_name("labs.toml").read_bytes(), type=dict[str, LabAnswers]
)
BETWEEN = {asked.id: asked.comes_true for asked in EXERCISES if not asked.check}
"""What is locked in between the two, by the ids of the predictions: what comes true."""


def prediction(name: str) -> tuple[str, str]:
    """Id and choice of what is locked in before the Lab."""
    first, *_ = (e for e in EXERCISES if e.lab == name[:2] and not e.check)
    return first.id, first.choices[LETTERS.index(LAB_ANSWERS[name].predicted)]


def ticket(name: str) -> tuple[str, str]:
    """Id and choice of what is locked in for the exit ticket."""
    *_, last = (e for e in EXERCISES if e.lab == name[:2] and not e.check)
    return last.id, last.choices[LETTERS.index(LAB_ANSWERS[name].ticket)]


def cells(name: str, kind: str) -> dict[str, str]:
    """The sources of a lab's cells of one kind, by id."""
    notebook = nbformat.read(LABS / f"{name}.ipynb", as_version=4)
    return {cell.id: cell.source for cell in notebook.cells if cell.cell_type == kind}


def explained(name: str) -> dict[str, str]:
    """The texts that open with an answer, by the id of the cell that shows them."""
    calls = {
        id: re.fullmatch(r'kiplab\.explain\("([^"]+)"(?:, "([^"]+)")?\)', source)
        for id, source in cells(name, "code").items()
    }
    return {
        id: (EXPLANATIONS / f"{'.'.join(filter(None, call.groups()))}.md").read_text("utf-8")
        for id, call in calls.items()
        if call is not None
    }


def texts(name: str) -> dict[str, str]:
    """All that a lab says by itself and after an answer, in order, by the ids of its cells."""
    notebook = nbformat.read(LABS / f"{name}.ipynb", as_version=4)
    later = explained(name)
    return {
        cell.id: later.get(cell.id, cell.source)
        for cell in notebook.cells
        if cell.cell_type == "markdown" or cell.id in later
    }


def prose(name: str) -> str:
    """Everything that a lab says."""
    return "\n".join(texts(name).values())


def said_below_the_question(name: str) -> str:
    """What anybody reads in the notebook itself from the first question on, choices aside."""
    notebook = nbformat.read(LABS / f"{name}.ipynb", as_version=4)
    ids = [cell.id for cell in notebook.cells]
    below = notebook.cells[ids.index("lock") + 1 :]
    return "\n".join(cell.source for cell in below if "kiplab.predict(" not in cell.source)


def exercises(name: str) -> list[str]:
    """The ids of the cells with an exercise, in order."""
    return [id for id, source in cells(name, "code").items() if "kiplab.check(" in source]


def asked(name: str) -> list[str]:
    """The ids that a lab's answers are kept under."""
    return [a.id for a in EXERCISES if a.lab == name[:2]]


def predictions_asked(name: str) -> list[str]:
    """The ids of the predictions that a lab asks for, in order; what-ifs are asked by letters."""
    calls = re.findall(r'\b(predict|what_if)\("([^"]+)"', "\n".join(cells(name, "code").values()))
    return [what_if_id(asked) if function == "what_if" else asked for function, asked in calls]


def checks_asked(name: str) -> list[str]:
    """The ids of the exercises that a lab asks for, in order."""
    return re.findall(r'\bkiplab\.check\("([^"]+)"', "\n".join(cells(name, "code").values()))


def answered(source: str) -> str:
    """A cell with the right answer of its exercise in place of its question marks."""
    ids = re.findall(r'\bkiplab\.check\("([^"]+)"', source)
    right = repr(ANSWERS[ids[0]].right) if ids else ""
    return re.sub(r'\["\?.*\]|"\?+"', lambda _: right, source, count=1) if ids else source


def steps_in(story: str) -> dict[int, str]:
    """The transcript by its step: the line, and what happened then."""
    parts = re.split(r"^ {0,2}(\d+)  ", story, flags=re.MULTILINE)
    texts: dict[int, str] = {}
    for step, text in zip(parts[1::2], parts[2::2], strict=True):
        texts[int(step)] = texts.get(int(step), "") + text
    return texts


def notebook_of(name: str, only: tuple[str, ...] = (), left_out: tuple[str, ...] = JAVA) -> Any:
    """A lab's notebook, or some of its cells."""
    notebook = nbformat.read(LABS / f"{name}.ipynb", as_version=4)
    notebook.cells = [
        cell for cell in notebook.cells if (not only or cell.id in only) and cell.id not in left_out
    ]
    return notebook


def client_in(folder: Path) -> NotebookClient:
    """What runs notebooks, in a kernel of its own that begins in this folder."""
    resources = {"metadata": {"path": str(folder)}}
    return NotebookClient(
        nbformat.v4.new_notebook(), timeout=SECONDS, resources=resources, store_widget_state=False
    )


def executed(client: NotebookClient, notebook: Any, **options: bool) -> list[list[Any]]:
    """Run every cell; the outputs of each code cell when it had just run.

    A cell may fill itself in later: that is in the notebook. Fails at the first cell that raises.
    """
    at_once: list[list[Any]] = []
    client.nb = notebook
    client.on_cell_executed = lambda cell, **_: at_once.append(deepcopy(cell.outputs))
    client.execute(**options)
    return at_once


def run_twice(
    client: NotebookClient, name: str, folder: Path, predictions: dict[str, str]
) -> tuple[Outputs, Outputs]:
    """A lab unanswered, and answered rightly: the outputs of its cells, by id.

    In between these predictions are locked in. Nothing may be kept before. What was searched or
    estimated the first time is not worked out again.
    """
    first, second = notebook_of(name), notebook_of(name)
    for cell in second.cells:
        cell.source = answered(cell.source)
    work = json.dumps({"predictions": predictions})
    between = (
        "from pathlib import Path\nassert [*Path().iterdir()] == [], 'something was kept'\n"
        f"_ = Path('kiplab-work.json').write_text({work!r})"
    )
    hidden = map(nbformat.v4.new_code_cell, (BEGIN.format(folder=str(folder)), between))
    both = nbformat.v4.new_notebook(metadata=first.metadata)
    both.cells = deepcopy([next(hidden), *first.cells, next(hidden), *second.cells])
    for number, cell in enumerate(both.cells):
        cell.id = f"cell-{number}"
    _, *at_once = executed(client, both, cleanup_kc=False)
    second.cells = [
        {**cell, "outputs": ran.get("outputs", [])} if cell.cell_type == "code" else cell
        for cell, ran in zip(second.cells, both.cells[-len(second.cells) :], strict=True)
    ]
    written = nbformat.writes(nbformat.from_dict(second))
    assert len(written) < BYTES_MAX
    assert len(as_saved(written)) < SAVED_MAX
    ids = [cell.id for cell in first.cells if cell.cell_type == "code"]
    return (
        dict(zip(ids, at_once[: len(ids)], strict=True)),
        dict(zip(ids, at_once[-len(ids) :], strict=True)),
    )


def run_lab(name: str, folder: Path, *, only: tuple[str, ...]) -> Outputs:
    """The outputs of some cells in a kernel, by the cell's id, when they have run."""
    notebook = notebook_of(name, only, left_out=())
    executed(client_in(folder), notebook)
    return {cell.id: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}


def shown(name: str, *ids: str, solved: bool = False) -> dict[str, dict[str, Any]]:
    """What some cells of a lab show, by their ids and by mime type: run here, without a kernel.

    A cell shows the value of its last line; what it prints is not in it.
    """
    code, names = cells(name, "code"), dict[str, Any]()
    bundles = {}
    for id in ids:
        *before, last = ast.parse(answered(code[id]) if solved else code[id]).body
        value: Any = None
        exec(compile(ast.Module(before, []), f"<{id}>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"<{id}>", "eval"), names)
        else:
            exec(compile(ast.Module([last], []), f"<{id}>", "exec"), names)
        value = getattr(value, "shown", value)
        # A panel displays itself, in a notebook; here that is printed.
        bundle = getattr(value, "_repr_mimebundle_", None)
        panel = bundle if hasattr(value, "_ipython_display_") else None
        bundles[id] = panel() if panel else DisplayFormatter().format(value)[0]
    return bundles


def exit_run(name: str, until: str) -> kiplab.Run:
    """The run of the exit ticket, as its cell writes the play before these words."""
    names: dict[str, str] = {}
    exec(cells(name, "code")["exit-compare"].partition(until)[0], names)
    return kiplab.run(parse(names["play"].replace(";", "\n") + "\n"))


def as_saved(written: str) -> bytes:
    """What `kiplab lab` makes of a notebook that is saved."""
    model = {"type": "notebook", "content": json.loads(written)}
    lighten(model)
    return json.dumps(model["content"], indent=1, ensure_ascii=False).encode()


def text_of(outputs: list[Any]) -> str:
    """Everything a cell shows as plain text."""
    return "\n".join(o.get("text") or o["data"].get("text/plain", "") for o in outputs)
