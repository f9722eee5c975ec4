"""Turns by chance, and from turns in which two sides part to few turns in which they still do."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Generic, TypeVar

T = TypeVar("T")
TRIES = 400
"""Attempts; each does a part of the turns again."""


class Dice(Random):
    """What a generator throws; equal seeds give equal turns."""

    def once_in(self, times: int) -> bool:
        return self.randrange(times) == 0

    def weighted(self, weights: Mapping[T, float]) -> T:
        """One of the keys; each as often as its weight has it."""
        (one,) = self.choices([*weights], [*weights.values()])
        return one

    def shuffled(self, these: Sequence[T]) -> list[T]:
        return self.sample([*these], len(these))


class Shrinking(Generic[T]):
    """From `turns` to the shortest found in so many attempts.

    `holds` does the turns anew, and returns those that were done if the sides still part in the
    same way, else None. `plainer` offers simpler turns in the place of one.
    """

    def __init__(
        self,
        turns: Sequence[T],
        holds: Callable[[Sequence[T]], Sequence[T] | None],
        plainer: Callable[[T], Iterable[T]] = lambda _turn: (),
        tries: int = TRIES,
    ) -> None:
        self._turns: Sequence[T] = turns
        self._left, self._attempt, self._plainer = tries, holds, plainer

    def shortest(self) -> Sequence[T]:
        """The shortest turns found."""
        if self._holds(self._turns):
            while self._drops_parts() or self._is_plainer():
                pass
        return self._turns

    def _drops_parts(self) -> bool:
        """Without turns: halves first, then ever smaller parts, from the end on. The last turn, in
        which the sides part, stays.
        """
        begun, size = len(self._turns), max(len(self._turns) // 2, 1)
        while size:
            end = len(self._turns) - 1
            while end > 0:
                start = max(end - size, 0)
                self._holds([*self._turns[:start], *self._turns[end:]])
                end = min(start, len(self._turns) - 1)
            size //= 2
        return len(self._turns) < begun

    def _is_plainer(self) -> bool:
        for n, turn in enumerate(self._turns):
            for other in self._plainer(turn):
                if self._holds([*self._turns[:n], other, *self._turns[n + 1 :]]):
                    return True
        return False

    def _holds(self, turns: Sequence[T]) -> bool:
        if not self._left:
            return False
        self._left -= 1
        done = self._attempt(turns)
        if done is not None:
            self._turns = done
        return done is not None
