"""A picture at whose things one can point: lanes, arrows, steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .kinds import PlotlyPicture


class TouchedPicture(PlotlyPicture):
    """Calls `touched` with the name of what was clicked, or chosen by keyboard.

    Where things are is said by the drawing, in the ``places`` of its layout's ``meta``
    (`figures.timeline.places`); a page needs no answer to find out what is clicked.
    """

    kind = "touched"

    def __init__(self, drawing: dict[str, Any], touched: Callable[[str], None]) -> None:
        self._touched = touched
        super().__init__(drawing)

    def heard(self, name: str, value: Any) -> None:
        """What was clicked."""
        if name == "touch" and isinstance(value, str):
            self._touched(value)
