"""What a message carries, and what its receiver held when it came: a sentence each."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..engine.cluster import Cluster, broker
from ..engine.events import Delivered
from ..engine.truth import partition_of, registration_of
from ..protocol import ids, messages
from ..protocol.replica.broker_state import replica_of


def fields(body: messages.ApiMessage) -> Iterator[str]:
    """``leader epoch 5``, ``proposed ISR: 1@40, 2@41`` and so on."""
    if isinstance(body, messages.ApiRequest):
        yield from body.details()


def held(event: Delivered, before: Cluster) -> Iterator[str]:
    """What the receiver compares the request with; `before` is the cluster as the request came."""
    if isinstance(event.body, messages.ApiRequest):
        yield from _HELD[event.body.against](event.body, event, before)


# --- receivers ----------------------------------------------------------------------------------


def _controller(
    body: messages.AlterPartitionRequest, _: Delivered, before: Cluster
) -> Iterator[str]:
    for item in body.items:
        yield from _partition(item, before)
        known = (_registered(m.broker, before) for m in item.isr)
        yield f"registered are {'; '.join(known)}"


def _partition(item: messages.AlterPartitionItem, before: Cluster) -> Iterator[str]:
    state = partition_of(before, item.partition)
    if state is None:
        yield f"the controller knows no {item.partition}"
        return
    leader = "no leader" if state.leader == ids.NO_LEADER else f"leader {state.leader}"
    epochs = f"leader epoch {state.leader_epoch}, partition epoch {state.partition_epoch}"
    yield f"the controller held {leader}, {epochs}, ISR {ids.broker_list(state.isr)}"


def _registered(id: ids.BrokerId, before: Cluster) -> str:
    registration = registration_of(before, id)
    if registration is None:
        return f"broker {id} not at all"
    state = "fenced" if registration.fenced else "active"
    if registration.in_controlled_shutdown:
        state = "shutting down"
    return f"broker {id} as epoch {registration.epoch}, {state}"


def _sender_known(_: object, event: Delivered, before: Cluster) -> Iterator[str]:
    yield f"registered is {_registered(event.message.sender, before)}"


def _leader(body: messages.FetchRequest, event: Delivered, before: Cluster) -> Iterator[str]:
    node = broker(before, event.receiver)
    mine = replica_of(node, body.partition) if node is not None and node.process else None
    if mine is None:
        yield f"broker {event.receiver} has no {body.partition}"
        return
    part = "leads" if mine.leading is not None else "does not lead"
    mark = f"high watermark {mine.high_watermark}"
    yield f"broker {event.receiver} {part} with leader epoch {mine.leader_epoch}, {mark}"


_HELD: dict[messages.Against, Callable[[Any, Delivered, Cluster], Iterable[str]]] = {
    messages.Against.PARTITION: _controller,
    messages.Against.REPLICA: _leader,
    messages.Against.REGISTRATION: _sender_known,
    messages.Against.NOTHING: lambda *_: (),
}
