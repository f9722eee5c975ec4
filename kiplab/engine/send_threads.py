"""The send threads of controllers that run on brokers, and the threads that wait for ZooKeeper.

A controller puts its requests to a broker into a queue. One thread for each broker sends the head
of the queue, again and again until it is answered or the queue is removed. So exactly the head is
under way while its broker is up, and a request that was lost with one process of a broker goes to
the next: that is how a request for an earlier incarnation arrives. The connection ends with its
queue.

A leader that writes the ISR to ZooKeeper by itself holds its partition until it is answered: such a
request and its answer are part of the step, unless the link is cut.
"""

from collections.abc import Callable, Iterator

from ..protocol import ids, messages
from ..protocol.messages.api_message import ControlRequest
from ..protocol.zookeeper.zookeeper_controller import ZooKeeperController
from .channels import blocker, dropped, post, without
from .cluster import Cluster, Message
from .events import Event, Moved
from .nodes import is_cut, is_up, zookeeper_controllers

_WAITED_FOR = (messages.SetPartitionStateRequest, messages.SetPartitionStateResponse)
Arrive = Callable[[Cluster, Message], Moved]


def threads_go_on(cluster: Cluster, events: list[Event], deliver: Arrive) -> Moved:
    """The actions of the threads of brokers after a move in ZooKeeper mode."""
    while (call := _next_call(cluster)) is not None:
        cluster, more = deliver(cluster, call)
        events = [*events, *more]
    for node, controller in zookeeper_controllers(cluster):
        cluster, more = _closed(cluster, node, controller)
        events = [*events, *more]
        cluster, more = _sent(cluster, node, controller)
        events = [*events, *more]
    return cluster, events


def _next_call(cluster: Cluster) -> Message | None:
    for message in cluster.messages:
        if (
            isinstance(message.body, _WAITED_FOR)
            and not is_cut(cluster, message.name.sender, message.receiver)
            and blocker(cluster, message) is None
        ):
            return message
    return None


def _closed(cluster: Cluster, node: ids.BrokerId, controller: ZooKeeperController) -> Moved:
    """Requests on their way whose connection the controller has closed."""
    heads = {channel.broker: channel.queue[:1] for channel in controller.channels}
    events: list[Event] = []
    for message in _requests_of(cluster, node):
        if heads.get(message.receiver) != (message.body,):
            cluster = without(cluster, message)
            events.append(dropped(message, "the controller closed the connection"))
    return cluster, events


def _sent(cluster: Cluster, node: ids.BrokerId, controller: ZooKeeperController) -> Moved:
    """Heads of queues that were not sent yet, or were lost."""
    events: list[Event] = []
    for channel in controller.channels:
        if not channel.queue or not is_up(cluster, channel.broker):
            continue
        if not _is_under_way(cluster, node, channel.broker, channel.queue[0]):
            cluster, more = post(cluster, node, (messages.Send(channel.broker, channel.queue[0]),))
            events += more
    return cluster, events


def _is_under_way(cluster: Cluster, node: ids.BrokerId, broker: ids.BrokerId, head: object) -> bool:
    if any(m.receiver == broker for m in _requests_of(cluster, node)):
        return True
    return any(
        m.receiver == node and m.name.sender == broker and m.request == head
        for m in cluster.messages
    )


def _requests_of(cluster: Cluster, node: ids.BrokerId) -> Iterator[Message]:
    """Control requests on their way from the process that lives at `node` now."""
    incarnation = next(b.incarnation for b in cluster.brokers if b.id == ids.host_of(node))
    for message in cluster.messages:
        name = message.name
        mine = name.sender == node and name.incarnation == incarnation
        if mine and isinstance(message.body, ControlRequest):
            yield message
