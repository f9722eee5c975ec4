"""The properties of the fleet: one table of parameters, files of them, points and grids of points.

>>> from kiplab.fleet.parameters import read_study
>>> read_study("small").scenarios[0].parameters.brokers
6
"""

from .fleet_study import FleetStudy as FleetStudy
from .fleet_study import presets as presets
from .fleet_study import read_study as read_study
from .parameter_checks import ParameterError as ParameterError
from .parameter_table import PARAMETERS as PARAMETERS
from .parameter_table import Parameters as Parameters
from .scenario import Scenario as Scenario
