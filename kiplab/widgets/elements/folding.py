"""HTML with parts that fold; what a reader has unfolded stays so when the HTML changes."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets


class Folding(anywidget.AnyWidget):
    """Shows `html`. Each ``<details>`` in it has a ``data-path`` of its own, by which it is known.

    An ipywidgets.HTML would fold everything again at each change.
    """

    _esm = Path(__file__).with_name("folding.js")
    html = traitlets.Unicode().tag(sync=True)
