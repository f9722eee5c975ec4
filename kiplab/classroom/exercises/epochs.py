"""Exercises: which epochs does an event move, and which one refuses a stale message?"""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.cluster import Cluster
from ...engine.truth import truth
from ...plays.stage import Stage
from ...protocol.facts import Refused
from ...runs import run
from .answers import BLANK, Slip, half, in_order, is_none, moments, still_open, summed, unfit
from .check_result import Checked

TWELVE, FENCES = "epochs-twelve", "epochs-fences"
FETCH = 4
"""Which of the messages of ``epochs-fences`` is the fetch."""
EPOCHS = {"C": "controller epoch", "B": "broker epoch", "L": "leader epoch", "P": "partition epoch"}
"""A letter for each epoch."""


def check_epochs(answer: object, kafka: str | None = None) -> Checked:
    """Judge which epochs each of the twelve events of ``epochs-twelve`` moves.

    One word per event: ``"LP"`` for the leader and the partition epoch, ``"-"`` for none.
    `kafka` is a release, perhaps with a metadata version: ``"3.6/3.5-IV2"``.
    """
    found = run(TWELVE, kafka=kafka)
    events = epochs_moved(found.stage)
    given = in_order(answer, len(events), "words, one for each event")
    if isinstance(given, Checked):
        return given
    if (unknown := _unknown(given)) is not None:
        return unknown
    slips = [
        _wrong_event(place, text, said, moved, half(place, len(events), "events"))
        for place, ((text, moved), said) in enumerate(zip(events, given, strict=True), 1)
        if said == BLANK or _set(said) != moved
    ]
    return summed(len(events), slips, "All twelve events are right.", found.token)


def check_fences(answer: object, kafka: str | None = None) -> Checked:
    """Judge which epoch gives each message of ``epochs-fences`` away: a letter of EPOCHS each."""
    found = run(FENCES, kafka=kafka)
    fences = fenced_by(found.stage)
    given = in_order(answer, len(fences), "letters, one for each message")
    if isinstance(given, Checked):
        return given
    if (unknown := _unknown(given)) is not None:
        return unknown
    slips = [
        _wrong_fence(place, fence, said.upper(), half(place, len(fences), "messages"))
        for place, (fence, said) in enumerate(zip(fences, given, strict=True), 1)
        if said.upper() != fence
    ]
    return summed(len(fences), slips, "Each number guards against another past.", found.token)


# --- what the engine says -----------------------------------------------------------------------


def epochs_moved(stage: Stage) -> list[tuple[str, frozenset[str]]]:
    """(the line, the letters of the epochs that it moved) for each line that did something."""
    before, moved = stage.history.start, []
    for performed, after in moments(stage):
        changed = (a != b for a, b in zip(_epochs(before), _epochs(after), strict=True))
        letters = (letter for letter, change in zip("CBLP", changed, strict=True) if change)
        moved.append((performed.statement.text, frozenset(letters)))
        before = after
    return moved


def fenced_by(stage: Stage) -> list[str]:
    """The letter of the epoch that was compared, for each refusal in turn."""
    names = (e.compared[0].name for e in stage.events if isinstance(e, Refused) and e.compared)
    return [_letter(name) for name in names]


def _epochs(cluster: Cluster) -> tuple[object, ...]:
    now = truth(cluster)
    return (
        now.controller_epoch,
        tuple((r.broker, r.epoch) for r in now.registrations),
        tuple(p.leader_epoch for p in now.partitions),
        tuple(p.partition_epoch for p in now.partitions),
    )


def _letter(name: str) -> str:
    """``"broker 1 epoch"`` is B."""
    return next(letter for letter, epoch in EPOCHS.items() if name.split()[0] == epoch.split()[0])


# --- wrong answers ------------------------------------------------------------------------------


def _set(said: str) -> frozenset[str]:
    if is_none(said):
        return frozenset()
    return frozenset(letter for letter in said.upper() if letter.isalpha())


def _unknown(given: Sequence[str]) -> Checked | None:
    strange = sorted({letter for said in given for letter in _set(said)} - set(EPOCHS))
    if not strange:
        return None
    letters = ", ".join(f"{letter} ({epoch})" for letter, epoch in EPOCHS.items())
    return unfit(len(given), f"There is no epoch {', '.join(strange[:5])}. Use {letters}.")


def _wrong_event(number: int, text: str, said: str, moved: frozenset[str], group: str) -> Slip:
    part = f"event {number} ({text})"
    if said == BLANK:
        return still_open(part, group)
    misconception, hint = _idea(text.split()[0], _set(said), moved)
    return Slip(part, hint, misconception, group)


def _wrong_fence(number: int, fence: str, said: str, group: str) -> Slip:
    misconception, hint = _fence_idea(number, fence, said)
    return Slip(f"message {number}", hint, misconception, group)


_COMPARE = "Hold each number of the message against the one that is on record. Which is too old?"


def _fence_idea(number: int, fence: str, said: str) -> tuple[str, str]:
    """(the idea behind it, what to look at)."""
    if said == "C":
        return "every request carries the controller epoch", _COMPARE
    if fence == "B":
        return "a broker's earlier life shows in the partition's epochs", _COMPARE
    if number == FETCH and said == "P":
        hint = "A fetch changes nothing, so it names no version. Which number does it carry?"
        return "a fetch is checked like AlterPartition", hint
    if (fence, said) == ("L", "P"):
        return "an old leader is kept out by the partition epoch", _COMPARE
    if (fence, said) == ("P", "L"):
        return "every version of a partition is a reign of its own", _COMPARE
    return "", _COMPARE


def _idea(verb: str, said: frozenset[str], moved: frozenset[str]) -> tuple[str, str]:
    """(the idea behind it, what to look at)."""
    extra, missing = said - moved, moved - said
    if verb == "crash" and extra:
        return "a crash is noticed at once", "Nobody is told of a crash. What ends a session?"
    if verb == "expire" and "P" in extra:
        return (
            "fencing always bumps the partition epoch",
            "Was the broker in the ISR? If not, there is nothing to write about the partition.",
        )
    if verb in ("expire", "catch-up") and "L" in extra:
        return (
            "the leader epoch changes on every ISR change",
            "The leader epoch moves when a record sets the leader. Did this one?",
        )
    if verb == "expire" and "L" in missing:
        return (
            "a new leader epoch needs a new leader",
            "Before metadata version 3.6-IV0 a shrink writes the leader anew, even the same one.",
        )
    if verb == "start" and extra & {"L", "P"}:
        return (
            "a registration touches the broker's partitions",
            "A registration writes one record, about the broker.",
        )
    if verb == "unfence" and "B" in extra:
        return "unfencing is a new life", "The broker epoch is minted at registration."
    if verb == "fail-over" and extra:
        return (
            "a new controller elects the leaders anew",
            "The new controller takes over the partitions as the metadata log has them.",
        )
    return "", "Step through the play, and watch the four rows."
