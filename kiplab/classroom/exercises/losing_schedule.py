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
from .answers import Verdict
from .own_runs import OwnRun, done

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


@OwnRun
def check_shorter(stage: Stage) -> Verdict:
    """A run of PLAY on Kafka 3.4 that loses committed records.

    A point for the loss, one if it has at most NEAR events more than the explorer's shortest, one
    if it has no more.
    """
    if verdict(stage) != LOSS:
        errors = ", ".join(dict.fromkeys(str(r["error"]) for r in refused(stage)))
        return ("refused", {"errors": errors}) if errors else "kept"
    if goal_of(stage, PROPERTY).excused:
        return "excused"
    count, least = events(stage), shortest()
    key = "shortest" if count <= least else "near" if count <= least + NEAR else "long"
    return key, {"count": count, "least": least}


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


@OwnRun
def check_nobody_dies(stage: Stage) -> Verdict:
    """A run of BEGINS that loses a committed record under all rules of 3.5.

    A point for the loss, one if no broker crashes or is shut down, one if it has no more events
    than the way that the explorer found. A loss that Kafka does not promise to survive does not
    count.
    """
    if verdict(stage) != LOSS or goal_of(stage, PROPERTY).excused:
        return "harm" if verdict(stage) == HARM else "kept"
    died = sum(statement.verb in ("crash", "shut-down") for statement in done(stage))
    count = events(stage)
    values = {"count": count, "died": died, "least": least()}
    if died:
        return "died", {**values, "points": 1 + (count <= least())}
    return "long" if count > least() else "right", values
