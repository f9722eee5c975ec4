"""One list of all that can happen next, faults apart; it opens in the place of the buttons."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..elements.kinds import Element
from ..elements.labelled import watch
from ..history_tree.bench import Bench
from .actions import Act
from .drawer import Drawer
from .happenings import Happening, happenings
from .offering import GoTo, Offer, OfferGroup, Offering

TITLE, ORDINARY, FAULTS = "What can happen next", "In the ordinary course", "Faults"


class WhatNext:
    """Calls `act` with the line that is chosen. `covered` is hidden while the list is open."""

    def __init__(
        self, bench: Bench, act: Act, go: Callable[[GoTo], None], covered: Element
    ) -> None:
        self._bench, self._covered = bench, covered
        self.offering = Offering(bench, act, go, pops=False)
        self.drawer = Drawer(TITLE, self._fill, self.offering.list)
        self.toggle, self.box = self.drawer.toggle, self.drawer.box
        self.toggle.tooltip = "Every event that is possible now, and what would follow from it"
        watch(self.toggle, "value", lambda _: self._cover())

    def show(self, bench: Bench) -> None:
        """Follow the bench, while somebody looks."""
        self._bench = bench
        if self.drawer.is_open:
            self._fill()

    def open(self) -> None:
        """Open it, and give it the focus."""
        self.toggle.value = True
        self.offering.list.call()

    def _fill(self) -> None:
        self.offering.show(self._bench, groups_of(happenings(self._bench.here.cluster)))

    def _cover(self) -> None:
        self._covered.layout.display = "none" if self.drawer.is_open else "flex"


def groups_of(found: tuple[Happening, ...]) -> Iterator[OfferGroup]:
    """What is no fault first."""
    for title, are_faults in ((ORDINARY, False), (FAULTS, True)):
        here = (h for h in found if h.is_fault is are_faults)
        yield OfferGroup(title, tuple(Offer(h.words, h.line, h.thing) for h in here))
