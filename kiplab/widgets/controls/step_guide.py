"""Leads to a step that something else in the page names: a link in the prose, a search's match."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..elements.kinds import Guide
from ..elements.labelled import careful
from ..history_tree.bench import Bench

_SAID = {
    "link": "This is step {step}, which the text speaks of.",
    "search": "This is step {step}, where your words were found.",
}
"""By what has asked for it."""


class StepGuide:
    """Calls `seek` with the number of a step, and `say` with a sentence about it."""

    def __init__(self, seek: Callable[[int], None], say: Callable[..., None]) -> None:
        self._seek, self._say = seek, say
        self._bench: Bench | None = None
        self.element = Guide(careful(self._asked))

    def show(self, bench: Bench) -> None:
        """Follow the bench."""
        if self._bench is None or bench.stops is not self._bench.stops:
            self.element.run += 1
        self._bench = bench
        self.element.play, self.element.at = bench.own.name, bench.at

    def _asked(self, wish: dict[str, Any]) -> None:
        if self._bench is None:
            return
        step = int(wish["step"])
        if step > self._bench.last:
            said = f"There is no step {step} here: this run ends at step {self._bench.last}."
            self._say(f"{said} Reset leads back to the play.", alarm=True)
            return
        self._seek(step)
        self._say(_SAID[wish["by"]].format(step=step))
