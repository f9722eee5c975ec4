"""`kiplab class` and `kiplab grade`: what a class has predicted and tried, and its points."""

import argparse

from .common_options import (
    bad_input,
    complain,
    print_found,
    require_ending,
    require_folder,
    writing,
)

SUFFIXES = (".html", ".json", ".csv", ".txt")
GRADES = (".csv", ".html", ".json", ".txt")


def add_class_options(parser: argparse.ArgumentParser) -> None:
    """The options of `kiplab class`."""
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        help="where the students' kiplab-work.zip or .json are, renamed or in a folder each",
    )
    parser.add_argument("-o", "--out", help=f"a file instead: {' '.join(SUFFIXES)}")
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
    """Read the folder, name what can't be read, and show the rest."""
    from ..classroom.together.class_work import class_work
    from ..classroom.together.handed_in import ClassFolderError

    require_ending(options.out, SUFFIXES)
    with bad_input(ClassFolderError):
        work = class_work(options.folder, names=options.names, apart_from=options.out)
    for left in work.left_out:
        complain(f"not counted: {left.file}: {left.why}")
    if options.out is not None:
        with writing(options.out):
            work.write(options.out, theme=options.theme)
    return print_found(work, options)


def add_grade_options(parser: argparse.ArgumentParser) -> None:
    """The options of `kiplab grade`."""
    for name, metavar, default, help in (
        ("folder", "FOLDER", None, "what your students handed in, or Moodle or Canvas exported"),
        ("--out", "OUT", None, f"a file instead: {' '.join(GRADES)}"),
        ("--deadline", "DATE", "", "mark the attempts that came later"),
        ("--code", "CODE", "", "of the class, if its exercises vary: whose numbers are whose"),
        ("--theme", "NAME", "auto", "light or dark; else a page is its reader's"),
    ):
        names = ("-o", name) if name == "--out" else (name,)
        parser.add_argument(*names, metavar=metavar, default=default, help=help)
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

    require_ending(options.out, GRADES)
    require_folder(options.out)
    with bad_input(ValueError):
        page_theme(options.theme)
        chosen = {key: getattr(options, key) for key in ("code", "deadline", "seconds", "wide")}
        work = grade(options.folder, labs=options.lab or (), apart_from=options.out, **chosen)
    for left in work.left_out:
        complain(f"not graded: {left.file}: {left.why}")
    if options.out is not None:
        with writing(options.out):
            work.write(options.out, theme=options.theme)
    code = print_found(work, options)
    return complain("stopped", 130) if work.stopped else code
