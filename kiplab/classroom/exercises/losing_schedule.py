"""Exercises of labs 09 and 11: lose committed records in as few events as the explorer needs."""

from functools import cache

from ...explore.search.explore_play import explore_play
from ...explore.search.explored import Explored
from ...explore.search.question import question_about
from ...explore.shrink.shortening import goal_of
from ...plays.grammar import VERBS
from ...plays.library import load
from ...plays.runner import run_play
from ...plays.stage import Stage
from ...plays.verdict import HARM, LOSS, refused, verdict
from .own_runs import UNCLEAN, OwnRun, RunVerdict, done

PLAY, PROPERTY = "kafka-14139", "no-committed-record-lost"
BOUNDS = {"writes": 0, "crashes": 1, "fences": 1}
NEAR = 2
"""So many events longer than the shortest is still short."""


def events(stage: Stage) -> int:
    """How many lines of a run did something. `hold` only says what is slow."""
    verbs = (statement.verb for statement in done(stage))
    return sum(verb not in ("hold", "expect") and not VERBS[verb].header for verb in verbs)


# --- shorter than yours ---------------------------------------------------------------------------


def shortest() -> int:
    """The events of the explorer's shortest way, without metadata that flows by itself in a play"""
    return sum(action.kind != "view" for action in explored().path)


@cache
def explored() -> Explored:
    """The explorer's own answer: the shortest way to a loss that no fault excuses."""
    play = load(PLAY)
    return explore_play(question_about(play, property=PROPERTY, bounds=BOUNDS, engine="step"))


def _shorter(stage: Stage) -> RunVerdict:
    if verdict(stage) != LOSS:
        return _nothing_lost(stage)
    if goal_of(stage, PROPERTY).excused:
        message = (
            "Lost, but with the disk of the last member of the ISR: no rule promises otherwise."
        )
        hint = "Leave broker 1's disk alone. Whom could the controller elect, other than broker 1?"
        return RunVerdict(0, message, hint, "every loss is a hole in the protocol")
    count, least = events(stage), shortest()
    if count <= least:
        return RunVerdict(3, f"Lost in {count} events. The explorer's own way has {least}.")
    message = f"Lost in {count} events. There is a way in {least}."
    if count <= least + NEAR:
        hint = "kiplab.minimise(...) leaves out what is not needed. What did it leave out, and why?"
        return RunVerdict(2, message, hint)
    hint = "The records are lost as soon as somebody leads without them. What happens after that?"
    return RunVerdict(1, message, hint, "records are lost when the last copy is thrown away")


def _nothing_lost(stage: Stage) -> RunVerdict:
    errors = ", ".join(dict.fromkeys(str(r["error"]) for r in refused(stage)))
    if errors:
        message = f"Nothing committed is lost: a request is refused, {errors}."
        hint = "Which rule refused it, and what would have to be true when the request arrives?"
        idea = "a late request is dangerous while the broker it names is fenced"
        return RunVerdict(0, message, hint, idea)
    hint = "Somebody has to lead without the records. Who may be elected, and how does it get in?"
    return RunVerdict(0, "Nothing committed is lost.", hint)


check_shorter = OwnRun(of=3, begins=PLAY, judged=_shorter, forbidden=(UNCLEAN,))
"""A run of PLAY on Kafka 3.4 that loses committed records.

A point for the loss, one if it has at most NEAR events more than the explorer's shortest, one if it
has no more.
"""


# --- nobody dies ----------------------------------------------------------------------------------

BEGINS = "hole-never-level"
"""The play whose situation and rules the exercise begins with."""
WITHIN = {"writes": 1, "crashes": 0, "fences": 1}
"""Where the search looks for its own shortest way."""


def least() -> int:
    """The events of the way that the explorer found, old metadata that it skips included."""
    return events(_unharmed())


@cache
def _unharmed() -> Stage:
    question = question_about(load(BEGINS), property=PROPERTY, bounds=WITHIN, engine="step")
    play = explore_play(question).play
    assert play is not None, f"the search finds no way to lose a record in {BEGINS} any more"
    return run_play(play)


def _nobody_died(stage: Stage) -> RunVerdict:
    if verdict(stage) != LOSS or goal_of(stage, PROPERTY).excused:
        return _not_elected(stage)
    died = sum(statement.verb in ("crash", "shut-down") for statement in done(stage))
    count = events(stage)
    points = 1 + (not died) + (count <= least())
    if died:
        message = f"Lost in {count} events, and for it {died} had to die. Nobody need."
        hint = "What does the controller act on: that a broker is dead, or that it is not heard?"
        return RunVerdict(points, message, hint, "data is lost only where something breaks")
    if count > least():
        message = f"Lost in {count} events, and everybody lives. The search needs {least()}."
        return RunVerdict(points, message, "One record is enough. Which of yours does nobody miss?")
    return RunVerdict(points, f"Lost in {count} events. Every broker lives, every disk is whole.")


def _not_elected(stage: Stage) -> RunVerdict:
    if verdict(stage) == HARM:
        message = "Nothing is lost yet, but a broker that lacks the record could be elected."
        return RunVerdict(0, message, "Let it be elected: end the session of the leader.")
    hint = (
        "The leader has to have asked for a second broker, when the metadata about the first one"
        " arrives. Hold both, the requests and the metadata."
    )
    return RunVerdict(0, "Nothing committed is lost.", hint)


check_nobody_dies = OwnRun(of=3, begins=BEGINS, judged=_nobody_died, forbidden=(UNCLEAN,))
"""A run of BEGINS that loses a committed record under all rules of 3.5.

A point for the loss, one if no broker crashes or is shut down, one if it has no more events than
the way that the explorer found. A loss that Kafka does not promise to survive does not count.
"""
