"""The ordering exercise as a widget: move events, check, look at your own schedule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...runs import Run
from ...widgets import still_fallback
from ...widgets.elements.kinds import Listed, PlotlyPicture, Style
from ...widgets.elements.labelled import button, column, row, words
from ...widgets.elements.surface import Surface
from ..exercises.check_result import Checked
from ..exercises.losing_order import EVENTS, LETTERS, stage_of
from ..work.attempts import check_order
from .told_result import told

WIDTH = "844px"
_LETTER = {name: letter for letter, name in LETTERS.items()}


class Ordering:
    """Eight events to be ordered, each with its letter.

    `answer` is the order as it stands, `checked` the last verdict.

    Without a browser: `move("starts", 2)` and `check()`; or `check_order` for a whole answer.
    """

    def __init__(self, start: Sequence[str] = tuple(EVENTS)) -> None:
        self.answer = list(start)
        self.checked: Checked | None = None
        self._run: Run | None = None
        self.list = Listed(description="First to last", layout=Style(width="520px"))
        self.list.observe(lambda _: self._allow(), "value")
        self.earlier = button("Earlier", lambda: self.move(self.list.value, -1))
        self.later = button("Later", lambda: self.move(self.list.value, 1))
        self.check_button = button("Check", self.check, "Let the engine judge this order")
        self.check_button.button_style = "primary"
        self.result = words(max_width=WIDTH)
        self.schedule = column([])
        hands = column([self.earlier, self.later, self.check_button], margin="0 0 0 8px")
        parts = [row([self.list, hands]), self.result, self.schedule]
        self.box = Surface(column(parts))
        self._show(self.answer[0])

    @property
    def run(self) -> Run | None:
        """The run of the order that was checked last, what could not happen left out."""
        return self._run

    def move(self, name: str, by: int) -> None:
        """Move an event so many places: -1 is one earlier. At the ends it stays."""
        index = self.answer.index(name)
        self.answer.insert(max(0, min(index + by, len(self.answer) - 1)), self.answer.pop(index))
        self._show(name)

    def check(self) -> None:
        """Judge the order as it stands, and draw it."""
        self.checked = check_order(self.answer)
        self.result.value = told(self.checked)
        self._run = Run(stage_of(self.answer))
        drawn = self._run.timeline(width=840)
        self.schedule.children = (PlotlyPicture(drawn.to_plotly_json()),)

    def _show(self, name: str) -> None:
        self.list.options = tuple(
            (f"{place}. {_LETTER[event]} · {EVENTS[event][0]}", event)
            for place, event in enumerate(self.answer, 1)
        )
        self.list.value = name
        self._allow()

    def _allow(self) -> None:
        self.earlier.disabled = self.list.value == self.answer[0]
        self.later.disabled = self.list.value == self.answer[-1]

    def __repr__(self) -> str:
        return f"<Ordering: {', '.join(self.answer)}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """A reference to the panel, and words where there are no widgets."""
        return self.box.bundle(self._in_words(), **options)

    def _ipython_display_(self) -> None:
        still_fallback.show_live(self.box, self._in_words())

    def _in_words(self) -> str:
        events = "\n".join(
            f"{letter} · {name}: {EVENTS[name][0]}" for letter, name in LETTERS.items()
        )
        return f"{events}\n{self!r}"
