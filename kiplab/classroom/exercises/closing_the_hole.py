"""Exercises of lab 11 on a proposal that its leader forgets: what keeps the record, what closes the
hole.

The engine judges each change of the play, and the explorer each rule.
"""

from functools import cache

import msgspec

from ...explore.search.explore_play import explore_play
from ...explore.search.explored import Explored
from ...explore.search.question import question_about
from ...explore.search_terms import PROVED
from ...plays.grammar import parse
from ...plays.library import load
from ...plays.runner import run_play
from ...plays.stage import Stage
from ...plays.verdict import lost
from ...protocol.features import parse_features
from .answers import TrueStatements

NEVER_LEVEL, LEVEL = "hole-never-level", "hole-level"
KAFKA = "3.5"


class ChangeOfPlay(msgspec.Struct, frozen=True):
    """One thing that is otherwise: what it is, and what stands in the play in place of what."""

    said: str
    instead: tuple[tuple[str, str], ...] = ()
    kafka: str = KAFKA
    play: str = NEVER_LEVEL


CHANGES = {
    "A": ChangeOfPlay(
        "min.insync.replicas is 1",
        (("min-insync-replicas=2", "min-insync-replicas=1"),),
    ),
    "B": ChangeOfPlay(
        "the list of replicas is 1, 3, 2",
        (
            ("replicas=1,2,3", "replicas=1,3,2"),
            ("release metadata\nfetch 3\n", "release metadata\n"),
        ),
    ),
    "C": ChangeOfPlay(
        "the metadata of the first change is later still: it comes after the second answer",
        (("deliver metadata to=1\nhold fetch-reply", "hold fetch-reply"),),
    ),
    "D": ChangeOfPlay(
        "the disk of broker 2 is quick: it has both records before broker 1 dies",
        (("hold fetch-reply to=2\n", ""), ("crash 1\n", "fetch 2\ncrash 1\n")),
    ),
    "E": ChangeOfPlay(
        "broker 1 does not crash: it is shut down in the proper way",
        (("crash 1\nexpire 1\n", "shut-down 1\n"),),
    ),
    "F": ChangeOfPlay("all brokers run Kafka 3.9", kafka="3.9"),
    "G": ChangeOfPlay(
        "broker 2 had caught up when it was asked for, and broker 1 dies 20 seconds later",
        (("advance 29s\nadvance 2s\n", "advance 20s\n"),),
        play=LEVEL,
    ),
}
"""What is changed in the play. After some of these no committed record is lost."""


@cache
def changed(letter: str) -> Stage:
    """The run with one of CHANGES."""
    change = CHANGES[letter]
    statements = (s for s in load(change.play).statements if s.verb != "expect")
    lines = "".join(f"{' '.join(s.text.split())}\n" for s in statements if s.text)
    for there, instead in change.instead:
        assert there in lines, f"{change.play} has no lines {there!r} any more"
        lines = lines.replace(there, instead)
    return run_play(parse(lines, f"change {letter}"), parse_features(change.kafka))


@TrueStatements
def check_what_saves() -> list[str]:
    """After which of CHANGES no committed record is lost: ``"AB"`` names two of them."""
    return [letter for letter in CHANGES if not lost(changed(letter))]


RULES = {
    "A": "497.pending-outlives-metadata",
    "B": "966.committed-with-min-isr",
    "C": "kafka-15021.committed-without-ineligible",
    "D": "903.bump-leader-epochs",
    "E": "903.epoch-from-metadata",
}
"""Rules that might close the hole; none of them is on in Kafka 3.5."""
BOUNDS = {"writes": 2, "crashes": 0}
"""Within these each rule is judged."""


@cache
def searched(letter: str) -> Explored:
    """The search within BOUNDS with one of RULES on."""
    rules = parse_features(KAFKA, on=(RULES[letter],))
    return explore_play(question_about(load(NEVER_LEVEL), rules, bounds=BOUNDS))


@TrueStatements
def check_what_closes() -> list[str]:
    """Which of RULES closes the hole within BOUNDS: ``"AB"`` names two of them."""
    return [letter for letter in RULES if searched(letter).verdict == PROVED]
