"""`kiplab matrix` and `kiplab minimise`: every subset of some guards; the shortest play."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from .explore_command import add_question, question_of

if TYPE_CHECKING:
    from ..explore.shrink.minimise import Minimised
    from ..matrices import GuardMatrix
    from ..plays.play import Play
    from ..protocol.features import Features

    Chosen = Callable[[argparse.Namespace], tuple[Play, Features | None]]

DONE, BAD_INPUT, LACKING, UNFINISHED = 0, 2, 3, 4
SUFFIXES = (".html", ".svg", ".png", ".json", ".csv", ".txt")


def add_matrix_options(parser: argparse.ArgumentParser) -> None:
    """What `kiplab matrix` takes beside a play and features."""
    parser.add_argument("--guards", metavar="A,B,...", help="up to 6; by default 841,903 and more")
    add_question(parser)
    parser.add_argument("--seconds", type=float, metavar="S", help="stop each search after that")
    parser.add_argument("--memory", type=int, metavar="MB", help="stop at that in all; 2000 MB")
    parser.add_argument(
        "--as-built",
        action="store_true",
        help="Kafka as built: late metadata undoes a proposed ISR; by default as specified",
    )
    parser.add_argument("--spark", action="store_true", help="spread the cells over Spark")
    parser.add_argument("-o", "--out", help=f"a file as well: {' '.join(SUFFIXES)}")
    parser.add_argument("--theme", default="light", metavar="NAME", help="light or dark")
    parser.epilog = (
        "The rules are those of Kafka 3.5 unless --kafka names others. Exit codes: 0 the matrix is"
        " there, whatever it says; 2 bad input; 3 this machine lacks something; 4 a cell was not"
        " finished within its limits, or was interrupted. Ctrl-C keeps the cells that are done;"
        " pressed again it leaves at once."
    )


def add_minimise_options(parser: argparse.ArgumentParser) -> None:
    """What `kiplab minimise` takes beside a play and features."""
    parser.add_argument("--property", metavar="ID", help="what is to go on breaking")
    parser.add_argument("-o", "--out", metavar="FILE", help="write the play there as well")


def run_matrix(options: argparse.Namespace, chosen: Chosen) -> int:
    """Search every cell and print what they say."""
    from ..explore.levels.level_table import ExploreError
    from ..machine import LackingError

    if options.out is not None and Path(options.out).suffix not in SUFFIXES:
        ending = Path(options.out).suffix or "nothing"
        return _complain(
            f"{options.out} ends in {ending}; it can end in {', '.join(SUFFIXES)}", BAD_INPUT
        )
    try:
        # What cannot be written is said before the searches, not after them.
        refused = _refused(options, lambda: _check(options))
        if refused:
            return refused
        found = _searched(options, chosen)
        refused = _refused(options, lambda: _write(found, options))
    except ExploreError as problem:
        return _complain(str(problem), BAD_INPUT)
    except LackingError as problem:
        return _complain(str(problem), LACKING)
    if refused:
        return refused
    _print_matrix(found, options)
    return UNFINISHED if any(c.verdict == "unfinished" for c in found.cells) else DONE


def _check(options: argparse.Namespace) -> None:
    from ..figures.drawing.theme import theme_of
    from ..matrices import check_target

    if options.out is None:
        theme_of(options.theme)
    else:
        check_target(options.out, options.theme)


def _write(found: GuardMatrix, options: argparse.Namespace) -> None:
    if options.out is not None:
        found.write(options.out, theme=options.theme)


def _refused(options: argparse.Namespace, deed: Callable[[], object]) -> int:
    """The exit code, and a sentence, if the file cannot be written."""
    from ..pages.export import ExportError

    try:
        deed()
    except ExportError as problem:
        return _complain(str(problem), LACKING)
    except ValueError as problem:
        return _complain(str(problem), BAD_INPUT)
    except OSError as problem:
        return _complain(f"{options.out} cannot be written: {problem.strerror}", BAD_INPUT)
    return DONE


def _searched(options: argparse.Namespace, chosen: Chosen) -> GuardMatrix:
    from ..explore.matrix.guard_matrix import DEFAULT_GUARDS, DEFAULT_KAFKA, matrix_of
    from ..matrices import GuardMatrix

    guards = DEFAULT_GUARDS
    if options.guards is not None:
        guards = tuple(name.strip() for name in options.guards.split(",") if name.strip())
    if options.kafka is None:
        options.kafka = DEFAULT_KAFKA
    return GuardMatrix(
        matrix_of(
            question_of(options, chosen),
            guards,
            as_specified=not options.as_built,
            spark=options.spark,
            progress=_tell,
            say=_say,
        )
    )


def _print_matrix(found: GuardMatrix, options: argparse.Namespace) -> None:
    if options.json:
        print(msgspec.json.encode(found.report()).decode())
        return
    if options.out is not None:
        print(f"{options.out}: {found.sentence}")
        return
    print(found.text(), end="")


def run_minimise(options: argparse.Namespace, chosen: Chosen) -> int:
    """Find the shortest play and print it."""
    from ..explore.levels.level_table import ExploreError
    from ..explore.shrink.minimise import minimise
    from ..plays.runner import run_play

    try:
        found = minimise(run_play(*chosen(options)), options.property)
        if options.out is not None:
            Path(options.out).write_text(found.text, encoding="utf-8")
    except ExploreError as problem:
        return _complain(str(problem), BAD_INPUT)
    except OSError as problem:
        return _complain(f"{options.out} cannot be written: {problem.strerror}", BAD_INPUT)
    _print_minimised(found, options.json)
    return DONE


def _print_minimised(found: Minimised, as_json: bool) -> None:
    if as_json:
        print(msgspec.json.encode(found.report()).decode())
        return
    _say(found.sentence)
    print(found.text, end="")


def _tell(done: int, of: int) -> None:
    if done == of or done % 8 == 0:
        _say(f"{done} of {of} cells")


def _complain(sentence: str, code: int) -> int:
    _say(sentence)
    return code


def _say(sentence: str) -> None:
    print(f"kiplab: {sentence}", file=sys.stderr)
