"""Heartbeats: the table of broker states, and the records of each transition.

The input is a heartbeat: the broker, its broker epoch, how far it has replicated the metadata log,
and whether it wants to stay fenced or to shut down. The epoch is judged first. A stale heartbeat
changes nothing, but from 4.0 on the controller notes its contact (`sessions.py`). Otherwise the
state of the broker and its two wishes give the next state, and `fencing.py` the records of the
transition. Then the contact, the offset and the fence are noted. A broker that enters controlled
shutdown gets the offset that every other active broker has to reach before it may stop. The output
is the records, the new metadata for every broker, and the answer: caught up, fenced, shut down now.
"""

from enum import StrEnum

from msgspec.structs import replace

from ..errors import KafkaError
from ..features import Features
from ..ids import CONTROLLER, UNKNOWN_METADATA_OFFSET, BrokerId
from ..messages import BrokerHeartbeatRequest, BrokerHeartbeatResponse, Send
from ..registrations import Registration, registration
from .controller_state import Controller, HeartbeatState, heartbeat, last_known_offset, stale_sender
from .fencing import fencing_records, shutdown_records, unfencing_records
from .records import ChangeOfBroker, Record
from .replay import ControllerEffect, commit
from .sessions import has_contacts, noted, with_heartbeat


class BrokerState(StrEnum):
    """BrokerControlState: what the heartbeat manager makes of a broker."""

    FENCED = "FENCED"
    UNFENCED = "UNFENCED"
    CONTROLLED_SHUTDOWN = "CONTROLLED_SHUTDOWN"
    SHUTDOWN_NOW = "SHUTDOWN_NOW"


def broker_heartbeat(
    controller: Controller, request: BrokerHeartbeatRequest, features: Features, now_ms: int | None
) -> ControllerEffect:
    """Move the broker along the table of states, write what that takes, and note the contact.

    Source: ReplicationControlManager.processBrokerHeartbeat and
    QuorumController.processBrokerHeartbeat (3.2.0, 3.5.0, 3.9.0-rc3); KIP-631, Broker Leases.
    """
    if has_contacts(features.code_of(CONTROLLER)):
        controller = noted(controller, request.broker, request.broker_epoch, now_ms)
    registered = registration(controller.registrations, request.broker)
    # KIP-631, Broker Leases: heartbeats keep a registration alive, and each names the broker epoch
    # that this was answered with (ClusterControlManager.checkBrokerEpoch, 3.2.0 to 3.9.0-rc3); a
    # process that was replaced cannot keep its successor's session alive, nor end it.
    guard = "631.heartbeat-epoch"
    checked = guard in features.active(CONTROLLER)
    refused = stale_sender(controller, request, guard, checked=checked)
    if refused is not None or registered is None:
        reply = BrokerHeartbeatResponse(error=KafkaError.STALE_BROKER_EPOCH)
        facts = (refused,) if refused else ()
        return controller, (Send(request.broker, reply),), facts
    entry = heartbeat(controller, request.broker) or HeartbeatState(
        request.broker, fenced=registered.fenced
    )
    caught_up = request.metadata_offset >= _target_offset(controller, registered, entry, features)
    now, then = _states(controller, entry, request, caught_up)
    records = _transition(controller, registered, now, then, features)
    controller = with_heartbeat(controller, _touched(entry, request, then, now_ms))
    controller, sends, written = commit(controller, records, features)
    if any(isinstance(record, ChangeOfBroker) for record in records):
        controller = _replayed(controller, request.broker, features)
    if then is BrokerState.CONTROLLED_SHUTDOWN:
        controller = _note_shutdown_offset(controller, request.broker, features)
    reply = BrokerHeartbeatResponse(
        is_caught_up=caught_up,
        is_fenced=then in (BrokerState.FENCED, BrokerState.SHUTDOWN_NOW),
        should_shut_down=then is BrokerState.SHUTDOWN_NOW,
    )
    return controller, (*sends, Send(request.broker, reply)), written


