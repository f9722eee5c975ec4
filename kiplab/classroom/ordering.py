"""The ordering exercise as a widget: move events up and down, check, look at your own schedule."""

from __future__ import annotations

import html
from collections.abc import Sequence

import ipywidgets as w

from ..widgets import Lab
from ..widgets.style import STYLE, allow, button
from .checked import Checked
from .order import EVENTS, check_order

START = (
    *("asks", "arrives", "crashes", "starts"),
    *("expires", "unfenced", "leader crashes", "leader expires"),
)
"""The order the exercise begins with; it loses nothing."""


class Ordering(w.VBox):
    """Eight events with buttons to move them. `answer` is the order as it stands."""

    def __init__(self, start: Sequence[str] = START) -> None:
        self.answer = list(start)
        self.rows = w.VBox()
        self.check = button("Check", "Let the engine judge this order", self._check)
        self.result = w.HTML()
        self.schedule = w.VBox()
        super().__init__([w.HTML(STYLE), self.rows, self.check, self.result, self.schedule])
        self.add_class("kiplab")
        self._show()

    def _show(self) -> None:
        self.rows.children = tuple(self._row(place) for place in range(len(self.answer)))

    def _row(self, place: int) -> w.HBox:
        text = EVENTS[self.answer[place]][0]
        up = button("Up", f"Earlier: {text}", lambda: self.move(place, -1), "60px")
        down = button("Down", f"Later: {text}", lambda: self.move(place, 1), "60px")
        allow(up, "it is the first" if place == 0 else None, up.tooltip)
        allow(down, "it is the last" if place == len(self.answer) - 1 else None, down.tooltip)
        return w.HBox([up, down, w.Label(f"{place + 1}. {text}")])

    def move(self, place: int, by: int) -> None:
        """Move the event at `place` one up (-1) or down (1)."""
        other = place + by
        if 0 <= other < len(self.answer):
            swapped = self.answer
            swapped[place], swapped[other] = swapped[other], swapped[place]
            self._show()

    def _check(self) -> None:
        found = check_order(self.answer)
        self.result.value = _told(found)
        self.schedule.children = (Lab(found.token),) if found.token else ()


def _told(found: Checked) -> str:
    mark = "✓" if found.right else "✕"
    lines = [f"<b>{mark} {found.points} of {found.of}</b>", html.escape(found.message)]
    if found.misconception:
        lines.append(f"You may be thinking: <i>{html.escape(found.misconception)}</i>.")
    if found.hint:
        lines.append(html.escape(found.hint))
    return f'<div class="kiplab-note" role="status">{"<br>".join(lines)}</div>'
