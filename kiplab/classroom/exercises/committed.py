"""The exercises of lab 01: when is a record committed, when acknowledged, and when is it lost?

Every answer is played.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import msgspec
from msgspec.structs import replace

from ...engine.cluster import Cluster, broker
from ...engine.truth import partition_of
from ...plays.grammar import parse
from ...plays.play import Statement
from ...plays.runner import run_play
from ...plays.stage import Stage
from ...plays.verdict import lost
from ...protocol.registrations import PartitionRegistration
from ...protocol.replica.broker_state import Broker, Replica, log_of, replica_of
from ...runs import run
from .answers import Idea, PartsInOrder, TrueStatements, halves, ideas, moments
from .own_runs import UNCLEAN, OwnRun, RunVerdict

PARTITION, STALE, COMMITTED = "orders-0", "isr-stale-member", "isr-committed"
END = 110
"""Where the log ends after the ten records that the exercises ask about."""


# --- what the engine says -------------------------------------------------------------------------


def committed(stage: Stage, end: int = END) -> bool:
    """Whether a leader's high watermark ever reached `end`."""
    return any(_reached(cluster, end) for _, cluster in moments(stage))


def acknowledged(stage: Stage, end: int = END) -> bool:
    """Whether the producer of the records up to `end` is told so.

    acks=1: as soon as the leader has them. acks=all: when the high watermark is there, and the ISR
    is not smaller than min.insync.replicas (else it gets NOT_ENOUGH_REPLICAS_AFTER_APPEND).
    """
    acks_all = True
    for performed, cluster in moments(stage):
        if performed.statement.verb == "produce":
            acks_all = performed.statement.arg("acks") != "1"
        replica = leading(cluster)
        if replica is None or replica.leading is None:
            continue
        enough = len(replica.leading.isr_state.maximal) >= replica.min_insync_replicas
        if (enough and _reached(cluster, end)) if acks_all else log_end(cluster) >= end:
            return True
    return False


def state_of(cluster: Cluster) -> PartitionRegistration:
    """PARTITION as the controller has it."""
    state = partition_of(cluster, PARTITION)
    assert state is not None, "every one of these plays has this partition"
    return state


def leading(cluster: Cluster) -> Replica | None:
    """The leader's own view, or None while there is no leader that runs and knows it."""
    node = _leader(cluster)
    return replica_of(node, PARTITION) if node is not None else None


def log_end(cluster: Cluster) -> int:
    """Where the leader's log ends; 0 while there is no leader."""
    node = _leader(cluster)
    return log_of(node, PARTITION).end if node is not None else 0


def _leader(cluster: Cluster) -> Broker | None:
    state = partition_of(cluster, PARTITION)
    return broker(cluster, state.leader) if state is not None else None


def _reached(cluster: Cluster, end: int) -> bool:
    replica = leading(cluster)
    return replica is not None and replica.leading is not None and replica.high_watermark >= end


# --- acknowledged, or committed -------------------------------------------------------------------

STATEMENTS = {
    "A": "With acks=1 the producer is told that M1 was written.",
    "B": "With acks=1 M1 is committed.",
    "C": "With acks=all the producer is told that M1 was written.",
    "D": "With acks=all M1 is committed.",
}


def _true_statements(kafka: str | None) -> list[str]:
    one, every = (_stale_member(acks, kafka) for acks in ("1", "all"))
    facts = (acknowledged(one), committed(one), acknowledged(every), committed(every))
    return [letter for letter, fact in zip(STATEMENTS, facts, strict=True) if fact]


def _stale_member(acks: str, kafka: str | None) -> Stage:
    """The play STALE, with these acks."""
    stage = run(STALE, kafka=kafka).stage
    lines = tuple(_with_acks(s, acks) for s in stage.play.statements)
    return run_play(replace(stage.play, statements=lines), stage.features)


def _with_acks(statement: Statement, acks: str) -> Statement:
    if statement.verb != "produce":
        return statement
    return replace(statement, args=(*statement.args, ("acks", acks)))


