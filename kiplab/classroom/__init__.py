"""Predictions that lock, and exercises that the engine judges."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .exercises.check_result import Checked
from .exercises.losing_order import EVENTS, check_order

if TYPE_CHECKING:
    from .exercises.committed import acknowledged, committed
    from .exercises.epochs import epochs_moved
    from .exercises.missing_rule import mystery
    from .exercises.wrapped_text import say
    from .forms.ordering import Ordering
    from .forms.prediction import Prediction, predict

__all__ = [
    "EVENTS",
    "Checked",
    "Ordering",
    "Prediction",
    "acknowledged",
    "check_order",
    "committed",
    "epochs_moved",
    "mystery",
    "predict",
    "say",
]
_HOMES = {
    "Ordering": "forms.ordering",
    "Prediction": "forms.prediction",
    "acknowledged": "exercises.committed",
    "committed": "exercises.committed",
    "epochs_moved": "exercises.epochs",
    "mystery": "exercises.missing_rule",
    "predict": "forms.prediction",
    "say": "exercises.wrapped_text",
}


def __getattr__(name: str) -> Any:
    """The widgets and the search are loaded when asked for: grading needs none."""
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
