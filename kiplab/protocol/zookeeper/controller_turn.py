"""One event of a controller in progress: its effects so far, and its writes to ZooKeeper.

Kafka's controller is one thread that takes one event after the other. An event is handled whole
here, ZooKeeper included: a rule passes a ControllerTurn on from one part of the event to the next.
Every write is a transaction that begins with a check of /controller_epoch, so that a deposed
controller cannot write. A failed check is an exception: the rest of the event does not take place,
and the earlier effects stay, requests in the queues included.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from ..errors import KafkaError
from ..facts import Compared, Fact, IsrChanged, RecoveryStateChanged, Refused, compare
from ..features import Features
from ..ids import NO_LEADER, ZOOKEEPER, PartitionEpoch, broker_list
from ..messages import Send
from ..registrations import PartitionRegistration, partition
from ..zookeeper_facts import ZnodeChanged
from .ensemble import Ensemble, find, session_of
from .ensemble_sessions import children, exists
from .ensemble_writes import (
    CheckVersion,
    Operation,
    SetData,
    Together,
    Transacted,
    ZooKeeperError,
    transact,
)
from .znodes import CONTROLLER_EPOCH_PATH, PartitionStateZnode, partition_state_path
from .zookeeper_controller import ZooKeeperController, with_partition


class ControllerTurn(NamedTuple):
    """The controller and ZooKeeper so far, the watches that went off, the facts."""

    controller: ZooKeeperController
    ensemble: Ensemble
    features: Features
    fired: tuple[Send, ...] = ()
    facts: tuple[Fact, ...] = ()

    @property
    def code(self) -> tuple[int, int, int]:
        """The version of the code that the controller runs."""
        return self.features.code_of(self.controller.node)

    @property
    def active(self) -> frozenset[str]:
        """Ids of the guards that act on it."""
        return self.features.active(self.controller.node)

    @property
    def has_session(self) -> bool:
        """Whether ZooKeeper still knows the session: without one nothing can be read or written."""
        return session_of(self.ensemble, self.controller.session) is not None

    def holding(self, controller: ZooKeeperController, *facts: Fact) -> ControllerTurn:
        """The same with another state of the controller, and more facts."""
        return self._replace(controller=controller, facts=(*self.facts, *facts))

    def children(self, path: str) -> tuple[ControllerTurn, tuple[str, ...]]:
        """The names below `path`, with a watch for the next change."""
        read = children(self.ensemble, self.controller.session, path, watch=True)
        return self._replace(ensemble=read.ensemble), read.names

    def watching(self, path: str) -> ControllerTurn:
        """The same, with a watch for a new znode at `path`, a change or its deletion."""
        read = exists(self.ensemble, self.controller.session, path, watch=True)
        return self._replace(ensemble=read.ensemble)

    def transacted(self, *operations: Operation) -> tuple[ControllerTurn, Transacted]:
        """The same after a transaction in the session of the controller."""
        done = transact(self.ensemble, self.controller.session, operations)
        return self._replace(ensemble=done.ensemble, fired=(*self.fired, *done.fired)), done

    def refusal(
        self,
        request: str,
        error: KafkaError,
        guard: str | None,
        *compared: Compared,
        partition: str | None = None,
    ) -> Refused:
        """The fact that this controller refuses a request, or one partition of it."""
        return Refused(self.controller.node, request, error, guard, compared, partition)

    def moved_refusal(self, request: str, error: KafkaError) -> Refused:
        """The same where ZooKeeper refused a write, since another controller was elected."""
        # ZooKeeper refuses the write: KafkaZkClient.updateLeaderAndIsr (2.1.1 to 3.4.1) throws.
        guard = "zookeeper.controller-check"
        epochs = compare("controller epoch", self.controller.epoch, self.ensemble.controller_epoch)
        return self.refusal(request, error, guard, epochs)

    def done(self, *sends: Send) -> Together[ZooKeeperController]:
        """The result of the whole event."""
        return Together(self.controller, self.ensemble, sends, self.fired, self.facts)


class ControllerMovedError(Exception):
    """/controller_epoch names a later controller; `turn` is how far the event got."""

    def __init__(self, turn: ControllerTurn) -> None:
        super().__init__("the controller has moved to another broker")
        self.turn = turn


def write(
    turn: ControllerTurn, text: str, operation: Operation
) -> tuple[ControllerTurn, Transacted]:
    """One write, as a transaction with the check before it; `text` tells people what it says.

    Raises ControllerMovedError when the check fails, or when the session is over.

    Source: KafkaZkClient.wrapRequestWithControllerEpochCheck (2.1.1 to 3.4.1).
    """
    check = CheckVersion(CONTROLLER_EPOCH_PATH, turn.controller.epoch_version)
    # ZooKeeper knows of no controllers: KafkaZkClient.wrapRequestWithControllerEpochCheck (2.1.1
    # to 3.4.1) makes it look at the epoch, so that who was deposed cannot write.
    checked = "zookeeper.controller-check" in turn.active
    operations = (check, operation) if checked else (operation,)
    turn, done = turn.transacted(*operations)
    if done.error is ZooKeeperError.NONE:
        fact = ZnodeChanged(ZOOKEEPER, operation.path, done.ensemble.zxid, text)
        return turn.holding(turn.controller, fact), done
    if done.error is ZooKeeperError.SESSIONEXPIRED or (checked and done.failing == 0):
        raise ControllerMovedError(turn)
    return turn, done


def state_in_zookeeper(turn: ControllerTurn, name: str) -> PartitionRegistration | None:
    """The state of a partition as it is written; None if a later controller wrote it.

    Source: ReplicaStateMachine.getTopicPartitionStatesFromZk and
    PartitionStateMachine.doElectLeaderForPartitions (2.1.1 to 3.4.1).
    """
    znode = find(turn.ensemble, partition_state_path(name))
    if znode is None or not isinstance(znode.data, PartitionStateZnode):
        return None
    if znode.data.controller_epoch > turn.controller.epoch:
        return None
    return partition(turn.ensemble.partitions, name)


def write_state(
    turn: ControllerTurn, before: PartitionRegistration, after: PartitionRegistration, *facts: Fact
) -> tuple[ControllerTurn, PartitionRegistration | None]:
    """Write `after` over the version that `after` names, and remember it.

    The state comes back with its new version, or as None if another version stands there.
    Raises ControllerMovedError.

    Source: KafkaZkClient.updateLeaderAndIsr and setTopicPartitionStatesRaw (2.1.1 to 3.4.1).
    """
    data = PartitionStateZnode.of(after, turn.controller.epoch)
    operation = SetData(partition_state_path(after.name), data, after.partition_epoch)
    turn, done = write(turn, state_in_words(after), operation)
    if done.error is not ZooKeeperError.NONE:
        return turn, None
    version = PartitionEpoch(after.partition_epoch + 1)
    written = replace(after, partition_epoch=version)
    turn = turn.holding(with_partition(turn.controller, written), *facts)
    if before.isr != after.isr:
        changed = IsrChanged(after.name, before.isr, after.isr, version)
        turn = turn.holding(turn.controller, changed)
    if before.recovery is not after.recovery:
        state = RecoveryStateChanged(after.name, before.recovery, after.recovery)
        turn = turn.holding(turn.controller, state)
    return turn, written


def state_in_words(state: PartitionRegistration) -> str:
    """``"leader 1, ISR {1, 2}, leader epoch 4"``. Source: stands for LeaderAndIsr.toString."""
    leader = "none" if state.leader == NO_LEADER else state.leader
    return f"leader {leader}, ISR {broker_list(state.isr)}, leader epoch {state.leader_epoch}"
