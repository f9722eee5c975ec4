"""Exercise: which offsets vanish with an unclean election? The run says."""

from __future__ import annotations

import re
from functools import cache

import msgspec

from ...engine.cluster import Cluster, broker
from ...engine.events import CommittedLost
from ...plays.grammar import parse
from ...plays.runner import run_play
from ...plays.stage import Stage
from ...protocol.ids import BrokerId
from ...protocol.replica.broker_state import Broker, log_of, replica_of
from .answers import PARTS_MAX, is_none, moments, unfit
from .check_result import Checked
from .committed import PARTITION
from .own_runs import token_of

RUN = """
title Which offsets vanish?
kafka 3.9
broker 1
broker 2
topic orders replicas=1,2 isr=1,2 leader=1 leader-epoch=5 log=40@4,20@5
produce orders-0 count=20
fetch 2
crash 2
expire 2
produce orders-0 count=20
crash 1
expire 1
start 2
unfence 2
elect orders-0 unclean=yes
"""
"""Broker 2 has what it fetched once, and does not know yet that it was committed."""
OLD, NEW = BrokerId(1), BrokerId(2)
POINTS = 2
_WANTED = 'the offsets, as in "10..19", or - for none'


def check_vanishing(answer: object) -> Checked:
    """Judge which offsets of RUN vanish: ``"10..19"``, a range, or every one of them.

    A point for the first of them, one for the last.
    """
    named = _named(answer)
    if isinstance(named, Checked):
        return named
    run = vanishing()
    true = range(run.first, run.last + 1)
    token = token_of(run.stage)
    if named == set(true):
        message = f"Offsets {run.first} to {run.last}: what the new leader's log had not got."
        return Checked(points=POINTS, of=POINTS, message=message, token=token)
    points = (min(named, default=-1) == run.first) + (max(named, default=-1) == run.last)
    message, hint, idea = _wrong(named, run)
    whole = named == set(range(min(named, default=0), max(named, default=-1) + 1))
    return Checked(
        points=points if whole else 0,
        of=POINTS,
        message=message,
        hint=hint,
        misconception=idea,
        token=token,
    )


class Vanishing(msgspec.Struct, frozen=True):
    """A run, what it lost, and the numbers that are taken for that.

    `end` is where the old leader's log ended; `epoch` where the leader epoch of its last records
    begins; `known` the high watermark that the new leader knew of.
    """

    stage: Stage
    first: int
    last: int
    end: int
    epoch: int
    known: int


@cache
def vanishing() -> Vanishing:
    """RUN, played: everything in it is read off the run."""
    stage = run_play(parse(RUN, "which offsets vanish"))
    (lost,) = (event for event in stage.events if isinstance(event, CommittedLost))
    log = log_of(_node(stage.cluster, OLD), PARTITION)
    (fetched,) = (c for p, c in moments(stage) if p.statement.text == "fetch 2")
    replica = replica_of(_node(fetched, NEW), PARTITION)
    assert replica is not None
    return Vanishing(
        stage=stage,
        first=lost.first,
        last=lost.last,
        end=log.end,
        epoch=log.epochs[-1].offset,
        known=replica.high_watermark,
    )


def _node(cluster: Cluster, id: BrokerId) -> Broker:
    found = broker(cluster, id)
    assert found is not None
    return found


# --- what was answered --------------------------------------------------------------------------


def _named(answer: object) -> set[int] | Checked:
    """The offsets that an answer names; a Checked for one that names none and says no "none"."""
    if isinstance(answer, str):
        return set() if is_none(answer) and answer.strip() != "0" else _read(answer)
    if isinstance(answer, range | list | tuple | set | frozenset) and len(answer) <= PARTS_MAX:
        return _read(" ".join(str(part) for part in answer))
    return unfit(POINTS, f"Not answered yet: give {_WANTED}.")


_SPAN = r"([0-9]{1,9})(?:\s*(?:\.\.|-|\u2013|to)\s*([0-9]{1,9}))?"
_TEXT = re.compile(rf"\s*(?:offsets?\s+)?{_SPAN}(?:[\s,;]+{_SPAN})*\s*")


def _read(text: str) -> set[int] | Checked:
    if _TEXT.fullmatch(text) is None:
        return unfit(POINTS, f"Not answered yet: give {_WANTED}.")
    ends = [(int(first), int(last or first)) for first, last in re.findall(_SPAN, text)]
    if any(last - first > PARTS_MAX for first, last in ends):
        return unfit(POINTS, f"No log here is as long as that: give {_WANTED}.")
    return {offset for first, last in ends for offset in range(first, last + 1)}


# --- wrong answers ------------------------------------------------------------------------------


def _wrong(named: set[int], run: Vanishing) -> tuple[str, str, str]:
    """(message, hint, idea)."""
    if not named:
        message = "Something vanishes: an acknowledged record is in no leader's log any more."
        return message, "Lay the two logs side by side. Where does the shorter end?", _SAFE
    first, last = min(named), max(named)
    ideas = {
        0: (
            "all that the old leader had goes with it",
            "Broker 2 leads with its own log. What had it fetched?",
        ),
        run.epoch: (
            "an unclean election throws away the leader epoch in which it happens",
            "A leader epoch says where logs may part, not that they do. What has broker 2 of it?",
        ),
        run.known: (
            "a broker that becomes leader cuts its log at its high watermark",
            "A new leader keeps all that its log has, known as committed or not.",
        ),
    }
    if first in ideas and first != run.first:
        idea, hint = ideas[first]
        return f"Not all of that vanishes: not offset {first}, for one.", hint, idea
    if (first, last) == (run.first, run.end):
        hint = "The log end offset is where the next record will be: nothing is there yet."
        return "There is no record there.", hint, "the log end offset is that of the last record"
    if last > run.last:
        return f"There is no record at offset {last}.", "Count what was written.", ""
    message = "These are not the offsets that vanish, or not all of them."
    return message, "Where does the log of broker 2 end, and where that of broker 1?", ""


_SAFE = "what acks=all acknowledged cannot be lost"
