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
    from .api import Run, all_plays, guards, run, twin
    from .classroom import Ordering, check_order, predict
    from .classroom.committed import check_acknowledged, check_high_watermark, check_schedules
    from .classroom.epochs import check_epochs, check_fences
    from .classroom.reading import check_reading
    from .plays.errors import PlayError
    from .widgets import Lab

__version__ = "0.1.0"
__all__ = [
    "Lab",
    "Ordering",
    "PlayError",
    "Run",
    "all_plays",
    "check_acknowledged",
    "check_epochs",
    "check_fences",
    "check_high_watermark",
    "check_order",
    "check_reading",
    "check_schedules",
    "fleet",
    "guards",
    "predict",
    "run",
    "twin",
]

_HOMES = {
    "Lab": "kiplab.widgets",
    "Ordering": "kiplab.classroom",
    "check_order": "kiplab.classroom",
    "check_acknowledged": "kiplab.classroom.committed",
    "check_epochs": "kiplab.classroom.epochs",
    "check_fences": "kiplab.classroom.epochs",
    "check_high_watermark": "kiplab.classroom.committed",
    "check_reading": "kiplab.classroom.reading",
    "check_schedules": "kiplab.classroom.committed",
    "predict": "kiplab.classroom",
    "PlayError": "kiplab.plays.errors",
    "Run": "kiplab.api",
    "guards": "kiplab.api",
    "all_plays": "kiplab.api",
    "run": "kiplab.api",
    "twin": "kiplab.api",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for: `import kiplab` stays quick."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name == "fleet":
        return import_module("kiplab.fleet")
    raise AttributeError(f"module 'kiplab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
