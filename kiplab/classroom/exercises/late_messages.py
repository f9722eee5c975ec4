"""Exercises of lab 07: messages for an earlier process of a broker, and the checks they take.

They are KIP-380's four failures.
"""

from functools import cache

from ...engine.events import PropertyBroken
from ...engine.properties import CHECKPOINT_KEEPS_PARTITIONS, LEADER_SERVES, REPLICA_FETCHES
from ...plays.library import load
from ...plays.runner import run_play
from ...plays.stage import Stage
from ...plays.verdict import SAFE, sentence, verdict
from ...protocol.facts import IsrChanged, Polled, Refused
from ...protocol.features import Features, parse_features
from ..exercise_table import exercise
from .answers import PartsInOrder, Verdict, letters_among, sets_among
from .own_runs import OwnRun

BACK = 1
"""The broker that comes back in each of the plays."""
BEFORE, SINCE = "zk-2.1", "zk-2.2"
MESSAGES = exercise("bounce/symptoms").letters
"""The late message, and its play."""
CHECKS = exercise("bounce/needed").letters
"""A broker compares the epoch of its **m**ail, the control requests; the controller that of a
ControlledShutdown (**s**); the controller compares epochs when it **l**ooks who is registered.
"""
OBJECTORS = {"380.control-request-epoch": "B", "380.shutdown-epoch": "C"}
NOBODY = "N"
"""Nobody refuses anything: who is told of a change finds more in it."""


@cache
def played(letter: str, features: Features) -> Stage:
    return run_play(load(MESSAGES[letter]), features)


def symptoms(stage: Stage) -> tuple[bool, ...]:
    """Which of the four things an operator sees, in the order in which the lab tells them.

    Broker BACK leads and does not know it; it never fetches; it leads and has nothing to give; it
    is in an ISR again, and out of it once more.
    """
    broken = {e.property for e in stage.events if isinstance(e, PropertyBroken)}
    leads, idle = LEADER_SERVES.id in broken, REPLICA_FETCHES.id in broken
    changes = (e for e in stage.events if isinstance(e, IsrChanged))
    taken_back = any(BACK in e.after and BACK not in e.before for e in changes)
    polls = (e for e in stage.events if isinstance(e, Polled))
    given_nothing = any(e.last < e.first and e.node == BACK for e in polls)
    forgot = CHECKPOINT_KEEPS_PARTITIONS.id in broken
    never_fetches = idle and not (leads or taken_back)
    return leads, never_fetches, forgot and given_nothing, idle and taken_back


@cache
def cause_of(place: int) -> str:
    """The letter of the message that a symptom, counted from 0, comes of."""
    before = parse_features(BEFORE)
    (letter,) = (letter for letter in MESSAGES if symptoms(played(letter, before))[place])
    return letter


@cache
def objector(letter: str) -> str:
    """Who refuses one of MESSAGES: B, C, or N for none."""
    stage = played(letter, parse_features(SINCE))
    guards = (e.guard for e in stage.events if isinstance(e, Refused))
    return next((OBJECTORS[guard] for guard in guards if guard in OBJECTORS), NOBODY)


@cache
def needed(letter: str) -> frozenset[str]:
    """The letters of CHECKS without which one of MESSAGES does harm."""
    return frozenset(check for check in CHECKS if verdict(without(letter, check)) != SAFE)


def without(letter: str, check: str) -> Stage:
    """The play of one of MESSAGES on SINCE, with one of CHECKS off."""
    return played(letter, parse_features(SINCE, off=(CHECKS[check],)))


def one_check_off() -> str:
    """The result of every play with each of CHECKS off: a paragraph for a play."""
    paragraphs = []
    for letter, play in MESSAGES.items():
        lines = (f"   without {check}: {sentence(without(letter, check))}" for check in CHECKS)
        paragraphs.append("\n".join([f"{letter}  {play}", *lines]))
    return "\n\n".join(paragraphs)


check_symptoms = PartsInOrder(
    read=letters_among(MESSAGES, " ".join(MESSAGES)),
    true=lambda: [cause_of(place) for place in range(4)],
)
"""Which of MESSAGES each of the symptoms comes of, in their order: ``"ABCD"``."""

check_who_objects = PartsInOrder(
    read=letters_among((*OBJECTORS.values(), NOBODY), "B C N"),
    true=lambda: [objector(letter) for letter in MESSAGES],
)
"""Who objects to each of MESSAGES on SINCE, in their order: B, C or N."""


check_needed_checks = PartsInOrder(
    read=sets_among(CHECKS, use="M, S, L, or - for none"),
    true=lambda: [needed(letter) for letter in MESSAGES],
    # The first check that is needed and was not named.
    keys=lambda _place, mine, true: (min(true - mine, default="too many"),),
)
"""Which of CHECKS each of MESSAGES takes, in their order: ``["MS", "-", ...]``.

A check is needed where harm is done on SINCE with nothing but this check off.
"""


@OwnRun
def check_late_shutdown(stage: Stage) -> Verdict:
    """A run that does harm to a broker in an ISR again, which SINCE prevents by its check S."""
    if verdict(stage) == SAFE:
        return "well"
    if verdict(run_play(stage.play, parse_features(SINCE))) != SAFE:
        return "2.2 too"
    if verdict(run_play(stage.play, parse_features(SINCE, off=(CHECKS["S"],)))) == SAFE:
        return "another"
    return "taken out" if symptoms(stage)[-1] else "not back"
