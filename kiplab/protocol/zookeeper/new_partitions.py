"""Partitions that have no state in ZooKeeper yet get their first leader.

In come names of partitions that are assigned to brokers. The online replicas are the ISR, the first
of them leads, under leader epoch 0; without one the partition stays new until a broker appears. Out
go the state's znode and those above it, each in a transaction that checks the controller epoch;
LeaderAndIsr for the ISR and UpdateMetadata for everybody, in a batch that somebody else queues.
"""

from msgspec.structs import replace

from ..ids import NO_LEADER, BrokerId, LeaderEpoch, PartitionEpoch
from ..registrations import PartitionRegistration, partition, topic_of
from . import znodes
from .control_channels import RequestBatch
from .controller_turn import ControllerTurn, elected, state_in_words, state_znode, write
from .ensemble import below, find
from .ensemble_writes import Create
from .zookeeper_controller import is_online, with_partition


def assignments(turn: ControllerTurn) -> dict[str, znodes.ReplicaAssignment]:
    """Where the replicas of each partition are, by its name.

    Source: KafkaZkClient.getReplicaAssignmentForTopics (2.1.1 to 3.4.1).
    """
    topics = [z.data for z in below(turn.ensemble.znodes, znodes.TOPICS_PATH)]
    return {
        assigned.partition: assigned
        for topic in topics
        if isinstance(topic, znodes.TopicZnode)
        for assigned in topic.assignments
    }


def unknown_partitions(turn: ControllerTurn) -> tuple[str, ...]:
    """Partitions that are assigned, and that the controller has no state of.

    Source: PartitionStateMachine.initializePartitionState (2.1.1 to 3.4.1).
    """
    return tuple(
        name
        for name in sorted(assignments(turn))
        if partition(turn.controller.partitions, name) is None
    )


def make_partitions(
    turn: ControllerTurn, batch: RequestBatch, names: tuple[str, ...]
) -> ControllerTurn:
    """Lead these partitions, where a replica is online; the others are new from now on.

    Raises ControllerMovedError.

    Source: PartitionStateMachine.initializeLeaderAndIsrForPartitions (2.1.1 to 3.4.1).
    """
    assigned = assignments(turn)
    left: list[str] = []
    for name in names:
        online = tuple(b for b in assigned[name].replicas if is_online(turn.controller, b))
        if online:
            turn, registration = _made(turn, assigned[name], online)
            batch.lead_or_follow(turn, registration.isr, registration)
        else:
            left.append(name)
    new = {*turn.controller.new, *left} - (set(names) - set(left))
    return turn.holding(replace(turn.controller, new=tuple(sorted(new))))


def _made(
    turn: ControllerTurn, assigned: znodes.ReplicaAssignment, online: tuple[BrokerId, ...]
) -> tuple[ControllerTurn, PartitionRegistration]:
    """Source: KafkaZkClient.createTopicPartitionStatesRaw (2.1.1 to 3.4.1)."""
    name = assigned.partition
    first = PartitionRegistration(
        name=name,
        replicas=assigned.replicas,
        isr=online,
        leader=online[0],
        leader_epoch=LeaderEpoch(0),
        partition_epoch=PartitionEpoch(0),
    )
    for path in (znodes.partitions_path(topic_of(name)), znodes.partition_path(name)):
        if find(turn.ensemble, path) is None:
            turn, _ = write(turn, "created", Create(path))
    state = Create(znodes.partition_state_path(name), state_znode(turn, first))
    turn, _ = write(turn, state_in_words(first), state)
    registration = partition(turn.ensemble.partitions, name)
    assert registration is not None, "it has just been written"
    fact = elected(replace(registration, leader=NO_LEADER), registration)
    return turn.holding(with_partition(turn.controller, registration), fact), registration
