"""Exercise of lab 06: lose exactly one record that was acknowledged, and say which one."""

from collections.abc import Iterable

from ...engine.cluster import broker
from ...plays.stage import Stage
from ...plays.verdict import lost
from ...protocol.facts import LeaderElected
from ...protocol.ids import NO_LEADER
from ...protocol.replica.broker_state import log_of
from ...rows.client_records import EpochRecords, missing, told_written
from .answers import UnfitError, WholeAnswer
from .check_result import Checked
from .committed import PARTITION, state_of
from .own_runs import RunVerdict, as_checked, done, own_run

BEGINS = "unclean-election"
"""The play whose situation and rules the exercise begins with."""
POINTS = 3


# --- what the engine says -----------------------------------------------------------------------


def _gone(stage: Stage) -> set[int]:
    """Every committed record that a leader did not have when it took over."""
    spans = (item for item in lost(stage) if item["partition"] == PARTITION)
    return {offset for item in spans for offset in range(item["first"], item["last"] + 1)}


def _promised(stage: Stage) -> set[int]:
    """What producers by name were told is written, with acks=all."""
    answers = (t for t in told_written(stage) if t.partition == PARTITION and t.acks_all)
    return _every(records for answer in answers for records in answer.records)


def _lacked(stage: Stage) -> set[int]:
    """What acks=1 acknowledged, and whoever leads at the end has not."""
    leader = broker(stage.cluster, state_of(stage.cluster).leader)
    if leader is None:
        return set()
    answers = (t for t in told_written(stage) if t.partition == PARTITION and not t.acks_all)
    records = (r for answer in answers for r in answer.records)
    return _every(missing(log_of(leader, PARTITION), records))


def _every(parts: Iterable[EpochRecords]) -> set[int]:
    return {offset for part in parts for offset in range(part.first, part.last + 1)}


def _elected_uncleanly(stage: Stage) -> bool:
    return any(isinstance(e, LeaderElected) and e.unclean for e in stage.events)


def _disks(stage: Stage) -> int:
    """How many crashes took something of a disk."""
    return sum(s.arg("disk") not in (None, "kept") for s in done(stage))


# --- what there is to say -------------------------------------------------------------------------


def _judged(answer: object) -> Checked:
    run, offset = _both(answer)
    if offset is None:
        wanted = "a run of your own and the offset that it lost, as in (lab, 17)"
        raise UnfitError(f"Not answered yet: give {wanted}.")
    stage = own_run(run, BEGINS)
    return as_checked(stage, POINTS, _verdict(stage, offset))


def _both(answer: object) -> tuple[object, int | None]:
    """The run and the offset; None for an answer that names none."""
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        return answer, None
    return answer[0], _number(answer[1])


def _number(offset: object) -> int | None:
    if isinstance(offset, str) and offset.strip().isdecimal():
        return int(offset.strip()[:18])
    return offset if isinstance(offset, int) and not isinstance(offset, bool) else None


def _verdict(stage: Stage, offset: int) -> RunVerdict:
    gone, promised = _gone(stage), _promised(stage)
    if not gone & promised:
        return _kept(stage, gone)
    if not _elected_uncleanly(stage):
        message = "Lost, but by another way: nobody was elected uncleanly."
        hint = "Leave the disks whole. Which election takes a broker from outside the ISR?"
        return RunVerdict(0, message, hint)
    return _lost(stage, gone, promised, offset)


def _lost(stage: Stage, gone: set[int], promised: set[int], named: int) -> RunVerdict:
    points = 1 + (named in gone & promised)
    if len(gone) > 1:
        others = gone - promised
        whose = f", and {len(others)} of them no producer was told of" if others else ""
        message = f"{len(gone)} records are lost{whose}. One is wanted."
        hint = "How many does the producer send, after the last broker has left the ISR?"
        return RunVerdict(points, message, hint)
    if _disks(stage):
        message = "One record is lost, and something of a disk with it. No disk need suffer."
        hint = "A broker that is out of the ISR lacks records with its log whole."
        idea = "data is lost only where a disk is"
        return RunVerdict(points, message, hint, idea)
    if points == 1:
        return RunVerdict(2, *_misnamed(gone, named))
    (offset,) = gone
    message = f"Acknowledged with acks=all, and gone: offset {offset}, and no other."
    return RunVerdict(POINTS, message)


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


def _kept(stage: Stage, gone: set[int]) -> RunVerdict:
    """No record is lost that acks=all acknowledged."""
    lacking = _lacked(stage)
    if gone:
        message = f"{_many(gone)} committed, and lost; but no producer was told of it by acks=all."
        hint = "Let a producer by name send it (Send, or producer= in the line), with acks=all."
        return RunVerdict(0, message, hint)
    if lacking:
        message = f"{_many(lacking)} lost that acks=1 had acknowledged. That is no broken promise."
        hint = "acks=1 answers for the leader alone. When does acks=all do so too?"
        idea = "a record that is acknowledged is committed, whatever the acks"
        return RunVerdict(0, message, hint, idea)
    message = "Nothing committed is lost."
    if state_of(stage.cluster).leader == NO_LEADER:
        hint = "Nobody leads, and whoever has the record keeps it. Who else could lead, if asked?"
        return RunVerdict(0, message, hint)
    hint = "The new leader has every record. Let one be acknowledged that only broker 1 has."
    return RunVerdict(0, message, hint)


def _many(records: set[int]) -> str:
    return "One record was" if len(records) == 1 else f"{len(records)} records were"


check_lose_one = WholeAnswer(of=POINTS, judged=_judged)
"""A run that begins as BEGINS does, and the offset of its lost record: ``(lab, 17)``.

A point if a record is lost that acks=all acknowledged, after an unclean election; one if no other
record is, and every disk is whole; one for the offset.
"""
