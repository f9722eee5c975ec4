"""The reaction of an active controller to brokers that come and go.

The input is a watch event for /brokers/ids. The controller reads the registered brokers and
compares them with its cache: new ones, dead ones and, from 2.2 on, bounced ones, which are
registered under a higher broker epoch than the known one. It does not learn what happened in
between: at 2.1 it does not notice a broker that went and came back before the read.

A new broker gets all partitions' states, and leads or follows its own; then partitions without a
leader get an election. A dead broker's partitions get another leader; it leaves their ISRs, and its
followers get LeaderAndIsr. A bounced broker is handled first as dead, which raises leader epochs,
then as new. In Kafka's code the set of live brokers changes piece by piece, before each of these;
the KIP wants it replaced whole before the first, and 2.1 had done that. So from 2.2 on an election
for a new broker may still choose a dead one, for one leader epoch, and a bounced broker first gets
the live brokers under the epoch that is over.

The output is writes of partitions' states, requests in queues, and a BrokersCompared even if
nothing has changed.
"""

from msgspec.structs import replace

from ..facts import LeaderElected
from ..ids import NO_BROKER_EPOCH, NO_LEADER, BrokerEpoch, BrokerId, LeaderEpoch
from ..registrations import PartitionRegistration
from ..zookeeper_facts import BrokersCompared
from .control_channels import (
    RequestBatch,
    add_channel,
    all_partitions,
    queue,
    remove_channel,
    send_update_metadata,
)
from .controller_turn import ControllerTurn, state_in_zookeeper, write_state
from .ensemble import below
from .znodes import BROKER_IDS_PATH, BrokerZnode
from .zookeeper_controller import LiveBroker, cached, hosted_by, with_partition
from .zookeeper_elections import elect_for_offline_partitions, gone_offline, without_online_leader

NO_NEWS_OF_THE_DEAD = (3, 1)
"""Since this code a failure without a leader change is announced only without a replica."""


def registered_brokers(turn: ControllerTurn) -> tuple[LiveBroker, ...]:
    """The registered brokers, with the epochs that this controller can know.

    Source: KafkaZkClient.getAllBrokerAndEpochsInCluster (2.2.2), getAllBrokersInCluster (2.1.1).
    """
    brokers = [
        LiveBroker(z.data.broker, _epoch(turn, z.stat.czxid, z.stat.ephemeral_owner))
        for z in below(turn.ensemble.znodes, BROKER_IDS_PATH)
        if isinstance(z.data, BrokerZnode)
    ]
    return tuple(sorted(brokers, key=lambda live_broker: live_broker.broker))


def brokers_changed(turn: ControllerTurn) -> ControllerTurn:
    """Compare, and do what follows: for new brokers, then bounced ones, then dead ones.

    Raises ControllerMovedError.

    Source: KafkaController.BrokerChange.process (2.1.1, 2.2.2), processBrokerChange (2.6.3 to
    3.4.1).
    """
    turn, _ = turn.children(BROKER_IDS_PATH)
    current = registered_brokers(turn)
    change = _compared(turn, current)
    bounced = tuple(broker for broker, _, _ in change.bounced)
    turn = turn.holding(turn.controller, change)
    for broker in (*bounced, *change.dead):
        turn = remove_channel(turn, broker)
    for broker in (*change.new, *bounced):
        turn = turn.holding(add_channel(turn.controller, broker))
    # KIP-380, Proposed Changes, Controller Detects Bounced Broker, 3: the live brokers are taken
    # over before anything is done about any of them; the epochs of the bounced ones come later (4).
    at_once = turn.code < (2, 2) or "380.live-set-first" in turn.active
    if at_once:
        # Whoever was known keeps the epoch that is known of him.
        known = {b.broker: b for b in turn.controller.live}
        live = tuple(known.get(one.broker, one) for one in current)
        turn = turn.holding(replace(turn.controller, live=live))
    if change.new:
        new = tuple(b for b in current if b.broker in change.new)
        turn = on_broker_startup(adding(turn, new), change.new)
    if bounced:
        turn = on_broker_failure(removing(turn, bounced), bounced)
        anew = tuple(b for b in current if b.broker in bounced)
        turn = on_broker_startup(adding(turn, anew), bounced)
    if change.dead:
        turn = on_broker_failure(removing(turn, change.dead), change.dead)
    return turn


def on_broker_startup(turn: ControllerTurn, started: tuple[BrokerId, ...]) -> ControllerTurn:
    """These brokers learn everything, and partitions without a leader may have one again.

    Raises ControllerMovedError.

    Source: KafkaController.onBrokerStartup (2.1.1 to 3.4.1).
    """
    controller = turn.controller
    if turn.code < (2, 2):
        turn = send_update_metadata(turn, controller.live_brokers, ())
    else:
        others = tuple(b for b in controller.live_brokers if b not in started)
        turn = send_update_metadata(turn, others, ())
        turn = send_update_metadata(turn, started, all_partitions(controller))
    turn = start_replicas(turn, started)
    return elect_for_offline_partitions(turn).turn


