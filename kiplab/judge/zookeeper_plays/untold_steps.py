"""What of a play of ZooKeeper's time no real controller can be told, each with the reason."""

from ...engine import moves
from ...engine.channels import find
from ...engine.cluster import Cluster, broker
from ...engine.given_situation import Setup
from ...engine.history import Recorded
from ...engine.nodes import ensemble_of
from ...protocol.ids import BrokerId, controller_on
from ...protocol.messages import Request, WatcherEvent
from ...protocol.messages.api_message import ControlRequest
from ...protocol.registrations import topic_of
from ...protocol.zookeeper.ensemble import find as find_znode
from ...protocol.zookeeper.znodes import CONTROLLER_PATH, ControllerZnode
from ..zookeeper_era.kafka_znodes import VERSIONS_MAX
from .engine_ear import newly_gone

_OWN_BROKER = "broker {} is the real controller's own, and stays up, registered and on its release"
_LOST = moves.Drop | moves.TimeOut | moves.Duplicate | moves.LoseReply
_UNTOLD: dict[type, str] = {
    moves.UpgradeMetadata: "inter.broker.protocol.version is read when the real broker starts",
    moves.Configure: "a topic's settings stay what they are beside a real controller",
    moves.HeartbeatTimeout: "no release has the heartbeats of KIP-343",
    moves.Race: "two requests cannot be made to meet inside a real process",
    moves.Advance: "the real controller's clock cannot be moved",
}
"""Moves that are done in the engine alone."""


def why_initial_state_untold(setup: Setup) -> str | None:
    """Why no cluster with a real controller begins so; None where one does."""
    for partition in setup.partitions:
        if partition.name != f"{topic_of(partition.name)}-0":
            return "each topic has one partition there, number 0"
        if partition.adding or partition.removing:
            return "no partition is being reassigned there"
        if partition.partition_epoch > VERSIONS_MAX:
            return f"its znode would be written more than {VERSIONS_MAX} times"
    return None


def why_step_untold(before: Cluster, recorded: Recorded, controller: BrokerId) -> str | None:
    """Why a step cannot be done to a real controller on that broker; None where it can."""
    move = recorded.move
    if type(move) in _UNTOLD:
        return _UNTOLD[type(move)]
    if isinstance(move, moves.Upgrade) and move.node in (None, controller):
        return _OWN_BROKER.format(controller)
    if isinstance(move, moves.RawRequest):
        return _why_raw_untold(move)
    if isinstance(move, _LOST) and _is_controllers(before, move, controller):
        return "between real nodes no message is lost, or sent twice, by hand"
    if _is_other(before, controller) or _is_other(recorded.cluster, controller):
        return f"only broker {controller}'s controller is real, and another one would take over"
    if controller in newly_gone(before, recorded.cluster) or _is_down(recorded, controller):
        return _OWN_BROKER.format(controller)
    return None


def _why_raw_untold(move: moves.RawRequest) -> str | None:
    if isinstance(move.body, ControlRequest):
        return "it is a request by hand to a broker, and brokers are the engine's"
    return None


def _is_controllers(before: Cluster, move: _LOST, controller: BrokerId) -> bool:
    """A broker's request that is lost on its way has never been there; all else would be missed."""
    message = find(before, move.message)
    if message is None:
        return False
    if isinstance(message.body, Request) and message.receiver == controller_on(controller):
        return isinstance(move, moves.LoseReply)
    ends = message.receiver, message.name.sender
    return controller_on(controller) in ends or isinstance(message.body, WatcherEvent)


def _is_other(cluster: Cluster, controller: BrokerId) -> bool:
    found = find_znode(ensemble_of(cluster), CONTROLLER_PATH)
    named = found.data if found is not None else None
    return isinstance(named, ControllerZnode) and named.broker != controller


def _is_down(recorded: Recorded, controller: BrokerId) -> bool:
    own = broker(recorded.cluster, controller)
    return own is None or own.process is None
