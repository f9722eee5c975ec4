"""Registration: a broker process gets its broker epoch.

Source: ClusterControlManager.registerBroker.
"""

from __future__ import annotations

from msgspec.structs import replace

from ..errors import KafkaError
from ..facts import Compared, Refused
from ..features import Features
from ..ids import CONTROLLER, BrokerEpoch
from ..messages import BrokerRegistrationRequest, BrokerRegistrationResponse, Send
from ..registrations import Registration, registration
from ..releases import CodeVersion
from .controller_state import Controller, HeartbeatState, heartbeat
from .records import PartitionChangeRecord, Record, RegisterBrokerRecord
from .replay import ControllerEffect, commit
from .sessions import has_valid_session, heard


def register_broker(
    controller: Controller,
    request: BrokerRegistrationRequest,
    features: Features,
    now_ms: int | None,
) -> ControllerEffect:
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
    another = existing is not None and existing.incarnation != request.incarnation
    known = None if another else heartbeat(controller, request.broker)
    state = _noted(known, record, features.code_of(CONTROLLER), now_ms)
    controller, sends, facts = commit(heard(controller, state), records, features)
    reply = BrokerRegistrationResponse(broker_epoch=record.epoch)
    return controller, (*sends, Send(request.broker, reply)), facts


def _noted(
    known: HeartbeatState | None,
    record: RegisterBrokerRecord,
    code: CodeVersion,
    now_ms: int | None,
) -> HeartbeatState:
    """BrokerHeartbeatManager.register; up to 3.2 the session of a known broker stays as it was."""
    if known is None:
        return HeartbeatState(record.broker, fenced=record.fenced, last_contact_ms=now_ms or 0)
    fenced = known.fenced if code < (3, 3) else record.fenced
    changed = fenced != known.fenced
    if not changed and (3, 3) <= code < (3, 7):
        return known
    return replace(
        known,
        fenced=fenced,
        last_contact_ms=now_ms or 0,
        metadata_offset=known.metadata_offset if changed else -1,
        controlled_shutdown_offset=-1 if fenced else known.controlled_shutdown_offset,
    )


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
    code = features.code_of(CONTROLLER)
    if existing is not None and existing.incarnation == request.incarnation:
        if code >= (3, 7):
            fenced, leaving = existing.fenced, existing.in_controlled_shutdown
        if code >= (3, 9):
            # KAFKA-16952: the same process keeps its epoch.
            epoch = existing.epoch
    return RegisterBrokerRecord(
        broker=request.broker,
        incarnation=request.incarnation,
        epoch=epoch,
        fenced=fenced,
        in_controlled_shutdown=leaving,
    )
