"""The stage: the picture, and what is read and pressed with it, stay in sight together."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import anywidget

from .labelled import column

_CLASS, _GROWING = "kiplab-stage", "kiplab-growing"


class _Stage(anywidget.AnyWidget):
    """Invisible; keeps the box around it in sight, or its lower part where the window is small."""

    _esm = Path(__file__).with_name("sticky.js")
    _css = Path(__file__).with_name("sticky.css")


def stage(parts: Iterable[Any]) -> Any:
    """The parts one under the other, in a box that stays while what comes after it is scrolled."""
    made = column([*parts, _Stage()])
    made.add_class(_CLASS)
    return made


def growing(box: Any, *, least: int) -> Any:
    """A last part of a stage, `least` pixels high. What more it needs is taken from what lies below
    the stage: nothing in it moves.
    """
    box.layout.min_height = f"{least}px"
    box.add_class(_GROWING)
    return box
