"""A made-up controller that lives on a broker: no controller of Kafka's, but with what one needs.

It answers ElectLeaders and AlterPartition, announces the metadata to every other broker from a
queue of its own, one at a time, and, when a partition is not led by its preferred replica, plans
to ask the controller off the brokers for an election. In its own mode nothing but `MadeUpTruth`
stands off the brokers, and an operator asks whoever was elected last.
"""

from typing import get_args

import msgspec
import pytest
from msgspec.structs import replace

from kiplab.engine import moves, nodes, route_kinds, routes
from kiplab.engine.cluster import Cluster, Message
from kiplab.engine.truth import READERS, TruthReader, truth
from kiplab.protocol import errors, ids, messages
from kiplab.protocol.registrations import PartitionRegistration, Registration
from tests.engine import unrouted
from tests.engine.small_clusters import BROKER_1, BROKER_2

HERE, THERE = ids.controller_on(BROKER_1), ids.controller_on(BROKER_2)
PATIENCE_MS = 60_000
"""How long it looks on while another replica than the preferred one leads."""
ANNOUNCE, BALANCE = moves.Timer.RETRY, moves.Timer.BALANCE_LEADERS


class MadeUpTimers(msgspec.Struct, frozen=True):
    """When the next announcement is due, and when the election that it has planned; 0 for none."""

    retry: ids.Milliseconds = 0
    balance_leaders: ids.Milliseconds = 0


class MadeUp(msgspec.Struct, frozen=True, kw_only=True):
    """A control plane on a broker. `queued` is what it has not sent yet, and to whom.

    `elected_at` is where in the metadata it was elected; `asks` says that it waits for an answer.
    """

    epoch: ids.ControllerEpoch
    elected_at: ids.MetadataOffset = ids.MetadataOffset(1_000_000)
    queued: tuple[ids.BrokerId, ...] = ()
    asks: bool = False
    timers: MadeUpTimers = MadeUpTimers()


class MadeUpTruth(msgspec.Struct, frozen=True):
    """What is true in the made-up mode; it has what `Truth` asks for."""

    controller_epoch: ids.ControllerEpoch
    next_offset: ids.MetadataOffset = ids.MetadataOffset(0)
    registrations: tuple[Registration, ...] = ()
    partitions: tuple[PartitionRegistration, ...] = ()


# --- its rules ----------------------------------------------------------------------------------


def elected(plane: MadeUp, message: Message, world: Cluster) -> route_kinds.NodeEffect:
    """An unclean election makes it resign; any other is announced to every broker."""
    request = message.body
    assert isinstance(request, messages.ElectLeadersRequest)
    if request.unclean:
        return None, (), ()
    answer = messages.ElectLeadersResponse(results=(("orders-0", errors.KafkaError.NONE),))
    everybody = tuple(b.id for b in world.brokers)
    waiting = replace(plane, queued=(*plane.queued, *everybody))
    return waiting, (messages.Send(message.name.sender, answer),), ()


def altered(plane: MadeUp, message: Message, _world: Cluster) -> route_kinds.NodeEffect:
    """Whatever a leader asks for, it gets."""
    request = message.body
    assert isinstance(request, messages.AlterPartitionRequest)
    results = tuple(
        messages.AlterPartitionResult(
            partition=item.partition,
            leader=request.broker,
            leader_epoch=item.leader_epoch,
            partition_epoch=ids.PartitionEpoch(item.partition_epoch + 1),
            isr=tuple(member.broker for member in item.isr),
        )
        for item in request.items
    )
    answer = messages.AlterPartitionResponse(version=request.version, results=results)
    return plane, (messages.Send(request.broker, answer),), ()


def answered(plane: MadeUp, _message: Message, _world: Cluster) -> route_kinds.NodeEffect:
    return given_up(plane), (), ()


def given_up(plane: MadeUp) -> MadeUp:
    return replace(plane, asks=False)


def announced(plane: MadeUp, _move: object, world: Cluster) -> route_kinds.NodeEffect:
    """Send to whoever is first, unless it is down: then it stays first."""
    if not nodes.is_up(world, plane.queued[0]):
        return plane, (), ()
    news = messages.MetadataUpdate(offset=ids.MetadataOffset(0), registrations=(), partitions=())
    return replace(plane, queued=plane.queued[1:]), (messages.Send(plane.queued[0], news),), ()


