"""Waiting for what a real server does in its own time, and for what reaches a fake broker."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

PATIENCE_S = 120
"""Longer than a machine with much else to do takes for anything."""
_LOOK_AGAIN_S = 0.005


class TooQuietError(Exception):
    """What must have come by now did not; the message says what was waited for."""


def wait_until(come: Callable[[], object], what: str) -> None:
    """Look again and again until it has `come`. Raises TooQuietError after `PATIENCE_S`."""
    end = time.monotonic() + PATIENCE_S
    while not come():
        if time.monotonic() > end:
            raise TooQuietError(f"{what} did not come within {PATIENCE_S} s")
        time.sleep(_LOOK_AGAIN_S)


class Received(NamedTuple):
    """A request, whom it reached, and what it was or will be answered."""

    broker: int
    generation: str
    api: str
    version: int
    body: dict[str, Any]
    answer: int


class Journal:
    """Every request that reached a fake broker, in the order in which they came.

    Fakes write from their own thread, the judge reads and waits.
    """

    def __init__(self) -> None:
        self._written: list[Received] = []
        self._changed = threading.Condition()
        self._taken = 0

    def write(self, received: Received) -> None:
        """Add the next one."""
        with self._changed:
            self._written.append(received)
            self._changed.notify_all()

    def take(self) -> tuple[Received, ...]:
        """What came since the last time."""
        with self._changed:
            new = tuple(self._written[self._taken :])
            self._taken = len(self._written)
        return new

    def wait_for(
        self,
        come: Callable[[Received], bool],
        what: str,
        *,
        since: int = 0,
        patience_s: float = PATIENCE_S,
    ) -> None:
        """Until there is one that is `come`, from place `since` on.

        Raises TooQuietError naming `what` after `patience_s`.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: any(self._from(since, come)), patience_s):
                raise TooQuietError(f"{what} did not come within {patience_s} s")

    def _from(self, since: int, come: Callable[[Received], bool]) -> Iterator[bool]:
        return (come(received) for received in self._written[since:])

    @property
    def now(self) -> int:
        """The place of the next one."""
        return len(self._written)

    @property
    def untaken(self) -> int:
        """The place of the first that was not taken."""
        return self._taken
