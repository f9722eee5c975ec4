"""Waiting for what a real server does in its own time."""

from __future__ import annotations

import time
from collections.abc import Callable

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