def _target_offset(
    controller: Controller, registration: Registration, entry: HeartbeatState, features: Features
) -> int:
    # KAFKA-13959: from 3.3 on a broker must have seen its own registration, not the whole log.
    if features.code_of(CONTROLLER) < (3, 3):
        return last_known_offset(controller)
    return registration.record_offset if entry.target_offset < 0 else entry.target_offset


def _states(
    controller: Controller, entry: HeartbeatState, request: BrokerHeartbeatRequest, caught_up: bool
) -> tuple[BrokerState, BrokerState]:
    now = current_state(entry)
    # Whether it leads, and how far the others are, is asked of a broker that wants to go.
    leaves = request.want_shut_down or now is BrokerState.CONTROLLED_SHUTDOWN
    return now, next_state(
        now,
        want_fence=request.want_fence,
        want_shut_down=request.want_shut_down,
        caught_up=caught_up,
        leads=leaves and any(p.leader == request.broker for p in controller.partitions),
        granted=leaves and entry.controlled_shutdown_offset <= lowest_active_offset(controller),
    )


def current_state(entry: HeartbeatState) -> BrokerState:
    """The state of a broker before its heartbeat is processed.

    Source: BrokerHeartbeatManager.currentBrokerState (3.5.0).
    """
    if entry.leaving:
        return BrokerState.CONTROLLED_SHUTDOWN
    return BrokerState.FENCED if entry.fenced else BrokerState.UNFENCED


def next_state(
    now: BrokerState,
    *,
    want_fence: bool,
    want_shut_down: bool,
    caught_up: bool,
    leads: bool,
    granted: bool,
) -> BrokerState:
    """The state that a heartbeat leads to.

    `granted`: every active broker has replicated the metadata up to the broker's own
    controlled-shutdown offset.

    Source: BrokerHeartbeatManager.calculateNextBrokerState (3.5.0), row by row.
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
    """The metadata offset every active broker has reached; very large when there is none.

    Source: BrokerHeartbeatManager.lowestActiveOffset (3.5.0).
    """
    active = (
        h.metadata_offset
        for h in controller.heartbeats
        if not h.fenced and h.controlled_shutdown_offset < 0
    )
    return min(active, default=2**63 - 1)


def _transition(
    controller: Controller,
    registration: Registration,
    now: BrokerState,
    then: BrokerState,
    features: Features,
) -> list[Record]:
    if then is now:
        return []
    if then in (BrokerState.FENCED, BrokerState.SHUTDOWN_NOW):
        return fencing_records(controller, registration, features)
    if then is BrokerState.UNFENCED:
        return unfencing_records(controller, registration, features)
    return shutdown_records(controller, registration, features)


def _touched(
    entry: HeartbeatState, request: BrokerHeartbeatRequest, then: BrokerState, now_ms: int | None
) -> HeartbeatState:
    fenced = then in (BrokerState.FENCED, BrokerState.SHUTDOWN_NOW)
    return replace(
        entry,
        fenced=fenced,
        last_contact_ms=now_ms or 0,
        metadata_offset=request.metadata_offset,
        controlled_shutdown_offset=UNKNOWN_METADATA_OFFSET
        if fenced
        else entry.controlled_shutdown_offset,
    )


def _replayed(controller: Controller, broker: BrokerId, features: Features) -> Controller:
    """What the replay of the broker's own fence, unfencing or shutdown does to what is known of it.

    Source: BrokerHeartbeatManager.register (3.7.0 to 3.9.0-rc3): the state has that fence already,
    and is touched with an unknown metadata offset; until the next heartbeat the broker counts as
    one that has replicated nothing. Up to 3.6 it is left alone.
    """
    entry = heartbeat(controller, broker)
    if entry is None or features.code_of(CONTROLLER) < (3, 7):
        return controller
    return with_heartbeat(controller, replace(entry, metadata_offset=UNKNOWN_METADATA_OFFSET))


def _note_shutdown_offset(
    controller: Controller, broker: BrokerId, features: Features
) -> Controller:
    entry = heartbeat(controller, broker)
    overwritten = features.code_of(CONTROLLER) < (3, 3)
    if entry is None or (entry.leaving and not overwritten):
        return controller
    offset = last_known_offset(controller)
    return with_heartbeat(controller, replace(entry, controlled_shutdown_offset=offset))
