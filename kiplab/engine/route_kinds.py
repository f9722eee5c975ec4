"""Kinds of rules in the routing tables, and how rules of `protocol` become such.

A rule of `protocol` has parameters and knows no cluster; `by_name` passes the arguments: a body,
the features, the time, the request that an answer answers, ZooKeeper.
"""

from collections.abc import Callable, Iterable
from inspect import signature
from typing import Any, TypeVar, cast

from ..protocol.facts import Fact
from ..protocol.ids import CLIENT, ZOOKEEPER, BrokerId
from ..protocol.messages import ElectLeadersRequest, Send
from ..protocol.zookeeper.controller_turn import ControllerTurn
from ..protocol.zookeeper.ensemble_writes import Together
from ..protocol.zookeeper.zookeeper_controller import ZooKeeperController
from . import moves
from .cluster import Cluster
from .nodes import ensemble_of, session_at, state_of
from .truth import controller_of

NodeKind = type
"""The kind of a node: the type of its state."""
NodeEffect = tuple[Any, tuple[Send, ...], tuple[Fact, ...]]
Rule = Callable[[Any, Any, Cluster], NodeEffect]
"""(node, the message or move that reaches it, cluster) to what becomes of the node."""
JointRule = Callable[[Any, Any, Cluster], Together[Any]]
"""The same to what becomes of the node and of ZooKeeper."""
OfRule = TypeVar("OfRule")
IdleCheck = Callable[[Any, Cluster], str | None]
"""(node, cluster) to why nothing would come of a timer; None when something may."""
Plan = Callable[[Any, Cluster], Any]
"""(node, cluster with a clock) to the node with its timers set; the same node if they are."""
NodeEffects = tuple[tuple[BrokerId, NodeEffect], ...]
"""The new states of nodes, in order."""
ModeRule = Callable[[Cluster, Any], NodeEffects]
"""(cluster, move) to what becomes of which nodes."""


def unmoved(node: Any, _message: Any, _cluster: Cluster) -> NodeEffect:
    """A message without effect: its receiver does not wait for it, or does not know it."""
    return node, (), ()


_ASKED = {
    "ensemble": "ensemble_of(cluster)",
    "session": "session_at(cluster, cause.receiver)",
    **dict.fromkeys(("request", "response", "update", "event"), "cause.body"),
    "features": "cluster.features",
    "now_ms": "cluster.clock",
}
"""Parameters of rules, and how each is found; any other is a field of a move."""
_READERS = {"ensemble_of": ensemble_of, "session_at": session_at}


def by_name(rule: Callable[..., OfRule]) -> Callable[[Any, Any, Cluster], OfRule]:
    """A rule of `protocol` as (node, message or move, cluster) to its effect: its parameters say
    what it asks for, but for those with a default. One about a response gets its request, too.
    """
    parameters = signature(rule).parameters.values()
    of, *names = (p.name.lstrip("_") for p in parameters if p.default is p.empty)
    places = _ASKED | ({"request": "cause.request"} if "response" in names else {})
    node = "in_a_turn(node, cluster)" if of == "turn" else "node"
    arguments = ", ".join((node, *(places.get(name, f"cause.{name}") for name in names)))
    names_in_it = {"rule": rule, "in_a_turn": in_a_turn, **_READERS}
    # Compiled, to be as quick as one that is written out: every message goes through it.
    adapter = eval(f"lambda node, cause, cluster: rule({arguments})", names_in_it)
    return cast("Callable[[Any, Any, Cluster], OfRule]", adapter)


def in_a_turn(node: ZooKeeperController, cluster: Cluster) -> ControllerTurn:
    """An event of this controller begins."""
    return ControllerTurn(node, ensemble_of(cluster), cluster.features)


def at(address: BrokerId, rule: Rule) -> ModeRule:
    """A move that reaches only a node that is no broker."""
    return lambda cluster, move: ((address, rule(state_of(cluster, address), move, cluster)),)


def at_broker(rule: Rule) -> ModeRule:
    """A move that reaches only the broker that it names."""
    return lambda cluster, move: (
        (move.broker, rule(state_of(cluster, move.broker), move, cluster)),
    )


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
    """The effects on the node and on ZooKeeper, in this order."""
    return (node, (done.node, done.sends, done.facts)), (ZOOKEEPER, (done.ensemble, done.fired, ()))
