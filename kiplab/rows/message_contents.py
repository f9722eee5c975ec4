"""What a message carries, and what its receiver held when it came: a sentence each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..engine.cluster import Cluster, broker
from ..engine.events import Delivered
from ..engine.explain import broker_list
from ..engine.truth import partition_of, registration_of
from ..protocol.ids import NO_BROKER_EPOCH, NO_LEADER, BrokerId
from ..protocol.messages import (
    AlterPartitionItem,
    AlterPartitionRequest,
    BrokerHeartbeatRequest,
    BrokerRegistrationRequest,
    FetchRequest,
    IsrMember,
)
from ..protocol.registrations import LeaderRecoveryState
from ..protocol.replica.broker_state import replica_of


def fields(body: Any) -> Iterator[str]:
    """``leader epoch 5``, ``proposed ISR: 1@40, 2@41`` and so on."""
    made = _FIELDS.get(type(body))
    if made is not None:
        yield from made(body)


def held(event: Delivered, before: Cluster) -> Iterator[str]:
    """What the receiver compares the request with; `before` is the cluster as the request came."""
    made = _HELD.get(type(event.body))
    if made is not None:
        yield from made(event.body, event, before)


# --- requests -----------------------------------------------------------------------------------


def _alter_partition(body: AlterPartitionRequest) -> Iterator[str]:
    yield f"AlterPartition v{body.version}, sent as broker epoch {body.broker_epoch}"
    for item in body.items:
        epochs = f"leader epoch {item.leader_epoch}, partition epoch {item.partition_epoch}"
        yield f"{item.partition}: {epochs}"
        members = ", ".join(_member(body, m) for m in item.isr)
        recovering = item.recovery == LeaderRecoveryState.RECOVERING and body.version >= 1
        state = " while RECOVERING" if recovering else ""
        bare = f" (v{body.version} carries no epochs)" if body.version < 3 else ""
        yield f"proposed ISR{state}: {members}{bare}"


def _member(body: AlterPartitionRequest, member: IsrMember) -> str:
    if body.version < 3:
        return str(member.broker)
    unchecked = " (not checked)" if member.epoch == NO_BROKER_EPOCH else ""
    return f"{member.broker}@{member.epoch}{unchecked}"


def _fetch(body: FetchRequest) -> Iterator[str]:
    yield f"Fetch v{body.version} of {body.partition} from offset {body.offset}"
    yield f"leader epoch {body.leader_epoch}, last fetched epoch {body.last_fetched_epoch}"
    yield (
        f"broker epoch {body.replica_epoch}"
        if body.version >= 15
        else f"v{body.version} has no broker epoch"
    )


_FIELDS: dict[type, Callable[[Any], Iterable[str]]] = {
    AlterPartitionRequest: _alter_partition,
    FetchRequest: _fetch,
    BrokerHeartbeatRequest: lambda b: [f"broker epoch {b.broker_epoch}"],
    BrokerRegistrationRequest: lambda b: [f"incarnation {b.incarnation}"],
}


# --- receivers ----------------------------------------------------------------------------------


def _controller(body: AlterPartitionRequest, _: Delivered, before: Cluster) -> Iterator[str]:
    for item in body.items:
        yield from _partition(item, before)
        known = (_registered(m.broker, before) for m in item.isr)
        yield f"registered are {'; '.join(known)}"


def _partition(item: AlterPartitionItem, before: Cluster) -> Iterator[str]:
    state = partition_of(before, item.partition)
    if state is None:
        yield f"the controller knows no {item.partition}"
        return
    leader = "no leader" if state.leader == NO_LEADER else f"leader {state.leader}"
    epochs = f"leader epoch {state.leader_epoch}, partition epoch {state.partition_epoch}"
    yield f"the controller held {leader}, {epochs}, ISR {broker_list(state.isr)}"


def _registered(id: BrokerId, before: Cluster) -> str:
    found = registration_of(before, id)
    if found is None:
        return f"broker {id} not at all"
    state = "fenced" if found.fenced else "active"
    if found.in_controlled_shutdown:
        state = "shutting down"
    return f"broker {id} as epoch {found.epoch}, {state}"


def _sender_known(_: object, event: Delivered, before: Cluster) -> Iterator[str]:
    yield f"registered is {_registered(event.message.sender, before)}"


def _leader(body: FetchRequest, event: Delivered, before: Cluster) -> Iterator[str]:
    node = broker(before, event.receiver)
    mine = replica_of(node, body.partition) if node is not None and node.process else None
    if mine is None:
        yield f"broker {event.receiver} has no {body.partition}"
        return
    part = "leads" if mine.leading is not None else "does not lead"
    mark = f"high watermark {mine.high_watermark}"
    yield f"broker {event.receiver} {part} with leader epoch {mine.leader_epoch}, {mark}"


_HELD: dict[type, Callable[[Any, Delivered, Cluster], Iterable[str]]] = {
    AlterPartitionRequest: _controller,
    FetchRequest: _leader,
    BrokerHeartbeatRequest: _sender_known,
    BrokerRegistrationRequest: _sender_known,
}
