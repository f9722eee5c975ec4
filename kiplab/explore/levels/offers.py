"""What levels share: to whom an action is offered, which moves it makes, what it costs."""

from collections.abc import Callable, Iterable

from ...engine import moves
from ...engine.channels import blocker
from ...engine.cluster import Cluster, broker
from ...engine.properties import ACKNOWLEDGED_RECORDS_STAY, CONSUMER_READS_STAY
from ...engine.truth import session_lasts, truth
from ...protocol.ids import NO_BROKER_EPOCH, BrokerId
from ...protocol.replica.broker_state import Broker, Volatile
from .level_table import Action

OF_CLIENTS = (CONSUMER_READS_STAY.id, ACKNOWLEDGED_RECORDS_STAY.id)
"""Properties of what clients keep in mind; no level does."""
Fits = Callable[[Cluster, Broker, Volatile | None], bool]
"""Whether an action is for this broker, whose process is given beside it."""


def to_brokers(kind: str, fits: Fits) -> Callable[[Cluster], Iterable[Action]]:
    """Offered to every broker with a replica that fits, in the order of their ids."""

    def offered(cluster: Cluster) -> Iterable[Action]:
        replicas = truth(cluster).partitions[0].replicas
        for node in cluster.brokers:
            if node.id in replicas and fits(cluster, node, node.process):
                yield Action(kind, node.id)

    return offered


def leads(_cluster: Cluster, _node: Broker, process: Volatile | None) -> bool:
    """Whether it leads, or believes so."""
    return process is not None and any(r.leading is not None for r in process.replicas)


def runs(_cluster: Cluster, _node: Broker, process: Volatile | None) -> bool:
    """Whether a process runs."""
    return process is not None


def is_down(_cluster: Cluster, _node: Broker, process: Volatile | None) -> bool:
    """Whether none does."""
    return process is None


def has_session(cluster: Cluster, node: Broker, _process: Volatile | None) -> bool:
    """Whether the controller still counts on it."""
    return session_lasts(cluster, node.id)


def produce(cluster: Cluster, action: Action) -> tuple[moves.Move, ...]:
    """One record to the broker, for the partition that it leads, or believes to lead."""
    node = broker(cluster, action.node)
    replicas = node.process.replicas if node is not None and node.process is not None else ()
    led = (r.partition for r in replicas if r.leading is not None)
    return tuple(moves.Produce(partition, action.node, 1) for partition in led)[:1]


def arrivals(cluster: Cluster) -> Iterable[Action]:
    """The first message of each connection. Incarnations are counted among those with such a
    message.
    """
    first: dict[Action, None] = {}
    for message in cluster.messages:
        name, to = message.name, message.receiver
        if blocker(cluster, message) is None:
            incarnation = incarnations_under_way(cluster, name.kind, name.sender, to).index(
                name.incarnation
            )
            first[Action("deliver", name.sender, name.kind, incarnation, to)] = None
    return sorted(first, key=lambda a: (a.what, a.node, a.incarnation, a.to))


def incarnations_under_way(
    cluster: Cluster, kind: str, sender: BrokerId, to: BrokerId | None
) -> list[int]:
    """The incarnations of `sender` that have such a message under way."""
    fits = (m.name for m in cluster.messages if m.receiver == to)
    return sorted({n.incarnation for n in fits if n.kind == kind and n.sender == sender})


def deliver_first(cluster: Cluster, action: Action) -> tuple[moves.Deliver, ...]:
    """The message that an action of `arrivals` means; none where there is no such message."""
    incarnations = incarnations_under_way(cluster, action.what, action.node, action.to)
    wanted = (action.node, incarnations[action.incarnation], action.what)
    fits = (m for m in cluster.messages if m.name[:3] == wanted and m.receiver == action.to)
    return tuple(moves.Deliver(m.name) for m in fits)[:1]


def on(move: Callable[[BrokerId], moves.Move]) -> Callable[..., tuple[moves.Move, ...]]:
    """The action is this one move."""
    return lambda _cluster, action: (move(action.node),)


def registered(cluster: Cluster, action: Action) -> bool:
    """Whether the controller took the process in."""
    node = broker(cluster, action.node)
    return node is not None and node.process is not None and node.process.epoch != NO_BROKER_EPOCH


def spurious(cluster: Cluster, action: Action) -> str | None:
    """Ending the session of a broker that runs is a fault; of one that is gone, the cure."""
    node = broker(cluster, action.node)
    return "fences" if node is not None and node.process is not None else None
