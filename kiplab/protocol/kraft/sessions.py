"""Sessions: the brokers whose heartbeats the active controller still counts on.

The input is the controller's memory of its brokers and the time. A session belongs to an unfenced
broker and lasts until `SESSION_TIMEOUT_MS` after the last contact; at exactly that time it still
holds. Brokers whose session has expired are fenced one at a time, the one with the earliest contact
first. Without a clock a session expires only by a move. Nothing is sent or written here;
`with_heartbeat` returns the same controller if nothing in it is new.

That holds up to 3.9. From 4.0 on (KAFKA-17793) a controller notes contacts instead. It notes every
heartbeat before any check: the time, the broker and its broker epoch. A broker with a contact under
its registered epoch has a session, fenced or not; one that is only registered has none yet. A
contact under another epoch has no effect, unless that epoch is assigned later. A check of the
contacts every `CHECK_MS` finds brokers that were silent for too long, one at a time and in no
order. The contact is dropped, and a broker that is registered under its epoch is fenced: once more,
if it was fenced already.
"""

from typing import NamedTuple

from msgspec.structs import replace

from ..features import Features
from ..ids import CONTROLLER, BrokerEpoch, BrokerId, Milliseconds
from ..registrations import Registration, registration
from ..releases import CodeVersion
from .controller_state import Contact, Controller, HeartbeatState, heartbeat

SESSION_TIMEOUT_MS = 9_000
"""broker.session.timeout.ms"""


def has_valid_session(controller: Controller, broker: BrokerId, now_ms: int | None) -> bool:
    """Inclusive: at exactly last contact + timeout the session still holds.

    Without a clock a session holds until a move ends it.

    Source: BrokerHeartbeatManager.hasValidSession (3.5.0).
    """
    entry = heartbeat(controller, broker)
    if entry is None or entry.fenced:
        return False
    return now_ms is None or entry.last_contact_ms + SESSION_TIMEOUT_MS >= now_ms


def stale_broker(controller: Controller, now_ms: int | None) -> BrokerId | None:
    """The unfenced broker with the oldest contact, if its session is over; one at a time.

    Source: BrokerHeartbeatManager.findOneStaleBroker (3.5.0).
    """
    unfenced = [h for h in controller.heartbeats if not h.fenced]
    if not unfenced or now_ms is None or not controller.watches_sessions:
        return None
    oldest = min(unfenced, key=lambda h: (h.last_contact_ms, h.broker))
    return oldest.broker if oldest.last_contact_ms + SESSION_TIMEOUT_MS < now_ms else None


def with_heartbeat(controller: Controller, state: HeartbeatState) -> Controller:
    """`controller` with what it knows of one broker brought up to date; from now on it watches.

    Source: BrokerHeartbeatManager.touch and QuorumController.rescheduleMaybeFenceStaleBrokers
    (3.2.0 to 3.9.0-rc3), which is called for heartbeats and registrations, and by no election.
    """
    entry = heartbeat(controller, state.broker)
    if entry == state and controller.watches_sessions:
        return controller
    if entry is None:
        heartbeats = tuple(sorted([*controller.heartbeats, state], key=lambda h: h.broker))
    else:
        heartbeats = tuple([state if h is entry else h for h in controller.heartbeats])
    return replace(controller, heartbeats=heartbeats, watches_sessions=True)


CHECK_MS = SESSION_TIMEOUT_MS // 8
"""The period of the check for silent brokers: QuorumController.maybeFenceStaleBrokerPeriodNs."""
NEXT_CHECK_MS = 10
"""The pause after one was found until the next check: PeriodicTaskControlManager."""


class NotedSession(NamedTuple):
    """A broker's session as its contact tells it; `over` without one."""

    broker: BrokerId
    over: bool
    fenced: bool
    leaving: bool
    last_contact_ms: Milliseconds


def has_contacts(code: CodeVersion) -> bool:
    """Whether controllers of this code note contacts.

    Source: BrokerHeartbeatManager.hasValidSession (3.9.1 and 4.0.2, the first that asks a
    BrokerHeartbeatTracker; the class is the same in 4.1.2, 4.2.1 and 4.3.1).
    """
    return code >= (4, 0)


def noted(
    controller: Controller, broker: BrokerId, epoch: BrokerEpoch, now_ms: int | None
) -> Controller:
    """`controller` after a heartbeat, for any answer.

    The same object where that makes no difference: an epoch of the past has no effect.

    Source: ClusterControlManager.trackBrokerHeartbeat (4.0.2).
    """
    registered = registration(controller.registrations, broker)
    is_now = registered is not None and registered.epoch == epoch
    if not is_now and epoch < controller.next_offset:
        return controller
    contact = Contact(broker, epoch, now_ms or 0)
    if contact in controller.contacts:
        return controller
    return _with(controller, contact)


