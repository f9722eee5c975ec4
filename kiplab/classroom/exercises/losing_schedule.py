"""Exercises of labs 09 and 11: committed records lost in as few events as the explorer needs; what
keeps the record of a proposal that its leader forgets, and what closes that hole.
"""

from functools import cache

from ...explore.search.explore_play import explore_play
from ...explore.search.explored import Explored
from ...explore.search.question import question_about
from ...explore.search_terms import PROVED
from ...explore.shrink.shortening import goal_of
from ...plays import grammar, library, runner, verdict
from ...plays.play import Play
from ...plays.stage import Stage
from ...protocol.features import parse_features
from ..exercise_table import ChangeOfPlay, exercise
from .answers import TrueStatements, Verdict
from .own_runs import OwnRun, done

PLAY, PROPERTY = "kafka-14139", "no-committed-record-lost"
BOUNDS = {"writes": 0, "crashes": 1, "fences": 1}
NEAR = 2
"""So many events longer than the shortest is still short."""


def events(stage: Stage) -> int:
    """How many lines of a run did something. `hold` only says what is slow."""
    verbs = (statement.verb for statement in done(stage))
    return sum(verb not in ("hold", "expect") and not grammar.VERBS[verb].header for verb in verbs)


def shortest() -> int:
    """The events of the explorer's shortest way, without metadata that flows by itself in a play"""
    return sum(action.kind != "view" for action in explored().path)


@cache
def explored() -> Explored:
    """The explorer's own answer: the shortest way to a loss that no fault excuses."""
    play = library.load(PLAY)
    return explore_play(question_about(play, property=PROPERTY, bounds=BOUNDS, engine="step"))


@OwnRun
def check_shorter(stage: Stage) -> Verdict:
    """A run of PLAY on Kafka 3.4 that loses committed records, in as few events as the explorer."""
    if verdict.verdict(stage) != verdict.LOSS:
        errors = ", ".join(dict.fromkeys(str(r["error"]) for r in verdict.refused(stage)))
        return ("refused", {"errors": errors}) if errors else "kept"
    if goal_of(stage, PROPERTY).excused:
        return "excused"
    count, least = events(stage), shortest()
    key = "shortest" if count <= least else "near" if count <= least + NEAR else "long"
    return key, {"count": count, "least": least}


BEGINS = "hole-never-level"
"""The play whose situation and rules the exercise begins with."""
WITHIN = {"writes": 1, "crashes": 0, "fences": 1}
"""Where the search looks for its own shortest way."""


@cache
def least() -> int:
    """The events of the way that the explorer found, old metadata that it skips included."""
    question = question_about(library.load(BEGINS), property=PROPERTY, bounds=WITHIN, engine="step")
    play = explore_play(question).play
    assert play is not None, f"the search finds no way to lose a record in {BEGINS} any more"
    return events(runner.run_play(play))


@OwnRun
def check_nobody_dies(stage: Stage) -> Verdict:
    """A run of BEGINS that loses a committed record under all rules of 3.5, without a crash.

    A loss that Kafka does not promise to survive does not count.
    """
    if verdict.verdict(stage) != verdict.LOSS or goal_of(stage, PROPERTY).excused:
        return "harm" if verdict.verdict(stage) == verdict.HARM else "kept"
    died = sum(statement.verb in ("crash", "shut-down") for statement in done(stage))
    count = events(stage)
    values = {"count": count, "died": died, "least": least()}
    if died:
        return "died", {**values, "points": 1 + (count <= least())}
    return "long" if count > least() else "right", values


KAFKA = "3.5"
CHANGES = exercise("hole/what-saves").changes
"""What is changed in the play. After some of these no committed record is lost."""


@cache
def changed(change: ChangeOfPlay, play: Play | None = None) -> Stage:
    """The run of a play in which one thing is otherwise, expectations left out: of `play`, or of
    the one of the library that the change names.
    """
    source = play or library.load(change.play)
    statements = (s for s in source.statements if s.verb != "expect")
    lines = "".join(f"{' '.join(s.text.split())}\n" for s in statements if s.text)
    for there, instead in change.instead:
        assert there in lines, f"{source.name} has no lines {there!r} any more"
        lines = lines.replace(there, instead)
    features = parse_features(change.kafka) if change.kafka else None
    return runner.run_play(grammar.parse(lines, change.text), features)


@TrueStatements
def check_what_saves() -> list[str]:
    """After which of CHANGES no committed record is lost: ``"AB"`` names two of them."""
    return [letter for letter in CHANGES if not verdict.lost(changed(CHANGES[letter]))]


RULES = exercise("hole/what-closes").letters
"""Rules that might close the hole; none of them is on in Kafka 3.5."""
RULE_BOUNDS = {"writes": 2, "crashes": 0}
"""Within these each rule is judged."""


@cache
def searched(letter: str) -> Explored:
    """The search within RULE_BOUNDS with one of RULES on."""
    rules = parse_features(KAFKA, on=(RULES[letter],))
    return explore_play(question_about(library.load(BEGINS), rules, bounds=RULE_BOUNDS))


@TrueStatements
def check_what_closes() -> list[str]:
    """Which of RULES closes the hole within RULE_BOUNDS: ``"AB"`` names two of them."""
    return [letter for letter in RULES if searched(letter).verdict == PROVED]
