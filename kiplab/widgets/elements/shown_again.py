"""A panel that no page has answered for is shown once more; then the cell says what to do.

A server that stands still for seconds can lose the message in which a panel is sent to its page.
One that has arrived there may still be drawn late: JupyterLab draws what is out of sight last. And
a page that has hardly a processor may answer when the cell has said already what to do: the panel
then takes the place of that sentence.
"""

from __future__ import annotations

import asyncio
from html import escape
from time import monotonic
from typing import Any, ClassVar

from .surface import Surface

PATIENCE, QUIET = 10.0, 5.0
"""Seconds until a page should have answered; and without a cell that runs, so that the answer is
not waiting behind one."""
LATE_LOOKS = 60
"""How often, PATIENCE apart, an answer is looked for that is no longer expected."""
LOST = "This panel has not come to this page. Run this cell again."


class ShownAgain:
    """Watches over a panel that was just shown; `handle` is IPython's, `bundle` what it showed."""

    last_run: ClassVar[float] = 0.0
    follows: ClassVar[Any] = None

    def __init__(self, surface: Surface, handle: Any, bundle: dict[str, Any]) -> None:
        self._surface, self._handle, self._bundle = surface, handle, bundle
        self._tries = 0
        self._late_looks = LATE_LOOKS

    @classmethod
    def watch(cls, surface: Surface, handle: Any, bundle: dict[str, Any]) -> None:
        """Where something runs in which one can wait: a kernel, and not a terminal."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        cls._follow_cells()
        loop.call_later(PATIENCE, cls(surface, handle, bundle).look, loop)

    @classmethod
    def _follow_cells(cls) -> None:
        from IPython import get_ipython

        shell: Any = get_ipython()
        if shell is not None and cls.follows is not shell:
            cls.follows = shell
            shell.events.register("post_run_cell", lambda *_: cls._ran())

    @classmethod
    def _ran(cls) -> None:
        cls.last_run = monotonic()

    def look(self, loop: asyncio.AbstractEventLoop) -> None:
        """See whether it has been answered for, once no cell runs any more."""
        if self._surface.heard:
            return
        left = ShownAgain.last_run + QUIET - monotonic()
        if left > 0:
            loop.call_later(left, self.look, loop)
        elif not self._tries:
            self._tries += 1
            if not self._surface.arrived:
                self._surface.send_again()
            self._handle.update(self._bundle, raw=True)
            loop.call_later(PATIENCE, self.look, loop)
        elif Surface.any_heard and not self._surface.arrived:
            # Where nothing was ever heard nobody is: a notebook that is executed by a program.
            self._handle.update(
                {"text/html": f"<p>{escape(LOST)}</p>", "text/plain": LOST}, raw=True
            )
            loop.call_later(PATIENCE, self._look_late, loop)

    def _look_late(self, loop: asyncio.AbstractEventLoop) -> None:
        """Whether the page has it after all."""
        if self._surface.arrived:
            self._handle.update(self._bundle, raw=True)
        elif self._late_looks:
            self._late_looks -= 1
            loop.call_later(PATIENCE, self._look_late, loop)
