"""Terms that every search uses: models and states, progress, outcome.

It is below the rooms that search (`search`, `compiled`), so that neither needs the other for these
terms.
"""

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from ..engine.cluster import Cluster
from .levels.level_table import Action

PROVED, REFUTED, UNFINISHED = "proved", "refuted", "unfinished"
ModelState = Any
"""Whatever a model takes for a state: hashable, equal when nothing can tell them apart."""
Budgets = tuple[int, ...]
"""The rest of every bound, in the order of the level's bounds."""


class Coverage(msgspec.Struct):
    """The actions and guards that a model has met, for the report on vacuity."""

    guards: set[str] = msgspec.field(default_factory=set)
    committed: bool = False


class Model(Protocol):
    """States and what leads from one to the next.

    `successors` lists (action, state after it, ids of the properties that broke), always in the
    same order. Properties that broke where a fault excuses it are left out. `start` is the cluster
    that the first state stands for.
    """

    start: Cluster
    coverage: Coverage

    def first(self) -> ModelState: ...

    def successors(
        self, state: ModelState
    ) -> Iterable[tuple[Action, ModelState, tuple[str, ...]]]: ...


class Progress(msgspec.Struct, frozen=True):
    """The progress of a search. `frontier` counts states that are known and not looked at yet.

    Whoever has a clock (search/limits.py) adds the time, and transitions a second so far.
    """

    states: int
    transitions: int
    depth: int
    frontier: int
    seconds: float = 0.0
    rate: float = 0.0

    @property
    def sentence(self) -> str:
        """For people, while they wait."""
        return (
            f"{self.states:,} states, {self.frontier:,} to check, {self.depth} steps deep,"
            f" {self.rate:,.0f} transitions/s"
        )


class HaltReason(StrEnum):
    """Why a search ended before it was finished, in words without a full stop; `limit` is the limit
    that it came to. What to do about it depends on this alone."""

    CANCELLED = "it was cancelled"
    STATES = "its limit of {limit:,} states was reached"
    SECONDS = "its limit of {limit:g} s was reached"
    MEMORY = "the next states would have exceeded {limit:,} MB of memory"
    PROCESS_ENDED = "its process was ended, probably for memory"
    TOO_NARROW = (
        "the words of the compiled search have no room for what comes next; the engine's own search"
        " has"
    )
    NOT_CHEAP = "it was no longer cheap"
    """A measurement for a prediction would take too long."""


class Halt(msgspec.Struct, frozen=True):
    """Why a search was ended, and the limit that it came to (states, seconds or MB), if any."""

    reason: HaltReason
    limit: float = 0

    @property
    def sentence(self) -> str:
        """For people, without a full stop."""
        return self.reason.format(limit=self.limit)


StopRule = Callable[[Progress], Halt | None]
"""Asked now and then: None to go on, else why to stop."""


def never(_progress: Progress) -> Halt | None:
    """No limit."""
    return None


class SearchOutcome(msgspec.Struct, frozen=True):
    """The result of a search. `path` leads to the violation, empty unless refuted.

    `violated` is the property that breaks there. `taken` counts transitions by kind of action,
    `layers` the states of each distance from the start that was looked at; `halt` says why an
    unfinished search was stopped.
    """

    states: int
    frontier: int
    path: tuple[Action, ...]
    violated: str | None
    taken: dict[str, int]
    layers: tuple[int, ...]
    halt: Halt | None = None

    @property
    def verdict(self) -> str:
        """PROVED, REFUTED or UNFINISHED."""
        if self.violated is not None:
            return REFUTED
        return PROVED if self.halt is None else UNFINISHED

    @property
    def transitions(self) -> int:
        """The number of steps taken, to new and to known states."""
        return sum(self.taken.values())

    @property
    def depth(self) -> int:
        """The longest distance from the start that was looked at."""
        return len(self.layers) - (self.violated is None)

    @property
    def stopped(self) -> str:
        """`halt` in words, empty where there was none."""
        return "" if self.halt is None else self.halt.sentence
