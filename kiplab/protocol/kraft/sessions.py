"""Sessions: which brokers the active controller still hears from.

In come the controller's memory of its brokers and the time. A session belongs to an unfenced broker
and lasts until `SESSION_TIMEOUT_MS` after the last contact; at exactly that time it still holds.
Brokers whose session is over are fenced one at a time, the one heard of longest ago first. Without
a clock no session ends by itself: somebody says that it is over. Nothing is sent or written here;
`heard` gives the same controller back when it knew all of it.
"""

from __future__ import annotations

from msgspec.structs import replace

from ..ids import BrokerId
from .controller_state import Controller, HeartbeatState, heartbeat

SESSION_TIMEOUT_MS = 9_000
"""broker.session.timeout.ms"""


def has_valid_session(controller: Controller, broker: BrokerId, now_ms: int | None) -> bool:
    """Inclusive: at exactly last contact + timeout the session still holds.

    Without a clock a session holds until somebody says that it is over.

    Source: BrokerHeartbeatManager.hasValidSession (3.5.0).
    """
    known = heartbeat(controller, broker)
    if known is None or known.fenced:
        return False
    return now_ms is None or known.last_contact_ms + SESSION_TIMEOUT_MS >= now_ms


def stale_broker(controller: Controller, now_ms: int | None) -> BrokerId | None:
    """The unfenced broker heard of longest ago, if its session is over; one at a time.

    Source: BrokerHeartbeatManager.findOneStaleBroker (3.5.0).
    """
    unfenced = [h for h in controller.heartbeats if not h.fenced]
    if not unfenced or now_ms is None or not controller.watches_sessions:
        return None
    oldest = min(unfenced, key=lambda h: (h.last_contact_ms, h.broker))
    return oldest.broker if oldest.last_contact_ms + SESSION_TIMEOUT_MS < now_ms else None


def heard(controller: Controller, state: HeartbeatState) -> Controller:
    """`controller` with what it knows of one broker brought up to date; from now on it watches.

    Source: BrokerHeartbeatManager.touch and QuorumController.rescheduleMaybeFenceStaleBrokers
    (3.2.0 to 3.9.0-rc3), which is called for heartbeats and registrations, and by no election.
    """
    known = heartbeat(controller, state.broker)
    if known == state and controller.watches_sessions:
        return controller
    if known is None:
        heartbeats = tuple(sorted([*controller.heartbeats, state], key=lambda h: h.broker))
    else:
        heartbeats = tuple([state if h is known else h for h in controller.heartbeats])
    return replace(controller, heartbeats=heartbeats, watches_sessions=True)
