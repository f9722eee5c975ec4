"""How the parts of a Lab lie: from top to bottom, two columns, and folds under them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import TYPE_CHECKING, Any

from .controls.actions import Drawer
from .elements.kinds import Container, Element
from .elements.labelled import column, row

if TYPE_CHECKING:
    from .lab import Lab


CONTROLS = ("step", "act", "all")
"""How much there is to press in a Lab, from little to everything."""


class Folds:
    """Headings that unfold. Each has what is in it, and what brings that up to date."""

    def __init__(self, folds: dict[str, tuple[Element, Callable[[], None]]]) -> None:
        self._drawers: list[Drawer] = []
        for title, (box, fill) in folds.items():
            drawer = Drawer(title, fill, box, tooltip=f"{title}: open or close")
            drawer.toggle.add_class("kiplab-fold")
            drawer.toggle.layout.margin = "2px 0"
            drawer.box.layout.padding = "6px 14px 12px"
            self._drawers.append(drawer)
        self.headings = {drawer.toggle.description: drawer.toggle for drawer in self._drawers}
        parts = ((drawer.toggle, drawer.box) for drawer in self._drawers)
        self.box = column(chain.from_iterable(parts))

    def show(self) -> None:
        for drawer in self._drawers:
            drawer.show()

    def open(self, title: str) -> None:
        """Unfold what has that title. Raises KeyError if there is none."""
        self.headings[title].value = True


def folds_of(lab: Lab) -> Folds:
    """What is not needed all the time, under everything else."""
    folds: dict[str, tuple[Element, Callable[[], None]]] = {
        "Single rules": (lab.rulebook.list, lambda: None),
        "Branches": (lab.branching.box, lab.branching.show),
        "What every node holds": (lab.inspector.box, lab.inspector.show),
        "What the picture shows": (lab.view_box, lambda: lab.view_controls.show()),
        "This run so far, in sentences and as a table": (lab.telling.box, lab.telling.show),
        "Share, save, load": (lab.sharing.box, lab.sharing.show),
    }
    return Folds(folds)


def laid_out(lab: Lab, controls: str) -> tuple[Any, ...]:
    """Everything from top to bottom, for a reader who wants so many `controls`.

    What one presses most and needs to see meanwhile, the epochs and the ISR, is on top and stays
    visible. The style sheet puts the panels beside the picture where a page is wide.
    """
    bar = named("kiplab-strip", lab.verdict, lab.note)
    if controls == "step":
        few = named("kiplab-few", lab.transport.box, *_switches(lab)[:2], lab.more_controls)
        head = named("kiplab-head", few, lab.guide.element, bar)
        return (head, named("kiplab-stage", lab.picture, lab.signs.box))
    head = named("kiplab-head", lab.transport.box, lab.guide.element, bar)
    toggles = () if controls == "all" else _switches(lab)
    rules = named("kiplab-rules", lab.rulebook.box, *toggles)
    stage = named("kiplab-stage", rules, lab.touching.box, lab.signs.box)
    if controls == "all":
        return (head, named("kiplab-body", stage, _panels(lab)), lab.folds.box)
    return (head, stage, lab.facts, lab.more_controls)


def _switches(lab: Lab) -> tuple[Element, ...]:
    return lab.messages.box, lab.signs.toggle, lab.logs


def _panels(lab: Lab) -> Container:
    """The buttons on the left, the transcript on the right, equally high."""
    lab.hands.layout.width, lab.account.layout.width = "53%", "47%"
    lab.account.layout.padding = "0 0 0 10px"
    columns = row([lab.hands, lab.account], align_items="stretch")
    columns.add_class("kiplab-columns")
    parts = [lab.transport.pace, lab.jumps.box, row(_switches(lab))]
    pace = row(parts, justify_content="space-between", flex_flow="row wrap")
    return named("kiplab-panels", pace, lab.facts, columns, lab.invariants.box)


def in_hand(lab: Lab) -> tuple[Any, ...]:
    """What one does: buttons, or in their place one list of all that can happen."""
    head = row([lab.what_next.toggle, lab.inject.disk], justify_content="space-between")
    head.add_class("kiplab-in-hand")
    return (head, lab.what_next.box, lab.inject.box)


def named(name: str, *parts: Element) -> Container:
    """The parts as the style sheet lays them for that class."""
    return Container(children=parts, classes=(name,))
