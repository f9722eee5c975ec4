"""Elections of a controller that runs on a broker.

An election reads the partitions' states from ZooKeeper and gets a leader and an ISR from one of
four strategies. It writes them under the next leader epoch, and queues LeaderAndIsr for the
strategy's replicas and UpdateMetadata for all live brokers. Strategies, in the order of the
assigned replicas: offline (an online member of the ISR, the offline members leave it; without one
any online replica, alone in the ISR, where that is allowed); preferred (the first replica, if
online and in the ISR); controlled shutdown (a member of the ISR that is not shutting down; all that
are leave the ISR). A partition for which a later controller wrote the state is left alone.

Partitions without a state in ZooKeeper get their first leader: the online replicas are the ISR, the
first of them leads, under leader epoch 0; without one the partition stays new until a broker
appears. The state's znode and those above it are written each in a transaction that checks the
controller epoch.

An event is handled whole, so the version that was read is still there when it is written. Kafka's
loop over refused writes is left out, and with it a defect of 2.2, which elects again after a
success. An operator is answered at once, Kafka waits until the brokers know. The output is facts of
each election, and for an operator one answer with an error for each partition.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from ..errors import KafkaError
from ..facts import Fact, LeaderElected
from ..ids import CLIENT, NO_LEADER, BrokerId, LeaderEpoch, PartitionEpoch
from ..messages import ElectLeadersRequest, ElectLeadersResponse, Send
from ..registrations import LeaderRecoveryState, PartitionRegistration, partition, topic_of
from ..releases import at_least
from . import znodes
from .control_channels import RequestBatch, all_partitions, queue
from .controller_turn import (
    ControllerMovedError,
    ControllerTurn,
    state_in_words,
    state_in_zookeeper,
    write,
    write_state,
)
from .ensemble import below, find
from .ensemble_writes import Create, Together
from .zookeeper_controller import ZooKeeperController, epoch_of, is_online, with_partition

UNCLEAN_BY_OPERATORS = (2, 4)
"""From this code on (KIP-460) there is an error for elections that are not needed."""


class ElectionResult(NamedTuple):
    """A strategy's state, None for no leader; receivers of LeaderAndIsr; whether it is unclean."""

    state: PartitionRegistration | None
    recipients: tuple[BrokerId, ...]
    unclean: bool = False


Strategy = Callable[[ControllerTurn, PartitionRegistration], ElectionResult]
"""The next leader of a partition, given its state in ZooKeeper."""


class Elections(NamedTuple):
    """The turn afterwards, and the partitions that have a leader."""

    turn: ControllerTurn
    elected: tuple[str, ...]


def preferred_election(turn: ControllerTurn, before: PartitionRegistration) -> ElectionResult:
    """The first replica or none; every assigned replica gets LeaderAndIsr.

    Source: leaderForPreferredReplica (2.1.1 to 3.4.1).
    """
    preferred = before.replicas[0]
    if preferred in before.isr and is_online(turn.controller, preferred):
        return ElectionResult(_led_by(before, preferred, before.isr), before.replicas)
    return ElectionResult(None, before.replicas)


def controlled_shutdown_election(
    turn: ControllerTurn, before: PartitionRegistration
) -> ElectionResult:
    """A member of the ISR that stays; the leaving broker gets LeaderAndIsr as a follower.

    Source: leaderForControlledShutdown (2.1.1 to 3.4.1).
    """
    controller = turn.controller
    live = tuple(b for b in before.replicas if epoch_of(controller, b) is not None)
    staying = [b for b in live if b in before.isr and b not in controller.shutting_down]
    isr = tuple(b for b in before.isr if b not in controller.shutting_down)
    return ElectionResult(_led_by(before, staying[0], isr) if staying else None, live)


