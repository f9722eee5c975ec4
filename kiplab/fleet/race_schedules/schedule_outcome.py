"""What becomes of one schedule under one feature set, read off the events of its run."""

import msgspec

from ...engine.cluster import Cluster
from ...engine.events import CommittedLost, Delivered, PropertyBroken
from ...engine.history import Recorded
from ...engine.properties import NO_STALE_EPOCH_IN_ISR
from ...engine.truth import registration_of
from ...plays.play import Play
from ...plays.runner import run_play
from ...protocol.facts import Refused
from ...protocol.features import Features
from ...protocol.ids import BrokerId
from ...protocol.messages import AlterPartitionRequest
from .random_schedule import FOLLOWER, LEADER

STAGES = UNNOTICED, FENCED, REGISTERED, UNFENCED = "unnoticed", "fenced", "registered", "unfenced"
"""How far the controller was with the follower's crash when the delayed request arrived."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """One schedule, one feature set.

    `stale_join`: the ISR held another incarnation than the one that caught up. `lost`: a leader
    took over without committed records (`lost_records` of them). `excused`: it did so after every
    member of the ISR had died without those records, the exception that KIP-903 concedes ("the last
    replica"); such a loss is counted in `lost` too. `arrived` is one of STAGES. `refused_by` is the
    guard that refused the delayed request, None when it was accepted. `broke_promise`: a property
    broke where it was promised, which is a bug. `moves` counts the engine's steps.
    """

    stale_join: bool
    lost: bool
    lost_records: int
    excused: bool
    arrived: str
    refused_by: str | None
    broke_promise: bool
    moves: int


def outcome(play: Play, features: Features) -> Outcome:
    """Run a schedule under `features`. Raises PlayError when it is too long."""
    history = run_play(play, features).history
    events = [event for step in history.steps for event in step.events]
    losses = [event for event in events if isinstance(event, CommittedLost)]
    broken = [event for event in events if isinstance(event, PropertyBroken)]
    arrival = next(step for step in history.steps if _is_the_request(step))
    refusal = next((event for event in arrival.events if isinstance(event, Refused)), None)
    return Outcome(
        stale_join=any(event.property == NO_STALE_EPOCH_IN_ISR.id for event in broken),
        lost=bool(losses),
        lost_records=sum(event.last - event.first + 1 for event in losses),
        excused=bool(losses) and any(known.excused for known in history.cluster.observed),
        arrived=_noticed(history.start, arrival.cluster),
        refused_by=None if refusal is None else refusal.guard or refusal.error.name,
        broke_promise=any(event.promised for event in broken),
        moves=len(history.steps),
    )


def _is_the_request(step: Recorded) -> bool:
    first = step.events[0] if step.events else None
    return (
        isinstance(first, Delivered)
        and isinstance(first.body, AlterPartitionRequest)
        and first.message[:2] == (LEADER, 1)
    )


def _noticed(start: Cluster, now: Cluster) -> str:
    was, registration = (registration_of(each, BrokerId(FOLLOWER)) for each in (start, now))
    fenced = registration is None or registration.fenced
    if registration is not None and was is not None and registration.epoch == was.epoch:
        return FENCED if fenced else UNNOTICED
    return REGISTERED if fenced else UNFENCED