def nothing_queued(plane: MadeUp, _world: Cluster) -> str | None:
    return None if plane.queued else "it has nothing to announce"


def planned(plane: MadeUp, world: Cluster) -> MadeUp:
    """One election at a time, a while after there is reason for it."""
    balanced = all(p.leader == p.replicas[0] for p in truth(world).partitions)
    if balanced or plane.asks or plane.timers.balance_leaders:
        return plane
    due = replace(plane.timers, balance_leaders=world.now_ms + PATIENCE_MS)
    return replace(plane, timers=due)


def nothing_planned(plane: MadeUp, world: Cluster) -> str | None:
    if world.timed and not plane.timers.balance_leaders:
        return "it has planned no election"
    return None


def balance(plane: MadeUp, _move: object, world: Cluster) -> route_kinds.NodeEffect:
    """Ask for elections, of whoever keeps the truth."""
    names = tuple(p.name for p in truth(world).partitions)
    request = messages.ElectLeadersRequest(unclean=False, partitions=names)
    asking = replace(plane, asks=True, timers=replace(plane.timers, balance_leaders=0))
    return asking, (messages.Send(ids.CONTROLLER, request),), ()


def elect(
    world: Cluster, move: moves.Elect
) -> tuple[tuple[ids.BrokerId, route_kinds.NodeEffect], ...]:
    """An operator finds the controller that was elected last."""
    hosted = nodes.control_planes(world)[1:]
    newest = max(hosted, key=lambda node: int(nodes.state_of(world, node).epoch))
    request = messages.ElectLeadersRequest(unclean=move.unclean, partitions=(move.partition,))
    return (
        (ids.CLIENT, (nodes.state_of(world, ids.CLIENT), (messages.Send(newest, request),), ())),
    )


def make_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enter it into the tables, each where a new kind of node or a new mode has its place."""
    rules: dict[type, route_kinds.Rule] = {
        messages.ElectLeadersRequest: elected,
        messages.ElectLeadersResponse: answered,
        messages.AlterPartitionRequest: altered,
    }
    for body in get_args(messages.Body):
        if body in rules:
            monkeypatch.setitem(routes.ROUTES, (MadeUp, body), rules[body])
        else:
            monkeypatch.setitem(routes.NOT_ADDRESSED, (MadeUp, body), "it asks nobody")
        monkeypatch.setitem(routes.NOT_ADDRESSED, (MadeUpTruth, body), "it is written to")
    monkeypatch.setitem(routes.UNANSWERED, (MadeUp, messages.ElectLeadersRequest), given_up)
    monkeypatch.setitem(routes.TIMERS, (MadeUp, ANNOUNCE), announced)
    monkeypatch.setitem(routes.IDLE, (MadeUp, ANNOUNCE), nothing_queued)
    monkeypatch.setitem(routes.TIMERS, (MadeUp, BALANCE), balance)
    monkeypatch.setitem(routes.IDLE, (MadeUp, BALANCE), nothing_planned)
    monkeypatch.setitem(routes.PLANS, MadeUp, planned)
    monkeypatch.setitem(unrouted.PLANS_NOTHING, MadeUpTruth, "it is written to")
    reader = TruthReader(lambda _c: (), lambda _c: HERE, session_timeout_ms=1)
    monkeypatch.setitem(READERS, MadeUpTruth, reader)
    for _, move in tuple(routes.MODE_MOVES):
        monkeypatch.setitem(routes.MODE_MOVES, (MadeUpTruth, move), lambda _w, _m: ())
    monkeypatch.setitem(routes.MODE_MOVES, (MadeUpTruth, moves.Elect), elect)


# --- clusters with it ---------------------------------------------------------------------------


def with_plane(world: Cluster, node: ids.BrokerId, epoch: int) -> Cluster:
    """`world` with a made-up controller at `node`."""
    host = nodes.state_of(world, ids.host_of(node))
    plane = MadeUp(epoch=ids.ControllerEpoch(epoch))
    process = replace(host.process, control_plane=plane, controller_epoch=plane.epoch)
    return nodes.with_state(world, host.id, replace(host, process=process))
