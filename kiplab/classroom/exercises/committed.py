"""Exercises: when is a record committed, and when is it acknowledged? Every answer is played."""

from __future__ import annotations

from msgspec.structs import replace

from ...engine.cluster import Cluster, broker
from ...engine.truth import partition_of
from ...plays.grammar import parse
from ...plays.play import Statement
from ...plays.runner import run_play
from ...plays.stage import Stage
from ...protocol.replica.broker_state import Replica, log_of, replica_of
from ...runs import run
from .answers import Slip, chosen_letters, moments, summed
from .check_result import Checked

PARTITION, STALE = "orders-0", "isr-stale-member"
END = 110
"""Where the log ends after the ten records that the exercises ask about."""

STATEMENTS = {
    "A": "With acks=1 the producer is told that M1 was written.",
    "B": "With acks=1 M1 is committed.",
    "C": "With acks=all the producer is told that M1 was written.",
    "D": "With acks=all M1 is committed.",
}
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


def check_acknowledged(answer: object, kafka: str | None = None) -> Checked:
    """Judge which STATEMENTS are true of M1 in the play ``isr-stale-member``: ``"AC"`` names two.

    Each statement chosen or left out rightly is a point.
    """
    given = chosen_letters(answer, tuple(STATEMENTS))
    if isinstance(given, Checked):
        return given
    one, all_ = (_stale_member(acks, kafka) for acks in ("1", "all"))
    facts = (acknowledged(one), committed(one), acknowledged(all_), committed(all_))
    true = {letter for letter, fact in zip(STATEMENTS, facts, strict=True) if fact}
    slips = [_wrong_statement(letter) for letter in sorted(given ^ true)]
    return summed(len(STATEMENTS), slips, "Told, and still not committed: that is acks=1.")


def check_schedules(answer: object) -> Checked:
    """Judge which SCHEDULES end with the ten records committed: ``"AB"`` names two of them."""
    given = chosen_letters(answer, tuple(SCHEDULES))
    if isinstance(given, Checked):
        return given
    true = {letter for letter in SCHEDULES if committed(schedule(letter))}
    slips = [_wrong_schedule(letter, letter in given) for letter in sorted(given ^ true)]
    praise = "All six are right: every member of the ISR has it, and the leader knows."
    return summed(len(SCHEDULES), slips, praise)


# --- what the engine says -----------------------------------------------------------------------


def schedule(letter: str) -> Stage:
    """The run of one of SCHEDULES."""
    lines = "\n".join(SCHEDULES[letter])
    return run_play(parse(f"{_HEADER.format(letter=letter)}{lines}\n", f"schedule {letter}"))


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


def _stale_member(acks: str, kafka: str | None) -> Stage:
    """The play, with these acks."""
    asked = run(STALE, kafka=kafka).stage
    lines = tuple(_with_acks(s, acks) for s in asked.play.statements)
    return run_play(replace(asked.play, statements=lines), asked.features)


def _with_acks(statement: Statement, acks: str) -> Statement:
    if statement.verb != "produce":
        return statement
    return replace(statement, args=(*statement.args, ("acks", acks)))


def leading(cluster: Cluster) -> Replica | None:
    """The leader's own view, or None while there is no leader that runs and knows it."""
    state = partition_of(cluster, PARTITION)
    node = broker(cluster, state.leader) if state is not None else None
    return replica_of(node, PARTITION) if node is not None else None


def _reached(cluster: Cluster, end: int) -> bool:
    found = leading(cluster)
    return found is not None and found.leading is not None and found.high_watermark >= end


def log_end(cluster: Cluster) -> int:
    """Where the leader's log ends; 0 while there is no leader."""
    state = partition_of(cluster, PARTITION)
    node = broker(cluster, state.leader) if state is not None else None
    return log_of(node, PARTITION).end if node is not None else 0


# --- wrong answers ------------------------------------------------------------------------------


def _wrong_statement(letter: str) -> Slip:
    ideas = {
        "A": ("acks=1 waits for a follower", "Who has to have M1 before acks=1 answers?"),
        "B": (
            "what was acknowledged is committed",
            "acks says when the producer is told. Does the ISR wait for less with acks=1?",
        ),
        "C": (
            "acks=all waits for min.insync.replicas copies",
            "acks=all waits for every member of the ISR. Did broker 3 ever have M1?",
        ),
        "D": (
            "min.insync.replicas copies are enough to commit a record",
            "Two brokers had M1. The ISR had three members.",
        ),
    }
    misconception, hint = ideas[letter]
    group = "acks=1" if letter in "AB" else "acks=all"
    return Slip(f"statement {letter}", hint, misconception, group)


def _wrong_schedule(letter: str, claimed: bool) -> Slip:
    """`claimed` says that the answer called the records committed there."""
    ideas = {
        ("B", True): (
            "min.insync.replicas copies are enough to commit a record",
            "Broker 3 is in the ISR and has not fetched.",
        ),
        ("C", False): (
            "committed means on every replica",
            "check-lag takes broker 3 out of the ISR. Who is left?",
        ),
        ("D", False): (
            "only acks=all records are ever committed",
            "acks is between the producer and the leader. The high watermark does not know it.",
        ),
        ("E", True): (
            "a leader alone in the ISR accepts everything",
            "How large is the ISR when the leader is asked to write? Is that enough?",
        ),
        ("F", True): (
            "a record is committed as soon as all have it",
            "The leader learns what a follower has from its next fetch.",
        ),
    }
    misconception, hint = ideas.get(
        (letter, claimed), ("", "Who is in the ISR, and how far has each fetched?")
    )
    group = "schedules A to C" if letter in "ABC" else "schedules D to F"
    return Slip(f"schedule {letter}", hint, misconception, group)
