"""`kiplab class` and `kiplab grade`: what a class has predicted and tried, and its points."""

import argparse

from . import common_options as common

SUFFIXES = (".html", ".json", ".csv", ".txt")
GRADES = (".csv", ".html", ".json", ".txt")


def add_class_options(parser: argparse.ArgumentParser) -> None:
    """The options of `kiplab class`."""
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        nargs="?",
        help="where the students' kiplab-work.zip or .json are, renamed or in a folder each",
    )
    parser.add_argument("-o", "--out", help=f"a file instead: {' '.join(SUFFIXES)}")
    parser.add_argument("--template", action="store_true", help="print a class.toml to edit")
    parser.add_argument("--names", action="store_true", help="show who answered what")
    parser.add_argument(
        "--theme", default="auto", metavar="NAME", help="light or dark; else a page is its reader's"
    )
    parser.epilog = (
        "A page (.html) is meant for the projector, before the discussion: which choice comes true,"
        " and the ideas behind wrong answers, open at a click. Without --names nothing that is"
        " printed or written says who is who; files that can't be read are named on stderr, and the"
        " rest is counted. Exit codes: 0 done, even if some was left out; 2 no such folder, no work"
        " in it, or a file that cannot be written."
    )


def run_class(options: argparse.Namespace) -> int:
    """Read the folder, name what can't be read, and show the rest; or print the class's file."""
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
    common.require_ending(options.out, SUFFIXES)
    with common.bad_input(ClassFolderError):
        work = class_work(options.folder, names=options.names, apart_from=options.out)
    for left in work.left_out:
        common.complain(f"not counted: {left.file}: {left.why}")
    if options.out is not None:
        with common.writing(options.out):
            work.write(options.out, theme=options.theme)
    return common.print_found(work, options)


def add_grade_options(parser: argparse.ArgumentParser) -> None:
    """The options of `kiplab grade`."""
    for name, metavar, default, help in (
        ("folder", "FOLDER", None, "what your students handed in, or Moodle or Canvas exported"),
        ("--out", "OUT", None, f"a file instead: {' '.join(GRADES)}"),
        ("--theme", "NAME", "auto", "light or dark; else a page is its reader's"),
    ):
        names = ("-o", name) if name == "--out" else (name,)
        parser.add_argument(*names, metavar=metavar, default=default, help=help)
    parser.add_argument(
        "--class",
        dest="of_class",
        metavar="FILE",
        help="the class.toml, by path or URL: labs that count, deadlines, whose numbers are whose",
    )
    parser.add_argument("--lab", metavar="NN", action="append", help="a lab that counts, else all")
    parser.add_argument("--wide", action="store_true", help="a .csv with one row a student")
    parser.add_argument("--seconds", type=int, default=60, help="of CPU for each (default 60)")
    parser.epilog = (
        "Every answer is judged again: points in a file are not believed. A notebook without a work"
        " file, and a play, run in a process of their own, with limits of time and memory and"
        " without a network. What cannot be read is a row with its status. Exit codes: 0 done; 2 no"
        " such folder, nothing in it, or a file that cannot be written; 130 stopped by Ctrl-C: what"
        " was graded so far is there."
    )


def run_grade(options: argparse.Namespace) -> int:
    """Grade the folder, name what is nobody's, and show the rest."""
    from ..classroom.grading.grades import grade
    from ..pages.page_files import page_theme

    common.require_ending(options.out, GRADES)
    common.require_folder(options.out)
    with common.bad_input(ValueError):
        page_theme(options.theme)
        chosen = {key: getattr(options, key) for key in ("of_class", "seconds", "wide")}
        work = grade(options.folder, labs=options.lab or (), apart_from=options.out, **chosen)
    for left in work.left_out:
        common.complain(f"not graded: {left.file}: {left.why}")
    if options.out is not None:
        with common.writing(options.out):
            work.write(options.out, theme=options.theme)
    code = common.print_found(work, options)
    return common.complain("stopped", 130) if work.stopped else code


def add_solutions_options(parser: argparse.ArgumentParser) -> None:
    """The options of `kiplab solutions`."""
    parser.add_argument("code", metavar="CODE", help="the class code, as in KIPLAB_CLASS")
    parser.add_argument("student", metavar="NAME", help="the name that the student gave, or ''")
    parser.add_argument("lab", metavar="LAB", nargs="?", help="one lab only, as in 04")
    parser.epilog = (
        "For instructors: a right answer to each exercise, with the numbers of one student. The"
        " kiplab that `kiplab handout` makes for students refuses it."
    )


def run_solutions(options: argparse.Namespace) -> int:
    """A right answer to every question, as the engine finds it for one student's numbers."""
    from ..classroom.exercise_table import EXERCISES, exercise
    from ..classroom.sealed_texts import is_sealed
    from ..classroom.work_on_disk import seed_of

    if is_sealed():
        problem = "this kiplab is that of a class: right answers are in the instructor's kiplab"
        raise common.CommandError(problem)
    seed = seed_of(options.code, options.student)
    asked = [exercise(e.id, seed) for e in EXERCISES if options.lab in (None, e.lab)]
    if not asked:
        labs = ", ".join(dict.fromkeys(e.lab for e in EXERCISES))
        raise common.CommandError(f"there is no lab {options.lab!r}; there are {labs}")
    if options.json:
        rows = [{"id": e.id, "varies": bool(e.drawn), "solution": e.solution} for e in asked]
        return common.print_json({"seed": seed, "solutions": rows})
    for entry in asked:
        own = "  (numbers of their own)" if entry.drawn else ""
        print(f"{entry.id}{own}\n    {entry.solution}")
    return common.DONE