def elect_leaders_for(
    turn: ControllerTurn,
    names: tuple[str, ...],
    strategy: Strategy,
    batch: RequestBatch | None = None,
) -> Elections:
    """Elect for these partitions, and queue what follows; who has a leader is offline no more.

    Raises ControllerMovedError.

    Source: PartitionStateMachine.handleStateChanges, electLeaderForPartitions and
    doElectLeaderForPartitions (2.1.1 to 3.4.1).
    """
    batch = RequestBatch() if batch is None else batch
    led: list[str] = []
    for name in names:
        before = state_in_zookeeper(turn, name)
        result = strategy(turn, before) if before is not None else None
        if before is None or result is None or result.state is None:
            continue
        fact = LeaderElected.of(before, result.state, unclean=result.unclean)
        turn, written = write_state(turn, before, result.state, fact)
        assert written is not None, "nobody writes between a controller's read and its write"
        batch.lead_or_follow(turn, result.recipients, written)
        led.append(name)
    online = tuple(name for name in turn.controller.offline if name not in led)
    turn = turn.holding(replace(turn.controller, offline=online))
    return Elections(queue(turn, batch), tuple(led))


def elect_for_offline_partitions(turn: ControllerTurn, topic: str | None = None) -> Elections:
    """Look for a leader for every partition that is offline or new, or for those of one topic.

    Raises ControllerMovedError.

    Source: PartitionStateMachine.triggerOnlinePartitionStateChange (2.1.1 to 3.4.1).
    """
    batch = RequestBatch()
    names_before = {p.name for p in turn.controller.partitions}
    new, offline = turn.controller.new, turn.controller.offline
    if topic is not None:
        new, offline = _of(topic, new), _of(topic, offline)
    turn = make_partitions(turn, batch, new)
    made = tuple(p.name for p in turn.controller.partitions if p.name not in names_before)
    turn, led = elect_leaders_for(turn, offline, _offline_election, batch)
    return Elections(turn, (*made, *led))


def make_new_partitions(turn: ControllerTurn) -> ControllerTurn:
    """Lead partitions that have been assigned since the controller looked last.

    Raises ControllerMovedError.

    Source: KafkaController.processTopicChange and onNewPartitionCreation (2.6.3 to 3.4.1),
    TopicChange (2.1.1, 2.2.2).
    """
    batch = RequestBatch()
    new_before = turn.controller.new
    names = tuple(name for name in unknown_partitions(turn) if name not in new_before)
    return queue(make_partitions(turn, batch, names), batch)


def without_online_leader(controller: ZooKeeperController) -> tuple[str, ...]:
    """Partitions whose leader is not online, as far as the controller knows.

    Source: ControllerContext.partitionsWithOfflineLeader (2.8.2, 3.4.1).
    """
    return tuple(p.name for p in controller.partitions if not is_online(controller, p.leader))


def gone_offline(turn: ControllerTurn, names: tuple[str, ...]) -> ControllerTurn:
    """These partitions are in the state OfflinePartition from now on.

    Source: PartitionStateMachine.doHandleStateChanges (2.1.1 to 3.4.1).
    """
    offline = tuple(sorted({*turn.controller.offline, *names}))
    return turn.holding(replace(turn.controller, offline=offline))


def elect_leaders(
    turn: ControllerTurn, request: ElectLeadersRequest
) -> Together[ZooKeeperController]:
    """An operator asks for elections, partition by partition or, with None, for all of them.

    Before 2.4 no operator can ask for an unclean one: INVALID_REQUEST. At 2.1 there is no such
    request at all; what its tool writes to ZooKeeper has the same effect, and is not modelled.

    Source: KafkaController.processReplicaLeaderElection (2.6.3 to 3.4.1) and
    PreferredReplicaLeaderElection (2.2.2), KafkaApis.handleElectReplicaLeader (2.6.3).
    """
    if not turn.controller.active or not turn.has_session:
        return _answer(turn, request, dict.fromkeys(request.partitions or (), _E.NOT_CONTROLLER))
    names = all_partitions(turn.controller) if request.partitions is None else request.partitions
    if request.unclean and turn.code < UNCLEAN_BY_OPERATORS:
        return _answer(turn, request, dict.fromkeys(names, _E.INVALID_REQUEST))
    errors = {name: _before_election(turn, name, request.unclean) for name in names}
    wanted = tuple(sorted(name for name, error in errors.items() if error is None))
    # OfflinePartitionLeaderElectionStrategy(allowUnclean = true) (2.6.3 to 3.4.1).
    anybody = partial(_offline_election, allowed=True)
    strategy: Strategy = anybody if request.unclean else preferred_election
    try:
        turn, led = elect_leaders_for(turn, wanted, strategy)
    except ControllerMovedError as moved:
        # It is caught together with every other exception: no controller resigns for it here.
        errors.update(dict.fromkeys(wanted, _E.STALE_CONTROLLER_EPOCH))
        return _answer(moved.turn, request, errors)
    nobody = _E.PREFERRED_LEADER_NOT_AVAILABLE
    if request.unclean:
        nobody = _E.ELIGIBLE_LEADERS_NOT_AVAILABLE
    errors.update({name: _E.NONE if name in led else nobody for name in wanted})
    return _answer(turn, request, errors)


