"""Choices as buttons, and what is not possible as text; and drawers for what is wanted rarely."""

from base64 import b64encode
from collections.abc import Callable, Iterable
from html import escape
from typing import Any, Protocol

from ...figures.drawing.still_picture import MARK, described
from ...figures.drawing.svg import svg
from ...plays.play import Statement
from ..elements.kinds import Element, ToggleButton
from ..elements.labelled import button, column, offer, row, watch, words
from ..history_tree.playback import Playback
from ..markup import INK
from .broker_offers import Offer


class LabLike(Protocol):
    """What a control reads and acts on: a Lab, which says what each of these does."""

    @property
    def playback(self) -> Playback: ...
    def act(self, statement: Statement) -> None: ...
    def seek(self, at: int) -> None: ...
    def undo(self) -> None: ...
    def reset(self) -> None: ...


class Actions:
    """A row of buttons, one per offer: a press does its line. A button is reused for the offer that
    takes its place, and so keeps the focus. `after` follows them.
    """

    def __init__(self, lab: LabLike, *after: Any) -> None:
        self._lab = lab
        self._after = after
        self.offers: tuple[Offer, ...] = ()
        self.buttons: list[Any] = []
        self.box = row(after, flex_flow="row wrap")

    def show(self, offers: tuple[Offer, ...]) -> None:
        """Offer these; the tooltip of each that cannot be done gives the reason."""
        self.offers = offers
        while len(self.buttons) < len(offers):
            self.buttons.append(self._button(len(self.buttons)))
        shown = self.buttons[: len(offers)]
        for part, each in zip(shown, offers, strict=True):
            part.description = each.label
            offer(part, each.reason, f"{each.advice}: {each.line.text}")
        self.box.children = (*shown, *self._after)

    def _button(self, place: int) -> Any:
        return button("", lambda: self._lab.act(self.offers[place].line))


class Drawer:
    """`toggle` opens and closes `box`; `fill` updates an open one: a closed box costs nothing."""

    def __init__(
        self, label: str, fill: Callable[[], None], *inside: Element, tooltip: str = ""
    ) -> None:
        self._fill = fill
        self.toggle = ToggleButton(description=label, tooltip=tooltip)
        self.box = column(inside, display="none")
        watch(self.toggle, "value", lambda _: self._turned())

    @property
    def is_open(self) -> bool:
        return self.toggle.value

    def show(self) -> None:
        if self.is_open:
            self._fill()

    def _turned(self) -> None:
        self.box.layout.display = "flex" if self.is_open else "none"
        self.show()


class PictureDrawer(Drawer):
    """Draws what `drawing` says while it is open."""

    def __init__(self, label: str, tooltip: str, drawing: Callable[[], dict[str, Any]]) -> None:
        self._drawing = drawing
        self.image = words(margin="0")
        super().__init__(label, self._paint, self.image, tooltip=tooltip)

    def _paint(self) -> None:
        """It stands still: an image."""
        drawing = self._drawing()
        layout, alt = drawing["layout"], escape(described(drawing), quote=True)
        source = f"data:image/svg+xml;base64,{b64encode(svg(drawing).encode()).decode()}"
        self.image.value = (
            f'<div class="{MARK}" style="line-height:0"><img width="{layout["width"]}"'
            f' height="{layout["height"]}" alt="{alt}" src="{source}"></div>'
        )


class OfferRow:
    """A thing: how it does, `beside` buttons at hand, and the rest in a drawer."""

    def __init__(self, lab: LabLike, *beside: Element) -> None:
        self._rest: Callable[[], tuple[Offer, ...]] = tuple
        self.state = words()
        self.others = Actions(lab)
        self.more = Drawer("More", lambda: self.others.show(self._rest()), self.others.box)
        self.main = Actions(lab, *beside, self.more.toggle)
        self.box = column([self.state, self.main.box, self.more.box])

    def show(
        self, state: str, offers: tuple[Offer, ...], rest: Callable[[], tuple[Offer, ...]]
    ) -> None:
        """`rest` returns the content of the drawer, and is called while it is open."""
        self._rest = rest
        self.state.value = state
        self.main.show(offers)
        self.more.show()

    @property
    def offers(self) -> tuple[Offer, ...]:
        return (*self.main.offers, *self._rest())


class Reasons(Drawer):
    """Everything that cannot be done now: a disabled button cannot be reached."""

    def __init__(self, offers: Callable[[], Iterable[tuple[str, tuple[Offer, ...]]]]) -> None:
        self._offers, self.text = offers, words()
        super().__init__("Not possible now, and why", self._list, self.text)
        self.whole = column([row([self.toggle]), self.box])

    def _list(self) -> None:
        found = ((escape(name), map(escape, impossible(offers))) for name, offers in self._offers())
        told = ((name, "<br>".join(lines)) for name, lines in found)
        rows = "".join(f"<li><b>{name}</b><br>{lines}</li>" for name, lines in told if lines)
        look = f"color:{INK};font-size:12px;line-height:1.45;margin:2px 0;padding-left:18px"
        listed = rows or "<li>Everything here is possible.</li>"
        self.text.value = f'<ul style="{look}">{listed}</ul>'


def impossible(offers: tuple[Offer, ...]) -> tuple[str, ...]:
    """``"Start, Unfence: broker 2 is running already"``: one per reason, labels in order."""
    labels: dict[str, list[str]] = {}
    for each in offers:
        if each.reason is not None:
            labels.setdefault(each.reason, []).append(each.label)
    return tuple(f"{', '.join(names)}: {reason}" for reason, names in labels.items())
