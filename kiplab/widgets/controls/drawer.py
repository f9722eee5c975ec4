"""A drawer: a button that says what is inside, and opens and closes it."""

from __future__ import annotations

from collections.abc import Callable

from ..elements.kinds import Element, ToggleButton
from ..elements.labelled import column, watch


class Drawer:
    """`toggle` opens and closes `box`. `opened` is called when it opens: fill it only then."""

    def __init__(self, label: str, opened: Callable[[], None], *inside: Element) -> None:
        self._opened = opened
        self.toggle = ToggleButton(description=label)
        self.box = column(inside, display="none")
        watch(self.toggle, "value", lambda _: self._turned())

    @property
    def is_open(self) -> bool:
        """Whether somebody can see what is inside."""
        return bool(self.toggle.value)

    def _turned(self) -> None:
        if self.is_open:
            self._opened()
        self.box.layout.display = "flex" if self.is_open else "none"
