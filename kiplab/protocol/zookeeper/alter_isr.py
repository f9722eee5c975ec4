"""AlterIsr, from 3.2 on AlterPartition, at a controller that runs on a broker.

The input is a leader's request for new ISRs, from inter-broker protocol 2.7-IV2 on. The header is
judged first: whether this controller is active, and whether the sender has exactly the known broker
epoch. Then each partition is judged on its own against the controller's cached state: known at all;
epochs newer than its own (it is probably the one that is behind); an older leader epoch; a state
that holds already, which is a success; an older partition epoch; the recovery state; a member of
the ISR that is not online. At 2.8 there are the leader epoch and the state that holds, and
everything else is left to the version of the znode. Nothing checks that the sender leads, or that
the ISR is made of replicas: the sender is written down as leader.

The output is the writes, conditional on the partition epoch of the request, UpdateMetadata for all
brokers about all partitions of the request, with any result, and an answer.

The first check with a result answers, with its comparison.
"""

from collections.abc import Callable
from operator import gt, lt
from typing import NamedTuple

from msgspec.structs import replace

from .. import messages
from ..errors import KafkaError
from ..facts import Compared, Refused, compare
from ..registrations import LeaderRecoveryState, PartitionRegistration, partition, topic_of
from .control_channels import all_partitions, send_update_metadata
from .controller_turn import ControllerMovedError, ControllerTurn, write_state
from .ensemble_writes import Together
from .zookeeper_controller import ZooKeeperController, cached, epoch_of, is_online

KIND = "alter-partition"
TOPIC_IDS_SINCE = 2
"""The version of the request that names topics by id, and knows INELIGIBLE_REPLICA."""


def alter_isr(
    turn: ControllerTurn, request: messages.AlterPartitionRequest
) -> Together[ZooKeeperController]:
    """Judge every partition against what the controller remembers, then write what is left.

    A controller that finds out here that it was deposed answers UNKNOWN_SERVER_ERROR, and goes on
    until its watch fires: Kafka catches that exception together with every other.

    Source: KafkaController.processAlterIsr (2.8.2), tryProcessAlterPartition (3.4.1).
    """
    refused = _stale_sender(turn, request) or _unreadable(turn, request)
    if refused is not None:
        return _refuse(turn, request, refused)
    # A partition that is named twice is asked for as it is named last.
    items = {item.partition: item for item in request.items}
    judged = {name: _judged(turn, request, item) for name, item in items.items()}
    try:
        turn, results = _written(turn, judged)
        names = tuple(name for name in all_partitions(turn.controller) if name in items)
        turn = send_update_metadata(turn, turn.controller.live_brokers, names)
    except ControllerMovedError as moved:
        # KafkaController.processAlterPartition (3.4.1) and processAlterIsr (2.8.2) have the same
        # answer to every exception.
        refused = moved.turn.moved_refusal(KIND, KafkaError.UNKNOWN_SERVER_ERROR)
        return _refuse(moved.turn, request, refused)
    reply = messages.AlterPartitionResponse(version=request.version, results=results)
    return turn.done(messages.Send(request.broker, reply))


_Judged = Refused | PartitionRegistration | None
"""The refusal, or the state to write; None where that holds already."""


def _judged(
    turn: ControllerTurn, request: messages.AlterPartitionRequest, item: messages.AlterPartitionItem
) -> _Judged:
    state = partition(turn.controller.partitions, item.partition)
    if state is None:
        unknown = _unknown(turn, request, item.partition)
        return turn.refusal(KIND, unknown, None, partition=item.partition)
    case = _WantedState(turn, _wanted(request, item, state), state)
    for guard, error, check in CHECKS:
        compared = check(case) if guard is None or guard in turn.active else None
        if compared is None:
            continue
        if error is None:
            return None
        return turn.refusal(KIND, error, guard, compared, partition=item.partition)
    member = _ineligible_member(case)
    if member is None:
        return case.wanted
    has_topic_ids = request.version >= TOPIC_IDS_SINCE
    error = KafkaError.INELIGIBLE_REPLICA if has_topic_ids else KafkaError.OPERATION_NOT_ATTEMPTED
    return turn.refusal(KIND, error, *member, partition=item.partition)


