"""The outcome of one schedule under one feature set, read off the engine's events."""

import msgspec
from msgspec.structs import replace

from ...engine import moves
from ...engine.cluster import Cluster
from ...engine.events import CommittedLost, Delivered, Event, PropertyBroken
from ...engine.properties import NO_STALE_EPOCH_IN_ISR
from ...engine.step import Step
from ...engine.truth import registration_of
from ...protocol.facts import Refused
from ...protocol.ids import BrokerId
from ...protocol.messages import AlterPartitionRequest
from .random_schedule import FOLLOWER, LEADER

UNNOTICED, FENCED, REGISTERED, UNFENCED = "unnoticed", "fenced", "registered", "unfenced"
STAGES = (UNNOTICED, FENCED, REGISTERED, UNFENCED)
"""How far the controller was with the follower's crash when the delayed request arrived:
it had not noticed, had fenced the dead incarnation, had registered the next one, had let it back
in.
"""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """One schedule, one feature set.

    `stale_join`: the ISR held another incarnation than the one that caught up. `lost`: a leader
    took over without committed records (`lost_records` of them). `excused`: it did so after every
    member of the ISR had died without those records, the exception that KIP-903 concedes ("the last
    replica"); such a loss is counted in `lost` too. `arrived` is one of STAGES. `refused_by` is the
    guard that refused the delayed request, None when it was accepted. By default nothing has
    happened yet. `broke_promise`: a property
    broke where it was promised, which is a bug. `moves` counts the engine's steps.
    """

    stale_join: bool = False
    lost: bool = False
    lost_records: int = 0
    excused: bool = False
    arrived: str = ""
    refused_by: str | None = None
    broke_promise: bool = False
    moves: int = 0


def noted(before: Outcome, start: Cluster, move: moves.Move, done: Step) -> Outcome:
    """`before` with what one step more says; `start` is what the schedule began with."""
    if not before.arrived and type(move) is moves.Deliver and _is_the_request(move, done.events):
        before = _with_arrival(before, start, done)
    # Most schedules end well, and then there is nothing to look for.
    return _with_harm(before, done.events) if done.cluster.broken else before


def at_the_end(before: Outcome, cluster: Cluster, steps: int) -> Outcome:
    """What is known when the schedule is over."""
    excused = before.lost and any(knowledge.excused for knowledge in cluster.observed)
    return replace(before, excused=excused, moves=steps)


def _is_the_request(move: moves.Deliver, events: tuple[Event, ...]) -> bool:
    first = events[0] if move.message[:2] == (LEADER, 1) and events else None
    return isinstance(first, Delivered) and isinstance(first.body, AlterPartitionRequest)


def _with_arrival(before: Outcome, start: Cluster, done: Step) -> Outcome:
    refusal = next((e for e in done.events if isinstance(e, Refused)), None)
    refused_by = None if refusal is None else refusal.guard or refusal.error.name
    return replace(before, arrived=_noticed(start, done.cluster), refused_by=refused_by)


def _with_harm(before: Outcome, events: tuple[Event, ...]) -> Outcome:
    for event in events:
        if isinstance(event, CommittedLost):
            records = before.lost_records + event.last - event.first + 1
            before = replace(before, lost=True, lost_records=records)
        elif isinstance(event, PropertyBroken):
            before = replace(
                before,
                stale_join=before.stale_join or event.property == NO_STALE_EPOCH_IN_ISR.id,
                broke_promise=before.broke_promise or event.promised,
            )
    return before


def _noticed(start: Cluster, now: Cluster) -> str:
    was, registration = (registration_of(each, BrokerId(FOLLOWER)) for each in (start, now))
    fenced = registration is None or registration.fenced
    if registration is not None and was is not None and registration.epoch == was.epoch:
        return FENCED if fenced else UNNOTICED
    return REGISTERED if fenced else UNFENCED
