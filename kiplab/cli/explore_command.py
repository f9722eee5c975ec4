"""`kiplab explore`: a search from the command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from ..explore.search.explored import Explored
    from ..explore.search.limits import TimedProgress
    from ..explore.search.question import Question
    from ..plays.play import Play
    from ..protocol.features import Features

    Chosen = Callable[[argparse.Namespace], tuple[Play, Features | None]]

PROVED, REFUTED, BAD_INPUT, UNFINISHED = 0, 1, 2, 4


def add_options(parser: argparse.ArgumentParser) -> None:
    """What `kiplab explore` takes beside a play and features."""
    add_question(parser)
    parser.add_argument("--seconds", type=float, metavar="S", help="stop after that long")
    parser.add_argument("--memory", type=int, metavar="MB", help="stop at that size; 2000 MB")
    parser.epilog = (
        "Exit codes: 0 proved for these bounds; 1 refuted, with a shortest play; 4 not finished"
        " within the limits, or interrupted; 2 bad input. Ctrl-C ends the search and shows what was"
        " found; pressed again it leaves at once."
    )


def add_question(parser: argparse.ArgumentParser) -> None:
    """What is asked, and within which bounds."""
    parser.add_argument(
        "--level",
        default="partition",
        help="partition (by default), cluster, recovery or zookeeper",
    )
    parser.add_argument(
        "--bound",
        action="append",
        default=[],
        metavar="NAME=N",
        help="how often something may happen: writes=1, crashes=1, fences=0 ...; each level has its"
        " own, and a wrong name lists them",
    )
    parser.add_argument(
        "--property",
        metavar="ID",
        help="what is to hold; by default what the level asks: that no data are lost or, at level"
        " zookeeper, that nothing stays wrong when all has arrived",
    )


def run(options: argparse.Namespace, chosen: Chosen) -> int:
    """Search, print the verdict, and say by the exit code what it was.

    `chosen` reads the play and the features that the common options name.
    """
    from ..explore.levels.level_table import ExploreError

    try:
        found = _searched(options, chosen)
    except ExploreError as problem:
        _say(str(problem))
        return BAD_INPUT
    _print(found, options.json)
    return {"proved": PROVED, "refuted": REFUTED}.get(found.verdict, UNFINISHED)


def _searched(options: argparse.Namespace, chosen: Chosen) -> Explored:
    from ..explore.search.explore_play import explore_play
    from ..explore.search.limits import interruptible

    question = question_of(options, chosen)
    with interruptible() as stop:
        return explore_play(question, progress=_tell, cancel=stop, say=_say)


def question_of(options: argparse.Namespace, chosen: Chosen) -> Question:
    """What the options ask, of the play and under the rules that `chosen` reads.

    Raises ExploreError for a level, property, bound or limit that cannot be, and whatever `chosen`
    raises.
    """
    from ..explore.search.limits import MEMORY_MB
    from ..explore.search.question import question_about

    bounds = bounds_of(options.bound)
    return question_about(
        *chosen(options),
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


def _print(found: Explored, as_json: bool) -> None:
    if as_json:
        print(msgspec.json.encode(found.report()).decode())
        return
    print(found.sentence)
    facts: dict[str, Any] = {
        "states": f"{found.states:,}",
        "transitions": f"{found.transitions:,}",
        "seconds": f"{found.seconds:.2f}",
    }
    print(", ".join(f"{value} {name}" for name, value in facts.items()))
    if found.vacuity.sentence:
        print(f"what this says nothing about: {found.vacuity.sentence}")
    if found.text is not None:
        print(f"\n{found.text}", end="")


def _say(sentence: str) -> None:
    print(f"kiplab: {sentence}", file=sys.stderr)


def _tell(now: TimedProgress) -> None:
    _say(now.sentence)
