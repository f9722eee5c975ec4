"""The observer's view of an action: no more than the key that its answer is remembered under.

The observer's answer is a function of its arguments: the controller, views of the brokers, its
earlier knowledge, and the events that it uses. All of that is in the key of the answer
(action_effects.py). If the observer ever reads anything else, it ends in UnforeseenError instead of
a remembered answer that holds for too much.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn, cast

import msgspec
from msgspec.structs import replace

from ...engine.cluster import Cluster, Observed
from ...engine.events import Event
from ...engine.observer import heeds, observe
from ...protocol.kraft.controller_state import Controller
from ...protocol.replica.broker_state import Broker
from ..levels.normal_partition import kraft_controller, new_incarnations, of_observed
from .breadth_first import broken
from .hidden_parts import UnforeseenError, controller_in


class View(msgspec.Struct, frozen=True, cache_hash=True):
    """Some fields of something, and no others."""

    def __getattr__(self, name: str) -> NoReturn:
        raise UnforeseenError(
            f"the observer reads {name!r}, which {type(self).__name__} does not show: give it"
            f" that field in {__name__}"
        )


def _shows(name: str, *fields: str) -> Callable[..., View]:
    typed = [(field, Any) for field in fields]
    kind = msgspec.defstruct(name, typed, bases=(View,), frozen=True, cache_hash=True)
    return cast("Callable[..., View]", kind)


# Of what an action leaves alone; and of what a move changes, before and after it.
BrokerView = _shows("BrokerView", "id", "durable", "process")
ProcessView = _shows("ProcessView", "epoch")
LeadingProcessView = _shows("LeadingProcessView", "epoch", "replicas")
"""Where unclean elections may be held: of a process that leads, the replica that does."""
LeadingReplicaView = _shows("LeadingReplicaView", "partition", "leader_epoch", "leading")
ChangingBrokerView = _shows("ChangingBrokerView", "id", "incarnation", "durable", "process")
ChangingProcessView = _shows("ChangingProcessView", "epoch", "replicas")
ReplicaView = _shows(
    "ReplicaView",
    *("partition", "leader_epoch", "high_watermark", "min_insync_replicas", "leading"),
)
"""A process's role for a partition; `leading` is True or None."""


def view_of(node: Broker, *, has_elr: bool) -> View:
    """The observer's view of `node` while an action leaves it alone.

    With eligible leader replicas a last known leader may be elected, uncleanly.
    """
    process, view = node.process, None
    if process is not None and has_elr:
        leading = (r for r in process.replicas if r.leading is not None)
        roles = tuple(LeadingReplicaView(r.partition, r.leader_epoch, True) for r in leading)
        view = LeadingProcessView(process.epoch, roles)
    elif process is not None:
        view = ProcessView(process.epoch)
    return BrokerView(node.id, node.durable, view)


def _changing(node: Any) -> View:
    process, view = node.process, None
    if process is not None:
        replicas = [
            ReplicaView(
                *(r.partition, r.leader_epoch, r.high_watermark, r.min_insync_replicas),
                r.leading and True,
            )
            for r in process.replicas
        ]
        view = ChangingProcessView(process.epoch, tuple(replicas))
    return ChangingBrokerView(node.id, node.incarnation, node.durable, view)


class ObservedMove(NamedTuple):
    """The observer's view of one move.

    `brokers` are its views of every broker before and after, None for one that the action has left
    alone so far; `controllers` those before and after, None where none has been changed.
    """

    brokers: tuple[tuple[View, View] | None, ...]
    controllers: tuple[Controller | None, Controller | None]
    events: tuple[Event, ...]

    @property
    def quiet(self) -> bool:
        """Whether there is nothing to see."""
        before, after = self.controllers
        same = all(pair is None or pair[0] == pair[1] for pair in self.brokers)
        return same and before is after and not self.events


def shows_something(before: Cluster, after: Cluster) -> bool:
    """Whether a move did more than send, lose or deliver messages: the observer ignores these."""
    same = before.brokers is after.brokers
    return not same or controller_in(before) is not controller_in(after)


def moment(
    first: Cluster, before: Cluster, after: Cluster, events: Iterable[Event]
) -> ObservedMove:
    """A move of an action that begins with `first`, as the observer sees it."""
    start, was, now = controller_in(first), controller_in(before), controller_in(after)
    return ObservedMove(
        tuple(_pairs(first, before, after)),
        (None if was is start else was, None if now is start else now),
        tuple(e for e in events if heeds(e)),
    )


def _pairs(first: Cluster, before: Cluster, after: Cluster) -> Iterator[tuple[View, View] | None]:
    for start, was, now in zip(first.brokers, before.brokers, after.brokers, strict=True):
        if now is start:
            yield None
        else:
            old = _changing(was)
            yield old, old if now is was else _changing(now)


def watch(
    cluster: Cluster, moments: Iterable[ObservedMove], views: Sequence[View]
) -> tuple[tuple[Observed, ...], tuple[str, ...]]:
    """(what the observer knows in the end, in normal form; the properties that broke), if it is
    shown one move after the other.

    `cluster` has the controller and the observer's knowledge from before the first of them, and
    `views` a view of each of its brokers.
    """
    struct, noticed = cluster.controller, list[Event]()
    for move in moments:
        before, after = (
            replace(
                cluster,
                controller=struct if changed is None else changed,
                brokers=tuple(
                    view if pair is None else pair[side]
                    for view, pair in zip(views, move.brokers, strict=True)
                ),
            )
            for side, changed in enumerate(move.controllers)
        )
        cluster, events = observe(before, after, move.events)
        noticed += events
    incarnations = new_incarnations(kraft_controller(cluster))
    return of_observed(cluster.observed, incarnations), broken(cluster, tuple(noticed))
