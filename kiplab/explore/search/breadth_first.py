"""Breadth-first search over all interleavings: pure, in one order in every process.

The first counterexample found is a shortest one, because states are visited in the order of their
distance from the start. The rest of every bound is part of a state, so that a search that comes to
its end has visited everything within the bounds.
"""

from array import array
from collections import Counter
from collections.abc import Iterable

from .. import search_terms as terms
from ..levels.level_table import Action
from ..search_terms import Halt, Model, Progress, SearchOutcome, StopRule, never

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
        """The way to the violation, from its last action back to the start."""
        at, code = self.last
        path = [actions[code]]
        while at:
            path.append(actions[self.how[at]])
            at = self.parents[at]
        return tuple(reversed(path))
