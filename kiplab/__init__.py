"""kiplab: break a small Kafka, and see which rule would have saved it.

>>> import kiplab
>>> kiplab.run("kafka-14139", kafka="3.4").verdict
'loss'
>>> kiplab.run("kafka-14139", kafka="3.5").verdict
'safe'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import fleet
    from .api import Run, all_plays, differences, guards, ladder, run, twin
    from .classroom import Ordering, predict
    from .classroom.attempts import (
        check_accepted,
        check_acknowledged,
        check_epochs,
        check_fences,
        check_high_watermark,
        check_holes,
        check_last_replica,
        check_lose_acknowledged,
        check_missing_guard,
        check_order,
        check_proof,
        check_reading,
        check_reigns,
        check_schedules,
        check_shorter,
        check_two_by_two,
        check_window,
    )
    from .classroom.overview import my_work
    from .explore.front import explore
    from .matrices import alternatives, matrix, minimise
    from .plays.errors import PlayError
    from .widgets import Lab

__version__ = "0.1.0"
__all__ = [
    "Lab",
    "Ordering",
    "PlayError",
    "Run",
    "all_plays",
    "alternatives",
    "check_accepted",
    "check_acknowledged",
    "check_epochs",
    "check_fences",
    "check_high_watermark",
    "check_holes",
    "check_last_replica",
    "check_lose_acknowledged",
    "check_missing_guard",
    "check_order",
    "check_proof",
    "check_reading",
    "check_reigns",
    "check_schedules",
    "check_shorter",
    "check_two_by_two",
    "check_window",
    "differences",
    "explore",
    "fleet",
    "guards",
    "ladder",
    "matrix",
    "minimise",
    "my_work",
    "predict",
    "run",
    "twin",
]

_HOMES = {
    "Lab": "kiplab.widgets",
    "Ordering": "kiplab.classroom",
    "check_accepted": "kiplab.classroom.attempts",
    "check_acknowledged": "kiplab.classroom.attempts",
    "check_epochs": "kiplab.classroom.attempts",
    "check_fences": "kiplab.classroom.attempts",
    "check_high_watermark": "kiplab.classroom.attempts",
    "check_holes": "kiplab.classroom.attempts",
    "check_last_replica": "kiplab.classroom.attempts",
    "check_lose_acknowledged": "kiplab.classroom.attempts",
    "check_missing_guard": "kiplab.classroom.attempts",
    "check_order": "kiplab.classroom.attempts",
    "check_proof": "kiplab.classroom.attempts",
    "check_reading": "kiplab.classroom.attempts",
    "check_reigns": "kiplab.classroom.attempts",
    "check_schedules": "kiplab.classroom.attempts",
    "check_shorter": "kiplab.classroom.attempts",
    "check_two_by_two": "kiplab.classroom.attempts",
    "check_window": "kiplab.classroom.attempts",
    "alternatives": "kiplab.matrices",
    "matrix": "kiplab.matrices",
    "minimise": "kiplab.matrices",
    "my_work": "kiplab.classroom.overview",
    "predict": "kiplab.classroom",
    "PlayError": "kiplab.plays.errors",
    "Run": "kiplab.api",
    "guards": "kiplab.api",
    "all_plays": "kiplab.api",
    "differences": "kiplab.api",
    "ladder": "kiplab.api",
    "run": "kiplab.api",
    "twin": "kiplab.api",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for: `import kiplab` stays quick."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in ("explore", "fleet"):
        return import_module(f"kiplab.{name}")
    raise AttributeError(f"module 'kiplab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
