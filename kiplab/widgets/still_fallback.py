"""A widget's still picture, for when there is no kernel to move it."""

from __future__ import annotations

from typing import Any

from ..figures.drawing.still_picture import MARK, described, still
from .elements.labelled import column, words

LIVE = "kiplab-live"
NOTE = "The lab as this cell opened it. To take it in hand, run the cell again."
_LIVING, _CHILD = f".jp-OutputArea:has(.{LIVE})", ".jp-OutputArea-child"
_HIDE_STILL = (
    f"<style>{_LIVING} > {_CHILD}:has(.{MARK}):not(:has(.{LIVE})) {{ display: none; }}</style>"
)
# What the widget's place says without a kernel, "Error displaying widget", helps nobody.
_HIDE_ERROR = (
    f"<style>.jp-OutputArea:has(.{MARK}):not(:has(.{LIVE})) >"
    f" {_CHILD}:has(> .jupyter-widgets) {{ display: none; }}</style>"
)


def hide_still() -> Any:
    """A part of a live widget that hides the still picture under it while the widget lives."""
    made = words(_HIDE_STILL, margin="0", height="0", overflow="hidden")
    made.add_class(LIVE)
    return made


def show(box: Any, text: str, drawing: dict[str, Any]) -> None:
    """Two outputs: the widget `box`, with `text` for where there are no widgets; and under it the
    still picture of `drawing`, hidden while the widget lives.
    """
    from IPython.display import display

    publish: Any = display  # which has no annotations
    bundle: dict[str, Any] = column([hide_still(), box])._repr_mimebundle_()
    publish({**bundle, "text/plain": text}, raw=True)
    page = f"{_HIDE_ERROR}{still(drawing, NOTE)}"
    publish({"text/html": page, "text/plain": described(drawing)}, raw=True)
