"""What one points at: things in a picture, and a list of what can be done with them."""

from collections.abc import Callable, Sequence
from typing import Any

from traitlets import Bool, Dict, Int

from .kinds import Element, PlotlyPicture, Style

Section = dict[str, Any]
"""``title``, ``rows`` under that heading and ``notes`` on others that are not there. A row says
what it does in words, the line that is written, and what it is about in a picture, named as in
`figures.timeline.places`.
"""


class ChoiceList(Element):
    """Calls `chosen` with the place of a row that is pressed, counted from 0 through all sections.

    `foresee` says what would follow, and is asked only for the row that is pointed at. One that
    `pops` is hidden until it is called for, and opens where its page was clicked.
    """

    kind = "choices"
    offers: Any = Dict().tag(page=True)
    """``number`` counts the lists there were: who answers to an older one comes too late."""
    foreseen: Any = Dict().tag(page=True)
    pops: Any = Bool(False).tag(page=True)
    calls: Any = Int(0).tag(page=True)
    """How often it was called for: it takes the focus then."""

    def __init__(
        self,
        foresee: Callable[[int], Sequence[str]],
        chosen: Callable[[int], None],
        *,
        pops: bool = False,
        layout: Style | None = None,
    ) -> None:
        self._foresee, self._chosen = foresee, chosen
        self._count = 0
        super().__init__(layout, pops=pops, offers={"number": 0, "sections": []})

    def show(self, sections: Sequence[Section]) -> None:
        """Offer these and no others; what was foretold of the last ones is true no more."""
        self._count = sum(len(section["rows"]) for section in sections)
        if sections or self.offers["sections"]:
            self.offers = {"number": self.offers["number"] + 1, "sections": list(sections)}

    def call(self) -> None:
        """Have it opened, and give it the focus."""
        self.calls += 1

    def heard(self, name: str, value: Any) -> None:
        """A row of this very list was pointed at, or pressed."""
        number, place = value
        if number != self.offers["number"] or not 0 <= place < self._count:
            return
        if name == "foresee":
            said = list(self._foresee(place))
            self.foreseen = {"number": number, "place": place, "said": said}
        elif name == "choose":
            self._chosen(place)


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
