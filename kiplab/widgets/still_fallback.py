"""A widget's still picture, for when there is no kernel to move it."""

from __future__ import annotations

from html import escape
from typing import Any

from ..figures.drawing.still_picture import MARK, described, still
from .elements.shown_again import ShownAgain
from .elements.surface import Surface

LIVE = "kiplab-live"
"""The class of a panel that lives: where there is one, its style sheet hides the still picture."""
AGAIN = "To take this in hand, run the cells from the top: what you locked in is kept."
NOTE = "The lab as this cell opened it. To take it in hand, run the cell again."
_CHILD = ".jp-OutputArea-child"
# What the widget's place says without a kernel, "Error displaying widget", helps nobody.
_HIDE_ERROR = (
    f"<style>.jp-OutputArea:has(.{MARK}):not(:has(.{LIVE})) >"
    f" {_CHILD}:has(> .jupyter-widgets) {{ display: none; }}</style>"
)


def show_live(box: Surface, text: str) -> None:
    """The panel `box`, with `text` for where there are no widgets; and under it, hidden while the
    panel lives, what to do.
    """
    _show_with(box, text, _in_words(text), AGAIN)


def show(box: Surface, text: str, drawing: dict[str, Any]) -> None:
    """Two outputs: the panel `box`, with `text` for where there are no widgets; and under it the
    still picture of `drawing`, hidden while the panel lives.
    """
    _show_with(box, text, still(drawing, NOTE), described(drawing))


def show_waiting(box: Surface, text: str, waits: str) -> Any:
    """As `show`, but in place of a picture the sentence `waits`: nothing is given away.

    Returns IPython's handle of that, for `show_opened`.
    """
    return _show_with(box, text, _in_words(waits), waits)


def show_opened(handle: Any, drawing: dict[str, Any]) -> None:
    """The still picture, in place of the sentence."""
    handle.update(_kept(still(drawing, NOTE), described(drawing)), raw=True)


def _show_with(box: Surface, text: str, page: str, words: str) -> Any:
    """The panel, once more if it gets lost; and what is kept of it in a file."""
    from IPython.display import display

    publish: Any = display  # which has no annotations
    bundle = box.bundle(text)
    handle = publish(bundle, raw=True, display_id=True)
    ShownAgain.watch(box, handle, bundle)
    return publish(_kept(page, words), raw=True, display_id=True)


def _kept(page: str, words: str) -> dict[str, str]:
    return {"text/html": f"{_HIDE_ERROR}{page}", "text/plain": words}


def _in_words(text: str) -> str:
    return f'<div class="{MARK}"><pre>{escape(text)}</pre><p>{AGAIN}</p></div>'
