"""Exercises on mail for a broker that was: its symptoms, who objects to it, which checks it takes.

The engine judges: it plays KIP-380's four failures, reads the symptom off each run, and switches
the checks off one at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from ...engine.events import PropertyBroken
from ...engine.properties import CHECKPOINT_KEEPS_PARTITIONS, LEADER_SERVES, REPLICA_FETCHES
from ...plays.library import load
from ...plays.runner import run_play
from ...plays.stage import Stage
from ...plays.verdict import SAFE, sentence, verdict
from ...protocol.facts import IsrChanged, Polled, Refused
from ...protocol.features import Features, parse_features
from .answers import BLANK, Slip, in_order, is_none, still_open, summed, unfit
from .check_result import Checked

BACK = 1
"""The broker that comes back in each of the plays."""
BEFORE, SINCE = "zk-2.1", "zk-2.2"
MESSAGES = {
    "A": "380-stale-stop-replica",
    "B": "380-stale-controlled-shutdown",
    "C": "380-overwritten-checkpoint",
    "D": "380-missed-bounce",
}
"""What comes late, and the play in which it does."""
CHECKS = {
    "M": "380.control-request-epoch",
    "S": "380.shutdown-epoch",
    "L": "380.bounce-detection",
}
"""A broker compares the epoch of its **m**ail, the controller that of a ControlledShutdown
(**s**); the controller compares epochs when it **l**ooks who is registered.
"""
OBJECTORS = {"380.control-request-epoch": "B", "380.shutdown-epoch": "C"}
NOBODY = "N"
"""Nobody refuses anything: who is told of a change finds more in it."""


def check_symptoms(answer: object) -> Checked:
    """Judge which of MESSAGES each of SYMPTOMS comes of, in their order: ``"ABCD"``."""
    given = _letters(answer, len(SYMPTOMS), "letters, one for each symptom", tuple(MESSAGES))
    if isinstance(given, Checked):
        return given
    slips = [
        _wrong_symptom(place, said) for place, said in enumerate(given) if said != cause_of(place)
    ]
    return summed(len(SYMPTOMS), slips, "Four symptoms, and one disease: nobody knew which life.")


def check_who_objects(answer: object) -> Checked:
    """Judge who objects to each of MESSAGES on SINCE, in their order: B, C or N."""
    given = _letters(
        answer, len(MESSAGES), "letters, each B, C or N", (*OBJECTORS.values(), NOBODY)
    )
    if isinstance(given, Checked):
        return given
    slips = [
        _wrong_objector(letter, said)
        for letter, said in zip(MESSAGES, given, strict=True)
        if said != objector(letter)
    ]
    return summed(len(MESSAGES), slips, "Whoever can compare two numbers objects.")


def check_needed_checks(answer: object) -> Checked:
    """Judge which of CHECKS each of MESSAGES takes, in their order: ``["MS", "-", ...]``.

    A check is needed where harm is done on SINCE with nothing but this check off.
    """
    given = in_order(answer, len(MESSAGES), "answers, each of the letters M, S and L, or -")
    if isinstance(given, Checked):
        return given
    strange = sorted({letter for said in given for letter in _set(said)} - set(CHECKS))
    if strange:
        named = ", ".join(strange[:5])
        return unfit(len(MESSAGES), f"There is no {named}. Use M, S, L, or - for none.")
    slips = [
        _wrong_checks(letter, said)
        for letter, said in zip(MESSAGES, given, strict=True)
        if said == BLANK or _set(said) != needed(letter)
    ]
    praise = "Two failures take one check each, and two take two."
    return summed(len(MESSAGES), slips, praise)


# --- what the engine says -----------------------------------------------------------------------


@cache
def played(letter: str, features: Features) -> Stage:
    """The play of one of MESSAGES."""
    return run_play(load(MESSAGES[letter]), features)


def _broken(stage: Stage) -> frozenset[str]:
    return frozenset(e.property for e in stage.events if isinstance(e, PropertyBroken))


def _taken_back(stage: Stage) -> bool:
    """Whether broker BACK came into an ISR again."""
    changes = (e for e in stage.events if isinstance(e, IsrChanged))
    return any(BACK in e.after and BACK not in e.before for e in changes)


def _leads_and_does_not_know(stage: Stage) -> bool:
    return LEADER_SERVES.id in _broken(stage)


def _never_fetches(stage: Stage) -> bool:
    fetches = LEADER_SERVES.id in _broken(stage) or _taken_back(stage)
    return REPLICA_FETCHES.id in _broken(stage) and not fetches


def _gives_nothing(stage: Stage) -> bool:
    polls = [e for e in stage.events if isinstance(e, Polled)]
    forgot = CHECKPOINT_KEEPS_PARTITIONS.id in _broken(stage)
    return forgot and any(e.last < e.first and e.node == BACK for e in polls)


def _out_once_more(stage: Stage) -> bool:
    return REPLICA_FETCHES.id in _broken(stage) and _taken_back(stage)


SYMPTOMS: tuple[Callable[[Stage], bool], ...] = (
    _leads_and_does_not_know,
    _never_fetches,
    _gives_nothing,
    _out_once_more,
)
"""What an operator sees, in the order in which the lab tells it."""


@cache
def cause_of(place: int) -> str:
    """The letter of the message that a symptom, counted from 0, comes of."""
    before = parse_features(BEFORE)
    (letter,) = (letter for letter in MESSAGES if SYMPTOMS[place](played(letter, before)))
    return letter


@cache
def objector(letter: str) -> str:
    """Who refuses one of MESSAGES: B, C, or N for nobody."""
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
    """What every play comes to with each of CHECKS off: a paragraph for a play."""
    return "\n\n".join("\n".join(_off(letter)) for letter in MESSAGES)


def _off(letter: str) -> Iterator[str]:
    yield f"{letter}  {MESSAGES[letter]}"
    for check in CHECKS:
        yield f"   without {check}: {sentence(without(letter, check))}"


# --- reading and wrong answers ------------------------------------------------------------------


def _letters(answer: object, wanted: int, what: str, among: tuple[str, ...]) -> list[str] | Checked:
    given = in_order(answer, wanted, what)
    if isinstance(given, Checked):
        return given
    said = [part.upper() for part in given]
    strange = sorted({part for part in said if part not in (*among, BLANK)})
    if strange:
        named = ", ".join(part[:20] for part in strange[:5])
        return unfit(wanted, f"There is no {named}. Use {' '.join(among)}.")
    return said


def _set(said: str) -> frozenset[str]:
    return frozenset() if is_none(said) else frozenset(c for c in said.upper() if c.isalnum())


def _pair(place: int) -> str:
    return "the first two" if place < 2 else "the last two"


_SYMPTOMS = (
    (
        "a broker that leads knows it",
        "No letter was refused, and none was sent. What did the controller hear?",
    ),
    (
        "a broker that is up asks for what it has to do",
        "A replica fetches when it is told to, and stops when it is told to. Told by whom?",
    ),
    (
        "records that are on the disk can be read",
        "What may be read ends at the high watermark. Where does a leader have it from, when it"
        " starts?",
    ),
    (
        "what is in every ISR is well",
        "Something happened to it after it was back. Who can take a running broker out of every"
        " ISR at once?",
    ),
)


def _wrong_symptom(place: int, said: str) -> Slip:
    part, group = f"symptom {place + 1}", _pair(place)
    if said == BLANK:
        return still_open(part, group)
    idea, hint = _SYMPTOMS[place]
    return Slip(part, hint, idea, group)


_OBJECTORS = {
    "A": (
        "the controller takes old mail back",
        "It is on its way to broker 1, and carries the epoch that was known when it was queued.",
    ),
    "B": (
        "a message from a broker is judged by a broker",
        "To whom is a ControlledShutdown sent?",
    ),
    "C": (
        "a newer leader epoch is always obeyed",
        "Its leader epoch is new. Which other number is in it now, and who reads that first?",
    ),
    "D": (
        "what is late is refused",
        "A watch says that something has changed, and no more. What is there to refuse?",
    ),
}


def _wrong_objector(letter: str, said: str) -> Slip:
    part, group = f"message {letter}", _pair(tuple(MESSAGES).index(letter))
    if said == BLANK:
        return still_open(part, group)
    idea, hint = _OBJECTORS[letter]
    return Slip(part, hint, idea, group)


_MISSED = {
    "L": (
        "who refuses the old is safe",
        "Refused or not: who sends broker 1 what it is to do now, and how does that one know?",
    ),
    "M": (
        "what is told anew makes good what was obeyed before",
        "The first letter that broker 1 obeys has it write a file. Is that old letter refused?",
    ),
    "S": (
        "the controller knows who asks it",
        "To whom does the late message come, and what does that one compare?",
    ),
}
"""By the check that is needed and was not named; the first of them is told."""
_TOO_MANY = (
    "all three checks belong together",
    'Switch it off, and play it: kiplab.run(..., kafka="zk-2.2", off=...). Is there harm?',
)


def _wrong_checks(letter: str, said: str) -> Slip:
    part, group = f"message {letter}", _pair(tuple(MESSAGES).index(letter))
    if said == BLANK:
        return still_open(part, group)
    missed = (check for check in _MISSED if check in needed(letter) - _set(said))
    idea, hint = next((_MISSED[check] for check in missed), _TOO_MANY)
    return Slip(part, hint, idea, group)
