"""Exercises on what a search says: a proof within its bounds, and a matrix of guards."""

from __future__ import annotations

from functools import cache

from ...explore.matrix.cells import Matrix
from ...explore.matrix.guard_matrix import PENDING, matrix_of
from ...explore.search.explore_play import explore_play
from ...explore.search.explored import Explored
from ...explore.search.question import question_about
from ...explore.search_terms import PROVED
from ...plays.library import load
from ...protocol.features import parse_features
from .answers import Slip, chosen_letters, in_order, is_none, summed, unfit
from .check_result import Checked

KAFKA = "3.5"
PROVEN, RACE = "isr-two-of-three", "kafka-14139"
"""The plays whose situations the proof and the matrix are about."""
STATEMENTS = {
    "A": "no order of these events lets a replica be elected that lacks a committed record",
    "B": "two crashes do no harm either",
    "C": "a session that ends although its broker runs does no harm",
    "D": "KIP-903 had something to refuse",
    "E": "the check of the partition epoch is superfluous",
    "F": "a running Kafka 3.5 loses nothing in this way",
    "G": "with no record written, and logs that are empty, a proof says nothing about records",
}
GUARDS = ("841", "903", "497.maximal-isr", "497.partition-epoch")
"""The guards of the matrix."""
HOLES = {
    "F": "the request is accepted while broker 2 is fenced",
    "R": "the request is accepted when broker 2 has returned, in another life",
    "M": "a record is committed that a proposed member does not have",
}
"""Three ways to harm."""
_OPENED = {"841": "F", "903": "R", "497.maximal-isr": "M"}
"""The way that is open without each of them: the last steps of its shortest counterexample."""


def check_proof(answer: object) -> Checked:
    """Judge which STATEMENTS the proof for ``isr-two-of-three`` supports: ``"AC"`` names two.

    The proof is about Kafka 3.5 as specified, within 1 write, 1 crash and 0 fences. Each statement
    chosen or left out rightly is a point.
    """
    given = chosen_letters(answer, tuple(STATEMENTS))
    if isinstance(given, Checked):
        return given
    slips = [_wrong_statement(letter) for letter in sorted(given ^ supported())]
    praise = "All seven are right: a proof says what was searched, and not a word more."
    return summed(len(STATEMENTS), slips, praise)


def check_holes(answer: object) -> Checked:
    """Judge four parts on the matrix of GUARDS for ``kafka-14139``.

    The one of HOLES that 841 closes, the one that 903 closes, the guards that are never needed
    (``"-"`` for none), and how many of the sixteen sets are proved to suffice.
    """
    given = in_order(answer, 4, "parts: a hole, a hole, a guard and a number")
    if isinstance(given, Checked):
        return given
    strange = [said[:20] for said in given[:2] if said.upper() not in HOLES]
    if strange:
        return unfit(4, f"There is no hole {', '.join(strange)}. Use {' '.join(HOLES)}.")
    slips = [
        _wrong_part(place, said, true)
        for place, (said, true) in enumerate(zip(map(_plain, given), truth(), strict=True))
        if said != true
    ]
    praise = "Each closes what the other leaves open, and no set without both is enough."
    return summed(4, slips, praise)


# --- what the explorer says ---------------------------------------------------------------------


@cache
def proof(writes: int = 1) -> Explored:
    """Kafka 3.5 as specified, one crash at most."""
    rules = parse_features(KAFKA, on=(PENDING,))
    bounds = {"writes": writes, "crashes": 1}
    return explore_play(question_about(load(PROVEN), rules, bounds=bounds))


@cache
def supported() -> frozenset[str]:
    """The letters of the STATEMENTS that follow. Nothing follows about other bounds, about a rule
    that was never needed, or about what is no model.
    """
    found, empty = proof(), proof(writes=0)
    facts = {
        "A": found.verdict == PROVED,
        "D": any(guard.startswith("903.") for guard in found.vacuity.fired),
        "G": empty.verdict == PROVED and not empty.vacuity.committed,
    }
    return frozenset(letter for letter, fact in facts.items() if fact)


