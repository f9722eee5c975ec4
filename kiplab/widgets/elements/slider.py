"""A slider that has a name and a number: what a screen reader says and a keyboard can set.

The handle of an ipywidgets slider has no name that a screen reader could read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets


class Slider(anywidget.AnyWidget):
    """Whole numbers from `min` to `max`; `description` is shown and is the slider's name.

    While the kernel is busy only the last position waits to be sent, and none queues up behind it.
    """

    _esm = Path(__file__).with_name("slider.js")
    description = traitlets.Unicode("step").tag(sync=True)
    min = traitlets.Int(0).tag(sync=True)
    max = traitlets.Int(1).tag(sync=True)
    value = traitlets.Int(0).tag(sync=True)

    @traitlets.validate("value")
    def _within(self, proposal: dict[str, Any]) -> int:
        value: int = proposal["value"]
        return max(self.min, min(value, self.max))

    @traitlets.observe("min", "max")
    def _clip(self, _change: dict[str, Any]) -> None:
        self.value = max(self.min, min(self.value, self.max))
