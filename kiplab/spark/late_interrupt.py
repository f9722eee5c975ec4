"""Ctrl-C that waits: what is half begun cannot be ended."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def interrupted_afterwards() -> Iterator[None]:
    """A Ctrl-C in the body is heard at its end, by whoever hears it otherwise.

    In another thread than the main one nobody is interrupted by it anyway.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        signal.raise_signal(signal.SIGINT)
