"""Keys and focus: without this JupyterLab takes the arrow keys away from menus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget

_CLASS = "kiplab-keys"


class _Keys(anywidget.AnyWidget):
    """Invisible; one anywhere on a page serves every box of the class."""

    _esm = Path(__file__).with_name("keys.js")
    _css = Path(__file__).with_name("keys.css")


def with_keys(box: Any) -> Any:
    """Let the controls in `box` keep their keys, and show which one has the focus.

    Returns what has to be shown somewhere for it.
    """
    box.add_class(_CLASS)
    return _Keys()
