"""Breadth-first search over everything that can happen: pure, in one order in every process.

The first counterexample found is a shortest one, because states are visited in the order of their
distance from the start. What is left of every bound is part of a state, so that a search that
comes to its end has really seen everything within the bounds.
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

    @property
    def transitions(self) -> int:
        """How many steps were taken, whether or not to a new state."""
        return sum(self.taken)

    def run(self) -> SearchOutcome:
        layer = [self.model.first()]
        while layer:
            self.layers.append(len(layer))
            layer_after: list[terms.ModelState] = []
            broken, halt = self._expand(layer, layer_after)
            if broken is not None:
                return self._outcome(terms.REFUTED, len(self.layers), 0, violated=broken)
            if halt is not None:
                # What is left of this layer, and what is known of the next, was not looked at.
                left = len(layer) - self.looked + len(layer_after)
                return self._outcome(terms.UNFINISHED, len(self.layers) - 1, left, halt=halt)
            layer = layer_after
        return self._outcome(terms.PROVED, len(self.layers) - 1, 0)

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
        return Progress(len(self.parents), self.transitions, len(self.layers) - 1, frontier)

    def _outcome(
        self,
        verdict: str,
        depth: int,
        frontier: int,
        violated: str | None = None,
        halt: Halt | None = None,
    ) -> SearchOutcome:
        named = list(self.actions)
        taken: Counter[str] = Counter()
        for code, count in enumerate(self.taken):
            taken[named[code].kind] += count
        return SearchOutcome(
            verdict=verdict,
            states=len(self.parents),
            transitions=self.transitions,
            depth=depth,
            frontier=frontier,
            path=self._path(named) if verdict == terms.REFUTED else (),
            violated=violated,
            taken=dict(sorted(taken.items())),
            layers=tuple(self.layers),
            halt=halt,
        )

    def _path(self, named: list[Action]) -> tuple[Action, ...]:
        """The way to the violation, from its last action back to the start."""
        at, code = self.last
        path = [named[code]]
        while at:
            path.append(named[self.how[at]])
            at = self.parents[at]
        return tuple(reversed(path))
