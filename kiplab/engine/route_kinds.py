"""What kinds of rules the routing tables hold, and how rules of `protocol` become such.

A rule of `protocol` asks for what it needs and knows no cluster; `of_features` and its like hand it
that: a message's body, the features, the time, the request that an answer answers, ZooKeeper.
"""

from collections.abc import Callable, Iterable
from typing import Any

from ..protocol.facts import Fact
from ..protocol.ids import CLIENT, ZOOKEEPER, BrokerId
from ..protocol.messages import ElectLeadersRequest, Send
from ..protocol.zookeeper.controller_turn import ControllerTurn
from ..protocol.zookeeper.ensemble_writes import Together
from ..protocol.zookeeper.zookeeper_controller import ZooKeeperController
from . import moves
from .cluster import Cluster
from .nodes import ensemble_of, state_of
from .truth import controller_of

NodeKind = type
"""What lives at an address: the type of its state."""
NodeEffect = tuple[Any, tuple[Send, ...], tuple[Fact, ...]]
Rule = Callable[[Any, Any, Cluster], NodeEffect]
JointRule = Callable[[Any, Any, Cluster], Together[Any]]
"""(node, message, cluster) to what becomes of the node and of ZooKeeper."""
JointTimerRule = Callable[[Any, Cluster], Together[Any]]
TimerRule = Callable[[Any, Cluster], NodeEffect]
IdleCheck = Callable[[Any, Cluster], str | None]
"""(node, cluster) to why nothing would come of a timer; None when something may."""
Plan = Callable[[Any, Cluster], Any]
"""(node, cluster with a clock) to the node with its timers set; the same node if they are."""
NodeEffects = tuple[tuple[BrokerId, NodeEffect], ...]
"""What becomes of which nodes, in order."""
ModeRule = Callable[[Cluster, Any], NodeEffects]
"""(cluster, move) to what becomes of which nodes."""


def unmoved(node: Any, _message: Any, _cluster: Cluster) -> NodeEffect:
    """A message of which nothing comes: nobody waits for it, or its receiver does not know it."""
    return node, (), ()


def of_features(rule: Callable[..., NodeEffect]) -> Rule:
    """A rule that asks for the features."""
    return lambda node, message, cluster: rule(node, message.body, cluster.features)


def of_time(rule: Callable[..., NodeEffect]) -> Rule:
    """A rule that asks for the features and the time."""
    return lambda node, message, cluster: rule(node, message.body, cluster.features, cluster.clock)


def of_request(rule: Callable[..., NodeEffect]) -> Rule:
    """A rule about an answer, which asks for the request, too."""
    return lambda node, message, cluster: rule(
        node, message.body, message.request, cluster.features, cluster.clock
    )


def with_zookeeper(rule: Callable[..., Together[Any]]) -> JointRule:
    """A rule about one event of a controller on a broker."""
    return lambda node, message, cluster: rule(in_a_turn(node, cluster), message.body)


def in_a_turn(node: ZooKeeperController, cluster: Cluster) -> ControllerTurn:
    """An event of this controller begins."""
    return ControllerTurn(node, ensemble_of(cluster), cluster.features)


def with_zookeeper_in_time(rule: Callable[..., Together[Any]]) -> JointRule:
    """A rule of a broker that reads and writes ZooKeeper, and asks for features and time."""
    return lambda node, message, cluster: rule(
        node, ensemble_of(cluster), message.body, cluster.features, cluster.clock
    )


def at(address: BrokerId, rule: Callable[[Any, Any, Cluster], NodeEffect]) -> ModeRule:
    """A move that reaches what stands off the brokers, and nobody else."""
    return lambda w, move: ((address, rule(state_of(w, address), move, w)),)


def ask_for_election(cluster: Cluster, move: moves.Elect) -> NodeEffects:
    """An admin client's request reaches the active controller, by way of any broker."""
    request = ElectLeadersRequest(unclean=move.unclean, partitions=(move.partition,))
    controller = controller_of(cluster)
    sends = () if controller is None else (Send(controller, request),)
    return ((CLIENT, (state_of(cluster, CLIENT), sends, ())),)


def never(kind: NodeKind, why: str, bodies: Iterable[type]) -> dict[tuple[NodeKind, type], str]:
    """Why no node of this kind is sent any of these."""
    return {(kind, body): why for body in bodies}


def apart(node: BrokerId, done: Together[Any]) -> NodeEffects:
    """What becomes of the node, then of ZooKeeper."""
    return (node, (done.node, done.sends, done.facts)), (ZOOKEEPER, (done.ensemble, done.fired, ()))
