"""The planned stops and cuts of a replication of the kernel that take effect, by the engine.

It is for ZooKeeper mode. The engine plays the whole replication and keeps the cluster just before
each such event, for any other question about the same situation.
"""

from collections.abc import Iterator, Mapping

import msgspec

from ...engine import moves
from ...engine.cluster import Cluster
from ..kernel.feature_sets import features_of
from ..kernel.world import World
from .outside_events import Outside, OutsideSchedule
from .replication_events import in_milliseconds, replication_events
from .zookeeper_run import ZooKeeperRun

Order = tuple[int, int, int]


class EffectiveEvent(msgspec.Struct, frozen=True):
    """An event (its times are microseconds), and the cluster just before it."""

    event: Outside
    cluster: Cluster


class EffectRun(ZooKeeperRun):
    """Keeps what took effect; `exactly` has each event with its times as they were drawn."""

    def __init__(self, schedule: OutsideSchedule, exactly: Mapping[Order, Outside]) -> None:
        super().__init__(schedule, features_of("none", zookeeper=True))
        self.exactly = exactly
        self.effects: list[EffectiveEvent] = []

    def _bounce(self, event: Outside) -> None:
        before, done = self.engine.cluster, len(self.engine.done)
        super()._bounce(event)
        if any(isinstance(made.move, moves.ShutDown) for made in self.engine.done[done:]):
            self._keep(event, before)

    def _cut(self, event: Outside) -> None:
        before, was = self.engine.cluster, event.broker in self.cut
        super()._cut(event)
        if event.broker in self.cut and not was:
            self._keep(event, before)

    def _keep(self, event: Outside, cluster: Cluster) -> None:
        self.effects.append(EffectiveEvent(self.exactly[event.order], cluster))


def effective_events(
    world: World, *, seed: int, replication: int, until_us: int
) -> tuple[EffectiveEvent, ...]:
    """Those of a replication, in order."""
    run = EffectRun(*_schedule(world, replication_events(world, seed, replication, until_us - 1)))
    run.run()
    return tuple(run.effects)


def _schedule(
    world: World, events: Iterator[Outside]
) -> tuple[OutsideSchedule, dict[Order, Outside]]:
    exactly = {one.order: (one, event) for event in events for one in (in_milliseconds(event, 0),)}
    schedule = OutsideSchedule(
        replicas=world.replication_factor,
        min_insync=world.min_insync_replicas,
        bounces_wait=world.bounces_wait,
        end=max((at for at, _, _ in exactly), default=0) + 1,
        events=tuple(one for one, _ in exactly.values()),
    )
    return schedule, {order: event for order, (_, event) in exactly.items()}