def start_replicas(turn: ControllerTurn, brokers: tuple[BrokerId, ...]) -> ControllerTurn:
    """LeaderAndIsr for every replica there, of the state that the controller remembers.

    Source: ReplicaStateMachine.doHandleStateChanges to OnlineReplica (2.1.1 to 3.4.1).
    """
    batch = RequestBatch()
    for broker in brokers:
        for name in hosted_by(turn.controller, broker):
            batch.lead_or_follow(turn, (broker,), cached(turn.controller, name))
    return queue(turn, batch)


def on_broker_failure(turn: ControllerTurn, failed: tuple[BrokerId, ...]) -> ControllerTurn:
    """These brokers are gone: others lead their partitions, and they leave the ISRs.

    Raises ControllerMovedError.

    Source: KafkaController.onBrokerFailure and onReplicasBecomeOffline (2.1.1 to 3.4.1).
    """
    left = tuple(b for b in turn.controller.shutting_down if b not in failed)
    turn = turn.holding(replace(turn.controller, shutting_down=left))
    replicas = {broker: hosted_by(turn.controller, broker) for broker in failed}
    leaderless = without_online_leader(turn.controller)
    turn, led = elect_for_offline_partitions(gone_offline(turn, leaderless))
    turn = stop_replicas(turn, replicas)
    quiet = not leaderless
    if turn.code >= NO_NEWS_OF_THE_DEAD:
        quiet = not led and not any(replicas.values())
    return send_update_metadata(turn, turn.controller.live_brokers, ()) if quiet else turn


def stop_replicas(
    turn: ControllerTurn, replicas: dict[BrokerId, tuple[str, ...]]
) -> ControllerTurn:
    """StopReplica for these replicas, by broker; they leave the ISR, and the others get
    LeaderAndIsr. The last member stays in the ISR; a leader that goes is not replaced. Raises
    ControllerMovedError.

    Source: ReplicaStateMachine.doHandleStateChanges to OfflineReplica, removeReplicasFromIsr (2.1.1
    to 3.4.1).
    """
    batch = RequestBatch()
    for broker, names in replicas.items():
        for name in names:
            batch.stop(turn, broker, name)
        for name in names:
            turn, state = _without(turn, broker, name)
            if state is not None:
                others = (b for b in state.replicas if b != broker)
                batch.lead_or_follow(turn, others, state)
    return queue(turn, batch)


def _without(
    turn: ControllerTurn, broker: BrokerId, name: str
) -> tuple[ControllerTurn, PartitionRegistration | None]:
    """The partition's state without the broker in the ISR; unwritten if it is not in there."""
    registration = state_in_zookeeper(turn, name)
    if registration is None:
        return turn, None
    if broker not in registration.isr:
        return turn.holding(with_partition(turn.controller, registration)), registration
    state = replace(
        registration,
        # The last member stays.
        isr=tuple(b for b in registration.isr if b != broker) or registration.isr,
        leader=NO_LEADER if registration.leader == broker else registration.leader,
        leader_epoch=LeaderEpoch(registration.leader_epoch + 1),
    )
    facts = (LeaderElected.of(registration, state),) if state.leader != registration.leader else ()
    return write_state(turn, registration, state, *facts)


def _epoch(turn: ControllerTurn, czxid: int, session: int) -> BrokerEpoch:
    """The number of a broker's registered incarnation: -1 where none is known."""
    # KIP-380, Rejected Alternatives: the session id, which is higher for a later incarnation only
    # as long as one server gives them out.
    if "380.session-id" in turn.active:
        return BrokerEpoch(session)
    # KIP-380, Proposed Changes, Controller Detects Bounced Broker, 1: it reads them with the ids.
    knows = turn.code >= (2, 2) or "380.bounce-detection" in turn.active
    return BrokerEpoch(czxid) if knows else NO_BROKER_EPOCH


def _compared(turn: ControllerTurn, current: tuple[LiveBroker, ...]) -> BrokersCompared:
    before = {b.broker: b.epoch for b in turn.controller.live}
    now = {b.broker: b.epoch for b in current}
    # KIP-380, Proposed Changes, Controller Detects Bounced Broker, 2: registered under a higher
    # generation than the one that is known.
    detects = "380.bounce-detection" in turn.active
    return BrokersCompared(
        node=turn.controller.node,
        new=tuple(b for b in now if b not in before),
        bounced=tuple(
            (b, before[b], now[b]) for b in now if detects and b in before and now[b] > before[b]
        ),
        dead=tuple(b for b in before if b not in now),
    )


def adding(turn: ControllerTurn, brokers: tuple[LiveBroker, ...]) -> ControllerTurn:
    """These brokers live, under these epochs.

    Source: KafkaController.BrokerChange.process (2.2.2), processBrokerChange (2.6.3 to 3.4.1).
    """
    added = {b.broker for b in brokers}
    others = [b for b in turn.controller.live if b.broker not in added]
    live = tuple(sorted([*others, *brokers], key=lambda b: b.broker))
    return turn.holding(replace(turn.controller, live=live))


def removing(turn: ControllerTurn, brokers: tuple[BrokerId, ...]) -> ControllerTurn:
    """These brokers live no more. Source: KafkaController.BrokerChange.process (2.2.2)."""
    live = tuple(b for b in turn.controller.live if b.broker not in brokers)
    return turn.holding(replace(turn.controller, live=live))
