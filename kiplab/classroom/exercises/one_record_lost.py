"""Exercise: lose exactly one record that a producer was told is written, and say which one."""

from __future__ import annotations

from collections.abc import Iterable

from ...engine.cluster import broker
from ...engine.truth import partition_of
from ...plays.stage import Stage
from ...plays.verdict import lost
from ...protocol.facts import LeaderElected
from ...protocol.ids import NO_LEADER
from ...protocol.replica.broker_state import log_of
from ...rows.client_records import EpochRecords, missing, told_written
from .answers import unfit
from .check_result import Checked
from .committed import PARTITION
from .own_runs import own_run, token_of

BEGINS = "unclean-election"
"""The play whose situation and rules the exercise begins with."""
POINTS = 3
_WANTED = "a run of your own and the offset that it lost, as in (lab, 17)"


def check_lose_one(answer: object) -> Checked:
    """Judge a run that begins as ``unclean-election`` does, and the offset of its lost record.

    The answer is the two of them: ``(lab, 17)``, or the lines of a play in place of the Lab.
    A point if a record is lost that acks=all acknowledged, after an unclean election; one if no
    other record is, and every disk is whole; one for the offset.
    """
    run, offset = _both(answer)
    if offset is None:
        return unfit(POINTS, f"Not answered yet: give {_WANTED}.")
    stage = own_run(run, BEGINS, POINTS)
    if isinstance(stage, Checked):
        return stage
    gone, promised = _gone(stage), _promised(stage)
    if not gone & promised:
        return _kept(stage, gone)
    if not _elected_uncleanly(stage):
        return _another_way(stage)
    return _lost(stage, gone, promised, offset)


# --- what the engine says -----------------------------------------------------------------------


def _gone(stage: Stage) -> set[int]:
    """Every committed record that a leader did not have when it took over."""
    spans = (item for item in lost(stage) if item["partition"] == PARTITION)
    return {offset for item in spans for offset in range(item["first"], item["last"] + 1)}


def _promised(stage: Stage) -> set[int]:
    """What producers by name were told is written, with acks=all."""
    told = (t for t in told_written(stage) if t.partition == PARTITION and t.acks_all)
    return _every(records for one in told for records in one.records)


def _lacked(stage: Stage) -> set[int]:
    """What acks=1 acknowledged, and whoever leads at the end has not."""
    state = partition_of(stage.cluster, PARTITION)
    leader = broker(stage.cluster, state.leader) if state is not None else None
    if leader is None:
        return set()
    told = (t for t in told_written(stage) if t.partition == PARTITION and not t.acks_all)
    parts = missing(log_of(leader, PARTITION), (r for one in told for r in one.records))
    return _every(parts)


def _every(parts: Iterable[EpochRecords]) -> set[int]:
    return {offset for part in parts for offset in range(part.first, part.last + 1)}


def _elected_uncleanly(stage: Stage) -> bool:
    return any(isinstance(e, LeaderElected) and e.unclean for e in stage.events)


def _disks(stage: Stage) -> int:
    """How many crashes took something of a disk."""
    done = (p.statement for p in stage.performed if p.not_applicable is None)
    return sum(s.arg("disk") not in (None, "kept") for s in done)


# --- what was answered --------------------------------------------------------------------------


def _both(answer: object) -> tuple[object, int | None]:
    """The run and the offset; None for an answer that names none."""
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        return answer, None
    return answer[0], _number(answer[1])


def _number(offset: object) -> int | None:
    if isinstance(offset, str) and offset.strip().isdecimal():
        return int(offset.strip()[:18])
    return offset if isinstance(offset, int) and not isinstance(offset, bool) else None


# --- what there is to say -----------------------------------------------------------------------


def _lost(stage: Stage, gone: set[int], promised: set[int], named: int) -> Checked:
    found = int(named in gone & promised)
    if len(gone) > 1:
        others = gone - promised
        whose = f", and {len(others)} of them no producer was told of" if others else ""
        message = f"{len(gone)} records are lost{whose}. One is wanted."
        hint = "How many does the producer send, after the last broker has left the ISR?"
        return _judged(stage, 1 + found, message, hint)
    if _disks(stage):
        message = "One record is lost, and something of a disk with it. No disk need suffer."
        hint = "A broker that is out of the ISR lacks records with its log whole."
        idea = "data is lost only where a disk is"
        return _judged(stage, 1 + found, message, hint, idea)
    if not found:
        return _judged(stage, 2, *_misnamed(gone, named))
    (offset,) = gone
    message = f"Acknowledged with acks=all, and gone: offset {offset}, and no other."
    return _judged(stage, POINTS, message)


def _misnamed(gone: set[int], named: int) -> tuple[str, str, str]:
    """(message, hint, idea)."""
    message = f"Exactly one record is lost, and it is not the one at offset {named}."
    (offset,) = gone
    if named == offset + 1:
        idea = "the log end offset is the offset of the last record"
        return message, "The log end offset is where the next record will be.", idea
    if named == offset - 1:
        idea = "the log end offset of the new leader is what it has still got"
        return message, "The new leader has that one. Which is the first that it lacks?", idea
    return message, "Watch the clients: what was acknowledged, and what does the leader lack?", ""


def _kept(stage: Stage, gone: set[int]) -> Checked:
    """No record is lost that acks=all acknowledged."""
    lacking = _lacked(stage)
    if gone:
        message = f"{_many(gone)} committed, and lost; but no producer was told of it by acks=all."
        hint = "Let a producer by name send it (Send, or producer= in the line), with acks=all."
        return _judged(stage, 0, message, hint)
    if lacking:
        message = f"{_many(lacking)} lost that acks=1 had acknowledged. That is no broken promise."
        hint = "acks=1 answers for the leader alone. When does acks=all do so too?"
        idea = "a record that is acknowledged is committed, whatever the acks"
        return _judged(stage, 0, message, hint, idea)
    message = "Nothing committed is lost."
    state = partition_of(stage.cluster, PARTITION)
    if state is not None and state.leader == NO_LEADER:
        hint = "Nobody leads, and whoever has the record keeps it. Who else could lead, if asked?"
        return _judged(stage, 0, message, hint)
    hint = "The new leader has every record. Let one be acknowledged that only broker 1 has."
    return _judged(stage, 0, message, hint)


def _another_way(stage: Stage) -> Checked:
    message = "Lost, but by another way: nobody was elected uncleanly."
    hint = "Leave the disks whole. Which election takes a broker from outside the ISR?"
    return _judged(stage, 0, message, hint)


def _many(records: set[int]) -> str:
    return "One record was" if len(records) == 1 else f"{len(records)} records were"


def _judged(
    stage: Stage, points: int, message: str, hint: str = "", misconception: str = ""
) -> Checked:
    return Checked(
        points=points,
        of=POINTS,
        message=message,
        hint=hint,
        misconception=misconception,
        token=token_of(stage),
    )