_E = KafkaError


def _of(topic: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if topic_of(name) == topic)


def _before_election(turn: ControllerTurn, name: str, unclean: bool) -> KafkaError | None:
    """Why there is no election for this partition; None if there is to be one."""
    before = partition(turn.controller.partitions, name)
    if before is None:
        return _E.UNKNOWN_TOPIC_OR_PARTITION
    needed = before.leader != before.replicas[0]
    if unclean:
        needed = before.leader == NO_LEADER or not is_online(turn.controller, before.leader)
    if needed:
        return None
    return _E.NONE if turn.code < UNCLEAN_BY_OPERATORS else _E.ELECTION_NOT_NEEDED


def _answer(
    turn: ControllerTurn, request: ElectLeadersRequest, errors: dict[str, KafkaError | None]
) -> Together[ZooKeeperController]:
    results = tuple((name, error) for name, error in errors.items() if error is not None)
    if request.partitions is None:
        results = tuple((n, e) for n, e in results if e is not _E.ELECTION_NOT_NEEDED)
    refused: list[Fact] = [
        turn.refusal("elect-leaders", e, None, partition=n) for n, e in results if e is not _E.NONE
    ]
    turn = turn._replace(facts=(*refused, *turn.facts))
    return turn.done(Send(CLIENT, ElectLeadersResponse(results=results)))


def _offline_election(
    turn: ControllerTurn, before: PartitionRegistration, *, allowed: bool = False
) -> ElectionResult:
    """The strategy for partitions without a leader; whether it may be unclean says the topic, or an
    operator who has `allowed` it.

    Source: leaderForOffline and offlinePartitionLeaderElection (2.1.1 to 3.4.1).
    """
    online = tuple(b for b in before.replicas if is_online(turn.controller, b))
    for broker in online:
        if broker in before.isr:
            isr = tuple(b for b in before.isr if is_online(turn.controller, b))
            return ElectionResult(_led_by(before, broker, isr), online)
    if not (allowed or before.unclean_leader_election) or not online:
        return ElectionResult(None, online)
    state = _led_by(before, online[0], online[:1])
    # KIP-704, Proposed Changes: an unclean election says that the leader has to recover, from the
    # inter-broker protocol on that has a place for it.
    if at_least(turn.features.metadata_version, "3.2-IV0"):
        state = replace(state, recovery=LeaderRecoveryState.RECOVERING)
    return ElectionResult(state, online, unclean=True)


def _led_by(
    before: PartitionRegistration, leader: BrokerId, isr: tuple[BrokerId, ...]
) -> PartitionRegistration:
    epoch = LeaderEpoch(before.leader_epoch + 1)
    return replace(before, leader=leader, isr=isr, leader_epoch=epoch)


# --- partitions without a state -------------------------------------------------------------------


def assignments(turn: ControllerTurn) -> dict[str, znodes.ReplicaAssignment]:
    """The replicas of each partition, by its name.

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
            turn, made = _made(turn, assigned[name], online)
            batch.lead_or_follow(turn, made.isr, made)
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
    data = znodes.PartitionStateZnode.of(first, turn.controller.epoch)
    state = Create(znodes.partition_state_path(name), data)
    turn, _ = write(turn, state_in_words(first), state)
    made = partition(turn.ensemble.partitions, name)
    assert made is not None, "it has just been written"
    fact = LeaderElected.of(replace(made, leader=NO_LEADER), made)
    return turn.holding(with_partition(turn.controller, made), fact), made
