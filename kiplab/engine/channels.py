"""Messages in flight: their names, how to find them, and the effect of a crash on them.

The send threads of controllers that run on brokers, and the threads that wait for ZooKeeper.

A controller puts its requests to a broker into a queue. One thread for each broker sends the head
of the queue, again and again until it is answered or the queue is removed. So exactly the head is
under way while its broker is up, and a request that was lost with one process of a broker goes to
the next: that is how a request for an earlier incarnation arrives. The connection ends with its
queue.

A leader that writes the ISR to ZooKeeper by itself holds its partition until it is answered: such a
request and its answer are part of the step, unless the link is cut.
"""

from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from ..protocol import messages
from ..protocol.ids import ALL_BROKERS, BrokerId, Count, Incarnation, host_of
from ..protocol.messages import ANSWERED, KINDS, ApiRequest, Body, Send
from ..protocol.zookeeper.zookeeper_controller import ZooKeeperController
from .cluster import Cluster, Message, MessageName
from .events import Dropped, Event, Moved, Sent
from .nodes import incarnation_of, is_cut, is_up, running_incarnation, zookeeper_controllers

Counters = tuple[tuple[BrokerId, Incarnation, str, Count], ...]


def post(
    cluster: Cluster, sender: BrokerId, sends: Iterable[Send], answered: Message | None = None
) -> tuple[Cluster, list[Event]]:
    """Put messages on their way. `answered` is the request that a reply among them answers."""
    events: list[Event] = []
    if not sends:
        return cluster, events
    incarnation, sent, messages = incarnation_of(cluster, sender), cluster.sent, cluster.messages
    for send in sends:
        kind = KINDS[type(send.body)]
        if send.receiver != ALL_BROKERS:
            sent, name = _named(sent, sender, incarnation, kind)
            message, event = _handed_over(cluster, name, send.receiver, send.body, answered)
            messages = messages if message is None else (*messages, message)
            events.append(event)
            continue
        for host in cluster.brokers:
            if host.up:
                sent, name = _named(sent, sender, incarnation, kind)
                messages = (*messages, _under_way(name, host.id, host.incarnation, send.body))
                events.append(Sent(message=name, receiver=host.id, body=send.body))
    return replace(cluster, sent=sent, messages=messages), events


def _handed_over(
    cluster: Cluster, name: MessageName, receiver: BrokerId, body: Body, answered: Message | None
) -> tuple[Message | None, Event]:
    """The message on its way, if there is somebody to open a connection to."""
    answers = answered if name.kind in ANSWERED else None
    if answers is not None:
        receiver = answers.name.sender
    incarnation = running_incarnation(cluster, receiver)
    if incarnation is None or (answers is not None and incarnation != answers.name.incarnation):
        why = "the connection is closed"
        return None, Dropped(message=name, receiver=receiver, body=body, why=why)
    message = _under_way(name, receiver, incarnation, body, answers)
    return message, Sent(message=name, receiver=receiver, body=body)


def _under_way(
    name: MessageName,
    receiver: BrokerId,
    incarnation: Incarnation,
    body: Body,
    answers: Message | None = None,
) -> Message:
    """The message to that incarnation; a reply goes back the way its request came."""
    return Message(
        name=name,
        receiver=receiver,
        receiver_incarnation=incarnation,
        lane=body.api.lane,
        body=body,
        request=answers.body if answers and isinstance(answers.body, ApiRequest) else None,
        connection=answers.connection if answers is not None else 0,
    )


def _named(
    sent: Counters, sender: BrokerId, incarnation: Incarnation, kind: str
) -> tuple[Counters, MessageName]:
    """The name of the next message, and what has been sent then."""
    for index, counter in enumerate(sent):
        if counter[2] == kind and counter[0] == sender and counter[1] == incarnation:
            counted = (sender, incarnation, kind, counter[3] + 1)
            return (*sent[:index], counted, *sent[index + 1 :]), MessageName(*counted)
    first = (sender, incarnation, kind, 1)
    return (*sent, first), MessageName(*first)


def find(cluster: Cluster, name: MessageName) -> Message | None:
    """The message in flight with this name, or None."""
    for message in cluster.messages:
        if message.name == name:
            return message
    return None


