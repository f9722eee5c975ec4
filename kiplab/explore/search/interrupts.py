"""Ctrl-C, or a notebook's interrupt, as a wish to stop: what was found by then is kept."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

Cancel = Callable[[], bool]
"""Whether somebody has seen enough."""


@contextmanager
def interruptible(cancel: Cancel | None = None) -> Iterator[Cancel]:
    """The block is given a `cancel` that also says whether it was interrupted.

    A second interrupt ends the block as any other would be ended. Where interrupts go elsewhere
    (outside the main thread, or where they are ignored) `cancel` is all there is.
    """
    heard: list[int] = []

    def hear(number: int, frame: FrameType | None) -> None:
        if heard:
            signal.default_int_handler(number, frame)
        heard.append(number)

    def stop() -> bool:
        return (cancel is not None and cancel()) or bool(heard)

    before = signal.getsignal(signal.SIGINT)
    try:
        ours = callable(before) and signal.signal(signal.SIGINT, hear) is not None
    except ValueError:
        # Only the main thread may say what an interrupt means.
        ours = False
    try:
        yield stop
    finally:
        if ours:
            signal.signal(signal.SIGINT, before)
