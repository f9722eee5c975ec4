"""`kiplab class`: what the students of a class have predicted and tried, in one place."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .common_options import BAD_INPUT, DONE, complain, print_json

if TYPE_CHECKING:
    from ..classroom.together.class_work import ClassWork

SUFFIXES = (".html", ".json", ".csv", ".txt")


def add_class_options(parser: argparse.ArgumentParser) -> None:
    """What `kiplab class` takes."""
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
        " rest is counted. Exit codes: 0 done, whatever was left out; 2 no such folder, no work in"
        " it, or a file that cannot be written."
    )


def run_class(options: argparse.Namespace) -> int:
    """Read the folder, name what can't be read, and show the rest."""
    from ..classroom.together.class_work import class_work
    from ..classroom.together.handed_in import ClassFolderError

    if options.out is not None and Path(options.out).suffix.lower() not in SUFFIXES:
        ending = Path(options.out).suffix or "nothing"
        return complain(
            f"{options.out} ends in {ending}; it can end in {', '.join(SUFFIXES)}", BAD_INPUT
        )
    try:
        found = class_work(options.folder, names=options.names, apart_from=options.out)
    except ClassFolderError as problem:
        return complain(str(problem), BAD_INPUT)
    for left in found.left_out:
        complain(f"not counted: {left.file}: {left.why}", DONE)
    return _shown(found, options)


def _shown(found: ClassWork, options: argparse.Namespace) -> int:
    if options.out is not None:
        try:
            found.write(options.out, theme=options.theme)
        except ValueError as problem:
            return complain(str(problem), BAD_INPUT)
        except OSError as problem:
            return complain(f"{options.out} cannot be written: {problem.strerror}", BAD_INPUT)
    if options.json:
        return print_json(found.report())
    if options.out is not None:
        print(f"{options.out}: {found.sentence}")
    else:
        sys.stdout.write(found.text())
    return DONE
