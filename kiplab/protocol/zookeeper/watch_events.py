"""A controller's reaction to its watch events.

A watch event says that something has changed and no more; the controller reads the new state, and
the read sets the watch again. A deleted /controller means an election; any other change of it, that
another broker may be the controller. The rest is for the active controller: the registered brokers
(`broker_change`), leaders' notifications of their own ISR writes (every broker gets the states; the
notifications are deleted), a new topic, and a topic that allows unclean elections.
Events of a session that the process has lost are ignored: all waiting events went with it (Kafka's
Expire empties the queue of events).

An event that finds a later controller ends there, and this one resigns. Deleting a topic, adding
partitions to it, and changing a broker's listeners never happen here.
"""

from collections.abc import Callable

from ..ids import SessionId
from ..messages import WatcherEvent
from ..registrations import partition
from . import znodes
from .broker_change import brokers_changed
from .control_channels import send_update_metadata
from .controller_election import delete_isr_changes, elect, stand_down_if_moved
from .controller_turn import ControllerMovedError, ControllerTurn
from .ensemble import find
from .ensemble_writes import Together
from .zookeeper_controller import ZooKeeperController, with_partition
from .zookeeper_elections import elect_for_offline_partitions, make_new_partitions


def watch_fired(
    turn: ControllerTurn,
    event: WatcherEvent,
    session: SessionId,
    compare: Callable[[ControllerTurn], ControllerTurn] = brokers_changed,
) -> Together[ZooKeeperController]:
    """Handle the event whole; one of another session than the process has changes nothing.

    `compare` is what is done when brokers come and go.

    Source: the ZNodeChangeHandlers and ZNodeChildChangeHandlers of KafkaController and
    KafkaController.process (2.1.1 to 3.4.1).
    """
    controller = turn.controller
    if event.session != session or controller.session != session or not turn.has_session:
        return turn.done()
    if event.path == znodes.CONTROLLER_PATH:
        if event.change == znodes.WatchEventType.DELETED:
            return elect(controller, turn.ensemble, session, turn.features)
        return stand_down_if_moved(turn).done()
    if not controller.active:
        return turn.done()
    try:
        return _handled(turn, event.path, compare).done()
    except ControllerMovedError as moved:
        return stand_down_if_moved(moved.turn).done()


def isr_changed(turn: ControllerTurn) -> ControllerTurn:
    """Read the states that leaders have announced, send them, delete the notifications.

    Raises ControllerMovedError.

    Source: KafkaController.IsrChangeNotification (2.1.1, 2.2.2), processIsrChangeNotification
    (2.6.3 to 3.4.1).
    """
    turn, announced = turn.children(znodes.ISR_CHANGES_PATH)
    names: set[str] = set()
    for name in announced:
        znode = find(turn.ensemble, f"{znodes.ISR_CHANGES_PATH}/{name}")
        if znode is not None and isinstance(znode.data, znodes.IsrChangeZnode):
            names.update(znode.data.partitions)
    if names:
        turn = refreshed(turn, names)
        turn = send_update_metadata(turn, turn.controller.live_brokers, sorted(names))
    return delete_isr_changes(turn, announced)


def refreshed(turn: ControllerTurn, names: set[str]) -> ControllerTurn:
    """Remember these partitions' states as they are in ZooKeeper now.

    Source: KafkaController.updateLeaderAndIsrCache (2.1.1 to 3.4.1).
    """
    for name in sorted(names):
        registration = partition(turn.ensemble.partitions, name)
        if registration is not None:
            turn = turn.holding(with_partition(turn.controller, registration))
    return turn


def _handled(
    turn: ControllerTurn, path: str, compare: Callable[[ControllerTurn], ControllerTurn]
) -> ControllerTurn:
    """Raises ControllerMovedError."""
    if path == znodes.BROKER_IDS_PATH:
        return compare(turn)
    if path == znodes.ISR_CHANGES_PATH:
        return isr_changed(turn)
    if path == znodes.TOPICS_PATH:
        return make_new_partitions(turn.children(path)[0])
    return _topic_configured(turn, path) if path.startswith(_TOPIC_CONFIGS) else turn


_TOPIC_CONFIGS = f"{znodes.TOPIC_CONFIGS_PATH}/"


def _topic_configured(turn: ControllerTurn, path: str) -> ControllerTurn:
    """A topic that allows unclean elections now may have a leader for its offline partitions.

    Source: TopicConfigHandler.processConfigChanges and
    KafkaController.processTopicUncleanLeaderElectionEnable (2.6.3 to 3.4.1). In Kafka the broker
    watches for it.
    """
    turn = turn.watching(path)
    znode = find(turn.ensemble, path)
    config = znode.data if znode is not None else None
    if not isinstance(config, znodes.TopicConfigZnode) or not config.unclean_leader_election:
        return turn
    return elect_for_offline_partitions(turn, config.topic).turn
