"""`kiplab explore`, `matrix`, `minimise`: a search, every subset of guards, the shortest play."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from . import common_options as common

if TYPE_CHECKING:
    from ..explore.search.explored import Explored
    from ..explore.search.question import Question
    from ..matrices import GuardMatrix


def _question_of(options: argparse.Namespace) -> Question:
    """The question of the options. Raises ExploreError for what in them cannot be."""
    from ..explore.search.limits import MEMORY_MB
    from ..explore.search.question import question_about

    bounds = bounds_of(options.bound)
    return question_about(
        *common.chosen_by(options),
        level=options.level,
        property=options.property,
        bounds=bounds,
        seconds=options.seconds,
        memory_mb=MEMORY_MB if options.memory is None else options.memory,
    )


def bounds_of(texts: Iterable[str]) -> dict[str, int]:
    """``writes=2 crashes=1`` taken apart. Raises ExploreError for what is no bound, for a number
    that no level has room for, and for a bound that is given twice."""
    from ..explore.levels.level_table import BOUND_MAX, ExploreError, brief

    bounds: dict[str, int] = {}
    for text in texts:
        name, equals, number = text.partition("=")
        if not name or not equals or not number.isdecimal() or not number.isascii():
            raise ExploreError(f"{brief(text)!r} is no bound; expected NAME=N, as in writes=2")
        if name in bounds:
            raise ExploreError(
                f"bound {name} is given twice, as {bounds[name]} and as {brief(number)}; give it"
                " once"
            )
        if len(number.lstrip("0")) > len(str(BOUND_MAX)):
            raise ExploreError(f"bound {name} is {brief(number)}; expected 0 to {BOUND_MAX}")
        bounds[name] = int(number)
    return bounds


def run_explore(options: argparse.Namespace) -> int:
    """Search, print the verdict, and say by the exit code what it was."""
    from ..explore.levels.level_table import ExploreError
    from ..explore.search.explore_play import explore_play
    from ..explore.search.limits import interruptible

    with common.bad_input(ExploreError), interruptible() as stop:
        explored = explore_play(
            _question_of(options),
            progress=lambda now: common.complain(now.sentence),
            cancel=stop,
            say=common.complain,
        )
    if options.json:
        common.print_json(explored.report())
    else:
        _print_explored(explored)
    codes = {"proved": common.DONE, "refuted": common.FAILED}
    return codes.get(explored.verdict, common.UNFINISHED)


def _print_explored(explored: Explored) -> None:
    print(explored.sentence)
    numbers = f"{explored.states:,} states, {explored.transitions:,} transitions"
    print(f"{numbers}, {explored.seconds:.2f} seconds")
    if explored.vacuity.sentence:
        print(f"what this says nothing about: {explored.vacuity.sentence}")
    if explored.play is not None:
        print(f"\n{explored.text()}", end="")


def run_matrix(options: argparse.Namespace) -> int:
    """Search every cell and print the verdicts."""
    from ..explore.levels.level_table import ExploreError
    from ..figures.drawing.theme import theme_of
    from ..matrices import check_target

    common.require_ending(options)
    # What cannot be written is said before the searches, not after them.
    with common.writing(options.out):
        if options.out is None:
            theme_of(options.theme)
        else:
            check_target(options.out, options.theme)
    with common.bad_input(ExploreError):
        matrix = _searched(options)
    common.print_found(matrix, options)
    unfinished = any(cell.verdict == "unfinished" for cell in matrix.cells)
    return common.UNFINISHED if unfinished else common.DONE


def _searched(options: argparse.Namespace) -> GuardMatrix:
    from ..explore.matrix.guard_matrix import DEFAULT_GUARDS, DEFAULT_KAFKA, matrix_of
    from ..matrices import for_authors

    guards = DEFAULT_GUARDS
    if options.guards is not None:
        guards = tuple(name.strip() for name in options.guards.split(",") if name.strip())
    if options.kafka is None:
        options.kafka = DEFAULT_KAFKA
    return for_authors(
        matrix_of(
            _question_of(options),
            guards,
            as_specified=not options.as_built,
            spark=options.spark,
            progress=_tell_cells,
            say=common.complain,
        )
    )


def _tell_cells(done: int, of: int) -> None:
    if done == of or done % 8 == 0:
        common.complain(f"{done} of {of} cells")


def run_minimise(options: argparse.Namespace) -> int:
    """Find the shortest play and print it."""
    from ..explore.levels.level_table import ExploreError
    from ..explore.shrink.minimise import minimise
    from ..plays.runner import run_play

    with common.bad_input(ExploreError):
        shortest = minimise(run_play(*common.chosen_by(options)), options.property)
    if options.out is not None:
        with common.writing(options.out):
            Path(options.out).write_text(shortest.text(), encoding="utf-8")
    if options.json:
        return common.print_json(shortest.report())
    common.complain(shortest.sentence)
    print(shortest.text(), end="")
    return common.DONE