check_acknowledged = TrueStatements(
    of=len(STATEMENTS),
    by_release=True,
    what="statement",
    true=_true_statements,
    ideas=ideas("""
A: acks=1 waits for a follower
   Who has to have M1 before acks=1 answers?
B: what was acknowledged is committed
   acks says when the producer is told. Does the ISR wait for less with acks=1?
C: acks=all waits for min.insync.replicas copies
   acks=all waits for every member of the ISR. Did broker 3 ever have M1?
D: min.insync.replicas copies are enough to commit a record
   Two brokers had M1. The ISR had three members.
"""),
    groups={"acks=1": "AB", "acks=all": "CD"},
    praise="Told, and still not committed: that is acks=1.",
)
"""Which STATEMENTS are true of M1 in the play STALE: ``"AC"`` names two."""

SCHEDULES = {
    "A": ("produce orders-0 count=10", "catch-up 2", "catch-up 3"),
    "B": ("produce orders-0 count=10", "catch-up 2"),
    "C": ("produce orders-0 count=10", "catch-up 2", "check-lag 1"),
    "D": ("produce orders-0 count=10 acks=1", "catch-up 2", "catch-up 3"),
    "E": ("crash 2", "expire 2", "crash 3", "expire 3", "produce orders-0 count=10"),
    "F": ("produce orders-0 count=10", "fetch 2", "fetch 3"),
}
"""Each begins with three brokers in the ISR, min.insync.replicas 2, and 100 committed records."""
_HEADER = """title Schedule {letter}
kafka 3.5
broker 1
broker 2
broker 3
topic orders replicas=1,2,3 isr=1,2,3 log=100@5 leader-epoch=5 min-insync-replicas=2
"""


@cache
def schedule(letter: str) -> Stage:
    """The run of one of SCHEDULES."""
    lines = "\n".join(SCHEDULES[letter])
    return run_play(parse(f"{_HEADER.format(letter=letter)}{lines}\n", f"schedule {letter}"))


check_schedules = TrueStatements(
    of=len(SCHEDULES),
    what="schedule",
    true=lambda: [letter for letter in SCHEDULES if committed(schedule(letter))],
    ideas=ideas("""
A:
   Who is in the ISR, and how far has each fetched?
B: min.insync.replicas copies are enough to commit a record
   Broker 3 is in the ISR and has not fetched.
C: committed means on every replica
   check-lag takes broker 3 out of the ISR. Who is left?
D: only acks=all records are ever committed
   acks is between the producer and the leader. The high watermark does not know it.
E: a leader alone in the ISR accepts everything
   How large is the ISR when the leader is asked to write? Is that enough?
F: a record is committed as soon as all have it
   The leader learns what a follower has from its next fetch.
"""),
    groups={"schedules A to C": "ABC", "schedules D to F": "DEF"},
    praise="All six are right: every member of the ISR has it, and the leader knows.",
)
"""Which SCHEDULES end with the ten records committed: ``"AB"`` names two of them."""


# --- the high watermark, step by step -------------------------------------------------------------


class LeaderView(msgspec.Struct, frozen=True):
    """What a leader sees after the line `text`: where its log ends, its high watermark `mark`, how
    far enough brokers `copied`. `too_few` says that the ISR is smaller than min.insync.replicas.
    """

    text: str
    end: int
    mark: int
    copied: int
    too_few: bool

    @classmethod
    def of(cls, text: str, cluster: Cluster) -> LeaderView:
        """The view of the leader, which in COMMITTED never dies."""
        replica = leading(cluster)
        assert replica is not None
        assert replica.leading is not None
        end, least = log_end(cluster), replica.min_insync_replicas
        ends = sorted([end, *(r.end for r in replica.leading.remotes)], reverse=True)
        too_few = len(replica.leading.isr_state.maximal) < least
        return cls(text, end, replica.high_watermark, ends[least - 1], too_few)


@cache
def _views(kafka: str | None) -> list[LeaderView]:
    """What the leader sees after each step of the play COMMITTED."""
    steps = moments(run(COMMITTED, kafka=kafka).stage)
    return [LeaderView.of(performed.statement.text, cluster) for performed, cluster in steps]


