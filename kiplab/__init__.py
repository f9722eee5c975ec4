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
    from .classroom import Ordering, predict
    from .classroom.forms.overview import my_work
    from .classroom.work.attempts import (
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
    from .explore.search.explore_play import explore
    from .matrices import alternatives, matrix, minimise
    from .plays.play_errors import PlayError
    from .runs import Run, all_plays, differences, guards, ladder, run, twin
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
    "check_accepted": "kiplab.classroom.work.attempts",
    "check_acknowledged": "kiplab.classroom.work.attempts",
    "check_epochs": "kiplab.classroom.work.attempts",
    "check_fences": "kiplab.classroom.work.attempts",
    "check_high_watermark": "kiplab.classroom.work.attempts",
    "check_holes": "kiplab.classroom.work.attempts",
    "check_last_replica": "kiplab.classroom.work.attempts",
    "check_lose_acknowledged": "kiplab.classroom.work.attempts",
    "check_missing_guard": "kiplab.classroom.work.attempts",
    "check_order": "kiplab.classroom.work.attempts",
    "check_proof": "kiplab.classroom.work.attempts",
    "check_reading": "kiplab.classroom.work.attempts",
    "check_reigns": "kiplab.classroom.work.attempts",
    "check_schedules": "kiplab.classroom.work.attempts",
    "check_shorter": "kiplab.classroom.work.attempts",
    "check_two_by_two": "kiplab.classroom.work.attempts",
    "check_window": "kiplab.classroom.work.attempts",
    "alternatives": "kiplab.matrices",
    "matrix": "kiplab.matrices",
    "minimise": "kiplab.matrices",
    "my_work": "kiplab.classroom.forms.overview",
    "predict": "kiplab.classroom",
    "PlayError": "kiplab.plays.play_errors",
    "Run": "kiplab.runs",
    "guards": "kiplab.runs",
    "all_plays": "kiplab.runs",
    "differences": "kiplab.runs",
    "ladder": "kiplab.runs",
    "run": "kiplab.runs",
    "twin": "kiplab.runs",
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
