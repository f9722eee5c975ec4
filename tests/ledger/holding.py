"""Whether a row of the ledger holds: everything it names is there and shows what it says.

What plays show is tried in `in_plays.py`, what stands in files is looked up in `in_files.py`.
"""

from collections.abc import Callable, Iterator
from typing import Any

from kiplab.plays.play_errors import PlayError
from kiplab.protocol.releases import RELEASES
from tests.ledger import in_files, in_plays
from tests.ledger.clauses import (
    ALWAYS,
    Becomes,
    Clause,
    FieldHere,
    FieldOnWire,
    KafkasTest,
    OwnTest,
    Played,
    PropertyInPlay,
    RuleAtWork,
    RuleInTest,
    Shown,
    ToldInLab,
)

Wrong = Iterator[str]


def wrong_with(clause: Clause) -> Wrong:
    """What to mend in a row, each as a sentence that begins with its id."""
    for said in _of_row(clause):
        yield f"{clause.id}: {said}"
    for shown in clause.shown:
        for said in _of_entry(shown):
            yield f"{clause.id}: {said}"


def _of_entry(shown: Shown) -> Wrong:
    try:
        yield from HOLDS[type(shown)](shown)
    except PlayError as problem:
        yield str(problem)


def _of_row(clause: Clause) -> Wrong:
    if bool(clause.shown) == bool(clause.not_simulated):
        yield "say what shows it, or why it is not simulated: one of the two"
    built = clause.kafka in (Becomes.SPECIFIED, Becomes.OTHERWISE)
    if built and clause.since not in (*RELEASES, ALWAYS):
        yield f"say since which release, or {ALWAYS!r}: {clause.since!r} is none"
    if not built and clause.since:
        yield f"{clause.kafka.value} has no release"
    if clause.kafka is Becomes.OTHERWISE and not clause.note:
        yield "say in its note what Kafka does otherwise"
    for text in (clause.says, clause.note, clause.not_simulated):
        if "|" in text or "\n" in text:
            yield "a row is one line of a table: no line break and no bar in it"


HOLDS: dict[type[Shown], Callable[[Any], Wrong]] = {
    RuleAtWork: in_plays.rule_at_work,
    RuleInTest: in_plays.rule_in_test,
    Played: in_plays.played,
    PropertyInPlay: in_plays.property_in_play,
    OwnTest: in_files.tested,
    KafkasTest: in_files.kafkas_test,
    FieldHere: in_files.field_here,
    FieldOnWire: in_files.field_on_wire,
    ToldInLab: in_files.told_in_lab,
}
"""How each kind of entry is held."""