_MARKS = ideas("""
enough copies: min.insync.replicas copies are enough to commit a record
   Which brokers are in the ISR at that moment? The slowest of them decides.
written: a record is committed once it is written
   Who else is in the ISR?
held: the high watermark waits while the ISR is smaller than min.insync.replicas
   That is the rule from Kafka 3.7 on. Here the ISR alone decides: who is in it now?
unmoved: the high watermark moves only when somebody copies
   Who left the ISR at this step? And who is the slowest of those that are left?
alone: a leader alone in the ISR accepts everything
   The log ends before that. How large is the ISR, and what is min.insync.replicas?
other:
   Read the row ISR: how far has each of these brokers fetched?
""")


def _mark_idea(place: int, mine: str, _true: str, kafka: str | None) -> Idea:
    views = _views(kafka)[: place + 1]
    here = views[-1]
    if mine.isdecimal() and int(mine) > here.end:
        return _beyond(here)
    if mine == str(here.copied) and here.copied > here.mark:
        return _MARKS["enough copies"]
    if mine == str(here.end):
        return _MARKS["written"]
    if here.too_few and mine == str(_held(views)):
        return _MARKS["held"]
    if len(views) > 1 and mine == str(views[-2].mark) and here.end == views[-2].end:
        return _MARKS["unmoved"]
    return _MARKS["other"]


def _beyond(here: LeaderView) -> Idea:
    """About an offset where no log has anything."""
    if here.text.startswith("produce") and here.too_few:
        return _MARKS["alone"]
    hint = f"After this step the leader's log ends at {here.end}. What has been written so far?"
    return "", hint


def _held(views: Sequence[LeaderView]) -> int:
    """The high watermark if it waits while the ISR is too small: where it was before that."""
    return next((view.mark for view in reversed(views) if not view.too_few), views[0].mark)


check_high_watermark = PartsInOrder(
    of=8,
    by_release=True,
    form="offsets, one after each step",
    true=lambda kafka: [str(view.mark) for view in _views(kafka)],
    idea=_mark_idea,
    part=lambda place: f"step {place + 1} ({_views(None)[place].text})",
    group=halves("steps", 8),
    praise="Every high watermark is right: the ISR decides, as it is known at the time.",
    token=lambda kafka: run(COMMITTED, kafka=kafka).token,
    open_is_wrong=True,
)
"""The leader's high watermark after each step of the play COMMITTED, on a release."""


# --- lose what was acknowledged -------------------------------------------------------------------


def _loss_of_acknowledged(stage: Stage) -> RunVerdict:
    if not _acknowledged_by_all(stage):
        message = "The producer is not told that its ten records are written, so they are no loss."
        hint = "acks=all answers when every member of the ISR has them. Let brokers 2 and 3 copy."
        return RunVerdict(0, message, hint)
    if not any(item["first"] < END and item["last"] >= END - 10 for item in lost(stage)):
        return _nothing_lost(stage)
    disks = sum(p.statement.arg("disk") == "replaced" for p in stage.performed)
    if disks <= 1:
        return RunVerdict(3, "Acknowledged by the whole ISR, and gone with a single disk.")
    message = f"Lost, for the price of {disks} disks. One is enough."
    hint = "Only members of the ISR count for an election. How small can the ISR become?"
    idea = "an acknowledged record is lost only when every disk that had it is lost"
    return RunVerdict(2, message, hint, idea)


def _acknowledged_by_all(stage: Stage) -> bool:
    produced = [p.statement for p in stage.performed if p.statement.verb == "produce"]
    return all(s.arg("acks") != "1" for s in produced) and acknowledged(stage)


def _nothing_lost(stage: Stage) -> RunVerdict:
    message = "The ten records are acknowledged, and nothing committed is lost."
    if any(p.statement.arg("disk") == "replaced" for p in stage.performed):
        hint = "Another member of the ISR has them still, or nobody leads yet. Who is elected?"
        idea = "a disk that is lost takes acknowledged records with it"
        return RunVerdict(1, message, hint, idea)
    hint = "A broker that crashes keeps its log. Which broker's disk matters, and when?"
    return RunVerdict(1, message, hint)


check_lose_acknowledged = OwnRun(
    of=3, begins=COMMITTED, judged=_loss_of_acknowledged, forbidden=(UNCLEAN,)
)
"""A run of COMMITTED that loses ten records acknowledged with acks=all.

A point for records that are acknowledged, one for their loss, one if at most one disk was replaced
for it.
"""
