"""Many runs at once: what becomes of random schedules under each feature set.

>>> from kiplab import fleet
>>> print(fleet.schedules(200, spark=False).label)
given a crash in this window; not a rate
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agreement.story import story as story
    from .fleet_answers.fleet_answer import FleetAnswer as FleetAnswer
    from .fleet_answers.fleet_row import FleetRow as FleetRow
    from .fleet_answers.fleet_run import answer_in as answer_in
    from .fleet_answers.fleet_run import run as run
    from .fleet_answers.quick_estimate import estimate as estimate
    from .parameters.fleet_study import FleetStudy as FleetStudy
    from .parameters.fleet_study import presets as presets
    from .parameters.fleet_study import read_study as read_study
    from .parameters.parameter_errors import ParameterError as ParameterError
    from .parameters.parameter_table import PARAMETERS as PARAMETERS
    from .parameters.parameter_table import Parameters as Parameters
    from .race_schedules.random_schedule import Window as Window
    from .race_schedules.result import Schedules as Schedules
    from .race_schedules.study import schedules as schedules
    from .verification.verified import verify as verify

_HOMES = {
    "agreement.story": ("story",),
    "fleet_answers.fleet_answer": ("FleetAnswer",),
    "fleet_answers.fleet_row": ("FleetRow",),
    "fleet_answers.fleet_run": ("answer_in", "run"),
    "fleet_answers.quick_estimate": ("estimate",),
    "parameters.fleet_study": ("FleetStudy", "presets", "read_study"),
    "parameters.parameter_errors": ("ParameterError",),
    "parameters.parameter_table": ("PARAMETERS", "Parameters"),
    "race_schedules.random_schedule": ("Window",),
    "race_schedules.result": ("Schedules",),
    "race_schedules.study": ("schedules",),
    "verification.verified": ("verify",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
__all__ = [*_HOME_OF]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for: the engine is not needed to look around."""
    if name in _HOME_OF:
        return getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
