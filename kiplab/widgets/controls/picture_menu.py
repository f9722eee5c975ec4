"""The picture in one's hands: what is clicked in it opens a menu of what can happen to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...rows.columns import Rows
from ..elements.kinds import Container
from ..elements.labelled import careful
from ..elements.touched_picture import TouchedPicture
from ..history_tree.bench import Bench
from .actions import Act
from .offering import GoTo, Offering
from .picture_menus import menu_for


class PictureMenu:
    """Calls `act` with a line, `go` with a step. `rows` are those of the whole run."""

    def __init__(
        self,
        bench: Bench,
        drawing: dict[str, Any],
        rows: Callable[[], Rows],
        act: Act,
        go: Callable[[GoTo], None],
    ) -> None:
        self._bench, self._rows = bench, rows
        self.picture = TouchedPicture(drawing, careful(self.touch))
        self.offering = Offering(bench, act, go, pops=True)
        both = (self.picture, self.offering.list)
        self.box = Container(children=both, classes=("kiplab-touchable",))

    def touch(self, thing: str) -> None:
        """Open the menu of a thing; there is none where nothing can be done."""
        groups = menu_for(thing, self._bench, self._rows())
        self.offering.show(self._bench, groups)
        if groups:
            self.offering.list.call()

    def show(self, bench: Bench) -> None:
        """Follow the bench: the menu was about the step before."""
        self._bench = bench
        self.offering.show(bench, ())
