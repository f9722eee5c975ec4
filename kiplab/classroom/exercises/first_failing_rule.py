"""Exercise: eight requests to the controller. Which error, and which is the first rule that fails?

The play ``alter-partition-eight`` knows. What else is wrong with a request is found by taking away
the rules that come before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import msgspec
from msgspec.structs import replace

from ...plays.grammar import VERBS
from ...plays.library import load
from ...plays.play import Play
from ...plays.stage import Stage
from ...protocol.errors import KafkaError
from ...protocol.facts import Refused
from ...runs import run
from .answers import BLANK, Slip, half, in_order, is_none, summed, unfit
from .check_result import Checked

EIGHT = "alter-partition-eight"
TAKEN = "-"
"""In place of a letter: no rule fails."""
LETTERS_OF_RULES = {
    "B": "497.request-broker-epoch",
    "E": "903.controller-epoch",
    "F": "841.fenced",
    "I": "497.leader-in-isr",
    "L": "497.leader-epoch",
    "N": "kafka-14154.newer-epoch",
    "P": "497.partition-epoch",
    "R": "497.isr-of-replicas",
    "S": "497.sender-is-leader",
}
"""A letter for each rule, by the alphabet: the order in which they are asked is the exercise."""
_LETTERS = {guard: letter for letter, guard in LETTERS_OF_RULES.items()}
_WRITTEN = {letter: letter for letter in LETTERS_OF_RULES} | {
    guard.upper(): letter for guard, letter in _LETTERS.items()
}
"""How a rule may be written in an answer: by its letter, or in full."""
ANSWERS = (
    KafkaError.NONE.name,
    KafkaError.FENCED_LEADER_EPOCH.name,
    KafkaError.INELIGIBLE_REPLICA.name,
    KafkaError.INVALID_REQUEST.name,
    KafkaError.INVALID_UPDATE_VERSION.name,
    KafkaError.NOT_CONTROLLER.name,
    KafkaError.STALE_BROKER_EPOCH.name,
)
"""What a controller may answer here."""


class Ruling(msgspec.Struct, frozen=True):
    """What becomes of one request: the error's name, and the letter of the rule, or TAKEN."""

    error: str
    letter: str


def check_first_rule(answer: object, kafka: str | None = None) -> Checked:
    """Judge error and first failing rule of each request of ``alter-partition-eight``.

    Eight parts such as ``"FENCED_LEADER_EPOCH L"``, a letter of LETTERS_OF_RULES behind the error;
    ``"NONE -"`` for a request that is taken. A point for each of which both are right. `kafka` is
    a release, perhaps with a metadata version.
    """
    found = run(EIGHT, kafka=kafka)
    rulings = rulings_of(found.stage)
    given = in_order(answer, len(rulings), "answers, each an error and the letter of a rule")
    if isinstance(given, Checked):
        return given
    read = [_read(said) for said in given]
    slips = []
    for number, (said, true) in enumerate(zip(read, rulings, strict=True), 1):
        if said is None:
            return _strange(given[number - 1], len(rulings))
        if said != true:
            slips.append(_wrong(number, said, true, len(rulings), kafka))
    praise = "All eight are right: one answer each, from the first rule that fails."
    return summed(len(rulings), slips, praise, found.token)


# --- what the engine says -----------------------------------------------------------------------


def rulings_of(stage: Stage) -> list[Ruling]:
    """What became of each request of a run, in order; BLANK for the rule if nobody says it."""
    return [
        Ruling(refused.error.name, _LETTERS.get(refused.guard or "", BLANK))
        if refused
        else Ruling(KafkaError.NONE.name, TAKEN)
        for refused in _refusals(stage)
    ]


@cache
def failing(number: int, kafka: str | None = None) -> str:
    """The letters of all rules that a request breaks, in the order in which they are asked.

    Each is found by taking away those that come before it.
    """
    play, off = _alone(number, kafka), list[str]()
    while True:
        *_, refused = _refusals(run(play, kafka=kafka, off=tuple(off)).stage)
        if refused is None or refused.guard is None:
            return "".join(_LETTERS[guard] for guard in off)
        off.append(refused.guard)


