"""The logs side by side below a Lab's picture, folded, once there is something to see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..elements.labelled import words
from ..history_tree.bench import Bench
from .drawer import Drawer
from .legend_drawer import as_image


class LogsDrawer:
    """`toggle` opens and closes `box`; `logs` draws how they are where one stands, or says None."""

    def __init__(self, logs: Callable[[], dict[str, Any] | None]) -> None:
        self._logs = logs
        self.image = words(margin="0")
        self.drawer = Drawer("Logs", self.paint, self.image)
        self.drawer.toggle.tooltip = "The logs of all replicas side by side, where they part"
        self.toggle, self.box = self.drawer.toggle, self.drawer.box
        self.toggle.layout.display = "none"

    def show(self, _bench: Bench) -> None:
        """Another step has other logs."""
        self.paint()

    def paint(self) -> None:
        """Draw them, if they can be seen; there is no button before anybody was elected
        uncleanly.
        """
        drawing = self._logs()
        self.toggle.layout.display = "none" if drawing is None else "flex"
        shown = drawing is not None and self.drawer.is_open
        self.box.layout.display = "flex" if shown else "none"
        self.image.value = as_image(drawing) if drawing is not None and shown else ""
