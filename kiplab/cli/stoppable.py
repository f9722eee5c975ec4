"""Work that Ctrl-C asks to end, and that is waited for until it has.

It runs in a thread of its own: Spark answers Ctrl-C in the main thread itself, with tracebacks in
the middle of whatever it was doing.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

_Found = TypeVar("_Found")


def stoppable(work: Callable[[threading.Event], _Found]) -> _Found:
    """What `work` returns; it is given an event that Ctrl-C sets, and ends soon after that.

    Raises what `work` raises, and KeyboardInterrupt at a second Ctrl-C.
    """
    stop = threading.Event()
    found: Future[_Found] = Future()
    worker = threading.Thread(target=_worked, args=(work, stop, found), daemon=True)
    try:
        worker.start()
        return found.result()
    except KeyboardInterrupt:
        stop.set()
        print("kiplab: stopping; what is under way is cancelled", file=sys.stderr)
        return found.result()


def _worked(
    work: Callable[[threading.Event], _Found], stop: threading.Event, found: Future[_Found]
) -> None:
    try:
        found.set_result(work(stop))
    except BaseException as problem:
        found.set_exception(problem)
