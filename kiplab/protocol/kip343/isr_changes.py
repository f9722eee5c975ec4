"""IsrChange: a leader asks the controller for another ISR (KIP-343).

The input is a request for the ISRs of some partitions. The header is judged first: whether this is
the controller, and whether the sender is the known incarnation (any other is wrong, a higher one
too). Then each partition is judged, in the order of the request: named twice, or unknown; the
leader and its leader epoch (a lower one is an old leader's; a higher one means that this controller
is behind); whether the ISR is valid; whether every member is active; and the partition epoch, which
the text does not have. What passes is written to ZooKeeper, on the condition that nobody else has
written since, and sent to all brokers.
The output is one answer, with a result for each partition in the order of the request. At the
leader it is the same in terms of its AlterPartition manager, which keeps one request under way.

Source: none; KIP-343 as it is written.
"""

from collections.abc import Callable
from typing import NamedTuple

from msgspec.structs import replace

from ..errors import KafkaError
from ..facts import Compared, Refused, compare, differing
from ..features import Features
from ..ids import PartitionEpoch, broker_list
from ..messages import (
    AlterPartitionItem,
    AlterPartitionResponse,
    AlterPartitionResult,
    IsrChangeRequest,
    IsrChangeResponse,
    IsrChangeResult,
    Send,
)
from ..registrations import PartitionRegistration
from ..replica import alter_partition_manager
from ..replica.broker_parts import BrokerEffect
from ..replica.broker_state import Broker
from ..zookeeper.control_channels import send_update_metadata
from ..zookeeper.controller_election import stand_down_if_moved
from ..zookeeper.controller_turn import (
    ControllerMovedError,
    ControllerTurn,
    state_in_zookeeper,
    write_state,
)
from ..zookeeper.ensemble_writes import Together
from ..zookeeper.zookeeper_controller import ZooKeeperController, epoch_of
from .heartbeat_controller import known_broker, plane_of

KIND = "isr-change"


def isr_change(turn: ControllerTurn, request: IsrChangeRequest) -> Together[ZooKeeperController]:
    """Judge the request, then each partition; write what is left."""
    refused = _sender_refused(turn, request)
    if refused is not None:
        return _refuse(turn, request, refused)
    results: list[IsrChangeResult] = []
    try:
        for place, item in enumerate(request.items):
            again = any(i.partition == item.partition for i in request.items[:place])
            turn, result = _changed(turn, request, item, again=again)
            results.append(result)
        written = tuple(r.partition for r in results if r.error is KafkaError.NONE)
        if written:
            turn = send_update_metadata(turn, turn.controller.live_brokers, written)
    except ControllerMovedError as moved:
        turn = stand_down_if_moved(moved.turn)
        return _refuse(turn, request, turn.refusal(KIND, KafkaError.NOT_CONTROLLER, None))
    return turn.done(Send(request.broker, IsrChangeResponse(results=tuple(results))))


def isr_change_answered(
    broker: Broker,
    response: IsrChangeResponse,
    request: IsrChangeRequest,
    features: Features,
    now_ms: int | None,
) -> BrokerEffect:
    """The leader takes the ISR that it asked for, goes back to the one it had, or asks again."""
    results = tuple(
        _as_leader_sees_it(broker, item, result)
        for item, result in zip(request.items, response.results, strict=False)
    )
    reply = AlterPartitionResponse(version=0, error=response.error, results=results)
    return alter_partition_manager.answered(broker, reply, request, features, now_ms)


def _as_leader_sees_it(
    broker: Broker, item: AlterPartitionItem, result: IsrChangeResult
) -> AlterPartitionResult:
    """What is not in the answer follows from the request: one write is one partition epoch."""
    if result.error is KafkaError.NONE:
        return AlterPartitionResult(
            partition=item.partition,
            leader=broker.id,
            leader_epoch=item.leader_epoch,
            partition_epoch=PartitionEpoch(item.partition_epoch + 1),
            isr=item.members,
            recovery=item.recovery,
        )
    over = result.error is KafkaError.NOT_LEADER_OR_FOLLOWER
    # An old leader waits for the new leader; the manager knows that as a fenced leader epoch.
    error = KafkaError.FENCED_LEADER_EPOCH if over else result.error
    return AlterPartitionResult(item.partition, error)


# --- the whole request ---------------------------------------------------------------------------


def _sender_refused(turn: ControllerTurn, request: IsrChangeRequest) -> Refused | None:
    if not turn.controller.active or not turn.has_session:
        return turn.refusal(KIND, KafkaError.NOT_CONTROLLER, None)
    sender = known_broker(plane_of(turn), request.broker)
    epoch = None if sender is None else sender.incarnation_id
    # KIP-343, IsrChangeRequest: INVALID_INCARNATION_ID at the top if the incarnation id is wrong:
    # another process has registered under the id, and the sender may change no ISR any more.
    if epoch == request.incarnation_id or "343.isr-change-incarnation" not in turn.active:
        return None
    name = f"incarnation id of broker {request.broker}"
    compared = compare(name, request.incarnation_id, epoch)
    return turn.refusal(KIND, KafkaError.STALE_BROKER_EPOCH, "343.isr-change-incarnation", compared)


