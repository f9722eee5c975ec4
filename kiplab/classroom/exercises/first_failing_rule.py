"""The exercises of lab 03: eight requests to the controller, a shutdown, three honest refusals.

Which error, and which is the first rule that fails? The play EIGHT knows. What else is wrong with a
request is found by taking away the rules that come before.
"""

import re
from collections.abc import Iterator
from functools import cache, partial

import msgspec
from msgspec.structs import replace

from ...plays.stage import Stage
from ...plays.verdict import refused
from ...protocol.facts import Refused
from ...runs import run
from ..exercise_table import Exercise, UnfitError, exercise
from .answers import BLANK, OfExercise, PartsInOrder, Verdict, is_none
from .own_runs import OwnRun, header_of

EIGHT = "alter-partition-eight"
TAKEN = "-"
"""In place of a letter: no rule fails."""
LETTERS_OF_RULES = exercise("conversation/first-rule").letters
"""A letter for each rule, in alphabetical order: the order of the checks is the exercise."""
_LETTERS = {guard: letter for letter, guard in LETTERS_OF_RULES.items()}
_WRITTEN = {letter: letter for letter in LETTERS_OF_RULES} | {
    guard.upper(): letter for guard, letter in _LETTERS.items()
}
"""How a rule may be written in an answer: by its letter, or in full."""
ANSWERS = (
    *("NONE", "FENCED_LEADER_EPOCH", "INELIGIBLE_REPLICA", "INVALID_REQUEST"),
    *("INVALID_UPDATE_VERSION", "NOT_CONTROLLER", "STALE_BROKER_EPOCH"),
)
"""What a controller may answer here."""


class Ruling(msgspec.Struct, frozen=True):
    """What becomes of one request: the error's name, and the letter of the rule, or TAKEN."""

    error: str
    letter: str

    def __str__(self) -> str:
        return f"{self.error}/{self.letter}"


def rulings_of(stage: Stage) -> list[Ruling]:
    """The ruling on each request of a run, in order; BLANK for an unknown rule."""
    return [
        Ruling(r.error.name, _LETTERS.get(r.guard or "", BLANK)) if r else Ruling("NONE", TAKEN)
        for r in _refusals(stage)
    ]


@cache
def failing(number: int, kafka: str | None = None, play: str = EIGHT) -> str:
    """The letters of all rules that a request breaks, in the order in which they are entry.

    Each is found by taking away those that come before it.
    """
    # The play with one request, after the earlier requests that were accepted.
    whole = run(play, kafka=kafka).stage
    sent = [s for s in whole.play.statements if s.verb == "send"]
    before = zip(sent[: number - 1], rulings_of(whole), strict=False)
    taken = (s for s, ruling in before if ruling.letter == TAKEN)
    lines = (*header_of(whole.play), *taken, sent[number - 1])
    alone, off = replace(whole.play, statements=lines), list[str]()
    while True:
        *_, refusal = _refusals(run(alone, kafka=kafka, off=tuple(off)).stage)
        if refusal is None or refusal.guard is None:
            return "".join(_LETTERS[guard] for guard in off)
        off.append(refusal.guard)


def _refusals(stage: Stage, verb: str = "send") -> Iterator[Refused | None]:
    """Of each request that a line with this verb brings: its refusal, or None if it was taken."""
    for performed in stage.performed:
        if performed.statement.verb == verb:
            events = stage.events_of(performed)
            yield next((event for event in events if isinstance(event, Refused)), None)


def _ruling(part: str) -> Ruling:
    """The error and the letter of an answer, in any order, BLANK for one that is open."""
    error, letter, nothing = "", "", False
    for word in re.split(r"[\s,;:/+]+", part.upper()):
        if is_none(word):
            nothing = True
        elif word in ANSWERS and not error:
            error = word
        elif word in _WRITTEN and not letter:
            letter = _WRITTEN[word]
        elif word not in ("", BLANK):
            letters = f"The letters are {' '.join(LETTERS_OF_RULES)}."
            raise UnfitError(f"This is no error with a letter: {part[:60]!r}. {letters}")
    open_ = ("NONE", TAKEN) if nothing else (BLANK, BLANK)
    return Ruling(error or open_[0], letter or open_[1])


def _keys(play: str, place: int, mine: Ruling, true: Ruling, kafka: str | None) -> tuple[str, ...]:
    """Keys of feedback: the first failing rule beside the one that was named."""
    if BLANK in (mine.error, mine.letter):
        return ("half",)
    if mine.letter == true.letter:
        return ("error",)
    other = "broken" if mine.letter in failing(place + 1, kafka, play) else "other"
    return f"{true.letter} {mine.letter}", other


@OfExercise
def check_first_rule(entry: Exercise) -> PartsInOrder:
    """Error and first failing rule of each request of its play.

    Eight parts such as ``"FENCED_LEADER_EPOCH L"``, a letter of LETTERS_OF_RULES behind the error;
    ``"NONE -"`` for a request that is taken. A point for each of which both are right.
    """
    return PartsInOrder(
        read=lambda given: [_ruling(part) for part in given],
        true=lambda kafka: rulings_of(run(entry.source, kafka=kafka).stage),
        keys=partial(_keys, entry.source),
        token=lambda kafka: run(entry.source, kafka=kafka).token,
    )


@cache
def _shut_down(*plays: str) -> tuple[str, ...]:
    """Three errors, two leaders and an ISR, by the plays before a shutdown and during it."""
    before, during = map(run, plays)
    first, *_ = _refusals(before.stage, "deliver")
    errors = (r.error.name if r else "NONE" for r in (first, *_refusals(during.stage, "deliver")))
    clicks, bills = ({p["name"]: p for p in during.partitions}[n] for n in ("clicks-0", "bills-0"))
    leaders = (str(p["leader"]).replace("-1", "NONE") for p in (clicks, bills))
    return *errors, *leaders, "".join(map(str, bills["isr"]))


@OfExercise
def check_shutting_down(entry: Exercise) -> PartsInOrder:
    """Errors, leaders and the members of an ISR: ``["NONE", ..., "3", "none", "{1, 2}"]``."""
    return PartsInOrder(
        read=lambda words: [
            "NONE" if is_none(word) else re.sub(r"[^\w?]", "", word.upper()) for word in words
        ],
        true=lambda: _shut_down(*map(entry.play, entry.plays)),
    )


_HINTED = ("INELIGIBLE_REPLICA", "FENCED_LEADER_EPOCH", "STALE_BROKER_EPOCH")
"""The errors to which a hint leads, while they are not there yet."""


@OwnRun
def check_refusals(stage: Stage) -> Verdict:
    """A run in which AlterPartition is refused: a point for each error, up to three."""
    met = [str(r["error"]) for r in refused(stage) if r["request"] == "alter-partition"]
    errors = list(dict.fromkeys(met))
    if not errors:
        return "none"
    missing = [error for error in _HINTED if error not in errors]
    values: dict[str, object] = {"errors": ", ".join(errors)}
    if len(met) > len(errors) and missing:
        values["misconception"] = "every late request gets the same error"
    if len(errors) >= len(_HINTED):
        return "enough", values
    return missing[0], {**values, "points": len(errors)}