def contact_of(controller: Controller, registration: Registration) -> Contact | None:
    """Time of the last contact of a registered broker under its epoch, or None.

    Source: BrokerHeartbeatTracker.contactTime (4.0.2).
    """
    for contact in controller.contacts:
        if contact.broker == registration.broker and contact.epoch == registration.epoch:
            return contact
    return None


def is_in_contact(controller: Controller, registration: Registration, now_ms: int | None) -> bool:
    """Inclusive, as up to 3.9; without a clock until a move ends it.

    Source: BrokerHeartbeatTracker.hasValidSession (4.0.2).
    """
    contact = contact_of(controller, registration)
    return contact is not None and not _is_expired(contact, now_ms)


def out_of_contact(controller: Controller, now_ms: int | None) -> tuple[BrokerId, ...]:
    """The registered brokers that were silent for too long.

    Which of them is fenced first is for the schedule to say: Kafka goes through a hash table.

    Source: BrokerHeartbeatTracker.maybeRemoveExpired (4.0.2).
    """
    if now_ms is None:
        return ()
    contacts = (contact_of(controller, registered) for registered in controller.registrations)
    return tuple(c.broker for c in contacts if c is not None and _is_expired(c, now_ms))


def next_check_ms(controller: Controller, not_before_ms: int) -> int:
    """The time of the next check for brokers that were silent for too long.

    Source: PeriodicTaskControlManager.reschedule (4.0.2).
    """
    late = not_before_ms - controller.checks_from_ms
    return controller.checks_from_ms + max(0, -(-late // CHECK_MS)) * CHECK_MS


def forgotten(controller: Controller, registration: Registration, now_ms: int | None) -> Controller:
    """`controller` when it was noticed that a broker is silent; the next look comes soon.

    Source: BrokerHeartbeatTracker.maybeRemoveExpired and PeriodicTaskControlManager.reschedule
    (4.0.2).
    """
    left = tuple(
        c
        for c in controller.contacts
        if (c.broker, c.epoch) != (registration.broker, registration.epoch)
    )
    checks_from = 0 if now_ms is None else now_ms + NEXT_CHECK_MS
    return replace(controller, contacts=left, checks_from_ms=checks_from)


def activated(controller: Controller, code: CodeVersion, now_ms: Milliseconds) -> Controller:
    """The state of a new controller: the last contact of every broker is now.

    Source: ClusterControlManager.activate (4.0.2; in 4.1.2 the fenced are left out) and
    PeriodicTaskControlManager.activate (4.0.2).
    """
    if not has_contacts(code):
        return controller
    expected = (r for r in controller.registrations if code < (4, 1) or not r.fenced)
    contacts = tuple(Contact(r.broker, r.epoch, now_ms) for r in expected)
    return replace(
        controller,
        contacts=contacts,
        watches_sessions=True,
        checks_from_ms=now_ms,
        active_since_ms=now_ms,
    )


def carried_over(controller: Controller, features: Features) -> Controller:
    """`controller` with its memory in the form of its code, if that form has changed.

    A real controller restarts for an upgrade, and begins anew; here every session of 3.9 is kept.

    Source: none; it stands for ClusterControlManager.activate.
    """
    code = features.code_of(CONTROLLER)
    if has_contacts(code) and controller.contacts:
        return controller
    contacts: tuple[Contact, ...] = ()
    if has_contacts(code):
        last = {h.broker: h.last_contact_ms for h in controller.heartbeats}
        unfenced = (r for r in controller.registrations if not r.fenced)
        contacts = tuple(Contact(r.broker, r.epoch, last.get(r.broker, 0)) for r in unfenced)
    return controller if contacts == controller.contacts else replace(controller, contacts=contacts)


def noted_sessions(controller: Controller) -> tuple[NotedSession, ...]:
    """The session of every broker that the controller knows of, sorted by broker.

    Source: none; it stands for what BrokerHeartbeatTracker and BrokerHeartbeatManager know.
    """
    registered = {r.broker: r for r in controller.registrations}
    sessions = []
    for state in controller.heartbeats:
        by_broker = registered.get(state.broker)
        contact = None if by_broker is None else contact_of(controller, by_broker)
        last_ms = 0 if contact is None else contact.last_contact_ms
        over = contact is None
        sessions.append(NotedSession(state.broker, over, state.fenced, state.leaving, last_ms))
    return tuple(sessions)


def _with(controller: Controller, contact: Contact) -> Controller:
    """Notes under epochs of the past are left out."""
    epochs = {r.broker: r.epoch for r in controller.registrations}
    kept = [
        c
        for c in controller.contacts
        if (c.broker, c.epoch) != (contact.broker, contact.epoch)
        and (c.epoch == epochs.get(c.broker) or c.epoch >= controller.next_offset)
    ]
    contacts = sorted([*kept, contact], key=lambda c: (c.broker, c.epoch))
    return replace(controller, contacts=tuple(contacts))


def _is_expired(contact: Contact, now_ms: int | None) -> bool:
    return now_ms is not None and contact.last_contact_ms + SESSION_TIMEOUT_MS < now_ms
