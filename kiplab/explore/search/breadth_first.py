"""Breadth-first search over all interleavings: pure, in one order in every process; and its model
that uses the engine's steps and a level's normal form directly.

The first counterexample found is a shortest one, because states are visited in the order of their
distance from the start. The rest of every bound is part of a state, so that a search that comes to
its end has visited everything within the bounds.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator

from ...engine.cluster import Cluster
from ...engine.events import Event, PropertyBroken
from ...engine.properties import PROPERTIES
from ...protocol.facts import HighWatermarkMoved, NotProposed, Refused
from .. import search_terms as terms
from ..levels.level_table import Action, Level, do, offered
from ..search_terms import Budgets, Coverage, Halt, Model, Progress, SearchOutcome, StopRule, never

LOOK_EVERY = 16
"""States between two looks at the limits; at the level "cluster" that is a tenth of a second."""


def search(model: Model, properties: Iterable[str], stop: StopRule = never) -> SearchOutcome:
    """Look at every state until one of `properties` breaks, nothing is left, or `stop` says so."""
    return _Search(model, frozenset(properties), stop).run()


class _Search:
    """One search. States are numbered as they are found; parents and actions are kept by number."""

    def __init__(self, model: Model, properties: frozenset[str], stop: StopRule) -> None:
        self.model, self.properties, self.stop = model, properties, stop
        self.numbers: dict[terms.ModelState, int] = {model.first(): 0}
        self.parents, self.how = array("q", [-1]), array("l", [-1])
        self.actions: dict[Action, int] = {}
        self.taken: list[int] = []
        self.layers: list[int] = []

    def run(self) -> SearchOutcome:
        layer = [self.model.first()]
        while layer:
            self.layers.append(len(layer))
            layer_after: list[terms.ModelState] = []
            broken, halt = self._expand(layer, layer_after)
            if broken is not None:
                return self._outcome(broken)
            if halt is not None:
                # What is left of this layer, and what is known of the next, was not looked at.
                left = len(layer) - self.looked + len(layer_after)
                return self._outcome(halt=halt, frontier=left)
            layer = layer_after
        return self._outcome()

    def _expand(
        self, layer: list[terms.ModelState], model_states: list[terms.ModelState]
    ) -> tuple[str | None, Halt | None]:
        numbers, parents, how, actions = self.numbers, self.parents, self.how, self.actions
        successors, taken = self.model.successors, self.taken
        self.looked, first = 0, len(parents) - len(layer)
        for me, state in enumerate(layer, first):
            if self.looked % LOOK_EVERY == 0:
                halt = self.stop(self._progress(len(layer) - self.looked + len(model_states)))
                if halt is not None:
                    return None, halt
            for action, after, broken in successors(state):
                code = actions.get(action)
                if code is None:
                    code = actions[action] = len(taken)
                    taken.append(0)
                taken[code] += 1
                new = len(parents)
                if numbers.setdefault(after, new) == new:
                    parents.append(me)
                    how.append(code)
                    model_states.append(after)
                if broken:
                    hit = next((id for id in broken if id in self.properties), None)
                    if hit is not None:
                        self.last = me, code
                        return hit, None
            self.looked += 1
        return None, None

    def _progress(self, frontier: int) -> Progress:
        return Progress(len(self.parents), sum(self.taken), len(self.layers) - 1, frontier)

    def _outcome(
        self, violated: str | None = None, halt: Halt | None = None, frontier: int = 0
    ) -> SearchOutcome:
        actions, taken = list(self.actions), Counter[str]()
        for action, count in zip(actions, self.taken, strict=True):
            taken[action.kind] += count
        return SearchOutcome(
            states=len(self.parents),
            frontier=frontier,
            path=() if violated is None else self._path(actions),
            violated=violated,
            taken=dict(sorted(taken.items())),
            layers=tuple(self.layers),
            halt=halt,
        )

    def _path(self, actions: list[Action]) -> tuple[Action, ...]:
        at, code = self.last
        path = [actions[code]]
        while at:
            path.append(actions[self.how[at]])
            at = self.parents[at]
        return tuple(reversed(path))


# --- the engine's steps as a model ----------------------------------------------------------------


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
