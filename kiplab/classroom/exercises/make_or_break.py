"""Make and break: exercises whose answer is a run of one's own, judged by what happened in it."""

from __future__ import annotations

from ...engine.cluster import Cluster
from ...engine.nodes import is_up
from ...engine.truth import partition_of
from ...plays.stage import Stage
from ...plays.verdict import lost, refused
from ...protocol.ids import BrokerId
from ...protocol.registrations import PartitionRegistration
from .answers import moments
from .check_result import Checked
from .committed import END, PARTITION, acknowledged
from .own_runs import own_run, token_of

ACCEPTED, LOSE, REIGNS = "timeline-first", "isr-committed", "epochs-twelve"
"""The plays whose situation and rules the exercises begin with."""
REIGN = 7
"""The leader epoch to reach; the play begins in 5."""
_DEAD = BrokerId(3)
_LEADER = BrokerId(1)


def check_accepted(answer: object) -> Checked:
    """Judge a run of ``timeline-first`` in which a request that names broker 3 is accepted.

    A point for the ISR with brokers 2 and 3, one more if broker 3 is dead when it gets there.
    """
    stage = own_run(answer, ACCEPTED, 2)
    if isinstance(stage, Checked):
        return stage
    joined = _joined(stage)
    if any(not is_up(cluster, _DEAD) for cluster in joined):
        message = "Accepted: the ISR has a member that is dead. The controller cannot know it yet."
        return _judged(stage, 2, 2, message)
    if joined:
        message = "Accepted, and broker 3 was alive. When is it dead, and nobody knows?"
        hint = "A broker is dead from its crash on. The controller hears of it later."
        return _judged(stage, 1, 2, message, hint)
    return _not_accepted(stage)


def check_lose_acknowledged(answer: object) -> Checked:
    """Judge a run of ``isr-committed`` that loses ten records acknowledged with acks=all.

    A point for records that are acknowledged, one for their loss, one if at most one disk was
    replaced for it.
    """
    stage = own_run(answer, LOSE, 3, forbidden=(f"elect {PARTITION} unclean=yes",))
    if isinstance(stage, Checked):
        return stage
    if not _is_acknowledged(stage):
        message = "The producer is not told that its ten records are written, so they are no loss."
        hint = "acks=all answers when every member of the ISR has them. Let brokers 2 and 3 copy."
        return _judged(stage, 0, 3, message, hint)
    if not any(item["first"] < END and item["last"] >= END - 10 for item in lost(stage)):
        return _kept(stage)
    disks = sum(p.statement.arg("disk") == "replaced" for p in stage.performed)
    if disks <= 1:
        message = "Acknowledged by the whole ISR, and gone with a single disk."
        return _judged(stage, 3, 3, message)
    idea = "an acknowledged record is lost only when every disk that had it is lost"
    message = f"Lost, for the price of {disks} disks. One is enough."
    hint = "Only members of the ISR count for an election. How small can the ISR become?"
    return _judged(stage, 2, 3, message, hint, idea)


def check_reigns(answer: object) -> Checked:
    """Judge a run of ``epochs-twelve`` in which broker 1 leads throughout, into leader epoch 7.

    A point for the epoch, one if nobody else ever leads.
    """
    stage = own_run(answer, REIGNS, 2)
    if isinstance(stage, Checked):
        return stage
    states = [_state(cluster) for _, cluster in moments(stage)]
    reached = max((state.leader_epoch for state in states), default=0)
    if reached < REIGN:
        return _too_few_reigns(stage, states)
    until = next(n for n, state in enumerate(states) if state.leader_epoch >= REIGN)
    if all(state.leader == _LEADER for state in states[: until + 1]):
        message = f"Leader epoch {reached}, and it was broker 1 all the while."
        return _judged(stage, 2, 2, message)
    idea = "a new leader epoch needs a new leader"
    message = f"Leader epoch {reached}, but broker 1 did not lead all the while."
    hint = "Leave broker 1 alone. On Kafka 3.5, which record sets the leader, even the same one?"
    return _judged(stage, 1, 2, message, hint, idea)


# --- what happened ------------------------------------------------------------------------------


def _judged(
    stage: Stage, points: int, of: int, message: str, hint: str = "", misconception: str = ""
) -> Checked:
    return Checked(
        points=points,
        of=of,
        message=message,
        hint=hint,
        misconception=misconception,
        token=token_of(stage),
    )


def _state(cluster: Cluster) -> PartitionRegistration:
    found = partition_of(cluster, PARTITION)
    assert found is not None, "every one of these plays has this partition"
    return found


def _joined(stage: Stage) -> list[Cluster]:
    """The situation after each line by which broker 2 joined broker 3 in the ISR."""
    before, found = set(_state(stage.history.start).isr), []
    for _, cluster in moments(stage):
        isr = set(_state(cluster).isr)
        if 2 in isr - before and 3 in isr & before:
            found.append(cluster)
        before = isr
    return found


def _is_acknowledged(stage: Stage) -> bool:
    asked = [p.statement for p in stage.performed if p.statement.verb == "produce"]
    return all(s.arg("acks") != "1" for s in asked) and acknowledged(stage)


# --- wrong answers ------------------------------------------------------------------------------


def _not_accepted(stage: Stage) -> Checked:
    asked = (r for r in refused(stage) if r["request"] == "alter-partition")
    errors = ", ".join(dict.fromkeys(str(r["error"]) for r in asked))
    if errors:
        idea = "a crash is what the controller reacts to"
        message = f"The request is refused: {errors}."
        hint = "It is the end of broker 3's session that moves the epochs. Be quicker than that."
        return _judged(stage, 0, 2, message, hint, idea)
    message = "No request that adds broker 2 and names broker 3 is accepted here."
    hint = "Broker 1 asks when broker 2 has caught up. Then the request has to arrive."
    return _judged(stage, 0, 2, message, hint)


def _kept(stage: Stage) -> Checked:
    message = "The ten records are acknowledged, and nothing committed is lost."
    if any(p.statement.arg("disk") == "replaced" for p in stage.performed):
        idea = "a disk that is lost takes acknowledged records with it"
        hint = "Another member of the ISR has them still, or nobody leads yet. Who is elected?"
        return _judged(stage, 1, 3, message, hint, idea)
    hint = "A broker that crashes keeps its log. Which broker's disk matters, and when?"
    return _judged(stage, 1, 3, message, hint)


def _too_few_reigns(stage: Stage, states: list[PartitionRegistration]) -> Checked:
    first = _state(stage.history.start)
    last = states[-1] if states else first
    versions = last.partition_epoch - first.partition_epoch
    reigns = last.leader_epoch - first.leader_epoch
    message = f"The partition epoch has moved by {versions}, the leader epoch by {reigns}."
    if versions > reigns:
        idea = "the leader epoch changes on every ISR change"
        hint = "A growing ISR leaves the leader alone. What does a shrinking one do, up to 3.5?"
        return _judged(stage, 0, 2, message, hint, idea)
    hint = "Which of the twelve events moved L, and left the leader in place?"
    return _judged(stage, 0, 2, message, hint)
