"""Exercise of lab 06: lose exactly one record that was acknowledged, and say which one."""

from collections.abc import Iterable

from ...engine.cluster import broker
from ...plays.stage import Stage
from ...plays.verdict import lost
from ...protocol.facts import LeaderElected
from ...protocol.ids import NO_LEADER
from ...protocol.replica.broker_state import log_of
from ...rows.client_records import EpochRecords, missing, told_written
from ..exercise_table import UnfitError
from .answers import Verdict, WholeAnswer
from .committed import PARTITION, state_of
from .own_runs import done, own_run, token_of

BEGINS = "unclean-election"
"""The play whose situation and rules the exercise begins with."""


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


@WholeAnswer
def check_lose_one(answer: object) -> Verdict:
    """A run that begins as BEGINS does, and the offset of its lost record: ``(lab, 17)``.

    A point if a record is lost that acks=all acknowledged, after an unclean election; one if no
    other record is, and every disk is whole; one for the offset.
    """
    run, offset = _both(answer)
    if offset is None:
        wanted = "a run of your own and the offset that it lost, as in (lab, 17)"
        raise UnfitError(f"Not answered yet: give {wanted}.")
    stage = own_run(run, BEGINS)
    key, values = _verdict(stage, offset)
    return key, {**values, "named": offset, "token": token_of(stage)}


def _both(answer: object) -> tuple[object, int | None]:
    """The run and the offset; None for an answer that names none."""
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        return answer, None
    return answer[0], _number(answer[1])


def _number(offset: object) -> int | None:
    if isinstance(offset, str) and offset.strip().isdecimal():
        return int(offset.strip()[:18])
    return offset if isinstance(offset, int) and not isinstance(offset, bool) else None


def _verdict(stage: Stage, named: int) -> tuple[str, dict[str, object]]:
    gone, promised = _gone(stage), _promised(stage)
    if not gone & promised:
        return _kept(stage, gone)
    if not _elected_uncleanly(stage):
        return "another way", {}
    points = 1 + (named in gone & promised)
    if len(gone) > 1:
        others = len(gone - promised)
        whose = f", and {others} of them no producer was told of" if others else ""
        return "too many", {"points": points, "count": len(gone), "whose": whose}
    if _disks(stage):
        return "disk", {"points": points}
    (offset,) = gone
    misnamed = {offset: "right", offset + 1: "one too high", offset - 1: "one too low"}
    return misnamed.get(named, "another offset"), {"offset": offset}


def _kept(stage: Stage, gone: set[int]) -> tuple[str, dict[str, object]]:
    """No record is lost that acks=all acknowledged."""
    lacking = _lacked(stage)
    if gone:
        return "not promised", {"records": _many(gone)}
    if lacking:
        return "acks=1", {"records": _many(lacking)}
    return "nobody leads" if state_of(stage.cluster).leader == NO_LEADER else "kept", {}


def _many(records: set[int]) -> str:
    return "One record was" if len(records) == 1 else f"{len(records)} records were"
