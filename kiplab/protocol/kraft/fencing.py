"""Fencing, unfencing and shutdown of a broker, and their effects on its partitions.

The input is a broker whose state changes: by a heartbeat (`heartbeats.py`), because its session has
expired, or because a new controller took over. A broker that is fenced or shuts down leaves every
ISR that it is in, in the order of the partitions. If it led, another member of the ISR is elected;
the last member stays, without a leader (with eligible leader replicas it leaves too, and is one of
them). The record about the broker comes last when it is fenced,
first when it is unfenced (then every partition without a leader is checked again) or shuts down.
The output is records, for the caller to commit or committed here, and then the new metadata. Other
partitions get no record and keep their epochs. So a broker outside the ISR can be fenced without a
trace in the partition; KIP-903 closes that hole.
"""

from collections.abc import Iterable
from functools import partial

from msgspec.structs import replace

from ..facts import ControllerResigned
from ..features import Features
from ..ids import CONTROLLER, NO_LEADER, UNKNOWN_METADATA_OFFSET, BrokerId, ControllerEpoch
from ..registrations import PartitionRegistration, Registration, registration
from ..releases import at_least
from .brokers_to_elrs import partitions_with_elr_member
from .controller_state import (
    Controller,
    ControllerTimers,
    HeartbeatState,
    effective_min_isr,
    has_directory,
    heartbeat,
    is_active,
    last_known_offset,
)
from .partition_change import Code, Targets, build, ordinary
from .records import BrokerRegistrationChangeRecord, PartitionChangeRecord, Record, fence_record
from .replay import ControllerEffect, commit
from .sessions import activated, forgotten, has_contacts, with_heartbeat


def fencing_records(
    controller: Controller, registration: Registration, features: Features
) -> list[Record]:
    """Records that remove it from every ISR, then the fence record.

    Source: ReplicationControlManager.handleBrokerFenced (3.5.0).
    """
    broker, at = registration.broker, features.metadata_version
    fence = fence_record(broker, registration.epoch, at, fence=True)
    return [*removal_records(controller, broker, features), fence]


def unfencing_records(
    controller: Controller, registration: Registration, features: Features
) -> list[Record]:
    """The unfence record first; then every leaderless partition is looked at again.

    Source: ReplicationControlManager.handleBrokerUnfenced (3.5.0).
    """
    broker, at = registration.broker, features.metadata_version
    unfence = fence_record(broker, registration.epoch, at, fence=False)
    leaderless = [p for p in controller.partitions if p.leader == NO_LEADER]
    return [unfence, *changes(controller, leaderless, features, added=broker)]


def shutdown_records(
    controller: Controller, registration: Registration, features: Features
) -> list[Record]:
    """The flag, which is persistent from metadata version 3.3-IV3, then removal from every ISR.

    Source: ReplicationControlManager.handleBrokerInControlledShutdown (3.5.0).
    """
    broker, is_persistent = registration.broker, at_least(features.metadata_version, "3.3-IV3")
    flags: list[Record] = []
    if is_persistent and not registration.in_controlled_shutdown:
        change = BrokerRegistrationChangeRecord(
            broker, registration.epoch, in_controlled_shutdown=1
        )
        flags.append(change)
    return [*flags, *removal_records(controller, broker, features)]


def removal_records(
    controller: Controller, broker: BrokerId, features: Features
) -> list[PartitionChangeRecord]:
    """Remove it from every ISR; where it led, another member leads, or the partition has no leader.

    Source: ReplicationControlManager.generateLeaderAndIsrUpdates (3.5.0); KIP-903,
    A notable exception to the proposal.
    """
    return changes(controller, _with_member(controller, broker), features, removed=broker)


def _with_member(controller: Controller, broker: BrokerId) -> list[PartitionRegistration]:
    """Who has it in the ISR; of a broker -1 those without a leader, which are listed under that id.

    Source: BrokersToIsrs.update and partitionsWithBrokerInIsr (3.5.0, 4.3.1).
    """
    leaderless = [NO_LEADER] if broker == NO_LEADER else []
    return [p for p in controller.partitions if broker in p.isr or p.leader in leaderless]


def unclean_removal_records(
    controller: Controller, broker: BrokerId, features: Features
) -> list[PartitionChangeRecord]:
    """Remove a broker that did not stop in order from every ISR, and then from every ELR.

    Source: ReplicationControlManager.handleBrokerShutdown (4.0.2, 4.3.1).
    """
    in_isr = _with_member(controller, broker)
    in_elr = partitions_with_elr_member(controller, broker)
    return changes(controller, [*in_isr, *in_elr], features, unclean_shutdown=broker)


