"""What becomes of a schedule by the plain road: the runner of plays, one feature set at a time."""

from kiplab.engine.events import CommittedLost, Delivered, PropertyBroken
from kiplab.engine.history import Recorded
from kiplab.engine.properties import NO_STALE_EPOCH_IN_ISR
from kiplab.engine.truth import registration_of
from kiplab.fleet.race_schedules.outcomes import FENCED, REGISTERED, UNFENCED, UNNOTICED, Outcome
from kiplab.fleet.race_schedules.random_schedule import FOLLOWER, LEADER
from kiplab.plays.play import Play
from kiplab.plays.runner import run_play
from kiplab.protocol.facts import Refused
from kiplab.protocol.features import Features
from kiplab.protocol.ids import BrokerEpoch, BrokerId
from kiplab.protocol.messages import AlterPartitionRequest


def outcome(play: Play, features: Features) -> Outcome:
    """Run `play` under `features`, keep everything, and say what became of it."""
    stage = run_play(play, features)
    assert not any(performed.not_applicable for performed in stage.performed)
    steps = stage.history.steps
    events = [event for step in steps for event in step.events]
    losses = [e for e in events if isinstance(e, CommittedLost)]
    broken = [e for e in events if isinstance(e, PropertyBroken)]
    arrival = next(step for step in steps if _is_the_request(step))
    refusal = next((e for e in arrival.events if isinstance(e, Refused)), None)
    first, now = (
        registration_of(cluster, BrokerId(FOLLOWER))
        for cluster in (stage.history.start, arrival.cluster)
    )
    assert first is not None
    return Outcome(
        stale_join=any(e.property == NO_STALE_EPOCH_IN_ISR.id for e in broken),
        lost=bool(losses),
        lost_records=sum(e.last - e.first + 1 for e in losses),
        excused=bool(losses) and any(known.excused for known in stage.cluster.observed),
        arrived=_noticed(first.epoch, now),
        refused_by=(refusal.guard or refusal.error.name) if refusal else None,
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


def _noticed(first: BrokerEpoch, now: object) -> str:
    fenced = now is None or getattr(now, "fenced", False)
    if getattr(now, "epoch", None) == first:
        return FENCED if fenced else UNNOTICED
    return REGISTERED if fenced else UNFENCED
