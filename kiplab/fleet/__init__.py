"""Many runs at once: the outcomes of random schedules under each feature set.

>>> from kiplab import fleet
>>> print(fleet.schedules(200, spark=False).label)
given a crash in this window; not a rate
"""

from typing import TYPE_CHECKING, Any

from ..extras import homes_of, loaded

if TYPE_CHECKING:
    from .agreement.story import story as story
    from .fleet_answers.fleet_answer import FleetAnswer as FleetAnswer
    from .fleet_answers.fleet_row import FleetRow as FleetRow
    from .fleet_answers.fleet_run import answer_in as answer_in
    from .fleet_answers.fleet_run import run as run
    from .fleet_answers.quick_estimate import estimate as estimate
    from .fleet_answers.zookeeper_rates import zookeeper_rates as zookeeper_rates
    from .parameters.fleet_study import FleetStudy as FleetStudy
    from .parameters.fleet_study import presets as presets
    from .parameters.fleet_study import read_study as read_study
    from .parameters.parameter_checks import ParameterError as ParameterError
    from .parameters.parameter_table import PARAMETERS as PARAMETERS
    from .parameters.parameter_table import Parameters as Parameters
    from .race_schedules.random_schedule import Window as Window
    from .race_schedules.result import Schedules as Schedules
    from .race_schedules.study import schedules as schedules

__all__ = [*homes_of(__name__)]


def __getattr__(name: str) -> Any:
    return loaded(__name__, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
