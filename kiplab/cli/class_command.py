"""What a lecturer does with a class: count its work, grade it, and make labs for other graders."""

import argparse
import os
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from . import common_options as common
from .labs_launcher import LabsError, find_lab, shipped_labs


def run_class(options: argparse.Namespace) -> int:
    """Read the folder, name what can't be read, and show the rest; or print the class's file.

    Raises CommandError without a folder.
    """
    from ..classroom.together.class_work import class_work
    from ..classroom.together.handed_in import ClassFolderError

    if options.template:
        from ..classroom.class_file import TEMPLATE

        if options.json:
            return common.print_json({"template": TEMPLATE})
        print(TEMPLATE, end="")
        return common.DONE
    if options.folder is None:
        raise common.CommandError("name the folder of the class's work, or ask for --template")
    common.require_ending(options)
    with common.bad_input(ClassFolderError):
        work = class_work(options.folder, names=options.names, apart_from=options.out)
    for left in work.left_out:
        common.complain(f"not counted: {left.file}: {left.why}")
    return common.print_found(work, options)


def run_grade(options: argparse.Namespace) -> int:
    """Grade the folder, name what is nobody's, and show the rest."""
    from ..classroom.grading.grades import grade
    from ..pages.page_files import page_theme

    common.require_ending(options)
    common.require_folder(options.out)
    with common.bad_input(ValueError):
        page_theme(options.theme)
        chosen = {key: getattr(options, key) for key in ("of_class", "seconds", "wide")}
        work = grade(options.folder, labs=options.lab or (), apart_from=options.out, **chosen)
    for left in work.left_out:
        common.complain(f"not graded: {left.file}: {left.why}")
    code = common.print_found(work, options)
    return common.complain("stopped", 130) if work.stopped else code


def run_solutions(options: argparse.Namespace) -> int:
    """A right answer to every question, as the engine finds it for one student's numbers.

    Raises CommandError for a lab that there is none of, and where the exercises are sealed.
    """
    from ..classroom.exercise_table import EXERCISES, exercise, require_lab
    from ..classroom.sealed_texts import is_sealed
    from ..classroom.work_on_disk import seed_of

    if is_sealed():
        problem = "this kiplab is that of a class: right answers are in the instructor's kiplab"
        raise common.CommandError(problem)
    if options.lab is not None:
        with common.bad_input(ValueError):
            require_lab(options.lab)
    seed = seed_of(options.code, options.student)
    asked = [exercise(e.id, seed) for e in EXERCISES if options.lab in (None, e.lab)]
    if options.json:
        rows = [{"id": e.id, "varies": bool(e.drawn), "solution": e.solution} for e in asked]
        return common.print_json({"seed": seed, "solutions": rows})
    for entry in asked:
        own = "  (numbers of their own)" if entry.drawn else ""
        print(f"{entry.id}{own}\n    {entry.solution}")
    return common.DONE


def run_assignment(options: argparse.Namespace) -> int:
    """Write the notebook, and the editions if the grader is there.

    Raises LackingError where there are no notes, CommandError.
    """
    from ..classroom.assignments.graded_lab import Answered, read_lab, write_master, write_source
    from ..classroom.exercise_table import WrittenQuestion

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
    exercises, questions = lab.all_of(Answered), lab.all_of(WrittenQuestion)
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
