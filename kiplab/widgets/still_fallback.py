"""A widget's still picture, for when there is no kernel to move it."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from html import escape
from time import monotonic
from typing import Any, ClassVar, Protocol

from ..figures.drawing.still_picture import MARK, described, still
from .elements.surface import Surface

LIVE = "kiplab-live"
"""The class of a live panel: where there is one, its style sheet hides the still picture."""
AGAIN = "To use this, run the cells from the top: your answers are kept."
NOTE = "The lab as this cell opened it. To use it, run the cell again."
_CHILD = ".jp-OutputArea-child"
# What the widget's place says without a kernel, "Error displaying widget", helps nobody.
_HIDE_ERROR = (
    f"<style>.jp-OutputArea:has(.{MARK}):not(:has(.{LIVE})) >"
    f" {_CHILD}:has(> .jupyter-widgets) {{ display: none; }}</style>"
)


def show(box: Surface, text: str, drawing: dict[str, Any] | None = None, waits: str = "") -> Any:
    """Two outputs: the panel `box`, with `text` for where there are no widgets; and under it,
    hidden while the panel lives, the still picture of `drawing`. Without one there is the sentence
    `waits` in its place, so that nothing is given away, or else `text`; and what to do.

    Returns IPython's handle of what is under the panel, for `show_opened`.
    """
    # The panel is shown once more if it gets lost.
    bundle = box.bundle(text)
    ShownAgain.watch(box, _published(bundle), bundle)
    instead = f'<div class="{MARK}"><pre>{escape(waits or text)}</pre><p>{AGAIN}</p></div>'
    kept = _kept(instead, waits or AGAIN) if drawing is None else _pictured(drawing)
    return _published(kept)


_reserved: list[Any] = []


@contextmanager
def shown_in(handles: Iterable[Any]) -> Iterator[None]:
    """What is shown meanwhile comes in the place of earlier outputs; these are their handles."""
    _reserved[:] = handles
    try:
        yield
    finally:
        _reserved.clear()


def _published(bundle: dict[str, Any]) -> Any:
    if _reserved:
        handle = _reserved.pop(0)
        handle.update(bundle, raw=True)
        return handle
    from IPython.display import display

    publish: Any = display  # which has no annotations
    return publish(bundle, raw=True, display_id=True)


def show_opened(handle: Any, drawing: dict[str, Any]) -> None:
    """The still picture, in place of the sentence."""
    handle.update(_pictured(drawing), raw=True)


def show_words(handle: Any, page: str, words: str) -> None:
    """Words in HTML, in place of what was kept before."""
    handle.update(_kept(f'<div class="{MARK}">{page}</div>', words), raw=True)


def _pictured(drawing: dict[str, Any]) -> dict[str, str]:
    return _kept(still(drawing, NOTE), described(drawing))


def _kept(page: str, words: str) -> dict[str, str]:
    return {"text/html": f"{_HIDE_ERROR}{page}", "text/plain": words}


OPENING = "The lab is being opened."
WAIT = "First lock in your prediction above. The lab opens here as soon as you have."


class Lock(Protocol):
    """What a Lab can wait for: `kiplab.predict` makes one."""

    @property
    def locked(self) -> bool:
        """Whether the wait is over."""

    def when_locked(self, action: Callable[[], None]) -> None:
        """Call `action` once, when it is."""

    def passed(self, heading: str) -> None:
        """The reader of a Lab that has waited came past what a notebook has under that heading."""


RUN, GAP = "Run it", "The gap"
"""The headings of a notebook under which a Lab stands, and to which it leads on."""
PATIENCE, QUIET = 10.0, 5.0
"""Seconds until a page should have answered; without a running cell, which it waits for."""
LATE_CHECKS = 60
"""How many more checks, PATIENCE apart, follow once no answer is expected."""
LOST = "This panel was not loaded. Run this cell again."


class ShownAgain:
    """Watches over a panel that was just shown; `handle` is IPython's, `bundle` what it showed."""

    last_run: ClassVar[float] = 0.0
    follows: ClassVar[Any] = None

    def __init__(self, surface: Surface, handle: Any, bundle: dict[str, Any]) -> None:
        self._surface, self._handle, self._bundle = surface, handle, bundle
        self._tries, self._late_checks = 0, LATE_CHECKS

    @classmethod
    def watch(cls, surface: Surface, handle: Any, bundle: dict[str, Any]) -> None:
        """Only with an event loop: in a kernel, and not in a terminal."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        loop.call_later(PATIENCE, cls(surface, handle, bundle).check, loop)
        from IPython import get_ipython

        shell: Any = get_ipython()
        if shell is not None and cls.follows is not shell:
            cls.follows = shell
            shell.events.register("post_run_cell", lambda *_: setattr(cls, "last_run", monotonic()))

    def check(self, loop: asyncio.AbstractEventLoop) -> None:
        """Check whether the page has greeted the panel, once no cell runs any more."""
        if self._surface.is_greeted:
            return
        left = ShownAgain.last_run + QUIET - monotonic()
        if left > 0:
            loop.call_later(left, self.check, loop)
        elif not self._tries:
            self._tries += 1
            if not self._surface.arrived:
                self._surface.send_again()
            self._handle.update(self._bundle, raw=True)
            loop.call_later(PATIENCE, self.check, loop)
        elif Surface.any_answered and not self._surface.arrived:
            # If no page ever answered there is none: a program executes the notebook.
            lost = {"text/html": f"<p>{escape(LOST)}</p>", "text/plain": LOST}
            self._handle.update(lost, raw=True)
            loop.call_later(PATIENCE, self._check_late, loop)

    def _check_late(self, loop: asyncio.AbstractEventLoop) -> None:
        """Whether the page has it after all."""
        if self._surface.arrived:
            self._handle.update(self._bundle, raw=True)
        elif self._late_checks:
            self._late_checks -= 1
            loop.call_later(PATIENCE, self._check_late, loop)
