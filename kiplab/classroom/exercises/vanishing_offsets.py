"""Exercises of lab 06: who may change the leader recovery state, which offsets vanish with an
unclean election, what consumers notice, and one record lost on purpose.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache, partial

import msgspec

from ...engine import consumers, events
from ...engine.cluster import Cluster, broker
from ...plays.play import Play
from ...plays.stage import Stage
from ...plays.verdict import lost
from ...protocol import facts, ids
from ...protocol.replica.broker_state import Broker, log_of, replica_of
from ...rows.client_records import EpochRecords, acknowledged_records, missing, stretches
from ...runs import run
from ..exercise_table import Exercise, UnfitError, exercise
from . import answers
from .answers import PARTS_MAX, PartsInOrder, Verdict, WholeAnswer, is_none, letters_among, moments
from .committed import PARTITION, played, state_of
from .first_failing_rule import ANSWERS, rulings_of
from .own_runs import done, own_run, token_of

VANISHING_RUN = exercise("recovery/vanishing").situation
"""Broker 2 has what it fetched once, and does not know yet that it was committed."""
OLD, NEW = ids.BrokerId(1), ids.BrokerId(2)
_WANTED = 'the offsets, as in "10..19", or - for none'


class Vanishing(msgspec.Struct, frozen=True):
    """A run, what it lost, and the numbers that are taken for that.

    `end` is where the old leader's log ended; `epoch` where the leader epoch of its last records
    begins; `known_mark` the high watermark that the new leader knew of.
    """

    stage: Stage
    first: int
    last: int
    end: int
    epoch: int
    known_mark: int


def vanishing(play: str = VANISHING_RUN) -> Vanishing:
    """A play, played: everything in it is read off the run."""
    stage = played(play, "which offsets vanish")
    (lost,) = (event for event in stage.events if isinstance(event, events.CommittedLost))
    log = log_of(_node(stage.cluster, OLD), PARTITION)
    (fetched,) = (c for p, c in moments(stage) if p.statement.text == "fetch 2")
    replica = replica_of(_node(fetched, NEW), PARTITION)
    assert replica is not None
    known = (log.end, log.epochs[-1].offset, replica.high_watermark)
    return Vanishing(stage, lost.first, lost.last, *known)


def _node(cluster: Cluster, id: ids.BrokerId) -> Broker:
    node = broker(cluster, id)
    assert node is not None, "these plays end with every broker up"
    return node


@answers.OfExercise
def check_vanishing(entry: Exercise) -> WholeAnswer:
    """Which offsets of its play vanish: ``"10..19"``, a range, or every one of them.

    A point for the first of them, one for the last.
    """
    run = vanishing(entry.source)
    return WholeAnswer(partial(_vanished, run), lambda: f"{run.first}..{run.last}")


def _vanished(run: Vanishing, answer: object) -> Verdict:
    named = _named(answer)
    token = token_of(run.stage)
    if named == set(range(run.first, run.last + 1)):
        return "right", {"first": run.first, "last": run.last, "token": token}
    first, last = min(named, default=-1), max(named, default=-1)
    whole = named == set(range(max(first, 0), last + 1))
    points = (first == run.first) + (last == run.last) if whole else 0
    key = _wrong(first, last, run) if named else "none"
    offset = last if key == "beyond" else first
    return key, {"points": points, "named": offset, "token": token}


def _named(answer: object) -> set[int]:
    """The offsets that an answer names. Raises UnfitError if it names none and says no "none"."""
    if isinstance(answer, str):
        return set() if is_none(answer) and answer.strip() != "0" else _read(answer)
    if isinstance(answer, range | list | tuple | set | frozenset) and len(answer) <= PARTS_MAX:
        return _read(" ".join(str(part) for part in answer))
    raise UnfitError(f"Not answered yet: give {_WANTED}.")


_SPAN = r"([0-9]{1,9})(?:\s*(?:\.\.|-|\u2013|to)\s*([0-9]{1,9}))?"
_TEXT = re.compile(rf"\s*(?:offsets?\s+)?{_SPAN}(?:[\s,;]+{_SPAN})*\s*")


def _read(text: str) -> set[int]:
    if _TEXT.fullmatch(text) is None:
        raise UnfitError(f"Not answered yet: give {_WANTED}.")
    ends = [(int(first), int(last or first)) for first, last in re.findall(_SPAN, text)]
    if any(last - first > PARTS_MAX for first, last in ends):
        raise UnfitError(f"No log here is as long as that: give {_WANTED}.")
    return {offset for first, last in ends for offset in range(first, last + 1)}


def _wrong(first: int, last: int, run: Vanishing) -> str:
    begins = {0: "all", run.epoch: "epoch", run.known_mark: "high watermark"}
    if first in begins and first != run.first:
        return begins[first]
    if (first, last) == (run.first, run.end):
        return "end"
    return "beyond" if last > run.last else "other"


REQUESTS = "704-six-requests"
"""AlterPartition while the state is RECOVERING, and when it is RECOVERED."""
check_recovery_requests = PartsInOrder(
    read=letters_among(ANSWERS, ", ".join(ANSWERS)),
    true=lambda: [ruling.error for ruling in rulings_of(run(REQUESTS).stage)],
    token=lambda: run(REQUESTS).token,
)
"""What the controller answers to each request of REQUESTS: NONE, or the name of an error."""


PLAY = "704-consumers"
VALIDATION = "320.validated-position"
CONSUMERS = (
    ("before", ()),
    ("cautious", ()),
    ("forgetful", ()),
    ("newcomer", ()),
    ("forgetful", (VALIDATION,)),
)
"""The broker of each question, and the guards that are off."""
NOTHING, BACK, THROWS, UNSEEN = "N", "B", "X", "S"
"""Has nothing to notice; is told, and goes **b**ack; throws; does not notice (**s**ilently)."""


@cache
def noticed(consumer: str, off: tuple[str, ...]) -> str:
    """The letter of a consumer of PLAY, with these guards off."""
    stage = run(PLAY, off=off).stage
    if any(isinstance(e, facts.ConsumerRaised) and e.consumer == consumer for e in stage.events):
        return THROWS
    if any(isinstance(e, facts.PositionTruncated) and e.consumer == consumer for e in stage.events):
        return BACK
    reader = consumers.consumer_of(stage.cluster, consumer, PARTITION)
    assert reader is not None, "every consumer asked about is one of the play"
    log = log_of(_node(stage.cluster, state_of(stage.cluster).leader), PARTITION)
    return UNSEEN if missing(log, stretches(reader.observed)) else NOTHING


check_what_they_notice = PartsInOrder(
    read=letters_among((NOTHING, BACK, THROWS, UNSEEN), "N, B, X or S"),
    true=lambda: [noticed(*consumer) for consumer in CONSUMERS],
)
"""A letter for each of CONSUMERS, in order: N, B, X or S."""


def _acknowledged(stage: Stage, *, acks_all: bool) -> Iterator[EpochRecords]:
    """Records that were acknowledged to named producers with acks=all, or with acks=1."""
    for answer in acknowledged_records(stage):
        if (answer.partition, answer.acks_all) == (PARTITION, acks_all):
            yield from answer.records


def lacked(stage: Stage) -> set[int]:
    """Records that acks=1 acknowledged and the last leader does not have."""
    leader = broker(stage.cluster, state_of(stage.cluster).leader)
    records = _acknowledged(stage, acks_all=False)
    return _every(missing(log_of(leader, PARTITION), records)) if leader is not None else set()


def _every(parts: Iterable[EpochRecords]) -> set[int]:
    return {offset for part in parts for offset in range(part.first, part.last + 1)}


@answers.OfExercise
def check_lose_one(entry: Exercise) -> WholeAnswer:
    """A run that begins as its play does, and the offset of its lost record: ``(lab, 17)``.

    A point if a record is lost that acks=all acknowledged, after an unclean election; one if no
    other record is, and every disk is whole; one for the offset. Raises UnfitError for what is no
    such pair.
    """
    return WholeAnswer(partial(_lost_one, entry.own_play))


def _lost_one(begins: Play, answer: object) -> Verdict:
    pair = answer if isinstance(answer, tuple | list) and len(answer) == 2 else (answer, None)
    run, offset = pair
    if isinstance(offset, str) and offset.strip().isdecimal():
        offset = int(offset.strip()[:18])
    if not isinstance(offset, int) or isinstance(offset, bool):
        wanted = "a run of your own and the offset that it lost, as in (lab, 17)"
        raise UnfitError(f"Not answered yet: give {wanted}.")
    stage = own_run(run, begins)
    key, values = _verdict(stage, offset)
    return key, {**values, "named": offset, "token": token_of(stage)}


def _verdict(stage: Stage, named: int) -> tuple[str, dict[str, object]]:
    # Every committed record that a leader did not have when it took over.
    spans = (item for item in lost(stage) if item["partition"] == PARTITION)
    gone = {offset for item in spans for offset in range(item["first"], item["last"] + 1)}
    promised = _every(_acknowledged(stage, acks_all=True))
    if not gone & promised:
        return _kept(stage, gone)
    if not any(isinstance(e, facts.LeaderElected) and e.unclean for e in stage.events):
        return "another way", {}
    points = 1 + (named in gone & promised)
    if len(gone) > 1:
        others = len(gone - promised)
        whose = f", and {others} of them no producer was told of" if others else ""
        return "too many", {"points": points, "count": len(gone), "whose": whose}
    if any(line.arg("disk") not in (None, "kept") for line in done(stage)):
        return "disk", {"points": points}
    (offset,) = gone
    misnamed = {offset: "right", offset + 1: "one too high", offset - 1: "one too low"}
    return misnamed.get(named, "another offset"), {"offset": offset}


def _kept(stage: Stage, gone: set[int]) -> tuple[str, dict[str, object]]:
    """No record is lost that acks=all acknowledged."""
    lacking = lacked(stage)
    if gone:
        return "not promised", {"records": _many(gone)}
    if lacking:
        return "acks=1", {"records": _many(lacking)}
    return "nobody leads" if state_of(stage.cluster).leader == ids.NO_LEADER else "kept", {}


def _many(records: set[int]) -> str:
    return "One record was" if len(records) == 1 else f"{len(records)} records were"