def _unknown(
    turn: ControllerTurn, request: messages.AlterPartitionRequest, name: str
) -> KafkaError:
    topics = {topic_of(partition) for partition in all_partitions(turn.controller)}
    if request.version >= TOPIC_IDS_SINCE and topic_of(name) not in topics:
        return KafkaError.UNKNOWN_TOPIC_ID
    return KafkaError.UNKNOWN_TOPIC_OR_PARTITION


def _wanted(
    request: messages.AlterPartitionRequest,
    item: messages.AlterPartitionItem,
    registration: PartitionRegistration,
) -> PartitionRegistration:
    """The state that is asked for: the sender leads it."""
    byte = item.recovery if request.version >= 1 else LeaderRecoveryState.RECOVERED
    return replace(
        registration,
        leader=request.broker,
        leader_epoch=item.leader_epoch,
        partition_epoch=item.partition_epoch,
        isr=item.members,
        recovery=LeaderRecoveryState(byte),
    )


def _written(
    turn: ControllerTurn, judged: dict[str, _Judged]
) -> tuple[ControllerTurn, tuple[messages.AlterPartitionResult, ...]]:
    """Raises ControllerMovedError."""
    results: list[messages.AlterPartitionResult] = []
    for name, outcome in judged.items():
        refused = outcome if isinstance(outcome, Refused) else None
        state = cached(turn.controller, name) if refused is None else None
        if state is not None and isinstance(outcome, PartitionRegistration):
            turn, state = write_state(turn, state, _over(turn, outcome))
            refused = _overtaken(turn, outcome) if state is None else None
        if state is not None:
            results.append(messages.AlterPartitionResult.granted(state))
        elif refused is not None:
            turn = turn.holding(turn.controller, refused)
            results.append(messages.AlterPartitionResult(name, refused.error))
    return turn, tuple(results)


def _over(turn: ControllerTurn, registration: PartitionRegistration) -> PartitionRegistration:
    """Over the version that the leader has read or, without that guard, over any."""
    there = partition(turn.ensemble.partitions, registration.name)
    # KIP-497, AlterIsrResponse (INVALID_UPDATE_VERSION): compare and set.
    if "497.partition-epoch" in turn.active or there is None:
        return registration
    return replace(registration, partition_epoch=there.partition_epoch)


def _overtaken(turn: ControllerTurn, registration: PartitionRegistration) -> Refused:
    there = partition(turn.ensemble.partitions, registration.name)
    epoch = None if there is None else there.partition_epoch
    compared = compare("partition epoch", registration.partition_epoch, epoch)
    error = KafkaError.INVALID_UPDATE_VERSION
    # KIP-497, AlterIsrResponse (INVALID_UPDATE_VERSION): somebody has written in between.
    guard = "497.partition-epoch"
    return turn.refusal(KIND, error, guard, compared, partition=registration.name)


def _stale_sender(turn: ControllerTurn, request: messages.AlterPartitionRequest) -> Refused | None:
    if not turn.controller.active or not turn.has_session:
        return turn.refusal(KIND, KafkaError.NOT_CONTROLLER, None)
    epoch = epoch_of(turn.controller, request.broker)
    if epoch == request.broker_epoch:
        return None
    # KIP-497, AlterIsrRequest (BrokerEpoch): any other epoch than the one that is known is stale.
    if epoch is not None and "497.request-broker-epoch" not in turn.active:
        return None
    compared = compare(f"broker {request.broker} epoch", request.broker_epoch, epoch)
    return turn.refusal(KIND, KafkaError.STALE_BROKER_EPOCH, "497.request-broker-epoch", compared)


def _unreadable(turn: ControllerTurn, request: messages.AlterPartitionRequest) -> Refused | None:
    """A byte that is no recovery state is an exception, and the whole request fails with it."""
    bytes_sent = [item.recovery for item in request.items] if request.version >= 1 else []
    for byte in bytes_sent:
        if byte not in tuple(LeaderRecoveryState):
            compared = Compared("recovery state", str(int(byte)), "0 or 1")
            return turn.refusal(KIND, KafkaError.UNKNOWN_SERVER_ERROR, None, compared)
    return None


def _refuse(
    turn: ControllerTurn, request: messages.AlterPartitionRequest, refused: Refused
) -> Together[ZooKeeperController]:
    reply = messages.AlterPartitionResponse(version=request.version, error=refused.error)
    return turn.holding(turn.controller, refused).done(messages.Send(request.broker, reply))