def in_flight(cluster: Cluster, name: MessageName) -> Message:
    """The message of that name, which is known to be on its way."""
    message = find(cluster, name)
    assert message is not None
    return message


def blocker(cluster: Cluster, message: Message) -> Message | None:
    """The message that has to arrive before `message`: channels are first in, first out."""
    name = message.name
    for other in cluster.messages:
        if other is message:
            return None
        # The same connection: what it is for, both ends, the sender's incarnation.
        if (
            other.lane == message.lane
            and other.receiver == message.receiver
            and other.name.sender == name.sender
            and other.name.incarnation == name.incarnation
            and other.connection == message.connection
            # Every retry has a connection of its own, numbered apart for each kind of request.
            and (not message.connection or other.name.kind == name.kind)
        ):
            return other
    return None


def without(cluster: Cluster, message: Message) -> Cluster:
    """`cluster` with `message` no longer in flight."""
    return replace(cluster, messages=tuple([m for m in cluster.messages if m is not message]))


def resent(cluster: Cluster, message: Message) -> tuple[Cluster, Event]:
    """The same request once more, on a new connection."""
    sender = message.name.sender
    incarnation = incarnation_of(cluster, sender)
    sent, name = _named(cluster.sent, sender, incarnation, message.name.kind)
    copy = replace(message, name=name, connection=name.ordinal)
    event = Sent(message=name, receiver=copy.receiver, body=copy.body)
    return replace(cluster, sent=sent, messages=(*cluster.messages, copy)), event


def dropped(message: Message, why: str) -> Dropped:
    """The event of a message in flight that will never arrive."""
    return Dropped(message=message.name, receiver=message.receiver, body=message.body, why=why)


def close(cluster: Cluster, node: BrokerId) -> tuple[Cluster, list[Event]]:
    """A process died: what was on its way to it, or to whatever lived on it, is lost.

    What it had already sent is in the network or in the receiver's queue, and may still arrive.
    What a sender has queued for it and not sent is the sender's, and is not touched.
    """
    lost = [m for m in cluster.messages if node in (m.receiver, host_of(m.receiver))]
    if not lost:
        return cluster, []
    left = tuple(m for m in cluster.messages if node not in (m.receiver, host_of(m.receiver)))
    return replace(cluster, messages=left), [dropped(m, "the receiver died") for m in lost]


# --- send threads ---------------------------------------------------------------------------------

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


def _closed(cluster: Cluster, node: BrokerId, controller: ZooKeeperController) -> Moved:
    """Requests on their way whose connection the controller has closed."""
    heads = {channel.broker: channel.queue[:1] for channel in controller.channels}
    events: list[Event] = []
    for message in _requests_of(cluster, node):
        if heads.get(message.receiver) != (message.body,):
            cluster = without(cluster, message)
            events.append(dropped(message, "the controller closed the connection"))
    return cluster, events


def _sent(cluster: Cluster, node: BrokerId, controller: ZooKeeperController) -> Moved:
    """Heads of queues that were not sent yet, or were lost."""
    events: list[Event] = []
    for channel in controller.channels:
        if not channel.queue or not is_up(cluster, channel.broker):
            continue
        if not _is_under_way(cluster, node, channel.broker, channel.queue[0]):
            cluster, more = post(cluster, node, (Send(channel.broker, channel.queue[0]),))
            events += more
    return cluster, events


def _is_under_way(cluster: Cluster, node: BrokerId, broker: BrokerId, head: object) -> bool:
    if any(m.receiver == broker for m in _requests_of(cluster, node)):
        return True
    return any(
        m.receiver == node and m.name.sender == broker and m.request == head
        for m in cluster.messages
    )


def _requests_of(cluster: Cluster, node: BrokerId) -> Iterator[Message]:
    """Control requests on their way from the process that lives at `node` now."""
    incarnation = next(b.incarnation for b in cluster.brokers if b.id == host_of(node))
    for message in cluster.messages:
        name = message.name
        mine = name.sender == node and name.incarnation == incarnation
        if mine and isinstance(message.body, messages.ControlRequest):
            yield message
