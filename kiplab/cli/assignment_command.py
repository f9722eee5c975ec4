"""`kiplab assignment`: a lab for otter-grader or for nbgrader."""

import argparse
import os
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from . import common_options as common
from .labs_launcher import LabsError, find_lab, shipped_labs


def add_assignment_options(parser: argparse.ArgumentParser) -> None:
    """The options of `kiplab assignment`."""
    parser.add_argument("grader", choices=("otter", "nbgrader"), help="for which of them")
    parser.add_argument("lab", metavar="LAB", help="04, kafka-14139, labs/04 or a notebook")
    out = "a folder for assignments; with nbgrader the folder of the course"
    parser.add_argument("-o", "--out", required=True, metavar="DIR", help=out)
    parser.epilog = (
        "Writes one notebook with the right answers of the instructor's notes, points, and hidden"
        " tests that call the same checks as the lab. Where the grader is installed beside kiplab,"
        " it makes the editions for students and for grading of it at once; elsewhere the command"
        " that does so is printed. All students have the same numbers in these editions. Exit"
        " codes: 0 done; 1 the grader did not accept the notebook; 2 no such lab, or a folder that"
        " cannot be written; 3 there are no instructor's notes here."
    )


def run_assignment(options: argparse.Namespace) -> int:
    """Write the notebook, and the editions if the grader is there.

    Raises LackingError where there are no notes, CommandError.
    """
    from ..classroom.assignments.graded_lab import Answered, Marked, read_lab
    from ..classroom.assignments.nbgrader_source import write_source
    from ..classroom.assignments.otter_master import write_master

    grader, folder = options.grader, Path(options.out).absolute()
    with common.bad_input(LabsError, ValueError):
        notebook = _notebook(options.lab)
        beside = notebook.parent / "instructor"
        lab = read_lab(notebook, beside if beside.is_dir() else shipped_labs() / "instructor")
    with common.writing(folder):
        written = (write_master if grader == "otter" else write_source)(lab, folder)
    command, editions = _way(grader, written, folder)
    if made := find_spec(grader) is not None:
        _make(command, folder)
    exercises, questions = lab.all_of(Answered), lab.all_of(Marked)
    if options.json:
        asked = [{"id": o.id, "variable": o.variable, "points": o.points} for o in exercises]
        report = {
            "grader": grader,
            "lab": lab.name,
            "notebook": str(written),
            "exercises": asked,
            "written": [{"name": one.name, "points": one.points} for one in questions],
            "editions": editions if made else None,
            "command": shlex.join(command),
        }
        return common.print_json(report)
    for all, called in ((exercises, "exercises"), (questions, "questions to mark")):
        print(f"{len(all)} {called}: {sum(one.points for one in all)} points")
    lacks = f"{grader} is not installed here; to make both editions: {shlex.join(command)}"
    more = [f"for {name}: {path}" for name, path in editions.items()] if made else [lacks]
    print("\n".join([str(written), *more]))
    return common.DONE


def _notebook(name: str) -> Path:
    """The notebook that a name means. Raises ValueError for none, LabsError without labs."""
    path = Path(name).absolute()
    if path.suffix == ".ipynb" and path.is_file():
        return path
    beside = path.name != name and any(path.parent.glob("*.ipynb"))
    folder = path.parent if beside else shipped_labs()
    labs = sorted(lab.name for lab in folder.glob("*.ipynb"))
    if (found := find_lab(path.name, labs)) is None:
        names = ", ".join(lab.removesuffix(".ipynb") for lab in labs)
        raise ValueError(f"there is no lab {name!r}; expected a notebook, or one of {names}")
    return folder / found


def _way(grader: str, written: Path, folder: Path) -> tuple[list[str], dict[str, str]]:
    """The command that makes both editions, and where these are then."""
    if grader == "otter":
        dist = written.parent / "dist"
        command = ["assign", "--no-pdfs", str(written), str(dist)]
        made = (dist / "student", dist / "autograder")
    else:
        command = ["generate_assignment", written.stem, "--force", f"--course-dir={folder}"]
        made = (folder / "release" / written.stem, written.parent)
    return [grader, *command], {"students": str(made[0]), "grading": str(made[1])}


def _make(command: list[str], folder: Path) -> None:
    """Let the grader make its editions. Raises CommandError, with the error that it names last."""
    common.complain(f"running {shlex.join(command)}")
    # nbgrader calls a program that is installed beside it.
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    run = [sys.executable, "-m", *command]
    environment = os.environ | {"PATH": path}
    done = subprocess.run(run, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        lines = ["it said nothing", *f"{done.stdout}\n{done.stderr}".strip().splitlines()]
        *_, last = [line for line in lines if "Error: " in line] or lines
        raise common.CommandError(f"{command[0]} made no editions: {last.strip()}", common.FAILED)