def _refusals(stage: Stage) -> Iterator[Refused | None]:
    """Of each request of a run: its refusal, or None if it was taken."""
    for performed in stage.performed:
        if performed.statement.verb == "send":
            events = stage.events_of(performed)
            yield next((event for event in events if isinstance(event, Refused)), None)


def _alone(number: int, kafka: str | None) -> Play:
    """One request, after those of the others before it that change something."""
    whole = run(EIGHT, kafka=kafka).stage
    sent = [s for s in whole.play.statements if s.verb == "send"]
    before = zip(sent[: number - 1], rulings_of(whole), strict=False)
    taken = (s for s, ruling in before if ruling.letter == TAKEN)
    header = (s for s in load(EIGHT).statements if s.verb in VERBS and VERBS[s.verb].header)
    return replace(whole.play, statements=(*header, *taken, sent[number - 1]))


# --- reading and wrong answers ------------------------------------------------------------------


def _read(said: str) -> Ruling | None:
    """The error and the letter of an answer, in any order, BLANK for one that is open.

    None for anything that is neither.
    """
    error, letter, nothing = "", "", False
    for word in re.split(r"[\s,;:/+]+", said.upper()):
        if is_none(word):
            nothing = True
        elif word in ANSWERS and not error:
            error = word
        elif word in _WRITTEN and not letter:
            letter = _WRITTEN[word]
        elif word not in ("", BLANK):
            return None
    open_ = (KafkaError.NONE.name, TAKEN) if nothing else (BLANK, BLANK)
    return Ruling(error or open_[0], letter or open_[1])


def _strange(said: str, of: int) -> Checked:
    letters = " ".join(LETTERS_OF_RULES)
    return unfit(of, f"This is no error with a letter: {said[:60]!r}. The letters are {letters}.")


_ON_RECORD = "Hold each number against what is on record when the request arrives."
_LATER = "What one answer names is wrong as well. Is there a rule that is asked earlier, and fails?"
_IDEAS = {
    ("B", "N"): ("what is asked is judged before who asks", _LATER),
    ("B", "L"): ("what is asked is judged before who asks", _LATER),
    ("L", "P"): ("compare and set comes first", _LATER),
    ("S", "P"): ("compare and set comes first", _LATER),
    ("N", "P"): (
        "a number that differs is out of date",
        "Too old and too new are not the same fault. Who knows more, if a request is too new?",
    ),
    ("I", "F"): ("a broker that must not join weighs most", _LATER),
    ("F", "E"): ("an epoch that differs is noticed before a fence", _LATER),
    (TAKEN, "E"): (
        "a broker epoch that is not known is refused",
        "An ISR may name a broker without an epoch. What is there to compare then?",
    ),
    ("P", TAKEN): (
        "the same request again gets the same answer",
        "One request comes twice. What is on record when the second one arrives?",
    ),
}
"""By the rule that fails first, and the one that was named: (the idea, what to look at)."""


def _wrong(number: int, said: Ruling, true: Ruling, of: int, kafka: str | None) -> Slip:
    idea, hint = _idea(said, true, failing(number, kafka))
    return Slip(f"request {number}", hint, idea, half(number, of, "requests"))


def _idea(said: Ruling, true: Ruling, broken: str) -> tuple[str, str]:
    if BLANK in (said.error, said.letter):
        return "", "One lacks its error or its rule: give both, and NONE - where no rule fails."
    if said.letter == true.letter:
        return "", "A rule is right, and the error beside it is not what it answers with."
    if (true.letter, said.letter) in _IDEAS:
        return _IDEAS[true.letter, said.letter]
    if said.letter in broken:
        return "the gravest fault is the one that is named", _LATER
    return "", _ON_RECORD