class _WantedState(NamedTuple):
    """All that a check may look at: the state that is asked for, and the one that is remembered."""

    turn: ControllerTurn
    wanted: PartitionRegistration
    held: PartitionRegistration


def _ineligible_member(case: _WantedState) -> tuple[str, Compared] | None:
    """The guard that a member of the ISR fails, and what it compares; None if all are online.

    KIP-841 says that it is for KRaft alone; the code of 3.3 has it here as well:
    KafkaController.tryProcessAlterPartition (3.4.1).
    """
    turn = case.turn
    for member in case.wanted.isr:
        if is_online(turn.controller, member):
            continue
        leaving = epoch_of(turn.controller, member) is not None
        # KIP-841, Proposed Changes: the controller looks at the members itself. Kafka asks one
        # question for both, whether they are among its live brokers.
        if leaving and "841.shutting-down" in turn.active:
            guard, held = "841.shutting-down", "shutting down"
        elif not leaving and "841.registered" in turn.active:
            guard, held = "841.registered", "unknown"
        else:
            continue
        return guard, Compared(f"broker {member}", "member", held)
    return None


_RECOVERED = LeaderRecoveryState.RECOVERED
_RECOVERING = LeaderRecoveryState.RECOVERING


def _wrong(case: _WantedState, epoch: str, is_wrong: Callable[[int, int], bool]) -> Compared | None:
    wanted, held = getattr(case.wanted, epoch), getattr(case.held, epoch)
    return compare(epoch.replace("_", " "), wanted, held) if is_wrong(wanted, held) else None


def _newer_epoch(case: _WantedState) -> Compared | None:
    # KAFKA-14154, "Return NOT_CONTROLLER from AlterPartition if leader is ahead of controller".
    return _wrong(case, "partition_epoch", gt) or _wrong(case, "leader_epoch", gt)


def _older_leader(case: _WantedState) -> Compared | None:
    # KIP-497, AlterIsrResponse (FENCED_LEADER_EPOCH): a leader of an earlier epoch.
    return _wrong(case, "leader_epoch", lt)


def _holds_already(case: _WantedState) -> Compared | None:
    """What is asked for twice is granted twice; from 3.3 on not from the future."""
    late = case.turn.code < (3, 3) or case.wanted.partition_epoch <= case.held.partition_epoch
    same = replace(case.wanted, partition_epoch=case.held.partition_epoch) == case.held
    return Compared("state", "the same", "the same") if same and late else None


def _older_state(case: _WantedState) -> Compared | None:
    # KIP-497, AlterIsrResponse (INVALID_UPDATE_VERSION): compare and set. At 2.8 ZooKeeper alone
    # compares versions.
    return _wrong(case, "partition_epoch", lt) if case.turn.code >= (3, 2) else None


def _not_alone(case: _WantedState) -> Compared | None:
    # KIP-704, AlterPartition RPC, Request Handling, 1: RECOVERING goes with an ISR of one.
    wrong = case.wanted.recovery is _RECOVERING and len(case.wanted.isr) > 1
    return Compared("ISR", str(len(case.wanted.isr)), "1 while RECOVERING") if wrong else None


def _no_way_back(case: _WantedState) -> Compared | None:
    # KIP-704, AlterPartition RPC, Request Handling, 2: RECOVERED does not become RECOVERING.
    wanted, leader_recovery_state = case.wanted.recovery, case.held.recovery
    wrong = leader_recovery_state is _RECOVERED and wanted is _RECOVERING
    return Compared("recovery state", wanted.name, leader_recovery_state.name) if wrong else None


CHECKS: tuple[
    tuple[str | None, KafkaError | None, Callable[[_WantedState], Compared | None]], ...
] = (
    ("kafka-14154.newer-epoch", KafkaError.NOT_CONTROLLER, _newer_epoch),
    ("497.leader-epoch", KafkaError.FENCED_LEADER_EPOCH, _older_leader),
    (None, None, _holds_already),
    ("497.partition-epoch", KafkaError.INVALID_UPDATE_VERSION, _older_state),
    ("704.recovering-alone", KafkaError.INVALID_REQUEST, _not_alone),
    ("704.no-way-back", KafkaError.INVALID_REQUEST, _no_way_back),
)
"""(guard, error, check) in Kafka's order; the one without an error is a success."""
