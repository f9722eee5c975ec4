"""Moves that reach no node: of the network, links and time, damage, and forged requests.

What a client by name does is in `consumers` and `producers`; what a node decides, in `step`.
"""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from ..protocol.ids import node_name
from ..protocol.messages import Send
from ..protocol.replica import disk
from . import channels, consumers, moves, nodes, producers
from .cluster import Cluster, Message, broker, later
from .events import Delivered, Event, Happened, Moved
from .routes import AT_ONCE, UNANSWERED, put_back


def delivered(cluster: Cluster, message: Message) -> Delivered:
    """The event of a message that arrives."""
    sender = message.name.sender
    return Delivered(
        message=message.name,
        receiver=message.receiver,
        body=message.body,
        previous_incarnation=nodes.running_incarnation(cluster, sender) != message.name.incarnation,
    )


def _drop(cluster: Cluster, move: moves.Drop) -> Moved:
    message = channels.in_flight(cluster, move.message)
    return channels.without(cluster, message), [channels.dropped(message, "lost on the way")]


def _time_out(cluster: Cluster, move: moves.TimeOut) -> Moved:
    message = channels.in_flight(cluster, move.message)
    cluster = _sender_notices(channels.without(cluster, message), message)
    return cluster, [channels.dropped(message, "timed out; the sender noticed")]


def _duplicate(cluster: Cluster, move: moves.Duplicate) -> Moved:
    cluster, event = channels.resent(cluster, channels.in_flight(cluster, move.message))
    return cluster, [event]


def _race(cluster: Cluster, move: moves.Race) -> Moved:
    one, other = channels.in_flight(cluster, move.message), channels.in_flight(cluster, move.other)
    cluster = channels.without(channels.without(cluster, one), other)
    events: list[Event] = [delivered(cluster, one), delivered(cluster, other)]
    node = nodes.state_of(cluster, one.receiver)
    node, sends, later, facts = AT_ONCE[type(node), type(one.body)](node, one, other, cluster)
    cluster = put_back(cluster, one.receiver, node)
    cluster, sent = channels.post(cluster, one.receiver, sends, one)
    cluster, more = channels.post(cluster, one.receiver, later, other)
    text = f"{node_name(one.receiver)} has a thread for each of the two"
    return cluster, [*events, Happened(text=text), *facts, *sent, *more]


def reply_lost(cluster: Cluster, request: Message, events: list[Event]) -> Moved:
    """The answer to `request`, which has just been given, never comes; its sender notices."""
    # A copy of the request may have been answered before: the newest answer is the one.
    reply = next((m for m in reversed(cluster.messages) if m.request is request.body), None)
    if reply is None:
        return cluster, events
    cluster = _sender_notices(channels.without(cluster, reply), request)
    return cluster, [*events, channels.dropped(reply, "the reply was lost; the sender noticed")]


def _sender_notices(cluster: Cluster, request: Message) -> Cluster:
    sender = request.name.sender
    node = nodes.state_of(cluster, sender)
    if node is None or nodes.incarnation_of(cluster, sender) != request.name.incarnation:
        return cluster
    given_up = UNANSWERED.get((type(node), type(request.body)))
    return cluster if given_up is None else put_back(cluster, sender, given_up(node))


def _crash(cluster: Cluster, move: moves.Crash) -> Moved:
    node, _, facts = disk.crash(nodes.state_of(cluster, move.broker), move.loss)
    cluster, lost = channels.close(put_back(cluster, move.broker, node), move.broker)
    return cluster, [*facts, *lost]


def _remove_directory(cluster: Cluster, move: moves.RemoveDirectory) -> Moved:
    down = broker(cluster, move.broker)
    assert down is not None
    node, _, facts = disk.remove_directory(down, move.directory)
    text = f"log directory {move.directory} of broker {move.broker} is taken out of its log.dirs"
    return put_back(cluster, move.broker, node), [Happened(text=text), *facts]


def _turn_link(cluster: Cluster, move: moves.Cut | moves.Heal) -> Moved:
    link, is_cut = tuple(sorted((move.one, move.other))), isinstance(move, moves.Cut)
    links = {*cluster.cut, link} if is_cut else {*cluster.cut} - {link}
    ends = f"{node_name(move.one)} and {node_name(move.other)}"
    text = f"the link between {ends} is {'cut' if is_cut else 'back'}"
    return replace(cluster, cut=tuple(sorted(links))), [Happened(text=text)]


OF_THE_WORLD: dict[type, Callable[[Cluster, Any], Moved]] = {
    moves.Drop: _drop,
    moves.TimeOut: _time_out,
    moves.Duplicate: _duplicate,
    moves.Race: _race,
    moves.Advance: lambda c, m: (later(c, m.ms), [Happened(text=f"{m.ms} ms pass")]),
    moves.ProduceAs: producers.write,
    moves.Resend: producers.resend,
    moves.Poll: consumers.poll,
    moves.RefreshMetadata: consumers.refresh,
    moves.ResetOffset: consumers.reset,
    moves.Crash: _crash,
    moves.RemoveDirectory: _remove_directory,
    moves.Cut: _turn_link,
    moves.Heal: _turn_link,
    moves.RawRequest: lambda c, m: channels.post(
        replace(c, forged=True), m.sender, (Send(m.receiver, m.body),)
    ),
}
"""Moves of the network, of named clients and of faults."""
