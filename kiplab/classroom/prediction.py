"""A question to be answered before the run: the answer locks, and only then the run appears."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as w

from ..widgets.style import STYLE, button
from . import kept


class Prediction(w.VBox):
    """Radio buttons and a button that locks them. A locked answer survives a kernel restart."""

    def __init__(self, id: str, question: str, choices: Sequence[str]) -> None:
        self.id = id
        self._waiting: list[Callable[[], None]] = []
        self.choices = w.RadioButtons(
            options=list(choices), value=None, layout=w.Layout(width="max-content")
        )
        self.lock = button("Lock my prediction", "It cannot be changed afterwards", self._lock)
        self.state = w.HTML()
        super().__init__(
            [w.HTML(STYLE), w.HTML(f"<b>{question}</b>"), self.choices, self.lock, self.state]
        )
        self.add_class("kiplab")
        self._restore()

    @property
    def answer(self) -> str | None:
        """The locked answer, or None."""
        return kept.prediction(self.id)

    def _restore(self) -> None:
        if self.answer in self.choices.options:
            self.choices.value = self.answer
            self._show_locked()

    def _lock(self) -> None:
        if self.choices.value is None:
            self._say("Choose one first. A guess is fine: it is the comparison that teaches.")
            return
        try:
            kept.lock(self.id, self.choices.value)
        except (kept.LockedError, OSError) as problem:
            self._say(str(problem))
            return
        self._show_locked()
        for reveal in self._waiting:
            reveal()
        self._waiting.clear()

    def _show_locked(self) -> None:
        self.choices.disabled = self.lock.disabled = True
        self.lock.tooltip = "Locked"
        self._say(f"Locked: you predicted “{self.answer}”. Now run it.")

    def _say(self, text: str) -> None:
        self.state.value = f'<p class="kiplab-note" role="status">{text}</p>'

    def then(self, make: Callable[..., w.Widget], *args: Any, **options: Any) -> w.VBox:
        """What `make` makes, shown once the prediction is locked; until then a gentle sentence."""
        box = w.VBox([w.HTML('<p class="kiplab-note">First lock your prediction above.</p>')])
        box.add_class("kiplab")

        def reveal() -> None:
            box.children = (make(*args, **options),)

        if self.answer is not None:
            reveal()
        else:
            self._waiting.append(reveal)
        return box


def predict(id: str, question: str, choices: Sequence[str]) -> Prediction:
    """Ask before the run. `id` is the name the answer is kept under."""
    return Prediction(id, question, choices)
