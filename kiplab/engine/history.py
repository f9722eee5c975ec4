"""History: every state of a run, and the current position. Nothing is ever changed."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from .cluster import Cluster
from .events import Event
from .moves import Move
from .step import Step, step


class Recorded(msgspec.Struct, frozen=True):
    """One move, the cluster after it, what followed, and the line of a play it belongs to."""

    move: Move
    cluster: Cluster
    events: tuple[Event, ...]
    line: int = 0


class History(msgspec.Struct, frozen=True):
    """`at` is how many of `steps` have been done; those after it are kept until a fork.

    `doing` does a move where somebody else has a say in it; None is the engine's `step`.
    """

    start: Cluster
    steps: tuple[Recorded, ...] = ()
    at: int = 0
    doing: Callable[[Cluster, Move], Step] | None = None

    @property
    def cluster(self) -> Cluster:
        """The situation now."""
        return self.steps[self.at - 1].cluster if self.at else self.start

    def do(self, move: Move, line: int = 0) -> History:
        """One move more. In the middle of a history this is a fork: the old future is left behind.

        Raises ImpossibleMoveError; this history is as it was.
        """
        done = (self.doing or step)(self.cluster, move)
        recorded = Recorded(move, done.cluster, done.events, line)
        past = self.steps if self.at == len(self.steps) else self.steps[: self.at]
        return History(self.start, (*past, recorded), self.at + 1, self.doing)

    def seek(self, at: int) -> History:
        """The same history, seen after `at` moves; held between the first and the last."""
        return History(self.start, self.steps, max(0, min(at, len(self.steps))), self.doing)
