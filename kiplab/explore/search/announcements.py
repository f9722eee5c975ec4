"""What is told to those who did not say how: notes, and in a notebook one line that changes."""

import sys
from collections.abc import Callable
from typing import Any

from .limits import TimedProgress

STOPPING = "interrupt the kernel to stop and keep this"


def say(sentence: str) -> None:
    """A note before the work begins: below a notebook's cell, elsewhere on stderr."""
    print(f"kiplab: {sentence}", file=sys.stdout if in_notebook() else sys.stderr)


def in_notebook() -> bool:
    """Whether a notebook's kernel runs this; without importing anything to find out."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def of_cells(what: str = "cells") -> Callable[[int, int], object] | None:
    """Progress of many searches, in a notebook; None elsewhere."""
    line = Line()
    return (lambda done, of: line.put(f"{done} of {of} {what}")) if in_notebook() else None


class Line:
    """One line of a notebook's output that can be written again."""

    def __init__(self) -> None:
        self._shown: Any = None

    def of_search(self) -> Callable[[TimedProgress], object] | None:
        """Progress of one search, in a notebook; None elsewhere."""
        if not in_notebook():
            return None
        return lambda now: self.put(f"{now.sentence}; {STOPPING}")

    def end(self, text: str) -> None:
        """What stays in the end, if anything was shown."""
        if self._shown is not None:
            self.put(text)

    def put(self, text: str) -> None:
        """Show `text` in the place of what was shown before."""
        from IPython import display

        content = {"text/plain": text}
        if self._shown is None:
            show: Any = display.display
            self._shown = show(content, raw=True, display_id=True)
        else:
            self._shown.update(content, raw=True)