@cache
def charted() -> Matrix:
    """The matrix of GUARDS."""
    rules = parse_features(KAFKA)
    question = question_about(load(RACE), rules, bounds={"writes": 1, "crashes": 1})
    return matrix_of(question, GUARDS, processes=1)


@cache
def truth() -> tuple[str, str, str, str]:
    """(hole of 841, hole of 903, guards never needed, sets that suffice)."""
    found = charted()
    enough = sum(cell.verdict == PROVED for cell in found.cells)
    never = " ".join(found.redundant) or "-"
    return _OPENED["841"], _OPENED["903"], never, str(enough)


# --- reading and wrong answers ------------------------------------------------------------------


def _plain(said: str) -> str:
    """One spelling of a part: ``f`` is F, ``partition-epoch`` its guard, ``none`` is ``-``."""
    if said.upper() in HOLES:
        return said.upper()
    wanted = said.lower().removeprefix("kip-")
    if is_none(wanted):
        return "-"
    return next((g for g in GUARDS if wanted in (g, g.partition(".")[2])), wanted)


_STATEMENTS = {
    "A": ("", "Read the sentence of the proof again. What does it say of every order?"),
    "B": (
        "what holds for one fault holds for two",
        "The bounds are part of the sentence. How many crashes were searched?",
    ),
    "C": (
        "a fault that was not searched does no harm",
        "0 sessions: no such end of a session was ever tried.",
    ),
    "D": ("", "Look among the rules that fired: proof.vacuity.fired."),
    "E": (
        "a rule that was never needed here is never needed",
        "It never had anything to refuse. So this search says nothing about it, for or against.",
    ),
    "F": (
        "a proof about a model is a proof about Kafka",
        "The search is of this model, and of its rules as specified. What does Kafka do as built?",
    ),
    "G": (
        "every proof says that something was safe",
        "If nothing is ever committed, what could be lost? Search with writes=0, read the vacuity.",
    ),
}


_SEARCHED, _RULES, _WORTH = "what was searched", "what it says of rules", "what it is worth"
_ABOUT = dict(zip(STATEMENTS, (*[_SEARCHED] * 3, *[_RULES] * 2, *[_WORTH] * 2), strict=True))
"""The group of each statement."""


def _wrong_statement(letter: str) -> Slip:
    idea, hint = _STATEMENTS[letter]
    return Slip(f"statement {letter}", hint, idea, _ABOUT[letter])


_PARTS = ("the hole of 841", "the hole of 903", "never needed", "sets that suffice")
_IDEAS = {
    (0, "R"): (
        "KIP-841 keeps a broker out once it has been fenced",
        "KIP-841 asks whether broker 2 is fenced *now*. Read the way without 841: when is that?",
    ),
    (1, "F"): (
        "KIP-903 makes KIP-841 superfluous",
        "While broker 2 is fenced it has not registered again. Which epoch is on record then?",
    ),
    (2, "841"): (
        "a later rule makes the earlier one superfluous",
        "Compare the line without 841 with the one in which nothing is off.",
    ),
    (2, "-"): (
        "every check is needed in every situation",
        "Is there a rule whose lines are all like their neighbours without it?",
    ),
    (3, "1"): (
        "only all rules together suffice",
        "Count every line that says proved, also where something is off.",
    ),
}


def _wrong_part(number: int, said: str, _true: str) -> Slip:
    hint = "Read the shortest way without that rule from its end. Is broker 2 fenced then?"
    if number > 1:
        hint = "Go through the table: which rule makes no line differ from the one without it?"
    idea, hint = _IDEAS.get((number, said), ("", hint))
    return Slip(_PARTS[number], hint, idea, "the holes" if number < 2 else "the rule, the number")
