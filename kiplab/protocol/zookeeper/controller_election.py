"""The election of the controller, its first actions, and its resignation.

Every broker watches /controller. A broker that finds it absent creates it and, in the same
transaction, increments /controller_epoch; all its later writes check the new version of that znode.
A newly elected controller reads everything: the live brokers, every partition's state. It opens a
queue for each broker and announces them. It makes every replica on a live broker lead or follow,
and elects leaders where there is none online. It deletes the leaders' ISR notifications unread, as
it has read the states themselves.

A controller resigns when it finds another name in /controller, or its session expired: its queues
are dropped, and it forgets everything, including the brokers that are shutting down.
"""

from msgspec.structs import replace

from ..facts import Fact
from ..features import Features
from ..ids import ZOOKEEPER, ControllerEpoch, PartitionEpoch, SessionId
from ..registrations import topic_of
from ..zookeeper_facts import ControllerElected, ControllerStoodDown, ZnodeChanged
from . import znodes, zookeeper_elections
from .broker_change import registered_brokers, start_replicas, stop_replicas
from .control_channels import add_channel, dropped, send_update_metadata
from .controller_turn import ControllerMovedError, ControllerTurn, write
from .ensemble import Ensemble, controller_named, find
from .ensemble_writes import Create, Delete, SetData, Together, ZooKeeperError
from .zookeeper_controller import ZooKeeperController, hosted_by

FIRST_EPOCH = ControllerEpoch(0)
"""The initial value of /controller_epoch: the first controller's is one higher."""
OFFLINE_WHEN_TAKING_OVER = (2, 3)
"""Since this code a new controller takes all dead brokers out of the ISRs."""


def elect(
    controller: ZooKeeperController, ensemble: Ensemble, session: SessionId, features: Features
) -> Together[ZooKeeperController]:
    """Become the controller if there is none, or watch the one there is.

    Source: KafkaController.Startup, Reelect and elect (2.1.1, 2.2.2), processStartup and
    processReelect (2.6.3 to 3.4.1).
    """
    turn = ControllerTurn(replace(controller, session=session), ensemble, features)
    try:
        return _elected(stand_down_if_moved(turn)).done()
    except ControllerMovedError as moved:
        return stand_down_if_moved(moved.turn).done()


def stand_down_if_moved(turn: ControllerTurn) -> ControllerTurn:
    """Watch /controller, and resign if it names another broker than this one, or none.

    Source: KafkaController.maybeResign (2.1.1 to 3.4.1).
    """
    turn = turn.watching(znodes.CONTROLLER_PATH)
    named = controller_named(turn.ensemble)
    if not turn.controller.active or named == turn.controller.broker:
        return turn
    reason = "/controller is gone" if named is None else f"/controller names broker {named}"
    stood_down, facts = resign(turn.controller, reason)
    return turn.holding(stood_down, *facts)


def resign(
    controller: ZooKeeperController, reason: str = "its session is over"
) -> tuple[ZooKeeperController, tuple[Fact, ...]]:
    """Forget everything; the same controller, and no facts, if it was not active.

    Source: KafkaController.onControllerResignation and Expire (2.1.1 to 3.4.1).
    """
    if not controller.active:
        return controller, ()
    fact = ControllerStoodDown(controller.node, controller.broker, reason)
    facts: tuple[Fact, ...] = (fact, *dropped(controller, controller.channels))
    return type(controller)(controller.broker, controller.session), facts


def delete_isr_changes(turn: ControllerTurn, names: tuple[str, ...]) -> ControllerTurn:
    """Delete these announcements of leaders.

    Raises ControllerMovedError.

    Source: KafkaZkClient.deleteIsrChangeNotifications (2.1.1 to 3.4.1).
    """
    for name in names:
        turn, _ = write(turn, "deleted", Delete(f"{znodes.ISR_CHANGES_PATH}/{name}"))
    return turn


