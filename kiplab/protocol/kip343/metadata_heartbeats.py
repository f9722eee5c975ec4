"""MetadataHeartbeat at the controller, and missing heartbeats (KIP-343).

The input is a broker's heartbeat with its incarnation and the wanted state. Checks follow the
text's order: whether this is the controller, whether the id is valid, whether the incarnation is
right, and then the wanted state. A lower incarnation than the known one is an old process. A higher
one is accepted without asking ZooKeeper, whose watch event may still be under way: it is treated as
a bounce, and the watch event then changes nothing. For an unknown broker ZooKeeper is asked first.
A broker cannot want Initial or Inactive.
The output is an answer with the current state of the broker, or an error without one, and the
effects of the change. Or no heartbeat comes for controller.heartbeat.timeout.ms, and the broker
becomes inactive. The text has no default for it. Plays of this mode have no clock: the line
`declare-inactive` ends the timeout.

Source: none; KIP-343 as it is written.
"""

from ..errors import KafkaError
from ..facts import Compared, Refused, compare
from ..features import Features
from ..ids import BrokerId
from ..messages import MembershipState, MetadataHeartbeatRequest, MetadataHeartbeatResponse, Send
from ..messages.heartbeat_messages import state_word
from ..zookeeper.controller_election import stand_down_if_moved
from ..zookeeper.controller_turn import ControllerMovedError, ControllerTurn
from ..zookeeper.ensemble_writes import Together
from ..zookeeper.zookeeper_controller import ZooKeeperController
from .heartbeat_controller import (
    HeartbeatController,
    KnownBroker,
    active_again,
    bounced,
    declared,
    known_broker,
    plane_of,
    registered,
    stopping,
)

KIND = "metadata-heartbeat"
_TARGETS = (MembershipState.ACTIVE, MembershipState.STOPPING)


def metadata_heartbeat(
    turn: ControllerTurn, request: MetadataHeartbeatRequest
) -> Together[ZooKeeperController]:
    """Put the broker into the state that it wants, or say why not."""
    try:
        turn, refused = _judged(turn, request)
        if refused is None:
            known = known_broker(plane_of(turn), request.broker)
            assert known is not None, "who is not refused is known"
            stops = request.target_state == MembershipState.STOPPING
            # KIP-343, Broker State: stopping is controlled shutdown, in which leaders are moved
            # away.
            if stops and "343.stopping" in turn.active:
                turn = stopping(turn, known)
            else:
                turn = active_again(turn, known)
    except ControllerMovedError as moved:
        turn = stand_down_if_moved(moved.turn)
        refused = turn.refusal(KIND, KafkaError.NOT_CONTROLLER, None)
    if refused is not None:
        reply = MetadataHeartbeatResponse(error=refused.error, error_string=refused.in_words())
        return turn.holding(turn.controller, refused).done(Send(request.broker, reply))
    now = known_broker(plane_of(turn), request.broker)
    assert now is not None, "who is not refused is known"
    return turn.done(Send(request.broker, MetadataHeartbeatResponse(current_state=int(now.state))))


def heartbeats_missed(turn: ControllerTurn, broker: BrokerId) -> Together[ZooKeeperController]:
    """controller.heartbeat.timeout.ms have passed without a heartbeat of `broker`."""
    entry = known_broker(plane_of(turn), broker)
    assert entry is not None, "see why_not_missed"
    try:
        turn = declared(turn, entry, MembershipState.INACTIVE, "its heartbeats are missing")
    except ControllerMovedError as moved:
        turn = stand_down_if_moved(moved.turn)
    return turn.done()


def why_not_missed(
    controller: HeartbeatController, broker: BrokerId, features: Features
) -> str | None:
    """Why no timeout of this broker can be over; None if it can."""
    entry = known_broker(controller, broker)
    if entry is None:
        return f"the controller knows no registered broker {broker}"
    if entry.legacy:
        return f"broker {broker} registered as one that sends no heartbeats: it is always active"
    if broker == controller.broker:
        return f"broker {broker} is the controller, and sends itself no heartbeats"
    if entry.state is MembershipState.INACTIVE:
        return f"the controller has declared broker {broker} inactive already"
    # KIP-343, Controller Heartbeat, Controller-Side Heartbeat Timeout: who does not heartbeat for
    # a certain time is declared inactive.
    if "343.fence-silent" not in features.active(controller.node):
        return "343.fence-silent is off: the controller waits for heartbeats without a limit"
    return None


def _judged(
    turn: ControllerTurn, request: MetadataHeartbeatRequest
) -> tuple[ControllerTurn, Refused | None]:
    """Raises ControllerMovedError."""
    if not turn.controller.active or not turn.has_session:
        return turn, turn.refusal(KIND, KafkaError.NOT_CONTROLLER, None)
    if request.broker < 0:
        compared = Compared("broker id", str(request.broker), "0 or more")
        return turn, turn.refusal(KIND, KafkaError.INVALID_REQUEST, None, compared)
    turn, refused = _incarnation_judged(turn, request)
    if refused is None and request.target_state not in _TARGETS:
        compared = Compared("target state", state_word(request.target_state), "active or stopping")
        refused = turn.refusal(KIND, KafkaError.INVALID_REQUEST, None, compared)
    return turn, refused


def _incarnation_judged(
    turn: ControllerTurn, request: MetadataHeartbeatRequest
) -> tuple[ControllerTurn, Refused | None]:
    entry = known_broker(plane_of(turn), request.broker)
    if entry is None:
        return _unknown_judged(turn, request)
    sent, epoch = request.incarnation_id, entry.incarnation_id
    compared = compare(f"incarnation id of broker {request.broker}", sent, epoch)
    if sent < epoch:
        # KIP-343, Controller Logic: a lower incarnation id than the controller's is from an old
        # incarnation, which is told so.
        if "343.incarnation-id" in turn.active:
            return turn, _stale(turn, compared)
        return turn, None
    if sent > epoch:
        # KIP-343, Controller Logic: a higher one is adopted in memory, and the broker is valid.
        if "343.higher-incarnation" not in turn.active:
            return turn, turn.refusal(KIND, KafkaError.STALE_BROKER_EPOCH, None, compared)
        newer = KnownBroker(request.broker, sent)
        return bounced(turn, newer, "a heartbeat names a higher incarnation"), None
    return turn, None


def _unknown_judged(
    turn: ControllerTurn, request: MetadataHeartbeatRequest
) -> tuple[ControllerTurn, Refused | None]:
    """A broker whose registration the controller has not looked at yet, or that has none."""
    there = next((k for k in registered(turn) if k.broker == request.broker), None)
    if there is not None and there.incarnation_id == request.incarnation_id:
        return declared(turn, there, there.state, "it is registered"), None
    epoch = None if there is None else there.incarnation_id
    name = f"incarnation id of broker {request.broker}"
    # KIP-343, MetadataHeartbeatRequest: INVALID_INCARNATION_ID, which has no number: 77 is what
    # Kafka has for it.
    return turn, _stale(turn, compare(name, request.incarnation_id, epoch))


def _stale(turn: ControllerTurn, compared: Compared) -> Refused:
    # KIP-343, MetadataHeartbeatRequest: the error if the incarnation id was not accepted.
    return turn.refusal(KIND, KafkaError.STALE_BROKER_EPOCH, "343.incarnation-id", compared)
