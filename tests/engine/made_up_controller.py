"""A made-up controller that lives on a broker: no controller of Kafka's, but with what one needs.

It announces the metadata to every other broker from a queue of its own, one at a time, and, when a
partition is not led by its preferred replica, plans to ask the controller off the brokers for an
election. No mode of Kafka's has control planes on brokers that have timers and plans.
"""

from typing import get_args

import msgspec
import pytest
from msgspec.structs import replace

from kiplab.engine import moves, nodes, route_kinds, routes
from kiplab.engine.cluster import Cluster
from kiplab.engine.truth import truth
from kiplab.protocol import ids, messages
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


# --- its rules ----------------------------------------------------------------------------------


def answered(plane: MadeUp, _message: object, _world: Cluster) -> route_kinds.NodeEffect:
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


def make_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enter it into the tables, each where a new kind of node has its place."""
    rules: dict[type, route_kinds.Rule] = {
        messages.AlterPartitionRequest: route_kinds.unmoved,
        messages.ElectLeadersResponse: answered,
    }
    for body in get_args(messages.Body):
        if body in rules:
            monkeypatch.setitem(routes.ROUTES, (MadeUp, body), rules[body])
        else:
            monkeypatch.setitem(routes.NOT_ADDRESSED, (MadeUp, body), "it asks nobody")
    monkeypatch.setitem(routes.UNANSWERED, (MadeUp, messages.ElectLeadersRequest), given_up)
    monkeypatch.setitem(routes.TIMERS, (MadeUp, ANNOUNCE), announced)
    monkeypatch.setitem(routes.IDLE, (MadeUp, ANNOUNCE), nothing_queued)
    monkeypatch.setitem(routes.TIMERS, (MadeUp, BALANCE), balance)
    monkeypatch.setitem(routes.IDLE, (MadeUp, BALANCE), nothing_planned)
    monkeypatch.setitem(routes.PLANS, MadeUp, planned)


def with_plane(world: Cluster, node: ids.BrokerId, **state: object) -> Cluster:
    """`world` with a made-up controller at `node`, in this state."""
    host = nodes.state_of(world, ids.host_of(node))
    plane = replace(MadeUp(epoch=ids.ControllerEpoch(1)), **state)
    process = replace(host.process, control_plane=plane, controller_epoch=plane.epoch)
    return nodes.with_state(world, host.id, replace(host, process=process))
