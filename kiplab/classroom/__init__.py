"""Predictions that lock, and exercises that the engine judges."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .checked import Checked
from .order import EVENTS, check_order

if TYPE_CHECKING:
    from .ordering import Ordering
    from .prediction import Prediction, predict

__all__ = ["EVENTS", "Checked", "Ordering", "Prediction", "check_order", "predict"]


def __getattr__(name: str) -> Any:
    """The widgets are loaded when asked for: grading needs none."""
    homes = {"Ordering": "ordering", "Prediction": "prediction", "predict": "prediction"}
    if name in homes:
        return getattr(import_module(f"{__name__}.{homes[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
