"""First, back, step, last, a slider, reset: moving through the steps of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets

from .bench import Bench
from .controls import button


class Transport:
    """Calls `seek` with the number of a step, and `reset`."""

    def __init__(self, seek: Callable[[int], None], reset: Callable[[], None]) -> None:
        self._seek = seek
        self._at = 0
        self.first = button("First", lambda: seek(0), "To the start")
        self.back = button("Back", lambda: seek(self._at - 1), "One step back")
        self.step = button("Step", lambda: seek(self._at + 1), "One step on")
        self.last = button("Last", lambda: seek(self.slider.max), "To the end")
        self.reset = button("Reset", reset)
        self.step.button_style = "primary"
        self.slider = ipywidgets.IntSlider(
            description="step",
            min=0,
            max=1,
            layout=ipywidgets.Layout(flex="1 1 auto", min_width="160px", margin="2px 8px 2px 16px"),
            style={"description_width": "initial"},
        )
        self.slider.observe(self._slid, "value")
        steps = [self.first, self.back, self.step, self.last, self.slider, self.reset]
        self.box = ipywidgets.HBox(
            steps, layout=ipywidgets.Layout(align_items="center", flex_flow="row wrap")
        )

    def show(self, bench: Bench) -> None:
        """Follow the bench; nothing is called back."""
        self._at = bench.at
        self.slider.max = bench.last
        self.slider.value = bench.at
        self.first.disabled = self.back.disabled = bench.at == 0
        self.step.disabled = self.last.disabled = bench.at == bench.last
        self.reset.disabled = not bench.changed
        self.reset.tooltip = (
            "Bring back the play's own lines" if bench.changed else "The lines are the play's own"
        )

    def _slid(self, change: dict[str, Any]) -> None:
        # While a longer run gives way to a shorter one the slider clips itself: not the user's.
        if change["new"] != self._at:
            self._seek(change["new"])