def changes(
    controller: Controller,
    partitions: Iterable[PartitionRegistration],
    features: Features,
    *,
    removed: BrokerId | None = None,
    added: BrokerId | None = None,
    unclean_shutdown: BrokerId | None = None,
) -> list[PartitionChangeRecord]:
    """Take a broker out, or let one in, wherever that matters.

    Source: ReplicationControlManager.generateLeaderAndIsrUpdates (3.5.0, 4.3.1).
    """
    code, gone = Code.of(features), (removed, unclean_shutdown)

    def acceptable(state: PartitionRegistration, broker: BrokerId) -> bool:
        alive = broker == added or is_active(controller, code.active, broker)
        return broker not in gone and alive and has_directory(controller, state, broker)

    records: list[PartitionChangeRecord] = []
    for p in partitions:
        targets = Targets(
            isr=tuple(member for member in p.isr if member not in gone),
            min_isr=effective_min_isr(controller, p),
            unclean_shutdown=unclean_shutdown,
        )
        record = build(p, targets, partial(acceptable, p), code, ordinary(p, code))
        records += [record] if record is not None else []
    return records


def expire_session(
    controller: Controller, broker: BrokerId, features: Features, now_ms: int | None
) -> ControllerEffect:
    """The deferred event that fences a broker whose session is over.

    A controller of 3.2 that finds no registration to go with the session gives up.

    Source: ReplicationControlManager.maybeFenceOneStaleBroker (3.5.0, 4.0.2) and
    QuorumController.rescheduleMaybeFenceStaleBrokers (3.5.0).
    """
    registered = registration(controller.registrations, broker)
    entry = heartbeat(controller, broker)
    if entry is None:
        return controller, (), ()
    if registered is None:
        return resign(controller, "maybeFenceReplicas", "RuntimeException", features, now_ms)
    if has_contacts(features.code_of(CONTROLLER)):
        controller = forgotten(controller, registered, now_ms)
    records = fencing_records(controller, registered, features)
    # Up to 3.6 nothing clears the offset of a controlled shutdown (BrokerHeartbeatManager.fence,
    # and register, which sees no other fence): fenced or not, the broker is to shut down. From 3.7
    # on register touches the state whenever a change of the registration is replayed.
    if features.code_of(CONTROLLER) >= (3, 7):
        entry = replace(entry, controlled_shutdown_offset=UNKNOWN_METADATA_OFFSET)
    return commit(with_heartbeat(controller, replace(entry, fenced=True)), records, features)


def resign(
    controller: Controller, event: str, exception: str, features: Features, now_ms: int | None
) -> ControllerEffect:
    """An exception that is no Kafka error: what was begun is undone, and the controller gives up.
    It is elected again, and has not forgotten what it takes for the offsets of registrations.

    Source: QuorumController.handleEventException and renounce (3.2.0, 3.5.0, 3.9.0-rc3).
    """
    following, _, _ = fail_over(controller, features, now_ms)
    taken = {heartbeat.broker: heartbeat.target_offset for heartbeat in controller.heartbeats}
    entries = tuple(
        replace(fresh, target_offset=taken.get(fresh.broker, UNKNOWN_METADATA_OFFSET))
        for fresh in following.heartbeats
    )
    following = replace(following, heartbeats=entries)
    resigned = ControllerResigned(
        request=event,
        exception=exception,
        before=controller.epoch,
        epoch=following.epoch,
        last_committed=last_known_offset(controller),
    )
    return following, (), (resigned,)


def fail_over(controller: Controller, features: Features, now_ms: int | None) -> ControllerEffect:
    """A new active controller: the metadata log is kept, heartbeat state and timers start afresh.

    Source: QuorumController.claim and ClusterControlManager.activate (3.5.0).
    """
    fresh = tuple(
        HeartbeatState(r.broker, fenced=r.fenced, last_contact_ms=now_ms or 0)
        for r in controller.registrations
    )
    # QuorumController.claim takes the last committed offset for the end of its log (3.2.0, 3.5.0);
    # from 3.6 on it asks the quorum, which counts its own record of the election (3.6.0).
    claims_committed = features.code_of(CONTROLLER) < (3, 6)
    following = replace(
        controller,
        epoch=ControllerEpoch(controller.epoch + 1),
        write_offset=last_known_offset(controller) if claims_committed else None,
        heartbeats=fresh,
        watches_sessions=now_ms is None,
        timers=ControllerTimers(),
    )
    return activated(following, features.code_of(CONTROLLER), now_ms or 0), (), ()
