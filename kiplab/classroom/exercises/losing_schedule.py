"""Exercise: lose committed records in as few events as the explorer needs."""

from __future__ import annotations

from functools import cache

from ...explore.search.explore_play import explore_play
from ...explore.search.explored import Explored
from ...explore.search.question import question_about
from ...explore.shrink.shortening import goal_of
from ...plays.grammar import VERBS
from ...plays.library import load
from ...plays.stage import Stage
from ...plays.verdict import LOSS, refused, verdict
from .check_result import Checked
from .own_runs import own_run, token_of

PLAY, PROPERTY = "kafka-14139", "no-committed-record-lost"
BOUNDS = {"writes": 0, "crashes": 1, "fences": 1}
NEAR = 2
"""So many events longer than the shortest is still short."""
_NO_EVENT = ("hold",)
"""Lines that only say what is slow."""


def check_shorter(answer: object) -> Checked:
    """Judge a run of ``kafka-14139`` on Kafka 3.4 that loses committed records.

    A point for the loss, one if it has at most NEAR events more than the explorer's shortest, one
    if it has no more. `hold` is no event. An unclean election does not count.
    """
    stage = own_run(answer, PLAY, 3, forbidden=("elect orders-0 unclean=yes",))
    if isinstance(stage, Checked):
        return stage
    if verdict(stage) != LOSS:
        return _kept(stage)
    if goal_of(stage, PROPERTY).excused:
        return _excused(stage)
    count, least = events(stage), shortest()
    if count <= least:
        message = f"Lost in {count} events. The explorer's own way has {least}."
        return _judged(stage, 3, message)
    if count <= least + NEAR:
        message = f"Lost in {count} events. There is a way in {least}."
        hint = "kiplab.minimise(...) leaves out what is not needed. What did it leave out, and why?"
        return _judged(stage, 2, message, hint)
    message = f"Lost in {count} events. There is a way in {least}."
    hint = "The records are lost as soon as somebody leads without them. What happens after that?"
    idea = "records are lost when the last copy is thrown away"
    return _judged(stage, 1, message, hint, idea)


def events(stage: Stage) -> int:
    """How many lines of a run did something."""
    return sum(
        p.statement.verb not in _NO_EVENT and not VERBS[p.statement.verb].header
        for p in stage.performed
        if p.not_applicable is None and p.statement.verb != "expect"
    )


def shortest() -> int:
    """The events of the explorer's shortest way, without metadata that flows by itself in a play"""
    return sum(action.kind != "view" for action in explored().path)


@cache
def explored() -> Explored:
    """The explorer's own answer: the shortest way to a loss that no fault excuses."""
    play = load(PLAY)
    return explore_play(question_about(play, property=PROPERTY, bounds=BOUNDS, engine="step"))


# --- wrong answers ------------------------------------------------------------------------------


def _judged(
    stage: Stage, points: int, message: str, hint: str = "", misconception: str = ""
) -> Checked:
    return Checked(
        points=points,
        of=3,
        message=message,
        hint=hint,
        misconception=misconception,
        token=token_of(stage),
    )


def _kept(stage: Stage) -> Checked:
    errors = ", ".join(dict.fromkeys(str(r["error"]) for r in refused(stage)))
    if errors:
        message = f"Nothing committed is lost: a request is refused, {errors}."
        hint = "Which rule refused it, and what would have to be true when the request arrives?"
        idea = "a late request is dangerous while the broker it names is fenced"
        return _judged(stage, 0, message, hint, idea)
    message = "Nothing committed is lost."
    hint = "Somebody has to lead without the records. Who may be elected, and how does it get in?"
    return _judged(stage, 0, message, hint)


def _excused(stage: Stage) -> Checked:
    message = "Lost, but with the disk of the last member of the ISR: no rule promises otherwise."
    hint = "Leave broker 1's disk alone. Whom could the controller elect, other than broker 1?"
    idea = "every loss is a hole in the protocol"
    return _judged(stage, 0, message, hint, idea)