def _elected(turn: ControllerTurn) -> ControllerTurn:
    """Nobody can come between the look at /controller and the transaction.

    Source: KafkaController.elect (2.1.1 to 3.4.1),
    KafkaZkClient.registerControllerAndIncrementControllerEpoch (2.1.1 to 3.4.1).
    """
    if controller_named(turn.ensemble) is not None:
        return turn
    turn, held = _controller_epoch(turn)
    epoch = ControllerEpoch(held + 1)
    at = find(turn.ensemble, znodes.CONTROLLER_EPOCH_PATH)
    if at is None:
        return turn
    broker = turn.controller.broker
    turn, done = turn.transacted(
        Create(znodes.CONTROLLER_PATH, znodes.ControllerZnode(broker), ephemeral=True),
        SetData(znodes.CONTROLLER_EPOCH_PATH, znodes.ControllerEpochZnode(epoch), at.stat.version),
    )
    if done.error is not ZooKeeperError.NONE:
        return turn
    version = PartitionEpoch(at.stat.version + 1)
    controller = replace(turn.controller, active=True, epoch=epoch, epoch_version=version)
    fact = ControllerElected(controller.node, broker, epoch)
    turn = turn.holding(
        controller,
        _changed(turn, znodes.CONTROLLER_PATH, f"broker {broker}"),
        _changed(turn, znodes.CONTROLLER_EPOCH_PATH, f"controller epoch {epoch}"),
        fact,
    )
    return _take_over(turn)


def _controller_epoch(turn: ControllerTurn) -> tuple[ControllerTurn, ControllerEpoch]:
    if find(turn.ensemble, znodes.CONTROLLER_EPOCH_PATH) is None:
        data = znodes.ControllerEpochZnode(FIRST_EPOCH)
        turn, _ = turn.transacted(Create(znodes.CONTROLLER_EPOCH_PATH, data))
    return turn, turn.ensemble.controller_epoch


def _changed(turn: ControllerTurn, path: str, text: str) -> ZnodeChanged:
    return ZnodeChanged(ZOOKEEPER, path, turn.ensemble.zxid, text)


def _take_over(turn: ControllerTurn) -> ControllerTurn:
    """Read all, send it to all. Source: KafkaController.onControllerFailover (2.1.1 to 3.4.1)."""
    turn = _watching(turn)
    turn, names = turn.children(znodes.ISR_CHANGES_PATH)
    turn = delete_isr_changes(turn, names)
    # KafkaController.initializeControllerContext (2.1.1 to 3.4.1).
    live = registered_brokers(turn)
    controller = replace(turn.controller, live=live, partitions=turn.ensemble.partitions)
    for live_broker in live:
        controller = add_channel(controller, live_broker.broker)
    turn = turn.holding(controller)
    turn = send_update_metadata(turn, turn.controller.live_brokers, ())
    turn = start_replicas(turn, turn.controller.live_brokers)
    if turn.code >= OFFLINE_WHEN_TAKING_OVER:
        # ControllerContext.onlineAndOfflineReplicas (2.5.0 to 3.4.1; since 2.3).
        hosts = {broker for p in turn.controller.partitions for broker in p.replicas}
        dead = sorted(hosts.difference(turn.controller.live_brokers))
        turn = stop_replicas(turn, {b: hosted_by(turn.controller, b) for b in dead})
    leaderless = zookeeper_elections.without_online_leader(turn.controller)
    turn = zookeeper_elections.gone_offline(turn, leaderless)
    turn = turn.holding(replace(turn.controller, new=zookeeper_elections.unknown_partitions(turn)))
    return zookeeper_elections.elect_for_offline_partitions(turn).turn


def _watching(turn: ControllerTurn) -> ControllerTurn:
    """Set this controller's watches; the data of a broker's znode never changes, and has none."""
    for path in (znodes.BROKER_IDS_PATH, znodes.TOPICS_PATH):
        turn, _ = turn.children(path)
    for topic in sorted({topic_of(p.name) for p in turn.ensemble.partitions}):
        turn = turn.watching(znodes.topic_config_path(topic))
    return turn
