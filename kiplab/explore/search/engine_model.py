"""The model of a search that uses the engine's steps and a level's normal form directly."""

from collections.abc import Iterator

from ...engine.cluster import Cluster
from ...engine.events import Event, PropertyBroken
from ...engine.properties import PROPERTIES
from ...protocol.facts import HighWatermarkMoved, NotProposed, Refused
from ..levels.level_table import Action, Level, do, offered
from ..search_terms import Budgets, Coverage


class EngineModel:
    """States are (normal form, what is left of every bound)."""

    def __init__(self, level: Level, cluster: Cluster, bounds: dict[str, int]) -> None:
        self.level, self.start = level.within(bounds), level.admit(cluster)
        self.names = tuple(bounds)
        self.budgets: Budgets = tuple(bounds.values())
        self.coverage = Coverage()

    def first(self) -> tuple[Cluster, Budgets]:
        return self.start, self.budgets

    def successors(
        self, state: tuple[Cluster, Budgets]
    ) -> Iterator[tuple[Action, tuple[Cluster, Budgets], tuple[str, ...]]]:
        cluster, left = state
        for kind, action in offered(self.level, cluster):
            after = spent(left, self.names, kind.cost(cluster, action))
            if after is None:
                continue
            done = do(self.level, cluster, action)
            if done is None:
                continue
            note(self.coverage, done.events)
            if not done.came:
                continue
            normal = self.level.normal(done.cluster)
            if normal != cluster:
                yield action, (normal, after), broken(done.cluster, done.events)


def spent(left: Budgets, names: tuple[str, ...], cost: str | None) -> Budgets | None:
    """What is left of the bounds after paying `cost`; None when there is nothing left to pay."""
    if cost is None:
        return left
    at = names.index(cost)
    return (*left[:at], left[at] - 1, *left[at + 1 :]) if left[at] else None


def note(coverage: Coverage, events: tuple[Event, ...]) -> None:
    """Remember which guards fired, and whether anything was committed."""
    for event in events:
        if isinstance(event, (Refused, NotProposed)):
            if event.guard is not None:
                coverage.guards.add(event.guard)
        elif isinstance(event, HighWatermarkMoved):
            coverage.committed = True


def broken(cluster: Cluster, events: tuple[Event, ...]) -> tuple[str, ...]:
    """The properties that broke, but for durability where a fault excuses its loss."""
    excused = {o.partition for o in cluster.observed if o.excused}
    return tuple(
        e.property
        for e in events
        if isinstance(e, PropertyBroken)
        and not (PROPERTIES[e.property].durable and e.partition in excused)
    )
