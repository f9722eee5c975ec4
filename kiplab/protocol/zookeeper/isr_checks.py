"""What a controller on a broker checks before a leader's ISR is written, in Kafka's order.

In come the state that a leader asks for and the one that the controller remembers. First whether
the leader knows something newer: then this controller is behind, not the leader. Then an older
leader epoch; a state that holds already, which is granted; an older partition epoch; the recovery
state. Out comes the first check that has something to say, with what it compared, or None. Last,
and apart, come the members of the ISR, each of which has to be online.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from msgspec.structs import replace

from ..errors import KafkaError
from ..facts import Compared
from ..registrations import LeaderRecoveryState, PartitionRegistration
from .controller_turn import ControllerTurn
from .zookeeper_controller import epoch_of, is_online


class IsrVerdict(NamedTuple):
    """Why a state is not written: an error, or None because it holds already."""

    guard: str | None
    error: KafkaError | None
    compared: Compared


def first_verdict(
    turn: ControllerTurn, wanted: PartitionRegistration, held: PartitionRegistration
) -> IsrVerdict | None:
    """The first check that keeps the wanted state from being written; None if none does.

    Source: KafkaController.processAlterIsr (2.8.2), tryProcessAlterPartition (3.4.1).
    """
    for guard, error, check in CHECKS:
        compared = check(turn, wanted, held) if guard is None or guard in turn.active else None
        if compared is not None:
            return IsrVerdict(guard, error, compared)
    return None


def ineligible_member(
    turn: ControllerTurn, wanted: PartitionRegistration
) -> tuple[str, Compared] | None:
    """The guard that a member of the ISR fails, and what it compares; None if all are online.

    KIP-841 says that it is for KRaft alone; the code of 3.3 has it here as well.

    Source: KafkaController.tryProcessAlterPartition (3.4.1).
    """
    for member in wanted.isr:
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
IsrCheck = Callable[[ControllerTurn, PartitionRegistration, PartitionRegistration], Compared | None]


def _compared(name: str, wanted: int, held: int, wrong: bool) -> Compared | None:
    return Compared(name, str(int(wanted)), str(int(held))) if wrong else None


def _newer_leader(
    _turn: ControllerTurn, wanted: PartitionRegistration, held: PartitionRegistration
) -> Compared | None:
    # KAFKA-14154, "Return NOT_CONTROLLER from AlterPartition if leader is ahead of controller".
    asked, known = wanted.leader_epoch, held.leader_epoch
    return _compared("leader epoch", asked, known, asked > known)


def _newer_state(
    _turn: ControllerTurn, wanted: PartitionRegistration, held: PartitionRegistration
) -> Compared | None:
    # KAFKA-14154, "Return NOT_CONTROLLER from AlterPartition if leader is ahead of controller".
    asked, known = wanted.partition_epoch, held.partition_epoch
    return _compared("partition epoch", asked, known, asked > known)


def _older_leader(
    _turn: ControllerTurn, wanted: PartitionRegistration, held: PartitionRegistration
) -> Compared | None:
    # KIP-497, AlterIsrResponse (FENCED_LEADER_EPOCH): a leader of an earlier reign.
    asked, known = wanted.leader_epoch, held.leader_epoch
    return _compared("leader epoch", asked, known, asked < known)


def _holds_already(
    turn: ControllerTurn, wanted: PartitionRegistration, held: PartitionRegistration
) -> Compared | None:
    """What is asked for twice is granted twice; from 3.3 on not from the future."""
    late = turn.code < (3, 3) or wanted.partition_epoch <= held.partition_epoch
    same = replace(wanted, partition_epoch=held.partition_epoch) == held
    return Compared("state", "the same", "the same") if same and late else None


def _older_state(
    turn: ControllerTurn, wanted: PartitionRegistration, held: PartitionRegistration
) -> Compared | None:
    # KIP-497, AlterIsrResponse (INVALID_UPDATE_VERSION): compare and set. At 2.8 ZooKeeper alone
    # compares versions.
    asked, known = wanted.partition_epoch, held.partition_epoch
    return _compared("partition epoch", asked, known, asked < known and turn.code >= (3, 2))


def _not_alone(
    _turn: ControllerTurn, wanted: PartitionRegistration, _held: PartitionRegistration
) -> Compared | None:
    # KIP-704, AlterPartition RPC, Request Handling, 1: RECOVERING goes with an ISR of one.
    wrong = wanted.recovery is _RECOVERING and len(wanted.isr) > 1
    return Compared("ISR", str(len(wanted.isr)), "1 while RECOVERING") if wrong else None


def _no_way_back(
    _turn: ControllerTurn, wanted: PartitionRegistration, held: PartitionRegistration
) -> Compared | None:
    # KIP-704, AlterPartition RPC, Request Handling, 2: RECOVERED does not become RECOVERING.
    wrong = held.recovery is _RECOVERED and wanted.recovery is _RECOVERING
    return Compared("recovery state", wanted.recovery.name, held.recovery.name) if wrong else None


CHECKS: tuple[tuple[str | None, KafkaError | None, IsrCheck], ...] = (
    ("kafka-14154.newer-epoch", KafkaError.NOT_CONTROLLER, _newer_state),
    ("kafka-14154.newer-epoch", KafkaError.NOT_CONTROLLER, _newer_leader),
    ("497.leader-epoch", KafkaError.FENCED_LEADER_EPOCH, _older_leader),
    (None, None, _holds_already),
    ("497.partition-epoch", KafkaError.INVALID_UPDATE_VERSION, _older_state),
    ("704.recovering-alone", KafkaError.INVALID_REQUEST, _not_alone),
    ("704.no-way-back", KafkaError.INVALID_REQUEST, _no_way_back),
)
"""(guard, error, check) in Kafka's order; the one without an error is a success."""
