"""Registration: a broker process gets its broker epoch.

The input is a broker's registration request, with the incarnation of its process. One check is
made: whether another incarnation still has a live session. If so the new process waits, and the
controller stays the same object. Otherwise one record replaces the registration: a new broker epoch
(the record's own offset), fenced. If the very same process registers again, it keeps its flags from
3.7 on and its epoch from 3.9 on. The session of a new incarnation begins anew. The output is the
record, the new metadata for every broker, and the answer with the epoch. Up to 3.9 partitions do
not change (except by an alternative that KIP-903 rejected): an ISR lost its stopped member when
that was fenced, and the last member is still in it. From 4.0 on the old incarnation leaves first as
if it had been fenced; with eligible leader replicas (KIP-966) it leaves these as well, unless the
new process names the broker epoch with which the old one stopped in order.

An operator unregisters a broker by its id. An unknown broker is an error. Any other leaves every
ISR as if it were fenced, the last member stays, and its registration is removed, whether it runs or
not: from then on it gets STALE_BROKER_EPOCH. The output is the records, the new metadata for every
broker, and the answer. If the broker is unknown the controller stays the same object.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from .. import messages
from ..errors import KafkaError
from ..facts import Compared, Fact, Refused
from ..features import Features
from ..ids import CLIENT, CONTROLLER, UNKNOWN_METADATA_OFFSET, BrokerEpoch, MetadataOffset
from ..registrations import ONE_DIRECTORY, Registration, registration
from ..releases import CodeVersion
from .brokers_to_elrs import names_deleted_topic, partitions_with_elr_member
from .controller_state import Controller, HeartbeatState, heartbeat, last_known_offset
from .fencing import changes, removal_records, resign, unclean_removal_records
from .records import PartitionChangeRecord, Record, RegisterBrokerRecord, UnregisterBrokerRecord
from .replay import ControllerEffect, commit
from .sessions import has_contacts, has_valid_session, is_in_contact, with_heartbeat


def register_broker(
    controller: Controller,
    request: messages.BrokerRegistrationRequest,
    features: Features,
    now_ms: int | None,
) -> ControllerEffect:
    """Give a broker process its broker epoch: the metadata offset of its own registration.

    Source: ClusterControlManager.registerBroker (3.5.0; for the same incarnation also 3.7.0 and
    3.9.0-rc3); KIP-631, Broker Registration.
    """
    existing = registration(controller.registrations, request.broker)
    refused = _duplicate(controller, existing, request, features, now_ms)
    if refused is not None:
        reply = messages.BrokerRegistrationResponse(error=refused.error)
        return controller, (messages.Send(request.broker, reply),), (refused,)
    # The quorum has its place for what it wrote when the controller was elected, which a log of
    # kiplab does not count. This record shows: up to 3.5 the first registration has its offset for
    # a broker epoch. QuorumController.registerBroker hands on writeOffset + 1 (3.2.0, 3.5.0).
    offset = controller.write_offset
    if offset is not None and controller.next_offset <= offset + 1:
        controller = replace(controller, next_offset=MetadataOffset(offset + 2))
    record = _registration_record(controller, existing, request, features)
    left = _clean_up(controller, existing, request, features)
    if left is None:
        following, facts, error = _broken_off(controller, request, features, now_ms)
        reply = messages.BrokerRegistrationResponse(error=error)
        return following, (messages.Send(request.broker, reply),), facts
    records: list[Record] = [*left, record]
    # KIP-903, Rejected Alternatives, "Bump all the partition leader epochs when a broker
    # registers": with a new leader epoch wherever the broker has a replica, every older request is
    # fenced; but all of them have to stop and learn the epoch first.
    if "903.bump-leader-epochs" in features.active(CONTROLLER):
        records += [
            PartitionChangeRecord(partition=p.name, leader=p.leader)
            for p in controller.partitions
            if request.broker in p.replicas
        ]
    state = _noted(controller, existing, record, features.code_of(CONTROLLER), now_ms)
    controller, sends, facts = commit(with_heartbeat(controller, state), records, features)
    reply = messages.BrokerRegistrationResponse(broker_epoch=record.epoch)
    return controller, (*sends, messages.Send(request.broker, reply)), facts


def _noted(
    controller: Controller,
    existing: Registration | None,
    record: RegisterBrokerRecord,
    code: CodeVersion,
    now_ms: int | None,
) -> HeartbeatState:
    """What the controller knows of the broker from now on: nothing of what it knew before.

    Source: ClusterControlManager.replay of a RegisterBrokerRecord (3.3.0 to 3.9.0-rc3): the old
    state is removed, and the broker registered anew.
    """
    contact = now_ms or 0
    same = existing is not None and existing.incarnation == record.incarnation
    if code >= (3, 3) or existing is None or not same:
        return HeartbeatState(
            record.broker,
            fenced=record.fenced,
            last_contact_ms=contact,
            target_offset=_target_offset(controller),
        )
    # 3.2 replays nothing here: registerBroker touches the old state, with the fence that is in the
    # registration. That one is fenced since the last time, whatever the heartbeats have said since.
    entry = heartbeat(controller, record.broker) or HeartbeatState(record.broker)
    return replace(
        entry,
        fenced=existing.fenced,
        last_contact_ms=contact,
        metadata_offset=UNKNOWN_METADATA_OFFSET,
        controlled_shutdown_offset=UNKNOWN_METADATA_OFFSET
        if existing.fenced
        else entry.controlled_shutdown_offset,
    )


def _target_offset(controller: Controller) -> MetadataOffset:
    """Which offset the controller itself takes for that of the registration, if a wrong one.

    Source: QuorumController.ControllerWriteEvent.run (3.3.0, 3.5.0): what is written is replayed
    with an offset counted on from writeOffset.
    """
    offset = controller.write_offset
    return UNKNOWN_METADATA_OFFSET if offset is None else MetadataOffset(offset + 1)


def _duplicate(
    controller: Controller,
    existing: Registration | None,
    request: messages.BrokerRegistrationRequest,
    features: Features,
    now_ms: int | None,
) -> Refused | None:
    # KIP-631, Broker Registration: a registration is one process's, told apart by its incarnation,
    # and only one of them is alive to the controller. The old one is fenced before the new one is
    # let in (ClusterControlManager.registerBroker, 3.2.0 to 3.9.0-rc3), so it is out of every ISR
    # but those where it is alone.
    guard = "631.one-live-incarnation"
    if existing is None or existing.incarnation == request.incarnation:
        return None
    if has_contacts(features.code_of(CONTROLLER)):
        in_session = is_in_contact(controller, existing, now_ms)
    else:
        in_session = has_valid_session(controller, existing.broker, now_ms)
    if not in_session or guard not in features.active(CONTROLLER):
        return None
    held = f"session of incarnation {existing.incarnation}"
    compared = (Compared("incarnation", str(request.incarnation), held),)
    error = KafkaError.DUPLICATE_BROKER_REGISTRATION
    return Refused(CONTROLLER, "broker-registration", error, guard, compared)


def _clean_up(
    controller: Controller,
    existing: Registration | None,
    request: messages.BrokerRegistrationRequest,
    features: Features,
) -> Iterable[Record] | None:
    """What of the broker's last incarnation is still to be done, from 4.0 on; None where the
    controller finds a topic that is deleted.

    Its session may be over before a check, and the broker in an ISR still: the new
    incarnation is let in, and the old one leaves as if it had been fenced. The epoch was minted
    before these records, so that it is not the offset of the registration.

    Source: ClusterControlManager.registerBroker and
    ReplicationControlManager.handleBrokerShutdown (4.0.2, 4.3.1).
    """
    same = existing is not None and existing.incarnation == request.incarnation
    if features.code_of(CONTROLLER) < (4, 0) or same:
        return ()
    # KIP-966, Proposed Changes, "During the shutdown, write the current broker epoch": the next
    # process sends it. Any other epoch, or none, means that records may be lost.
    stopped_in_order = existing is not None and request.previous_epoch == existing.epoch
    if "966.elr-unclean-shutdown" in features.active(CONTROLLER) and not stopped_in_order:
        if names_deleted_topic(controller, request.broker):
            return None
        return unclean_removal_records(controller, request.broker, features)
    return removal_records(controller, request.broker, features)


def _broken_off(
    controller: Controller,
    request: messages.BrokerRegistrationRequest | messages.UnregisterBrokerRequest,
    features: Features,
    now_ms: int | None,
) -> tuple[Controller, tuple[Fact, ...], KafkaError]:
    """The controller resigns over a member of an ELR that is no more; so does the next one, which
    has replayed the same records. Seen on 4.1.2 and 4.3.1; no report was found in the public
    threads searched.

    Source: QuorumController.handleEventException (4.1.2, 4.3.1).
    """
    kind, error = messages.KINDS[type(request)], KafkaError.UNKNOWN_SERVER_ERROR
    whose = f"broker {request.broker}"
    compared = (Compared(whose, "eligible nowhere", "listed for a deleted topic"),)
    refused = Refused(CONTROLLER, kind, error, None, compared)
    following, _, resigned = resign(controller, kind, "RuntimeException", features, now_ms)
    return following, (refused, *resigned), error


def _registration_record(
    controller: Controller,
    existing: Registration | None,
    request: messages.BrokerRegistrationRequest,
    features: Features,
) -> RegisterBrokerRecord:
    epoch, fenced, leaving = BrokerEpoch(last_known_offset(controller) + 1), True, False
    code = features.code_of(CONTROLLER)
    if existing is not None and existing.incarnation == request.incarnation:
        if code >= (3, 7):
            fenced, leaving = existing.fenced, existing.in_controlled_shutdown
        if code >= (3, 9):
            # KAFKA-16952: the same process keeps its epoch.
            epoch = existing.epoch
    has_others = features.assigns_directories() and request.log_dirs != ONE_DIRECTORY
    return RegisterBrokerRecord(
        broker=request.broker,
        incarnation=request.incarnation,
        epoch=epoch,
        fenced=fenced,
        in_controlled_shutdown=leaving,
        log_dirs=request.log_dirs if has_others else None,
    )


def unregister_broker(
    controller: Controller,
    request: messages.UnregisterBrokerRequest,
    features: Features,
    now_ms: int | None,
) -> ControllerEffect:
    """Forget a broker, and what the controller remembers of it.

    Source: ReplicationControlManager.unregisterBroker and handleBrokerUnregistered (3.2.0 to
    3.9.0-rc3, 4.3.1).
    """
    registered = registration(controller.registrations, request.broker)
    if registered is None:
        error = KafkaError.BROKER_ID_NOT_REGISTERED
        compared = (Compared("broker", str(request.broker), "none"),)
        refused = Refused(CONTROLLER, "unregister-broker", error, None, compared)
        reply = messages.UnregisterBrokerResponse(error=error)
        return controller, (messages.Send(CLIENT, reply),), (refused,)
    if names_deleted_topic(controller, request.broker):
        following, failed, error = _broken_off(controller, request, features, now_ms)
        reply = messages.UnregisterBrokerResponse(error=error)
        return following, (messages.Send(CLIENT, reply),), failed
    in_elr = partitions_with_elr_member(controller, registered.broker)
    records: list[Record] = [
        *removal_records(controller, registered.broker, features),
        *changes(controller, in_elr, features, removed=registered.broker),
        UnregisterBrokerRecord(registered.broker, registered.epoch),
    ]
    controller, sends, facts = commit(controller, records, features)
    # 3.2 forgets only the registration (ClusterControlManager.replay, 3.2.0 and 3.3.0): the session
    # goes on, and when it is over the controller does not know whom to fence.
    if features.code_of(CONTROLLER) >= (3, 3):
        left = tuple(h for h in controller.heartbeats if h.broker != request.broker)
        controller = replace(controller, heartbeats=left)
    return controller, (*sends, messages.Send(CLIENT, messages.UnregisterBrokerResponse())), facts
