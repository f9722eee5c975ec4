"""Exercise: lose an acknowledged record while every broker lives, in as few events as can be."""

from __future__ import annotations

from functools import cache

from ...explore.search.explore_play import explore_play
from ...explore.search.question import question_about
from ...explore.shrink.shortening import goal_of
from ...plays.library import load
from ...plays.runner import run_play
from ...plays.stage import Stage
from ...plays.verdict import HARM, LOSS, verdict
from .check_result import Checked
from .losing_schedule import PROPERTY, events
from .own_runs import own_run, token_of

BEGINS = "hole-never-level"
"""The play whose situation and rules the exercise begins with."""
POINTS = 3
WITHIN = {"writes": 1, "crashes": 0, "fences": 1}
"""Where the search looks for its own shortest way."""
_DIES = ("crash", "shut-down")


def check_nobody_dies(answer: object) -> Checked:
    """Judge a run of ``hole-never-level`` that loses a committed record under all rules of 3.5.

    A point for the loss, one if no broker crashes or is shut down, one if it has no more events
    than the way that the explorer found. `hold` is no event; an unclean election does not count.
    """
    stage = own_run(answer, BEGINS, POINTS, forbidden=("elect orders-0 unclean=yes",))
    if isinstance(stage, Checked):
        return stage
    if verdict(stage) != LOSS or goal_of(stage, PROPERTY).excused:
        return _kept(stage)
    died, count = _deaths(stage), events(stage)
    points = 1 + (not died) + (count <= least())
    return _judged(stage, points, *_told(died, count))


def least() -> int:
    """The events of the way that the explorer found, old metadata that it skips included."""
    return events(_found())


# --- what the explorer says ---------------------------------------------------------------------


@cache
def _found() -> Stage:
    question = question_about(load(BEGINS), property=PROPERTY, bounds=WITHIN, engine="step")
    play = explore_play(question).play
    assert play is not None, f"the search finds no way to lose a record in {BEGINS} any more"
    return run_play(play)


def _deaths(stage: Stage) -> int:
    done = (p.statement.verb for p in stage.performed if p.not_applicable is None)
    return sum(verb in _DIES for verb in done)


# --- wrong answers ------------------------------------------------------------------------------


def _told(died: int, count: int) -> tuple[str, str, str]:
    """(message, hint, idea)."""
    if died:
        message = f"Lost in {count} events, and for it {died} had to die. Nobody need."
        hint = "What does the controller act on: that a broker is dead, or that it is not heard?"
        return message, hint, "data is lost only where something breaks"
    if count > least():
        message = f"Lost in {count} events, and everybody lives. The search needs {least()}."
        return message, "One record is enough. Which of yours does nobody miss?", ""
    return f"Lost in {count} events. Every broker lives, every disk is whole.", "", ""


def _kept(stage: Stage) -> Checked:
    if verdict(stage) == HARM:
        message = "Nothing is lost yet, but a broker that lacks the record could be elected."
        return _judged(stage, 0, message, "Let it be elected: end the session of the leader.")
    message = "Nothing committed is lost."
    hint = (
        "The leader has to have asked for a second broker, when the metadata about the first one"
        " arrives. Hold both, the requests and the metadata."
    )
    return _judged(stage, 0, message, hint)


def _judged(
    stage: Stage, points: int, message: str, hint: str = "", misconception: str = ""
) -> Checked:
    return Checked(
        points=points,
        of=POINTS,
        message=message,
        hint=hint,
        misconception=misconception,
        token=token_of(stage),
    )
