"""One point of the parameter space, with a name made of its values."""

from hashlib import sha256

import msgspec

from .meaningful_sets import check_kip_set
from .parameter_checks import check_together, checked
from .parameter_errors import ParameterError
from .parameter_table import Parameters

_DIGITS = 16


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """A fleet: the feature sets it is seen under, a value for every parameter.

    Raises ParameterError for what no fleet can be.
    """

    feature_sets: tuple[str, ...]
    parameters: Parameters = Parameters()

    def __post_init__(self) -> None:
        if not self.feature_sets or len({*self.feature_sets}) < len(self.feature_sets):
            allowed = "name at least one, and each once"
            raise ParameterError("the list is wrong", allowed=allowed, key="feature_sets")
        for name in self.feature_sets:
            if name != check_kip_set(name):
                problem = f"{name!r} is not in order"
                raise ParameterError(problem, allowed=check_kip_set(name), key="feature_sets")
        values = msgspec.structs.asdict(self.parameters)
        for name, value in values.items():
            checked(name, value)
        check_together(values)

    @property
    def scenario_id(self) -> str:
        """16 hexadecimal digits: the same for equal scenarios, in every process."""
        values = msgspec.structs.asdict(self.parameters)
        columns = {
            "feature_sets": sorted(self.feature_sets),
            "parameters": {name: repr(checked(name, value)) for name, value in values.items()},
        }
        return sha256(msgspec.json.encode(columns, order="sorted")).hexdigest()[:_DIGITS]
