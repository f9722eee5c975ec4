"""Keys for the controls: without this JupyterLab takes the arrow keys away from menus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget

_CLASS = "kiplab-keys"


class _Keys(anywidget.AnyWidget):
    """Invisible; one anywhere on a page serves every box of the class."""

    _esm = Path(__file__).with_name("keys.js")


def with_keys(box: Any) -> Any:
    """Let the controls in `box` keep their keys; returns what has to be shown somewhere for it."""
    box.add_class(_CLASS)
    return _Keys()
