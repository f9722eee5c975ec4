"""The controller's care for brokers: registration, heartbeats, sessions, fencing, shutdown.

Source: ClusterControlManager.registerBroker, BrokerHeartbeatManager.calculateNextBrokerState and
the broker handlers of ReplicationControlManager.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec.structs import replace

from ..errors import KafkaError
from ..facts import Compared, Refused
from ..features import Features
from ..ids import CONTROLLER, NO_LEADER, BrokerEpoch, BrokerId, ControllerEpoch
from ..messages import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Send,
)
from ..releases import at_least
from .partition_change import Code, Targets, build
from .records import (
    BrokerRegistrationChangeRecord,
    PartitionChangeRecord,
    Record,
    RegisterBrokerRecord,
    fence_record,
)
from .replay import Effect, commit
from .state import (
    Controller,
    HeartbeatState,
    PartitionRegistration,
    Registration,
    heartbeat,
    is_active,
    registration,
)

SESSION_TIMEOUT_MS = 9_000
"""broker.session.timeout.ms"""


class BrokerState(StrEnum):
    """BrokerControlState: what the heartbeat manager makes of a broker."""

    FENCED = "FENCED"
    UNFENCED = "UNFENCED"
    CONTROLLED_SHUTDOWN = "CONTROLLED_SHUTDOWN"
    SHUTDOWN_NOW = "SHUTDOWN_NOW"


def has_valid_session(controller: Controller, broker: BrokerId, now_ms: int | None) -> bool:
    """Inclusive: at exactly last contact + timeout the session still holds.

    Without a clock a session holds until somebody says that it is over.
    """
    known = heartbeat(controller, broker)
    if known is None or known.fenced:
        return False
    return now_ms is None or known.last_contact_ms + SESSION_TIMEOUT_MS >= now_ms


def stale_broker(controller: Controller, now_ms: int | None) -> BrokerId | None:
    """The unfenced broker heard of longest ago, if its session is over; one at a time."""
    unfenced = [h for h in controller.heartbeats if not h.fenced]
    if not unfenced or now_ms is None:
        return None
    oldest = min(unfenced, key=lambda h: (h.last_contact_ms, h.broker))
    return oldest.broker if oldest.last_contact_ms + SESSION_TIMEOUT_MS < now_ms else None


def register_broker(
    controller: Controller,
    request: BrokerRegistrationRequest,
    features: Features,
    now_ms: int | None,
) -> Effect:
    """Give a broker process its broker epoch: the metadata offset of its own registration."""
    existing = registration(controller.registrations, request.broker)
    refused = _duplicate(controller, existing, request, features, now_ms)
    if refused is not None:
        reply = BrokerRegistrationResponse(error=refused.error)
        return controller, (Send(request.broker, reply),), (refused,)
    record = _registration_record(controller, existing, request, features)
    records: list[Record] = [record]
    if "903.bump-leader-epochs" in features.active(CONTROLLER):
        # KIP-903, rejected: "when a broker registers, we can bump the leader epochs for all the
        # partitions that include this broker".
        records += [
            PartitionChangeRecord(partition=p.name, leader=p.leader)
            for p in controller.partitions
            if request.broker in p.replicas
        ]
    known = heartbeat(controller, request.broker)
    fresh = known is None or (existing is not None and existing.incarnation != request.incarnation)
    state = HeartbeatState(request.broker) if fresh or known is None else known
    if features.release_of(CONTROLLER) != "3.2" or fresh:
        state = replace(state, fenced=record.fenced)
    controller, sends, facts = commit(_heard(controller, state), records, features)
    reply = BrokerRegistrationResponse(broker_epoch=record.epoch)
    return controller, (*sends, Send(request.broker, reply)), facts


def _duplicate(
    controller: Controller,
    existing: Registration | None,
    request: BrokerRegistrationRequest,
    features: Features,
    now_ms: int | None,
) -> Refused | None:
    guard = "631.one-live-incarnation"
    if existing is None or existing.incarnation == request.incarnation:
        return None
    if not has_valid_session(controller, request.broker, now_ms):
        return None
    if guard not in features.active(CONTROLLER):
        return None
    held = f"session of incarnation {existing.incarnation}"
    return Refused(
        node=CONTROLLER,
        request="broker-registration",
        error=KafkaError.DUPLICATE_BROKER_REGISTRATION,
        guard=guard,
        compared=(Compared("incarnation", str(request.incarnation), held),),
    )


def _registration_record(
    controller: Controller,
    existing: Registration | None,
    request: BrokerRegistrationRequest,
    features: Features,
) -> RegisterBrokerRecord:
    epoch, fenced, leaving = BrokerEpoch(controller.next_offset), True, False
    release = features.release_of(CONTROLLER)
    if existing is not None and existing.incarnation == request.incarnation:
        if release >= "3.7":
            fenced, leaving = existing.fenced, existing.in_controlled_shutdown
        if release >= "3.9":
            # KAFKA-16952: the same process keeps its epoch.
            epoch = existing.epoch
    return RegisterBrokerRecord(
        broker=request.broker,
        incarnation=request.incarnation,
        epoch=epoch,
        fenced=fenced,
        in_controlled_shutdown=leaving,
    )


def broker_heartbeat(
    controller: Controller,
    request: BrokerHeartbeatRequest,
    features: Features,
    now_ms: int | None,
) -> Effect:
    """Move the broker along the table of states, write what that takes, and note the contact."""
    found = registration(controller.registrations, request.broker)
    refused = _stale_heartbeat(found, request, features)
    if refused is not None or found is None:
        reply = BrokerHeartbeatResponse(error=KafkaError.STALE_BROKER_EPOCH)
        facts = (refused,) if refused else ()
        return controller, (Send(request.broker, reply),), facts
    known = heartbeat(controller, request.broker) or HeartbeatState(
        request.broker, fenced=found.fenced
    )
    caught_up = request.metadata_offset >= _target_offset(controller, found, features)
    now, then = _states(controller, known, request, caught_up)
    records = _transition(controller, found, now, then, features)
    controller = _heard(controller, _touched(known, request, then, now_ms))
    controller, sends, written = commit(controller, records, features)
    if then is BrokerState.CONTROLLED_SHUTDOWN:
        controller = _note_shutdown_offset(controller, request.broker, features)
    reply = BrokerHeartbeatResponse(
        is_caught_up=caught_up,
        is_fenced=then in (BrokerState.FENCED, BrokerState.SHUTDOWN_NOW),
        should_shut_down=then is BrokerState.SHUTDOWN_NOW,
    )
    return controller, (*sends, Send(request.broker, reply)), written


def _stale_heartbeat(
    found: Registration | None, request: BrokerHeartbeatRequest, features: Features
) -> Refused | None:
    guard = "631.heartbeat-epoch"
    if found is not None and found.epoch == request.broker_epoch:
        return None
    if found is not None and guard not in features.active(CONTROLLER):
        return None
    held = str(found.epoch) if found else "none"
    return Refused(
        node=CONTROLLER,
        request="broker-heartbeat",
        error=KafkaError.STALE_BROKER_EPOCH,
        guard=guard,
        compared=(Compared(f"broker {request.broker} epoch", str(request.broker_epoch), held),),
    )


def _target_offset(controller: Controller, found: Registration, features: Features) -> int:
    # KAFKA-13959: from 3.3 on a broker must have seen its own registration, not the whole log.
    if features.release_of(CONTROLLER) == "3.2":
        return controller.next_offset - 1
    return found.record_offset


def _states(
    controller: Controller,
    known: HeartbeatState,
    request: BrokerHeartbeatRequest,
    caught_up: bool,
) -> tuple[BrokerState, BrokerState]:
    leads = any(p.leader == request.broker for p in controller.partitions)
    now = current_state(known)
    return now, next_state(
        now,
        want_fence=request.want_fence,
        want_shut_down=request.want_shut_down,
        caught_up=caught_up,
        leads=leads,
        granted=known.controlled_shutdown_offset <= lowest_active_offset(controller),
    )


def current_state(known: HeartbeatState) -> BrokerState:
    """The state of a broker before its heartbeat is processed."""
    if known.controlled_shutdown_offset >= 0:
        return BrokerState.CONTROLLED_SHUTDOWN
    return BrokerState.FENCED if known.fenced else BrokerState.UNFENCED


def next_state(
    now: BrokerState,
    *,
    want_fence: bool,
    want_shut_down: bool,
    caught_up: bool,
    leads: bool,
    granted: bool,
) -> BrokerState:
    """BrokerHeartbeatManager.calculateNextBrokerState, row by row.

    `granted`: every active broker has replicated the metadata up to the broker's own
    controlled-shutdown offset.
    """
    if now is BrokerState.CONTROLLED_SHUTDOWN:
        return BrokerState.SHUTDOWN_NOW if granted and not leads else now
    if now is BrokerState.FENCED:
        if want_shut_down:
            return BrokerState.SHUTDOWN_NOW
        return BrokerState.UNFENCED if caught_up and not want_fence else now
    if want_fence:
        return BrokerState.SHUTDOWN_NOW if want_shut_down else BrokerState.FENCED
    if want_shut_down:
        return BrokerState.CONTROLLED_SHUTDOWN if leads else BrokerState.SHUTDOWN_NOW
    return now


def lowest_active_offset(controller: Controller) -> int:
    """The metadata offset every active broker has reached; very large when there is none."""
    active = (
        h.metadata_offset
        for h in controller.heartbeats
        if not h.fenced and h.controlled_shutdown_offset < 0
    )
    return min(active, default=2**63 - 1)


def _transition(
    controller: Controller,
    found: Registration,
    now: BrokerState,
    then: BrokerState,
    features: Features,
) -> list[Record]:
    if then is now:
        return []
    if then in (BrokerState.FENCED, BrokerState.SHUTDOWN_NOW):
        return fencing_records(controller, found, features)
    if then is BrokerState.UNFENCED:
        return _unfencing_records(controller, found, features)
    return _shutdown_records(controller, found, features)


def fencing_records(
    controller: Controller, found: Registration, features: Features
) -> list[Record]:
    """handleBrokerFenced: out of every ISR first, the fence record last."""
    fence = fence_record(
        found.broker, found.epoch, fence=True, metadata_version=features.metadata_version
    )
    return [*_removal_records(controller, found.broker, features), fence]


def _unfencing_records(
    controller: Controller, found: Registration, features: Features
) -> list[Record]:
    """handleBrokerUnfenced: every leaderless partition is looked at again."""
    unfence = fence_record(
        found.broker, found.epoch, fence=False, metadata_version=features.metadata_version
    )
    leaderless = [p for p in controller.partitions if p.leader == NO_LEADER]
    changes = _changes(controller, leaderless, features, added=found.broker)
    return [unfence, *changes]


def _shutdown_records(
    controller: Controller, found: Registration, features: Features
) -> list[Record]:
    """handleBrokerInControlledShutdown: the flag is persistent from metadata version 3.3-IV3."""
    flagged = at_least(features.metadata_version, "3.3-IV3") and not found.in_controlled_shutdown
    flag = BrokerRegistrationChangeRecord(found.broker, found.epoch, in_controlled_shutdown=1)
    return [*([flag] if flagged else []), *_removal_records(controller, found.broker, features)]


def _removal_records(
    controller: Controller, broker: BrokerId, features: Features
) -> list[PartitionChangeRecord]:
    with_it = [p for p in controller.partitions if broker in p.isr]
    return _changes(controller, with_it, features, removed=broker)


def _changes(
    controller: Controller,
    partitions: Iterable[PartitionRegistration],
    features: Features,
    *,
    removed: BrokerId | None = None,
    added: BrokerId | None = None,
) -> list[PartitionChangeRecord]:
    """generateLeaderAndIsrUpdates: take a broker out, or let one in, wherever that matters."""
    active = features.active(CONTROLLER)
    code = Code(features.release_of(CONTROLLER), features.metadata_version, active)

    def acceptable(broker: BrokerId) -> bool:
        if broker == removed:
            return False
        return broker == added or is_active(registration(controller.registrations, broker), active)

    built = (
        build(p, Targets(isr=tuple(r for r in p.isr if r != removed)), acceptable, code)
        for p in partitions
    )
    return [record for record in built if record is not None]


def expire_session(controller: Controller, broker: BrokerId, features: Features) -> Effect:
    """The deferred event that fences a broker whose session is over."""
    found = registration(controller.registrations, broker)
    known = heartbeat(controller, broker)
    if found is None or known is None:
        return controller, (), ()
    records = fencing_records(controller, found, features)
    fenced = replace(known, fenced=True, controlled_shutdown_offset=-1)
    return commit(_heard(controller, fenced), records, features)


def fail_over(controller: Controller, now_ms: int | None) -> Effect:
    """A new active controller: the metadata log is kept, the heartbeat state starts afresh."""
    fresh = tuple(
        HeartbeatState(r.broker, fenced=r.fenced, last_contact_ms=now_ms or 0)
        for r in controller.registrations
    )
    epoch = ControllerEpoch(controller.epoch + 1)
    return replace(controller, epoch=epoch, heartbeats=fresh), (), ()


def _touched(
    known: HeartbeatState,
    request: BrokerHeartbeatRequest,
    then: BrokerState,
    now_ms: int | None,
) -> HeartbeatState:
    fenced = then in (BrokerState.FENCED, BrokerState.SHUTDOWN_NOW)
    return replace(
        known,
        fenced=fenced,
        last_contact_ms=now_ms or 0,
        metadata_offset=request.metadata_offset,
        controlled_shutdown_offset=-1 if fenced else known.controlled_shutdown_offset,
    )


def _note_shutdown_offset(
    controller: Controller, broker: BrokerId, features: Features
) -> Controller:
    known = heartbeat(controller, broker)
    overwritten = features.release_of(CONTROLLER) == "3.2"
    if known is None or (known.controlled_shutdown_offset >= 0 and not overwritten):
        return controller
    return _heard(controller, replace(known, controlled_shutdown_offset=controller.next_offset - 1))


def _heard(controller: Controller, state: HeartbeatState) -> Controller:
    others = [h for h in controller.heartbeats if h.broker != state.broker]
    heartbeats = tuple(sorted([*others, state], key=lambda h: h.broker))
    return (
        controller
        if heartbeats == controller.heartbeats
        else replace(controller, heartbeats=heartbeats)
    )
