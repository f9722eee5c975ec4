"""Drawers below a Lab's picture: its legend, and the logs side by side."""

from base64 import b64encode
from collections.abc import Callable
from html import escape
from typing import Any

from ...figures.drawing.still_picture import MARK, described
from ...figures.drawing.svg import svg
from ..elements.labelled import words
from ..history_tree.playback import Playback
from .actions import Drawer


class Signs:
    """`toggle` opens and closes `box`; `legend` draws what is in it, for the picture as it is."""

    def __init__(self, legend: Callable[[], dict[str, Any]]) -> None:
        self._legend = legend
        self.image = words(margin="0")
        self.drawer = Drawer("Signs", self.paint, self.image)
        self.drawer.toggle.tooltip = "What the signs in the picture mean"
        self.toggle, self.box = self.drawer.toggle, self.drawer.box

    def show(self, _playback: Playback) -> None:
        """Another run may have other signs."""
        self.paint()

    def paint(self) -> None:
        """Draw it, if it can be seen."""
        if self.drawer.is_open:
            self.image.value = as_image(self._legend())


def as_image(drawing: dict[str, Any]) -> str:
    """A drawing that stands still, as HTML."""
    layout = drawing["layout"]
    alt = escape(described(drawing), quote=True)
    data = b64encode(svg(drawing).encode()).decode()
    return (
        f'<div class="{MARK}" style="line-height:0"><img width="{layout["width"]}"'
        f' height="{layout["height"]}" alt="{alt}" src="data:image/svg+xml;base64,{data}"></div>'
    )


class LogsDrawer:
    """`toggle` opens and closes `box`; `logs` draws how they are where one stands, or says None."""

    def __init__(self, logs: Callable[[], dict[str, Any] | None]) -> None:
        self._logs = logs
        self.image = words(margin="0")
        self.drawer = Drawer("Logs", self.paint, self.image)
        self.drawer.toggle.tooltip = "The logs of all replicas side by side, where they part"
        self.toggle, self.box = self.drawer.toggle, self.drawer.box
        self.toggle.layout.display = "none"

    def show(self, _playback: Playback) -> None:
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
