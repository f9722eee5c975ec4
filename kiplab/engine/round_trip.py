"""A request that falls due, and its answer: three moves of `step` in one, where that is all.

Most moves of a timed run are heartbeats, and of most heartbeats nothing comes but that a broker was
heard of. The rules are those of `step`, found in the same tables, and get to see the same clusters;
what is left out is what nobody would have seen: the two messages in flight, and three looks of an
observer who has nothing to see.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from ..protocol.ids import CONTROLLER, BrokerId
from ..protocol.messages import ANSWERED, KINDS, Send
from . import moves
from .channels import Counters, named, under_way
from .cluster import Cluster, Message, MessageName
from .nodes import incarnation_of, running_life, state_of, with_due, with_state
from .observer import may_matter
from .routes import PERIOD_MS, PLANS, ROUTES, TIMERS

IsHeld = Callable[[MessageName, BrokerId], bool]
"""Whether a message of that name, to that receiver, is held back."""


def round_trip(cluster: Cluster, fire: moves.Fire, is_held: IsHeld) -> Cluster | None:
    """The cluster after `fire`, the delivery of its request to the controller, and the delivery of
    the answer.

    None where these are not the next three moves, or where more comes of them than new states of
    the two nodes: then `step` does them one by one. `fire` is one that `why_not` has nothing to say
    of, and no message is in flight but what is held back.
    """
    if not cluster.timed or cluster.producers or cluster.cut:
        return None
    at, due = fire.node, cluster.now_ms + PERIOD_MS[fire.timer]
    node = with_due(state_of(cluster, at), fire.timer, due)
    node, asks, _ = TIMERS[type(node), fire.timer](node, cluster)
    asked = _sent_alone(cluster, cluster.sent, at, asks, None)
    if asked is None or asked[1].receiver != CONTROLLER or is_held(asked[1].name, CONTROLLER):
        return None
    sent, request = asked
    controller = state_of(cluster, CONTROLLER)
    controller, answers, _ = ROUTES[type(controller), type(request.body)](
        controller, request, cluster
    )
    answered = _sent_alone(cluster, sent, CONTROLLER, answers, request)
    if answered is None or is_held(answered[1].name, at):
        return None
    sent, reply = answered
    node, more, _ = ROUTES[type(node), type(reply.body)](node, reply, cluster)
    brokers = tuple([node if b.id == at else b for b in cluster.brokers])
    plan = PLANS.get(type(controller))
    planned = controller if plan is None else plan(controller, cluster)
    after = replace(with_state(cluster, CONTROLLER, planned), brokers=brokers, sent=sent)
    return None if more or may_matter(cluster, after) else after


def _sent_alone(
    cluster: Cluster,
    sent: Counters,
    sender: BrokerId,
    sends: tuple[Send, ...],
    answers: Message | None,
) -> tuple[Counters, Message] | None:
    """The one message that a rule sends, if it can arrive at once, and what has been sent then."""
    if len(sends) != 1:
        return None
    body, receiver = sends[0].body, sends[0].receiver
    kind, lane, life = KINDS[type(body)], body.api.lane, running_life(cluster, receiver)
    if life is None or (kind in ANSWERED) is (answers is None):
        return None
    # Whatever is held back on the same connection would have to arrive first.
    if cluster.messages and any(message.lane == lane for message in cluster.messages):
        return None
    sent, name = named(sent, sender, incarnation_of(cluster, sender), kind)
    return sent, under_way(name, receiver, life, body, answers)
