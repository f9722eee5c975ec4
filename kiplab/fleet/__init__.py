"""Many runs at once: what becomes of random schedules under each feature set.

>>> from kiplab import fleet
>>> print(fleet.schedules(200, spark=False).label)
given a crash in this window; not a rate
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .random_schedule import Window
    from .result import Schedules
    from .study import schedules

__all__ = ["Schedules", "Window", "schedules"]

_HOMES = {"Schedules": "result", "Window": "schedule", "schedules": "study"}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for: the engine is not needed to look around."""
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
