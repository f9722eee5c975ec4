"""`kiplab explore`: a search from the command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from .explore.explored import Explored
    from .explore.limits import Told
    from .plays.play import Play
    from .protocol.features import Features

    Chosen = Callable[[argparse.Namespace], tuple[Play, Features | None]]

PROVED, REFUTED, BAD_INPUT, UNFINISHED = 0, 1, 2, 4


def add_options(parser: argparse.ArgumentParser) -> None:
    """What `kiplab explore` takes beside a play and features."""
    add_question(parser)
    parser.add_argument("--seconds", type=float, metavar="S", help="stop after that long")
    parser.add_argument("--memory", type=int, metavar="MB", help="stop at that size; 2000 MB")
    parser.epilog = (
        "Exit codes: 0 proved for these bounds; 1 refuted, with a shortest play; 4 not finished"
        " within the limits; 2 bad input."
    )


def add_question(parser: argparse.ArgumentParser) -> None:
    """What is asked, and within which bounds."""
    parser.add_argument("--level", default="partition", help="partition (by default) or cluster")
    parser.add_argument(
        "--bound",
        action="append",
        default=[],
        metavar="NAME=N",
        help="how often something may happen: writes=1, crashes=1, fences=0 ...",
    )
    parser.add_argument("--property", metavar="ID", help="what to ask for; by default, data loss")


def run(options: argparse.Namespace, chosen: Chosen) -> int:
    """Search, print the verdict, and say by the exit code what it was.

    `chosen` reads the play and the features that the common options name.
    """
    from .explore.levels import ExploreError

    try:
        found = _searched(options, chosen)
    except ExploreError as problem:
        _say(str(problem))
        return BAD_INPUT
    _print(found, options.json)
    return {"proved": PROVED, "refuted": REFUTED}.get(found.verdict, UNFINISHED)


def _searched(options: argparse.Namespace, chosen: Chosen) -> Explored:
    from .explore.front import explore_play
    from .explore.limits import MEMORY_MB

    bounds = dict(bound_of(text) for text in options.bound)
    play, features = chosen(options)
    return explore_play(
        play,
        features,
        level=options.level,
        property=options.property,
        bounds=bounds,
        seconds=options.seconds,
        memory_mb=options.memory or MEMORY_MB,
        progress=_tell,
        say=_say,
    )


def bound_of(text: str) -> tuple[str, int]:
    """``writes=2`` taken apart; raises ExploreError for what is no bound."""
    from .explore.levels import ExploreError

    name, equals, number = text.partition("=")
    if not name or not equals or not number.isdecimal() or not number.isascii():
        raise ExploreError(f"{text!r} is no bound; expected NAME=N, as in writes=2")
    return name, int(number)


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


def _tell(now: Told) -> None:
    print(
        f"kiplab: {now.states:,} states, {now.frontier:,} to look at, {now.depth} steps deep,"
        f" {now.rate:,.0f} transitions/s",
        file=sys.stderr,
    )
