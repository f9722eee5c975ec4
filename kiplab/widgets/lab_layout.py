"""How the parts of a Lab lie: from top to bottom, two columns, and folds under them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from .elements.kinds import Container, Element, Style, ToggleButton
from .elements.labelled import column, row, watch, words
from .history_tree.playback import Playback

if TYPE_CHECKING:
    from .lab import Lab


# The sign before a heading is not read aloud, where browsers know how to say that.
_STYLE = """<style>
.kiplab-fold { text-align: left; font-weight: 600; padding-left: 10px; }
.kiplab-keys .kiplab-fold.mod-active { background: var(--jp-layout-color2); }
.kiplab-keys .kiplab-alarm { line-height: 22px; }
.kiplab-fold::before { content: "▸\\00a0"; content: "▸\\00a0" / ""; }
.kiplab-fold.mod-active::before { content: "▾\\00a0"; content: "▾\\00a0" / ""; }
</style>"""


class Fold(NamedTuple):
    """What can be unfolded. `show` brings it up to date, and is called only while it is open."""

    title: str
    box: Any
    show: Callable[[Playback], None] | None = None


class Folds:
    """Headings that unfold: what is closed costs nothing.

    An ipywidgets Accordion would do, if its headings could be reached by keyboard.
    """

    def __init__(self, folds: Sequence[Fold]) -> None:
        self._folds = {fold.title: fold for fold in folds}
        self._playback: Playback | None = None
        self.headings = {title: self._heading(title) for title in self._folds}
        self._bodies = {title: column([f.box]) for title, f in self._folds.items()}
        for body in self._bodies.values():
            body.layout.display, body.layout.padding = "none", "6px 14px 12px"
        parts = ((self.headings[title], self._bodies[title]) for title in self._folds)
        self.box = column([words(_STYLE, margin="0"), *chain.from_iterable(parts)])

    def _heading(self, title: str) -> Any:
        made = ToggleButton(description=title, tooltip=f"{title}: open or close")
        made.add_class("kiplab-fold")
        made.layout = Style(margin="2px 0")
        watch(made, "value", lambda is_open: self._turned(title, is_open))
        return made

    def show(self, playback: Playback) -> None:
        """Follow the playback."""
        self._playback = playback
        for title, heading in self.headings.items():
            if heading.value:
                self._fill(title)

    def open(self, title: str) -> None:
        """Unfold what has that title. Raises KeyError if there is none."""
        self.headings[title].value = True

    def _turned(self, title: str, is_open: bool) -> None:
        self._bodies[title].layout.display = "flex" if is_open else "none"
        if is_open:
            self._fill(title)

    def _fill(self, title: str) -> None:
        show = self._folds[title].show
        if show is not None and self._playback is not None:
            show(self._playback)


def folds_of(lab: Lab) -> Folds:
    """What is not needed all the time, under everything else."""
    return Folds(
        [
            Fold("Single rules", lab.rulebook.list),
            Fold("Branches", lab.branching.box, lab.branching.show),
            Fold("What every node holds", lab.inspector.box, lab.inspector.show),
            Fold("What the picture shows", lab.looking, lambda playback: lab.look.show(playback)),
            Fold("This run so far, in sentences and as a table", lab.telling.box, lab.telling.show),
            Fold("Share, save, load", lab.sharing.box, lab.sharing.show),
        ]
    )


def laid_out(lab: Lab) -> tuple[Any, ...]:
    """Everything from top to bottom.

    What one presses most and needs to see meanwhile, the epochs and the ISR, is on top and stays
    visible. The style sheet puts the panels beside the picture where a page is wide.
    """
    pace = [lab.transport.pace, lab.jumps.box, lab.signs.toggle, lab.logs.toggle]
    panels = named(
        "kiplab-panels",
        [
            row(pace, justify_content="space-between", flex_flow="row wrap"),
            lab.rulebook.box,
            two_columns(lab.hands, lab.told),
            lab.invariants.box,
        ],
    )
    facts = strip(lab.verdict, lab.facts, lab.note)
    stage = [lab.touching.box, lab.logs.box, lab.signs.box]
    return (
        named("kiplab-head", [lab.transport.box, lab.guide.element, facts]),
        named("kiplab-body", [named("kiplab-stage", stage), panels]),
        lab.folds.box,
    )


def in_hand(lab: Lab) -> tuple[Any, ...]:
    """What one does: buttons, or in their place one list of all that can happen."""
    head = row([lab.what_next.toggle, lab.inject.disk], justify_content="space-between")
    head.add_class("kiplab-in-hand")
    return (head, lab.what_next.box, lab.inject.box)


def named(name: str, parts: Iterable[Element]) -> Container:
    """The parts as the style sheet lays them for that class."""
    return Container(children=tuple(parts), classes=(name,))


def strip(verdict: Any, facts: Any, note: Any) -> Container:
    """How it stands, what is on record, and what became of the last press, in little height."""
    verdict.layout.flex, facts.layout.flex, note.layout.flex = "5 1 0", "0 0 auto", "3 1 0"
    box = row([verdict, facts, note], align_items="stretch", min_height="50px")
    box.add_class("kiplab-strip")
    return box


def two_columns(left: Any, right: Any) -> Container:
    """What one does on the left, what is told about it on the right, equally high."""
    left.layout.width, right.layout.width = "53%", "47%"
    right.layout.padding = "0 0 0 10px"
    box = row([left, right], align_items="stretch")
    box.add_class("kiplab-columns")
    return box
