"""Work that Ctrl-C asks to end, and that is waited for until it has.

It runs in a thread of its own: Spark answers Ctrl-C in the main thread itself, with tracebacks in
the middle of whatever it was doing.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

STOPPED = 130
"""The exit code of what Ctrl-C has ended."""
_Found = TypeVar("_Found")


def stoppable(work: Callable[[threading.Event], _Found]) -> _Found:
    """What `work` returns; it is given an event that Ctrl-C sets, and ends soon after that.

    A second Ctrl-C ends the process: a compiler at work, or a Spark that starts, hears of no event.

    Raises what `work` raises.
    """
    stop = threading.Event()
    found: Future[_Found] = Future()
    worker = threading.Thread(target=_worked, args=(work, stop, found), daemon=True)
    try:
        worker.start()
        return found.result()
    except KeyboardInterrupt:
        return _ended(found, stop)


def _ended(found: Future[_Found], stop: threading.Event) -> _Found:
    try:
        stop.set()
        print("kiplab: stopping; Ctrl-C again leaves at once", file=sys.stderr, flush=True)
        return found.result()
    except KeyboardInterrupt:
        os._exit(STOPPED)


def _worked(
    work: Callable[[threading.Event], _Found], stop: threading.Event, found: Future[_Found]
) -> None:
    try:
        found.set_result(work(stop))
    except BaseException as problem:
        found.set_exception(problem)
