"""Breadth-first search over everything that can happen: pure, in one order in every process.

The first counterexample found is a shortest one, because states are visited in the order of their
distance from the start. What is left of every bound is part of a state, so that a search that
comes to its end has really seen everything within the bounds.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import msgspec

from ...engine.cluster import Cluster
from ..levels.level_table import Action

PROVED, REFUTED, UNFINISHED = "proved", "refuted", "unfinished"
State = Any
"""Whatever a model takes for a state: hashable, equal when nothing can tell them apart."""
LOOK_EVERY = 16
"""States between two looks at the limits; at the level "cluster" that is a tenth of a second."""


class Seen(msgspec.Struct):
    """What a model has met on the way, for the report on vacuity."""

    guards: set[str] = msgspec.field(default_factory=set)
    committed: bool = False


class Model(Protocol):
    """States and what leads from one to the next.

    `successors` lists (action, state after it, ids of the properties that broke), always in the
    same order. Properties that broke where a fault excuses it are left out.
    """

    seen: Seen

    def first(self) -> State: ...

    def successors(self, state: State) -> Iterable[tuple[Action, State, tuple[str, ...]]]: ...

    def cluster(self, state: State) -> Cluster: ...


class Progress(msgspec.Struct, frozen=True):
    """How far a search is. `frontier` counts states that are known and not looked at yet."""

    states: int
    transitions: int
    depth: int
    frontier: int


class Outcome(msgspec.Struct, frozen=True):
    """What a search came to. `path` leads to the violation, empty unless refuted.

    `depth` is the longest distance from the start that was looked at; `taken` counts transitions
    by kind of action; `stopped` says why an unfinished search was stopped.
    """

    verdict: str
    states: int
    transitions: int
    depth: int
    frontier: int
    path: tuple[Action, ...]
    property: str | None
    taken: dict[str, int]
    layers: tuple[int, ...]
    stopped: str = ""


Stop = Callable[[Progress], str]
"""Asked now and then: an empty string to go on, else the reason to stop."""


def never(progress: Progress) -> str:
    """No limit."""
    return ""


def search(model: Model, properties: Iterable[str], stop: Stop = never) -> Outcome:
    """Look at every state until one of `properties` breaks, nothing is left, or `stop` says so."""
    return _Search(model, frozenset(properties), stop).run()


class _Search:
    """One search. States are numbered as they are found; parents and actions are kept by number."""

    def __init__(self, model: Model, properties: frozenset[str], stop: Stop) -> None:
        self.model, self.properties, self.stop = model, properties, stop
        self.numbers: dict[State, int] = {model.first(): 0}
        self.parents, self.how = array("q", [-1]), array("l", [-1])
        self.actions: dict[Action, int] = {}
        self.taken: Counter[int] = Counter()
        self.layers: list[int] = []
        self.transitions = 0

    def run(self) -> Outcome:
        layer = [self.model.first()]
        while layer:
            self.layers.append(len(layer))
            found: list[State] = []
            broken, reason = self._expand(layer, found)
            if broken is not None:
                return self._outcome(REFUTED, len(self.layers), 0, property=broken)
            if reason:
                # What is left of this layer, and what is known of the next, was not looked at.
                left = len(layer) - self.looked + len(found)
                return self._outcome(UNFINISHED, len(self.layers) - 1, left, stopped=reason)
            layer = found
        return self._outcome(PROVED, len(self.layers) - 1, 0)

    def _expand(self, layer: list[State], found: list[State]) -> tuple[str | None, str]:
        numbers, parents, how, actions = self.numbers, self.parents, self.how, self.actions
        successors = self.model.successors
        self.looked = 0
        for state in layer:
            if self.looked % LOOK_EVERY == 0:
                reason = self.stop(self._progress(len(layer) - self.looked + len(found)))
                if reason:
                    return None, reason
            me = numbers[state]
            for action, after, broken in successors(state):
                self.transitions += 1
                code = actions.setdefault(action, len(actions))
                self.taken[code] += 1
                if after in numbers and not broken:
                    continue
                if after not in numbers:
                    numbers[after] = len(parents)
                    parents.append(me)
                    how.append(code)
                    found.append(after)
                hit = next((id for id in broken if id in self.properties), None)
                if hit is not None:
                    self.last = me, code
                    return hit, ""
            self.looked += 1
        return None, ""

    def _progress(self, frontier: int) -> Progress:
        return Progress(len(self.parents), self.transitions, len(self.layers) - 1, frontier)

    def _outcome(
        self,
        verdict: str,
        depth: int,
        frontier: int,
        property: str | None = None,
        stopped: str = "",
    ) -> Outcome:
        named = list(self.actions)
        taken: Counter[str] = Counter()
        for code, count in self.taken.items():
            taken[named[code].kind] += count
        return Outcome(
            verdict=verdict,
            states=len(self.parents),
            transitions=self.transitions,
            depth=depth,
            frontier=frontier,
            path=self._path(named) if verdict == REFUTED else (),
            property=property,
            taken=dict(sorted(taken.items())),
            layers=tuple(self.layers),
            stopped=stopped,
        )

    def _path(self, named: list[Action]) -> tuple[Action, ...]:
        """The way to the violation, from its last action back to the start."""
        at, code = self.last
        path = [named[code]]
        while at:
            path.append(named[self.how[at]])
            at = self.parents[at]
        return tuple(reversed(path))
