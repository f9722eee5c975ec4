"""A Lab that is not open yet: what it waits for, and what it says meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

OPENING = "The lab is being opened."
WAIT = "First lock in your prediction above. The lab opens here as soon as you have."


class Lock(Protocol):
    """What a Lab can wait for: `kiplab.predict` makes one."""

    @property
    def locked(self) -> bool:
        """Whether the wait is over."""

    def when_locked(self, action: Callable[[], None]) -> None:
        """Call `action` once, when it is."""
