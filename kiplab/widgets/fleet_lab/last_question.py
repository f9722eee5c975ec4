"""Of questions that come quickly one after the other only the last is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

PATIENCE = 0.15
"""Seconds in which nobody asks anything else."""


class LastQuestion:
    """Calls `answer` once it has been quiet after `ask`; at once where there is nobody to wait for,
    as in a script.
    """

    def __init__(self, answer: Callable[[], None]) -> None:
        self._answer = answer
        self._waiting: asyncio.TimerHandle | None = None

    def ask(self) -> None:
        """There is another question: what waits still is not asked any more."""
        self.forget()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._answer()
            return
        self._waiting = loop.call_later(PATIENCE, self._now)

    def forget(self) -> None:
        """Nobody wants to know any more."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _now(self) -> None:
        self._waiting = None
        self._answer()
