"""Exercises on KAFKA-14139: the window, the two KIPs, the last replica. Plays have the answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from ...plays.verdict import lost, refused
from ...protocol.facts import Truncated
from ...runs import Run, run
from .answers import BLANK, Slip, in_order, is_none, still_open, summed, unfit
from .check_result import Checked

RACE, LAST = "kafka-14139", "last-replica"
RELEASES = ("3.2", "3.4", "3.5")
ARRIVALS = {str(n): f"kafka-14139-after-step-{n}" for n in range(1, 6)}
"""The play in which the request arrives after each of the race's first five steps."""
MOMENTS = {"F": "841-by-903-while-fenced", "R": "841-by-903-after-return"}
"""The request arrives while broker 2 is **f**enced, or when it has **r**eturned."""
RULES: dict[str, tuple[str, ...]] = {
    "neither": ("841", "903"),
    "841 only": ("903",),
    "903 only": ("841",),
    "both": (),
}
"""Name of each of the four rule sets: (what is switched off)."""


def check_window(answer: object) -> Checked:
    """Judge five parts: from and to of the risk in ``kafka-14139`` on 3.4, then losing arrivals.

    The risk lasts [from, to) in steps; an arrival is a digit of ARRIVALS, ``"-"`` is none of them,
    and there is a word for each of RELEASES: ``[6, 8, "345", "5", "-"]`` has the right shape.
    """
    given = in_order(answer, 5, "parts: from, to, and the arrivals for 3.2, 3.4 and 3.5")
    if isinstance(given, Checked):
        return given
    if (strange := _strange(given[2:], ARRIVALS, 5, "arrival")) is not None:
        return strange
    slips = _wrong_span(given[:2])
    for release, said in zip(RELEASES, given[2:], strict=True):
        slips += _wrong_arrivals(release, said, losing(release))
    praise = "From its acceptance to the election: that is the window, and 3.5 has closed it."
    return summed(5, slips, praise)


def check_two_by_two(answer: object) -> Checked:
    """Judge which MOMENTS lose data under each of RULES, in their order: ``"FR"``, ``"-"``."""
    given = in_order(answer, len(RULES), "words, one for each set of rules")
    if isinstance(given, Checked):
        return given
    if (strange := _strange(given, MOMENTS, len(RULES), "moment")) is not None:
        return strange
    slips = [
        _wrong_cell(rules, said, losses(rules))
        for rules, said in zip(RULES, given, strict=True)
        if said == BLANK or _letters(said) != losses(rules)
    ]
    return summed(len(RULES), slips, "Each closes a hole that the other leaves open.")


def check_last_replica(answer: object) -> Checked:
    """Judge three parts about ``last-replica``, offsets as ``"0-99"``.

    The committed offsets that vanish, those that broker 3 throws away, and how many requests
    KIP-903 refuses; ``"-"`` and ``"none"`` are no offsets, and 0.
    """
    given = in_order(answer, 3, "parts: offsets, offsets, and a number")
    if isinstance(given, Checked):
        return given
    found = run(LAST)
    truth = last_replica(found)
    said = [*map(_range, given[:2]), _number(given[2])]
    slips = [
        _wrong_part(place, part)
        for place, (part, true) in enumerate(zip(said, truth, strict=True), 1)
        if part != true
    ]
    praise = "All that was committed is gone, and no request was ever wrong."
    return summed(3, slips, praise, found.token)


# --- what the engine says -----------------------------------------------------------------------


@cache
def at_risk() -> tuple[int, int]:
    """[from, to) in steps: when committed records of the race on 3.4 are at risk."""
    spans = run(RACE, kafka="3.4").rows().spans
    return next((s.x0, s.x1) for s in spans if s.lane == "records" and s.value == "at risk")


@cache
def losing(release: str) -> frozenset[str]:
    """The ARRIVALS that lose data on a release."""
    verdicts = {n: run(play, kafka=release).verdict for n, play in ARRIVALS.items()}
    return frozenset(n for n, verdict in verdicts.items() if verdict == "loss")


@cache
def losses(rules: str) -> frozenset[str]:
    """The MOMENTS that lose data under one of RULES."""
    runs = {letter: run(play, off=RULES[rules]) for letter, play in MOMENTS.items()}
    return frozenset(letter for letter, found in runs.items() if found.verdict == "loss")


def last_replica(found: Run) -> tuple[str, str, str]:
    """(committed offsets lost, offsets that broker 3 truncates, refusals by KIP-903)."""
    (gone,) = lost(found.stage)
    (cut,) = (e for e in found.events if isinstance(e, Truncated) and e.node == 3)
    stopped = sum(str(r["guard"]).startswith("903.") for r in refused(found.stage))
    return f"{gone['first']}-{gone['last']}", f"{cut.first}-{cut.last}", str(stopped)


# --- reading answers ----------------------------------------------------------------------------


def _letters(said: str) -> frozenset[str]:
    if is_none(said):
        return frozenset()
    return frozenset(letter for letter in said.upper() if letter.isalnum())


def _strange(given: list[str], known: Mapping[str, str], of: int, what: str) -> Checked | None:
    """The verdict on an answer that names something there is none of."""
    strange = sorted({letter for said in given for letter in _letters(said)} - set(known))
    if not strange:
        return None
    named, all_ = ", ".join(strange[:5]), " ".join(known)
    return unfit(of, f"There is no {what} {named}. Use {all_}, or - for none.")


def _range(said: str) -> str:
    """``"0..99"``, ``"0 - 99"`` and ``"offsets 0 to 99"`` are ``"0-99"``; a number is itself."""
    numbers = re.findall(r"\d+", said)
    return "-".join(numbers) if numbers else said.lower()


