"""What became of one schedule under one feature set, read off what the engine reports."""

from __future__ import annotations

from functools import lru_cache

import msgspec
from msgspec.structs import replace

from ..engine.cluster import Cluster
from ..engine.events import CommittedLost, Delivered, PropertyBroken
from ..engine.history import Recorded
from ..engine.properties import NO_STALE_EPOCH_IN_ISR
from ..engine.truth import registration_of
from ..plays.play import Play, Statement
from ..plays.runner import do_line, open_stage
from ..plays.stage import Stage
from ..protocol.facts import Refused
from ..protocol.features import Features
from ..protocol.ids import BrokerEpoch, BrokerId
from ..protocol.messages import AlterPartitionRequest
from .random_schedule import FOLLOWER, LEADER

UNNOTICED, FENCED, REGISTERED, UNFENCED = "unnoticed", "fenced", "registered", "unfenced"
STAGES = (UNNOTICED, FENCED, REGISTERED, UNFENCED)
"""How far the controller was with the follower's crash when the delayed request arrived:
it had not noticed, had fenced the dead life, had registered the next one, had let it back in."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """One schedule, one feature set.

    `stale_join`: the ISR held a broker life other than the one that caught up. `lost`: a leader
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


def run(play: Play, features: Features) -> Stage:
    """The whole schedule. Raises PlayError for a line that cannot be done."""
    stage = replace(_opened(_header(play), features), play=play)
    for line, statement in enumerate(play.statements, 1):
        stage = do_line(stage, statement, line)
    return stage


@lru_cache(maxsize=256)
def _opened(header: tuple[Statement, ...], features: Features) -> Stage:
    """Every schedule of a window begins alike."""
    return replace(open_stage(Play(header), features), strict=True)


def _header(play: Play) -> tuple[Statement, ...]:
    timed = next(n for n, s in enumerate(play.statements, 1) if s.verb == "timed")
    return play.statements[:timed]


def outcome(play: Play, features: Features) -> Outcome:
    """Run `play` under `features` and say what became of it."""
    stage = run(play, features)
    steps = stage.history.steps
    # Most schedules end well, and then there is nothing to look for.
    events = [e for step in steps for e in step.events] if stage.cluster.broken else []
    losses = [e for e in events if isinstance(e, CommittedLost)]
    broken = [e for e in events if isinstance(e, PropertyBroken)]
    arrival = next(step for step in steps if _is_the_request(step))
    refusal = next((e for e in arrival.events if isinstance(e, Refused)), None)
    return Outcome(
        stale_join=any(e.property == NO_STALE_EPOCH_IN_ISR.id for e in broken),
        lost=bool(losses),
        lost_records=sum(e.last - e.first + 1 for e in losses),
        excused=bool(losses) and any(known.excused for known in stage.cluster.observed),
        arrived=_noticed(stage.history.start, arrival.cluster),
        refused_by=_name(refusal) if refusal else None,
        broke_promise=any(e.promised for e in broken),
        moves=len(steps),
    )


def _is_the_request(step: Recorded) -> bool:
    first = step.events[0] if step.events else None
    return (
        isinstance(first, Delivered)
        and isinstance(first.body, AlterPartitionRequest)
        and first.message[:2] == (LEADER, 1)
    )


def _name(refusal: Refused) -> str:
    return refusal.guard or refusal.error.name


def _noticed(start: Cluster, now: Cluster) -> str:
    found = registration_of(now, BrokerId(FOLLOWER))
    same_life = found is not None and found.epoch == _first_epoch(start)
    fenced = found is None or found.fenced
    if same_life:
        return FENCED if fenced else UNNOTICED
    return REGISTERED if fenced else UNFENCED


def _first_epoch(start: Cluster) -> BrokerEpoch | None:
    found = registration_of(start, BrokerId(FOLLOWER))
    return found.epoch if found else None