def _refuse(
    turn: ControllerTurn, request: IsrChangeRequest, refused: Refused
) -> Together[ZooKeeperController]:
    reply = IsrChangeResponse(error=refused.error, error_message=refused.in_words())
    return turn.holding(turn.controller, refused).done(Send(request.broker, reply))


# --- partition by partition ----------------------------------------------------------------------


def _changed(
    turn: ControllerTurn, request: IsrChangeRequest, item: AlterPartitionItem, *, again: bool
) -> tuple[ControllerTurn, IsrChangeResult]:
    """Raises ControllerMovedError."""
    registration = state_in_zookeeper(turn, item.partition)
    if again or registration is None:
        error = KafkaError.INVALID_REQUEST if again else KafkaError.UNKNOWN_TOPIC_OR_PARTITION
        return _denied(turn, turn.refusal(KIND, error, None, partition=item.partition))
    case = _WantedChange(turn, request, item, registration)
    for guard, error, check in CHECKS:
        compared = check(case) if guard in turn.active else None
        if compared is not None:
            refused = turn.refusal(KIND, error, guard, compared, partition=item.partition)
            return _denied(turn, refused)
    turn, written = write_state(turn, registration, replace(registration, isr=item.members))
    assert written is not None, "nobody writes between a controller's read and its write"
    return turn, IsrChangeResult(item.partition)


def _denied(turn: ControllerTurn, refused: Refused) -> tuple[ControllerTurn, IsrChangeResult]:
    assert refused.partition is not None, "it is about one partition"
    result = IsrChangeResult(refused.partition, refused.error, refused.in_words())
    return turn.holding(turn.controller, refused), result


class _WantedChange(NamedTuple):
    turn: ControllerTurn
    request: IsrChangeRequest
    item: AlterPartitionItem
    held: PartitionRegistration


def _newer_leader_epoch(case: _WantedChange) -> Compared | None:
    # KIP-343, IsrChangeRequest: it carries leader epochs; what a higher one than the controller's
    # means the text leaves open. Here: that the controller is behind, as KAFKA-14154 has it.
    if case.item.leader_epoch <= case.held.leader_epoch:
        return None
    return compare("leader epoch", case.item.leader_epoch, case.held.leader_epoch)


def _not_leader(case: _WantedChange) -> Compared | None:
    # KIP-343, IsrChangeRequest: NOT_LEADER_FOR_PARTITION if the requester leads no longer. A lower
    # leader epoch is one of an earlier leader epoch.
    if case.request.broker != case.held.leader:
        return compare("leader", case.request.broker, case.held.leader)
    if case.item.leader_epoch >= case.held.leader_epoch:
        return None
    return compare("leader epoch", case.item.leader_epoch, case.held.leader_epoch)


def _no_isr(case: _WantedChange) -> Compared | None:
    # KIP-343, IsrChangeRequest: INVALID_REQUEST if the request is invalid, as an empty ISR is.
    isr = case.item.members
    proper = len(set(isr)) == len(isr) and set(isr) <= set(case.held.replicas)
    if case.request.broker in isr and proper:
        return None
    others = broker_list(case.held.replicas)
    wanted = f"{case.request.broker} and other replicas of {others}, each once"
    return Compared("ISR", broker_list(isr), wanted)


def _inactive_member(case: _WantedChange) -> Compared | None:
    # KIP-343, Broker State: an inactive broker is treated as an absent one. The error is KIP-841's.
    for member in case.item.members:
        if epoch_of(case.turn.controller, member) is None:
            return Compared(f"broker {member}", "a member", "not active")
    return None


def _swapped(case: _WantedChange) -> Compared | None:
    # KIP-343, IsrChangeRequest: it has no partition epoch, so that two requests of one leader epoch
    # may arrive the wrong way round. AlterIsr has one (KIP-497), and this is its answer.
    return differing("partition epoch", case.item.partition_epoch, case.held.partition_epoch)


CHECKS: tuple[tuple[str, KafkaError, Callable[[_WantedChange], Compared | None]], ...] = (
    ("343.isr-change-leader", KafkaError.NOT_CONTROLLER, _newer_leader_epoch),
    ("343.isr-change-leader", KafkaError.NOT_LEADER_OR_FOLLOWER, _not_leader),
    ("343.isr-change-valid", KafkaError.INVALID_REQUEST, _no_isr),
    ("343.active-members", KafkaError.INELIGIBLE_REPLICA, _inactive_member),
    ("343.partition-epoch", KafkaError.INVALID_UPDATE_VERSION, _swapped),
)
"""(guard, error, check), in order; the clause is in the check."""