def _number(said: str) -> str:
    """``"none"`` is no request at all."""
    return "0" if is_none(said) else _range(said)


# --- wrong answers ------------------------------------------------------------------------------


_FROM = {
    "1": (
        "a proposed member counts as a member",
        "At step 1 broker 2 is proposed. Who may be elected, before the controller has decided?",
    ),
    "2": (
        "a lost disk puts committed records at risk at once",
        "Broker 2 was out of the ISR when it lost its disk. Could it have been elected?",
    ),
    "5": (
        "an empty broker is a danger as soon as it is alive",
        "Alive is not enough. Only a member of the ISR is elected cleanly.",
    ),
    "7": (
        "the risk begins when the leader dies",
        "At step 7 it is too late. From which step on could a crash of broker 1 have hurt?",
    ),
}
_TO = {
    "7": (
        "records are lost when the leader dies",
        "A dead leader comes back with its log. What decides that its log does not count?",
    ),
    "11": (
        "records are lost when the last copy is thrown away",
        "Broker 1 throws them away because somebody else leads without them. Since when?",
    ),
}


def _wrong_span(given: list[str]) -> list[Slip]:
    """The slips of from and to."""
    slips = []
    asked = (("from", _FROM), ("to", _TO))
    for (part, ideas), said, true in zip(asked, given, at_risk(), strict=True):
        if _range(said) != str(true):
            hint = "Read the strip committed records: where does *at risk* begin and end?"
            idea, hint = ideas.get(_range(said), ("", hint))
            slips.append(Slip(part, hint, idea, "from and to"))
    return slips


def _wrong_arrivals(release: str, given: str, true: frozenset[str]) -> list[Slip]:
    """The slip of one release, or none."""
    part = f"arrivals on {release}"
    if given == BLANK:
        return [still_open(part, "the arrivals")]
    if _letters(given) == true:
        return []
    hint, idea = _arrivals_idea(release, _letters(given), true)
    return [Slip(part, hint, idea, "the arrivals")]


def _arrivals_idea(release: str, said: frozenset[str], true: frozenset[str]) -> tuple[str, str]:
    """(hint, idea) about the wrong arrivals of a release."""
    extra, missing = said - true, true - said
    if extra & {"1", "2"}:
        hint = "Accepted so early, broker 2 is in the ISR when it is fenced. What does that write?"
        return hint, "a dead broker that was let in stays in"
    if missing and release == RELEASES[0]:
        hint = "Broker 2 was out of the ISR when it was fenced. Was there anything to write?"
        return hint, "fencing always bumps the partition epoch"
    if missing:
        hint = "KIP-841 asks whether broker 2 is fenced when the request arrives. After step 5?"
        return hint, "KIP-841 keeps a broker out once it has been fenced"
    if release == RELEASES[-1]:
        hint = "On 3.5 the request says which life of broker 2 it speaks of."
        return hint, "an old request looks the same in a new life"
    hint = "At which of these moments is broker 2 fenced? That is what KIP-841 looks at."
    return hint, "a rule of 3.3 needs the broker epochs of 3.5"


def _wrong_cell(rules: str, given: str, true: frozenset[str]) -> Slip:
    """The slip of one of the four cells."""
    group = "KIP-903 off" if "903" in RULES[rules] else "KIP-903 on"
    if given == BLANK:
        return still_open(rules, group)
    hint, idea = _cell_idea(rules, true - _letters(given))
    return Slip(rules, hint, idea, group)


def _cell_idea(rules: str, missing: frozenset[str]) -> tuple[str, str]:
    """(hint, idea) about a wrong cell, in which these moments are `missing`."""
    if rules == "903 only" and "F" in missing:
        hint = "While broker 2 is fenced it has not registered again. Which epoch is on record?"
        return hint, "KIP-903 makes KIP-841 superfluous"
    if rules == "841 only" and "R" in missing:
        hint = "KIP-841 asks whether broker 2 is fenced *now*. Is it, when it has returned?"
        return hint, "KIP-841 keeps a broker out once it has been fenced"
    if rules == "neither":
        hint = "Which epoch of the partition moves when a broker outside the ISR is fenced?"
        return hint, "fencing always bumps the partition epoch"
    if rules == "both":
        return "At F one rule answers, at R the other. Which?", "two rules leave the holes of both"
    hint = "Take the two moments one by one: what does this rule compare, and what is on record?"
    return hint, ""


def _wrong_part(number: int, said: str) -> Slip:
    part = ("offsets lost", "offsets thrown away", "refusals")[number - 1]
    ideas = {
        (1, "80-99"): (
            "what another replica still has is not lost",
            "Broker 3 has 0-79, but it does not lead. What does the leader have?",
        ),
        (1, "0-100"): (
            "a log that ends at 100 has a record at offset 100",
            "The log end is where the next record goes.",
        ),
        (2, "0-80"): (
            "a log that ends at 80 has a record at offset 80",
            "The log end is where the next record goes.",
        ),
        (2, "80-99"): (
            "a follower keeps what the leader has lost",
            "Broker 3 never had these. A follower cuts its log back to where the two logs part.",
        ),
        (3, "1"): (
            "KIP-903 looks at every broker that comes back",
            "KIP-903 compares epochs in AlterPartition. Did anybody ask to change the ISR?",
        ),
    }
    where = "Look at the line LOST, and at the line ✂." if number < 3 else "Count the refusals (⊘)."
    idea, hint = ideas.get((number, said), ("", where))
    return Slip(part, hint, idea, "the offsets" if number < 3 else "the refusals")
